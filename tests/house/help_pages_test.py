#!/usr/bin/env python3
"""What tools/help_pages.py makes of help texts in the forms that the commands have."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

TOOL = pathlib.Path(__file__).resolve().parent.parent.parent / "tools" / "help_pages.py"

BY_HAND = """usage: start [OPTION…] [-n N] PROGRAM [: …]

Starts N ranks of PROGRAM; ':' adds others.

For the program that follows:
  -n N, -np N           number of ranks (1)
  --genv NAME=VALUE, -x NAME=VALUE   variable for all
Input (RANKS is all or none):
  --gdb, --gdb=RANKS    run these in gdb;
                        none by default
  --help
All is
understood.

Exit code: 0 if all went well.
"""

BY_CLI11 = """Name: what it does
Usage: tool [OPTIONS] SUBCOMMAND

Options:
  -h,--help                   Print this
  --period FLOAT:FLOAT in [0.1 - 3600]
                              seconds

Subcommands:
  top                         What is counted
"""

TOP = """What is counted, live; with statistics
Usage: tool top [OPTIONS]

Options:
  --once                      look once
"""


def command(folder, name, text, subcommand=""):
    """A program that prints a text, or another one for its subcommand."""
    path = folder / name
    path.write_text(f"#!/bin/sh\nif [ \"$1\" = top ]; then cat <<'E'\n{subcommand}E\n"
                    f"else cat <<'E'\n{text}E\nfi\n", encoding="utf-8")
    path.chmod(0o755)
    return path


class HelpPages(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.scratch = tempfile.TemporaryDirectory()
        folder = cls.folder = pathlib.Path(cls.scratch.name)
        start = command(folder, "start", BY_HAND)
        tool = command(folder, "tool", BY_CLI11, TOP)
        subprocess.run([sys.executable, TOOL, "--out", folder / "share", "--version", "1.2",
                        f"{start}:launch", tool], check=True)

    @classmethod
    def tearDownClass(cls):
        cls.scratch.cleanup()

    def page(self, name):
        return (self.folder / "share/man/man1" / f"{name}.1").read_text(encoding="utf-8")

    def completed(self, name, function, *words):
        file = self.folder / "share/bash-completion/completions" / name
        script = (f"source {file}; COMP_WORDS=({' '.join(words)}); "
                  f"COMP_CWORD={len(words) - 1}; {function}; echo ${{COMPREPLY[@]}}")
        done = subprocess.run(["bash", "-c", script], check=True, capture_output=True, text=True)
        return done.stdout.split()

    def test_a_page_has_the_usage_the_options_and_what_follows_them(self):
        page = self.page("start")
        self.assertIn("start \\- starts N ranks of PROGRAM\n", page)
        self.assertIn(".SH SYNOPSIS\nstart [", page)
        self.assertIn(".SH OPTIONS\n.SS For the program that follows\n.TP\n"
                      "\\fB\\-n\\fR \\fIN\\fR, \\fB\\-np\\fR \\fIN\\fR\nnumber of ranks (1)\n",
                      page)
        self.assertIn("run these in gdb; none by default\n", page)
        self.assertIn(".SH NOTES\n.PP\nAll is understood.\n", page)

    def test_another_name_has_the_same_page(self):
        self.assertEqual(self.page("launch"), ".so man1/start.1\n")

    def test_a_subcommand_has_a_page_of_its_own(self):
        self.assertIn("tool \\- what it does\n", self.page("tool"))
        self.assertIn("tool\\-top \\- what is counted, live\n", self.page("tool-top"))
        self.assertIn("\\fBtool\\-top\\fR(1)", self.page("tool"))

    def test_bash_completes_options_and_subcommands(self):
        start = "_headway_complete_start"
        self.assertEqual(self.completed("start", start, "start", "--ge"), ["--genv"])
        self.assertEqual(self.completed("launch", start, "launch", "--gd"), ["--gdb", "--gdb="])
        tool = "_headway_complete_tool"
        self.assertEqual(self.completed("tool", tool, "tool", "t"), ["top"])
        self.assertEqual(self.completed("tool", tool, "tool", "top", "--o"), ["--once"])
        self.assertEqual(self.completed("tool", tool, "tool", "--p"), ["--period"])

    def test_zsh_gets_a_specification_for_each_option(self):
        text = (self.folder / "share/zsh/site-functions/_start").read_text(encoding="utf-8")
        self.assertTrue(text.startswith("#compdef start launch\n"))
        self.assertIn("'-np[number of ranks (1)]:N: '", text)
        self.assertIn("'*::program: _normal'", text)


if __name__ == "__main__":
    unittest.main(verbosity=2)
