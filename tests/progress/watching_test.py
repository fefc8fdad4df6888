#!/usr/bin/env python3
"""A program that has only libheadway_progress: HEADWAY_STATS, `headway top`, HEADWAY_TRACE."""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time
import unittest

HEADWAY, *PROGRAMS = map(pathlib.Path, sys.argv[1:])
del sys.argv[1:]


def environment(**variables):
    kept = {name: value for name, value in os.environ.items() if not name.startswith("HEADWAY_")}
    return kept | variables


def said(program, **variables):
    """On standard error."""
    done = subprocess.run([program], env=environment(**variables), capture_output=True, text=True,
                          timeout=60, check=True)  # fmt: skip
    return done.stderr


def top(*words):
    return subprocess.run([HEADWAY, "top", *map(str, words)], env=environment(),
                          capture_output=True, text=True, timeout=60)  # fmt: skip


def until(condition, limit=20):
    end = time.monotonic() + limit
    while time.monotonic() < end:
        found = condition()
        if found:
            return found
        time.sleep(0.1)
    return None


class Watching(unittest.TestCase):
    def test_a_table_comes_at_the_end_if_asked_for(self):
        for program in PROGRAMS:
            with self.subTest(program.name):
                text = said(program, HEADWAY_STATS="1")
                self.assertIn(f"headway: {program.name} (process ", text)
                for word in ("point ", "queue ", "thread ", "explicit", "machine"):
                    self.assertIn(word, text)
                self.assertNotIn("rank", text)
                self.assertEqual(said(program), "")
                self.assertEqual(said(program, HEADWAY_STATS="2"), "")

    def rounds(self, process):
        """Of all polling points (which of them works is the engine's choice), as `headway top PID
        --json` shows them; 0 while there are none."""
        found = json.loads(top("--json", process.pid).stdout or "[]")
        return sum(row["rounds"] for one in found for row in one["rows"]
                   if row["kind"] == "point")  # fmt: skip

    def test_top_shows_it_live(self):
        for program in PROGRAMS:
            command = [program, "30"]
            with self.subTest(program.name), subprocess.Popen(
                command, env=environment(HEADWAY_STATS="2")
            ) as process:
                try:
                    first = until(lambda: self.rounds(process))
                    self.assertTrue(first)
                    self.assertTrue(until(lambda: self.rounds(process) > first))
                    text = top("--once", process.pid).stdout
                    self.assertIn(f"headway: {program.name} (process {process.pid})", text)
                    self.assertIn("longest wait", text)
                finally:
                    process.kill()

    def test_a_timeline_is_written_at_the_end(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "timeline.json")
            said(PROGRAMS[0], HEADWAY_TRACE=str(path))
            names = {entry["name"] for entry in json.loads(path.read_text(encoding="utf-8"))}
        self.assertLessEqual({"wait", "thread_name", "work"}, names)


if __name__ == "__main__":
    unittest.main(verbosity=2)
