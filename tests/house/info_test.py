#!/usr/bin/env python3
"""`headway info` lists every tunable and where it was set, the machine, and the functions."""

import json
import os
import pathlib
import subprocess
import sys
import unittest

HEADWAY = pathlib.Path(sys.argv.pop(1), "bin", "headway")


def info(*words, **variables):
    """(standard output, standard error) of `headway info`."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("HEADWAY_")}
    done = subprocess.run([HEADWAY, "info", *words], env=kept | variables, text=True,
                          capture_output=True, timeout=60)
    if done.returncode:
        raise AssertionError(f"exit status {done.returncode}: {done.stderr}")
    return done.stdout, done.stderr


def facts(**variables):
    return json.loads(info("--json", **variables)[0])


class Info(unittest.TestCase):
    def test_a_tunable_says_its_value_and_that_it_is_the_default(self):
        log = next(one for one in facts()["tunables"] if one["name"] == "HEADWAY_LOG")
        self.assertEqual((log["value"], log["origin"]), ("warning", "default"))

    def test_a_tunable_says_that_the_environment_set_it(self):
        tunables = facts(HEADWAY_LOG="error")["tunables"]
        log = next(one for one in tunables if one["name"] == "HEADWAY_LOG")
        self.assertEqual((log["value"], log["origin"]), ("error", "environment"))
        self.assertIn("error, set by the environment; default warning",
                      info("--tunables", HEADWAY_LOG="error")[0])

    def test_an_invalid_value_is_reported_and_the_default_is_used(self):
        output, errors = info("--tunables", HEADWAY_LOG="loud")
        self.assertIn("HEADWAY_LOG=loud is not understood", errors)
        self.assertIn("HEADWAY_LOG = warning", output)

    def test_every_tunable_has_a_meaning_and_a_name_that_begins_with_headway(self):
        for one in facts()["tunables"]:
            self.assertTrue(one["name"].startswith("HEADWAY_"), one)
            self.assertGreater(len(one["why"]), 10, one)
            self.assertTrue(one["accepts"], one)

    def test_every_module_with_tunables_is_linked(self):
        names = {one["name"] for one in facts()["tunables"]}
        for name in ("HEADWAY_PROGRESS", "HEADWAY_WAIT", "HEADWAY_RAILS", "HEADWAY_EAGER_MEMORY",
                     "HEADWAY_START_TIMEOUT", "HEADWAY_TOPOLOGY"):
            self.assertIn(name, names)

    def test_headway_topology_replaces_the_machine_by_a_synthetic_one(self):
        found = facts(HEADWAY_TOPOLOGY="package:2 core:4 pu:1")
        self.assertTrue(found["imagined_machine"])
        self.assertEqual(len([p for p in found["places"] if p["depth"] == 1]), 2)

    def test_rails_have_names_and_addresses_or_a_reason(self):
        found = facts()
        self.assertTrue(found["rails"] or found["rails_fault"])
        self.assertEqual(found["rails_fault"], "")

    def test_every_function_of_the_standard_is_listed(self):
        functions = facts()["mpi_functions"]
        self.assertGreaterEqual(len(functions), 662)
        self.assertIn("MPI_Init", [f["name"] for f in functions if f["works"]])
        first = info("--mpi")[0].splitlines()[0]
        works = len([f for f in functions if f["works"]])
        self.assertTrue(first.startswith(f"MPI functions: {works} of {len(functions)} work"))


if __name__ == "__main__":
    unittest.main(verbosity=2)
