#!/usr/bin/env python3
"""`headway info` lists every tunable and where it was set, the machine, and the functions."""

import fcntl
import json
import os
import pathlib
import pty
import re
import struct
import subprocess
import sys
import termios
import unittest

HEADWAY = pathlib.Path(sys.argv.pop(1), "bin", "headway")


def info(*words, **variables):
    """(standard output, standard error) of `headway info`."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("HEADWAY_")}
    kept["XDG_CACHE_HOME"] = "/nonexistent"  # not the table that this user has measured
    done = subprocess.run([HEADWAY, "info", *words], env=kept | variables, text=True,
                          capture_output=True, timeout=60)
    if done.returncode:
        raise AssertionError(f"exit status {done.returncode}: {done.stderr}")
    return done.stdout, done.stderr


def facts(**variables):
    return json.loads(info("--json", **variables)[0])


def on_terminal(columns, *words):
    """What `headway` writes to a terminal of that width."""
    pid, terminal = pty.fork()
    if pid == 0:
        fcntl.ioctl(1, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        os.execv(HEADWAY, [HEADWAY, *words])
    seen = b""
    try:
        while part := os.read(terminal, 4096):
            seen += part
    except OSError:  # the terminal's other side is closed
        pass
    os.waitpid(pid, 0)
    os.close(terminal)
    return seen.decode()


class Info(unittest.TestCase):
    def test_if_output_cannot_be_written_one_line_is_printed_and_the_status_is_1(self):
        mpiexec = os.path.join(os.path.dirname(HEADWAY), "mpiexec")
        for words in ([HEADWAY, "info"], [HEADWAY, "--help"], [HEADWAY, "bench", "list"],
                      [HEADWAY, "report", "--help"], [mpiexec, "--help"]):  # fmt: skip
            with self.subTest(words=words[1:]), open("/dev/full", "w", encoding="utf-8") as full:
                done = subprocess.run(words, stdout=full, stderr=subprocess.PIPE, text=True,
                                      timeout=60, check=False)  # fmt: skip
                self.assertEqual(done.returncode, 1)
                self.assertRegex(done.stderr, r"\A(headway|mpiexec): .*\n\Z")

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

    def test_every_collective_says_how_its_algorithm_is_chosen(self):
        rules = facts(HEADWAY_COLLECTIVES="bcast:chain")["collectives"]
        by_name = {}
        for one in rules:
            by_name.setdefault(one["collective"], []).append(one)
            self.assertTrue(one["why"], one)
        self.assertEqual(len(by_name), 19)
        for rows in by_name.values():
            fallback = [one for one in rows if one["chosen"]][-1]
            self.assertNotIn("node", fallback["when"], "the last row fits every call")
        self.assertEqual([one["algorithm"] for one in rules if one["forced"]], ["chain"])
        text = info("--collectives", HEADWAY_COLLECTIVES="bcast:chain")[0]
        self.assertEqual(len(text.splitlines()), 1 + len(by_name) + len(rules))
        self.assertIn("chain          only if HEADWAY_COLLECTIVES names it: never measured to be "
                      "the best (set by HEADWAY_COLLECTIVES", text)
        self.assertIn("shared_parts   up to 64 ranks, one node, the operator commutes: built in, ",
                      text)
        self.assertEqual({one["source"] for one in rules}, {"built in", "HEADWAY_COLLECTIVES"})

    def test_every_module_with_tunables_is_linked(self):
        names = {one["name"] for one in facts()["tunables"]}
        for name in ("HEADWAY_PROGRESS", "HEADWAY_WAIT", "HEADWAY_RAILS", "HEADWAY_EAGER_MEMORY",
                     "HEADWAY_START_TIMEOUT", "HEADWAY_TOPOLOGY"):
            self.assertIn(name, names)

    def test_the_log_says_at_start_what_is_in_force(self):
        errors = info("--json", HEADWAY_LOG="info", HEADWAY_PROGRESS="timer",
                      HEADWAY_RAILS="shm")[1]
        self.assertRegex(errors, r"headway: rank 0: rails: .*shm.*; background progression: timer; "
                                 r"may run on \d+ of \d+ processors")
        self.assertNotIn("rails:", info("--json")[1])

    def test_words_leave_what_they_occur_in(self):
        tunables = json.loads(info("--json", "TCP", "segment")[0])["tunables"]
        self.assertIn("HEADWAY_TCP_SEGMENT", [one["name"] for one in tunables])
        for one in tunables:
            text = " ".join(one.values()).lower()
            self.assertTrue("tcp" in text and "segment" in text, one)
        text = info("isendrecv")[0]
        self.assertIn("MPI_Isendrecv\n", text)
        self.assertNotIn("HEADWAY_", text)
        self.assertNotIn("MPI_Init\n", text)

    def test_words_that_occur_nowhere_are_an_error(self):
        done = subprocess.run([HEADWAY, "info", "nosuchword"], text=True, capture_output=True)
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertEqual(done.stderr.count("\n"), 1)

    def test_changed_shows_what_differs_from_the_default(self):
        self.assertEqual(info("--changed")[0], "no tunable differs from its default\n")
        self.assertEqual(info("tcp", "--changed")[0],
                         "no tunable with these words differs from its default: tcp\n")
        text = info("--changed", HEADWAY_LOG="error", HEADWAY_SPIN_US="20")[0]
        self.assertEqual(text.count(" set by the environment"), 2)
        self.assertIn("HEADWAY_SPIN_US = 20 us, set by the environment; default 50 us", text)

    def test_tunables_are_grouped(self):
        lines = info("--tunables")[0].splitlines()
        groups = [line.split(":")[0].strip() for line in lines if re.match("  [a-z]", line)]
        self.assertEqual(groups, sorted(set(groups)))
        shm = lines.index("  shm: the rail over shared memory")
        self.assertIn("HEADWAY_SHM_", lines[shm + 1])

    def test_lines_are_no_longer_than_the_terminal_is_wide(self):
        for words, least in (([], 100), (["--tunables"], 100), (["--collectives"], 100),
                             (["--mpi"], 600), (["--changed"], 1)):
            for columns in (60, 100):
                lines = on_terminal(columns, "info", *words).splitlines()
                self.assertGreaterEqual(len(lines), least)
                for line in lines:
                    with self.subTest(words=words, columns=columns, line=line):
                        self.assertTrue(len(line) <= columns or line.lstrip().count(" ") == 0)

    def check_one_line(self, words, expected):
        done = subprocess.run([HEADWAY, *words], text=True, capture_output=True, timeout=60)
        with self.subTest(words=words):
            self.assertEqual((done.returncode, done.stdout), (2, ""))
            self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
            self.assertIn(expected, done.stderr)

    def test_a_misspelt_command_or_option_is_one_line_with_the_nearest(self):
        for line, expected in (
            ("inof", "did you mean info?"),
            ("--versoin", "headway: unknown option --versoin: did you mean --version?"),
            ("info --tunabels", "headway: info: unknown option --tunabels: did you mean --tunab"),
            ("info tcp -chagned", "did you mean --changed?"),
            ("top --onec", "did you mean --once?"),
            ("sample --plto=FILE", "unknown option --plto: did you mean --plot?"),
            ("tune --randks 4", "did you mean --ranks?"),
            ("report --txet", "headway: report: unknown option --txet: did you mean --text?"),
            ("report --jsno FILE", "did you mean --json?"),
            ("bench E1 --qiuck", "headway: bench: unknown option --qiuck: did you mean --quick?"),
            ("bench lits", "did you mean list?"),
        ):
            self.check_one_line(line.split(), expected)

    def test_any_other_wrong_command_line_is_one_line_too(self):
        for line, expected in (
            ("", "no command is given; there are: info, "),
            ("info --nothing-like-it", "--nothing-like-it (headway info --help)"),
            ("sample word", "headway: sample: unexpected word (headway sample --help)"),
            ("sample --plot", "(headway sample --help)"),
            ("tune -n 1", "(headway tune --help)"),
            ("top --period soon", "(headway top --help)"),
            ("report", "headway: report: the following arguments are required: FILE"),
            ("report --nothing", "unknown option --nothing (headway report --help)"),
            ("bench", "headway: bench: the following arguments are required: "),
        ):
            self.check_one_line(line.split(), expected)

    def test_a_misspelt_variable_is_warned_of(self):
        for words in (["--changed"], ["--json"], ["--collectives"]):
            errors = info(*words, HEADWAY_SPIN_SU="3")[1]
            self.assertEqual(errors.count("\n"), 1, errors)
            self.assertIn("HEADWAY_SPIN_SU is no setting: did you mean HEADWAY_SPIN_US?", errors)

    def test_headway_topology_replaces_the_machine_by_a_synthetic_one(self):
        found = facts(HEADWAY_TOPOLOGY="package:2 core:4 pu:1")
        self.assertTrue(found["imagined_machine"])
        self.assertEqual(len([p for p in found["places"] if p["depth"] == 1]), 2)

    def test_rails_have_names_and_addresses_or_a_reason(self):
        found = facts()
        self.assertTrue(found["rails"] or found["rails_fault"])
        self.assertEqual(found["rails_fault"], "")

    def test_windows_say_which_way_they_use(self):
        def ways(best):
            return [one["way"] for one in facts(HEADWAY_WINDOWS=best)["windows"]]

        allocated, created, dynamic = ways("mapped")
        self.assertEqual((allocated, dynamic), ("mapped", "wire"))
        self.assertIn(created, ("nearby", "wire"))  # as the kernel allows
        self.assertEqual(ways("nearby"), [created, created, "wire"])
        self.assertEqual(ways("wire"), ["wire"] * 3)
        self.assertRegex(info(HEADWAY_WINDOWS="wire")[0], r"MPI_Win_create  +wire\n")

    def test_every_function_of_the_standard_is_listed(self):
        functions = facts()["mpi_functions"]
        self.assertGreaterEqual(len(functions), 662)
        self.assertIn("MPI_Init", [f["name"] for f in functions if f["works"]])
        first = info("--mpi")[0].splitlines()[0]
        works = len([f for f in functions if f["works"]])
        self.assertTrue(first.startswith(f"MPI functions: {works} of {len(functions)} work"))


if __name__ == "__main__":
    unittest.main(verbosity=2)
