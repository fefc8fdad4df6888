#!/usr/bin/env python3
"""Timelines in Perfetto's own engine: what it reads is what was written."""

import collections
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "system"))
import jobs  # pylint: disable=wrong-import-position
from perfetto_engine import Engine  # pylint: disable=wrong-import-position

WATCHED, TRACED = sys.argv.pop(1), sys.argv.pop(1)

# A call, and what happens within it, by the call's slice.
WITHIN_CALLS = """
WITH RECURSIVE inside(id, call) AS (
  SELECT id, id FROM slice WHERE category = 'mpi'
  UNION ALL SELECT slice.id, call FROM slice JOIN inside ON slice.parent_id = inside.id)
"""


class Timeline:
    """Of a program, for each of which there is a test case below."""

    maxDiff = None

    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        path = pathlib.Path(folder.name, "timeline.json")
        done = jobs.run([jobs.MPIEXEC, "-n", cls.ranks, "-genv", "HEADWAY_TRACE", path,
                         cls.program])  # fmt: skip
        assert (done.code, done.err) == (0, ""), done.err
        cls.written = json.loads(path.read_text(encoding="utf-8"))
        cls.engine = Engine(path)
        cls.addClassCleanup(cls.engine.close)

    def test_has_no_error(self):
        found = self.engine.query("SELECT name, value FROM stats "
                                  "WHERE severity != 'info' AND value > 0")  # fmt: skip
        self.assertEqual(found, [])

    def test_has_each_period_of_each_rank(self):
        found = self.engine.query(
            "SELECT pid, slice.name AS name, count(*) AS times FROM slice "
            "JOIN thread_track ON thread_track.id = track_id JOIN thread USING (utid) "
            "JOIN process USING (upid) GROUP BY pid, slice.name")  # fmt: skip
        written = collections.Counter((e["pid"], e["name"]) for e in self.written
                                      if e["ph"] in "Xi")  # fmt: skip
        self.assertEqual({row[:2]: row[2] for row in found}, written)

    def test_has_each_arrow_between_the_calls_that_it_was_written_for(self):
        found = self.engine.query(WITHIN_CALLS + """
            SELECT sender.name AS source, receiver.name AS target, count(*) AS times FROM flow
            JOIN inside AS out ON out.id = slice_out JOIN slice AS sender ON sender.id = out.call
            JOIN inside AS into_ ON into_.id = slice_in
            JOIN slice AS receiver ON receiver.id = into_.call
            GROUP BY source, target""")
        self.assertEqual({row[:2]: row[2] for row in found}, dict(self.arrows_written()))
        self.assertEqual(self.engine.query("SELECT count(*) AS arrows FROM flow"),
                         [(sum(e["ph"] == "s" for e in self.written),)])  # fmt: skip

    def arrows_written(self):
        calls = [e for e in self.written if e.get("cat") == "mpi"]

        def call_at(end):
            (call,) = [c["name"] for c in calls if (c["pid"], c["tid"]) == (end["pid"], end["tid"])
                       and c["ts"] <= end["ts"] <= c["ts"] + c["dur"]]  # fmt: skip
            return call

        ends = {e["id"]: call_at(e) for e in self.written if e["ph"] == "f"}
        return collections.Counter((call_at(e), ends[e["id"]])
                                   for e in self.written if e["ph"] == "s")  # fmt: skip

    def test_has_what_each_call_was_given(self):
        found = self.engine.query(
            "SELECT slice.name AS name, key, display_value AS value, count(*) AS times "
            "FROM slice JOIN args USING (arg_set_id) WHERE slice.category = 'mpi' "
            "GROUP BY slice.name, key, display_value")  # fmt: skip
        written = collections.Counter((e["name"], f"args.{key}", str(value))
                                      for e in self.written if e.get("cat") == "mpi"
                                      for key, value in e["args"].items())  # fmt: skip
        self.assertEqual({row[:3]: row[3] for row in found}, written)

    def test_counts_what_is_pending(self):
        found = self.engine.query(
            "SELECT pid, process_counter_track.name AS name, value, count(*) AS times FROM counter "
            "JOIN process_counter_track ON process_counter_track.id = track_id "
            "JOIN process USING (upid) "
            "GROUP BY pid, process_counter_track.name, value")  # fmt: skip
        written = collections.Counter((e["pid"], e["name"] + " value", float(e["args"]["value"]))
                                      for e in self.written if e["ph"] == "C")  # fmt: skip
        self.assertEqual({row[:3]: row[3] for row in found}, written)

    def test_names_ranks_and_threads(self):
        found = self.engine.query(
            "SELECT DISTINCT process.name AS rank, thread.name AS thread FROM thread "
            "JOIN process USING (upid) WHERE tid != 0")  # fmt: skip
        program = pathlib.Path(self.program).name
        for rank in range(self.ranks):
            for thread in (program, "hw-event"):
                self.assertIn((f"rank {rank}", thread), found)


class Watched(Timeline, unittest.TestCase):
    program, ranks = WATCHED, 2

    def test_has_the_rendezvous_from_begin_to_end(self):
        found = self.engine.query(
            "SELECT pid, slice.name AS name, dur > 0 AS lasts FROM slice "
            "JOIN process_track ON process_track.id = track_id JOIN process USING (upid) "
            "WHERE slice.name LIKE '%rendezvous' ORDER BY pid")  # fmt: skip
        self.assertEqual(found, [(0, "send rendezvous", 1), (1, "receive rendezvous", 1)])


class Traced(Timeline, unittest.TestCase):
    program, ranks = TRACED, 3

    def test_has_names_whole(self):
        names = [row[0] for row in self.engine.query("SELECT DISTINCT name FROM slice")]
        self.assertIn("exchange in shared memory", names)


if __name__ == "__main__":
    unittest.main(verbosity=2)
