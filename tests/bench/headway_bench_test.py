#!/usr/bin/env python3
"""The command `headway bench`: the list, a run with its files, error messages."""

import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

BUILD = pathlib.Path(sys.argv.pop(1))


def bench(*words, stdout=subprocess.PIPE):
    command = [BUILD / "bin/headway", "bench", *map(str, words)]
    return subprocess.run(command, text=True, stdout=stdout, stderr=subprocess.PIPE, timeout=100)


class Command(unittest.TestCase):
    def test_the_list_names_every_experiment_with_its_paper(self):
        output = bench("list").stdout
        self.assertRegex(output, r"(?m)^E1 +latency against .* \(pioman15, figures 2 and 3\)$")
        self.assertEqual(re.findall(r"(?m)^E(\d+) ", output), list(map(str, range(1, 22))))

    def test_the_list_says_which_need_a_build_folder(self):
        output = bench("list").stdout
        found = re.findall(r"(?m)^(E\d+) .*\n.*\n +runs from a build folder", output)
        self.assertEqual(found, ["E12", "E16", "E17", "E18"])

    def test_a_run_gives_a_table_verdicts_a_file_and_a_picture(self):
        with tempfile.TemporaryDirectory() as folder:
            result, picture = pathlib.Path(folder, "r.json"), pathlib.Path(folder, "p.svg")
            done = bench("e9", "--quick", "--json", result, "--plot", picture,
                         "--folder", BUILD / "bench")
            self.assertEqual(done.returncode, 0, done.stderr + done.stdout)
            rows = json.loads(result.read_text(encoding="utf-8"))["series"]["headway"]
            self.assertEqual([row["threads"] for row in rows], [0, 16])
            self.assertIn("<svg", picture.read_text(encoding="utf-8"))
        self.assertIn("maximum < 20 ms", done.stdout)
        self.assertIn("headway", done.stdout)

    def error_of(self, *words):
        done = bench(*words)
        self.assertNotEqual(done.returncode, 0)
        self.assertEqual(done.stdout, "")
        self.assertNotIn("Traceback", done.stderr)
        self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
        return done.stderr

    def test_a_reader_that_goes_away_is_no_error_in_its_text(self):
        reader, output = os.pipe()
        os.close(reader)
        done = bench("list", stdout=output)
        os.close(output)
        self.assertEqual(done.stderr, "")

    def test_bad_input_is_named_in_one_line(self):
        self.assertIn("no experiment 'E99', only: E1,", self.error_of("E99"))
        self.assertIn("did you mean E14?", self.error_of("E014"))
        self.assertIn("E4 needs the sources", self.error_of("E4"))
        self.assertIn("required", self.error_of())
        self.assertIn("at least 1", self.error_of("E1", "--rounds", 0))
        self.assertIn("--seconds", self.error_of("E1", "--seconds", "soon"))
        self.assertIn("no folder /nowhere", self.error_of("E1", "--json", "/nowhere/x.json"))
        self.assertIn("no peer 'lampi'", self.error_of("E9", "--peer", "lampi"))
        self.assertIn("unknown option --fast (headway bench --help)",
                      self.error_of("E1", "--fast"))
        self.assertIn("--qiuck: did you mean --quick?", self.error_of("E1", "--qiuck"))


if __name__ == "__main__":
    unittest.main(verbosity=2)
