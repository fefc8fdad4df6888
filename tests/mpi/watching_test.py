#!/usr/bin/env python3
"""Statistics and timelines of a running program: HEADWAY_STATS, `headway top`, HEADWAY_TRACE."""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time
import unittest

BUILD, WATCHED, TRACED = map(pathlib.Path, (sys.argv.pop(1) for _ in range(3)))
BYTES = 3000017  # of the message that watched.c sends


def environment(**variables):
    kept = {name: value for name, value in os.environ.items() if not name.startswith("HEADWAY_")}
    return kept | variables


def job(*words, **variables):
    command = [BUILD / "bin/mpiexec", "-n", "2", WATCHED, *words]
    return subprocess.Popen(command, env=environment(**variables), stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, text=True)


def run(*words, **variables):
    """What it said on standard error."""
    process = job(*words, **variables)
    _, said = process.communicate(timeout=60)
    if process.returncode:
        raise AssertionError(said)
    return said


def top(*words):
    return subprocess.run([BUILD / "bin/headway", "top", *map(str, words)], env=environment(),
                          capture_output=True, text=True, timeout=60)


class Statistics(unittest.TestCase):
    def test_a_table_of_each_rank_comes_at_the_end(self):
        said = run(HEADWAY_STATS="1")
        for rank in (0, 1):
            self.assertIn(f"headway: rank {rank} of 2, ", said)
        for word in ("overlap: ", "% of 3.00 MB moved", "rail ", "point ", "queue ", "explicit"):
            self.assertIn(word, said)

    def test_rails_that_carry_together_show_packets_a_frame_losses_and_returns(self):
        self.assertNotIn("bundle ", run(HEADWAY_STATS="1"))
        said = run(HEADWAY_STATS="1", HEADWAY_RAILS="tcp:lo", HEADWAY_CONNECTIONS="2")
        heads = [line.split() for line in said.splitlines() if line.startswith("bundle ")]
        self.assertEqual(heads, [["bundle", "packets", "frames", "per", "frame", "losses",
                                  "returns"]] * 2)  # fmt: skip
        for rail in ("tcp:lo ", "tcp:lo#2 "):
            rows = [line.split() for line in said.splitlines() if line.startswith(rail)]
            self.assertEqual(len(rows), 4, said)  # of each rank: among all rails, and here
            self.assertEqual([row[-2:] for row in rows if len(row) == 6], [["0", "0"]] * 2, said)

    def test_nothing_is_said_unless_asked_for(self):
        self.assertEqual(run(), "")
        self.assertEqual(run(HEADWAY_STATS="2"), "")

    def ranks_seen(self, process):
        """What `headway top --json` shows of that job's ranks; [] while they are not both there."""
        children = set(children_of(process.pid))
        found = json.loads(top("--json").stdout or "[]")
        return [one for one in found if one["process"] in children]

    def check_top_shows(self, process):
        seen = until(lambda: len(self.ranks_seen(process)) == 2 and self.ranks_seen(process))
        self.assertEqual([one["rank"] for one in seen], [0, 1])
        first = seen[0]["process"]
        text = top("--once", first).stdout
        self.assertIn(f"headway: rank 0 of 2, mpi_watched (process {first})", text)
        wanted = {"rail", "point", "queue", "thread", "overlap"}
        self.assertTrue(until(lambda: wanted <= kinds_of(self.ranks_seen(process))))
        self.assertTrue(until(lambda: bytes_moved(self.ranks_seen(process)) > bytes_moved(seen)))

    def test_top_shows_a_running_job_and_only_one_that_counts(self):
        with job("600", HEADWAY_STATS="2") as process:
            try:
                self.check_top_shows(process)
            finally:
                process.kill()
        done = top("--once", os.getpid())
        self.assertEqual(done.returncode, 1)
        self.assertIn(f"process {os.getpid()} shows no statistics", done.stderr)

    def test_top_names_what_is_wrong_with_its_arguments(self):
        self.assertIn("PID", top("zero").stderr)
        self.assertNotEqual(top("--period", 0).returncode, 0)


def kinds_of(ranks):
    return {row["kind"] for one in ranks for row in one["rows"]}


def bytes_moved(ranks):
    return sum(row["bytes_moved"] for one in ranks for row in one["rows"]
               if row["kind"] == "overlap")  # fmt: skip


def children_of(pid):
    with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as file:
        return [int(word) for word in file.read().split()]


def until(condition, limit=20):
    end = time.monotonic() + limit
    while time.monotonic() < end:
        found = condition()
        if found:
            return found
        time.sleep(0.1)
    return None


class Timeline(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = pathlib.Path(folder.name, "timeline.json")

    def entries(self, **variables):
        run(HEADWAY_TRACE=str(self.path), **variables)
        return json.loads(self.path.read_text(encoding="utf-8"))

    def test_has_the_message_of_both_ranks_from_begin_to_end(self):
        found = self.entries()
        for rank, name in ((0, "send rendezvous"), (1, "receive rendezvous")):
            ends = [e for e in found if e["pid"] == rank and e["name"] == name
                    and e["args"]["bytes"] == BYTES]  # fmt: skip
            self.assertEqual([e["ph"] for e in sorted(ends, key=lambda e: e["ts"])], ["b", "e"])
            self.assertEqual(len({e["id2"]["local"] for e in ends}), 1)

    def test_is_in_the_format_that_perfetto_reads(self):
        found = self.entries()
        names = {e["args"].get("name") for e in found if e["ph"] == "M"}
        self.assertLessEqual({"rank 0", "rank 1", "mpi_watched", "hw-event"}, names)
        for e in found:
            self.assertIn(e["ph"], "MXbeisfC")
            self.assertIn("pid", e)
            self.assertIn("tid", e)
            if e["ph"] == "X":
                self.assertGreaterEqual(e["dur"], 0)
                self.assertGreater(e["ts"], 0)
        stretches = {e["name"] for e in found if e["ph"] == "X"}
        self.assertLessEqual({"wait", "explicit round", "reap rail"}, stretches)

    def calls(self, found, rank, name):
        return [e for e in found if e.get("cat") == "mpi" and (e["pid"], e["name"]) == (rank, name)]

    def test_has_the_calls_of_mpi_with_peer_tag_bytes_and_communicator(self):
        found = self.entries()
        message = {"tag": 0, "bytes": BYTES, "communicator": "MPI_COMM_WORLD"}
        for rank, name, peer in ((0, "MPI_Send", 1), (1, "MPI_Irecv", 0), (1, "MPI_Wait", 0)):
            self.assertEqual([e["args"] for e in self.calls(found, rank, name)],
                             [message | {"peer": peer}], name)  # fmt: skip
        for rank in (0, 1):
            bcast = self.calls(found, rank, "MPI_Bcast")
            self.assertEqual([e["args"] for e in bcast],
                             [{"communicator": "MPI_COMM_WORLD", "bytes": 4}])  # fmt: skip

    def test_has_an_arrow_from_the_send_to_the_call_that_receives(self):
        found = self.entries()
        arrows = [e for e in found if e.get("cat") == "message" and e["ph"] in "sf"]
        self.assertEqual(sorted((e["ph"], e["pid"]) for e in arrows), [("f", 1), ("s", 0)])
        self.assertEqual(len({e["id"] for e in arrows}), 1)
        for e, name in zip(sorted(arrows, key=lambda e: e["pid"]), ("MPI_Send", "MPI_Wait")):
            (call,) = self.calls(found, e["pid"], name)
            self.assertEqual(call["tid"], e["tid"])
            self.assertLessEqual(call["ts"], e["ts"])
            self.assertLessEqual(e["ts"], call["ts"] + call["dur"])

    def test_has_an_arrow_over_each_collective_operation_to_who_waits(self):
        found = self.entries()
        arrows = [e for e in found if e.get("cat") == "collective"]
        by_id = {}
        for e in arrows:
            by_id.setdefault(e["id"], []).append(e)
        self.assertEqual([sorted(e["ph"] for e in ends) for ends in by_id.values()],
                         [["f", "s"]] * len(by_id))  # fmt: skip
        # Two of the allgather, in which each waits for the other, one of the broadcast.
        self.assertEqual(sorted(min(ends, key=lambda e: e["ts"])["ph"] for ends in by_id.values()),
                         ["s"] * 3)  # fmt: skip

    def test_counts_what_is_pending(self):
        found = self.entries()
        for rank in (0, 1):
            for name, most in (("pending requests", 1), ("bytes in flight", BYTES)):
                counts = [e for e in found if (e["ph"], e["pid"], e["name"]) == ("C", rank, name)]
                values = [e["args"]["value"] for e in sorted(counts, key=lambda e: e["ts"])]
                self.assertEqual(values, [most, 0])

    def test_periods_of_a_thread_contain_each_other_or_do_not_overlap(self):
        found = self.entries()
        for thread in {(e["pid"], e["tid"]) for e in found if e["ph"] == "X"}:
            open_ones = []
            periods = [(e["ts"], -e["dur"], e["name"]) for e in found
                       if e["ph"] == "X" and (e["pid"], e["tid"]) == thread]  # fmt: skip
            for begin, length, name in sorted(periods):
                while open_ones and open_ones[-1] <= begin + 0.001:  # three digits are written
                    open_ones.pop()
                end = begin - length
                if open_ones:
                    self.assertLessEqual(end, open_ones[-1] + 0.001, name)
                open_ones.append(end)

    def test_is_written_anew_by_each_job(self):
        self.path.write_text('[\n{"ph":"M","name":"old"}\n]\n', encoding="utf-8")
        for _ in range(5):  # as soon after each other as can be
            found = self.entries()
            self.assertNotIn("old", [e["name"] for e in found])
            self.assertEqual(sorted(e["args"]["name"] for e in found
                                    if e["name"] == "process_name"),
                             ["rank 0", "rank 1"])  # fmt: skip
            self.assertEqual(len({e["args"]["labels"] for e in found
                                  if e["name"] == "process_labels"}), 1)  # fmt: skip

    def test_drops_what_does_not_fit_and_says_how_much(self):
        found = self.entries(HEADWAY_TRACE_EVENTS="16")
        self.assertTrue([e for e in found if "entries dropped" in e["name"]])
        for rank in (0, 1):
            threads = {e["tid"] for e in found if e["pid"] == rank}
            for thread in threads:
                kept = [e for e in found if e["tid"] == thread and e["ph"] in "Xbe"
                        and e["name"] != "arrival"]  # fmt: skip
                calls = [e for e in kept if e.get("cat") == "mpi"]
                self.assertLessEqual(len(calls), 16)
                self.assertLessEqual(len(kept) - len(calls), 16)

    def test_that_cannot_be_written_is_said_in_one_line_and_hurts_nobody(self):
        said = run(HEADWAY_TRACE="/nowhere/timeline.json")
        self.assertIn("no timeline: open /nowhere/timeline.json: No such file", said)


class Arrows(unittest.TestCase):
    """traced.c, with three ranks: each kind of operation that has arrows."""

    @classmethod
    def setUpClass(cls):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "timeline.json")
            subprocess.run([BUILD / "bin/mpiexec", "-n", "3", TRACED], check=True, timeout=60,
                           env=environment(HEADWAY_TRACE=str(path)))  # fmt: skip
            cls.found = json.loads(path.read_text(encoding="utf-8"))
        cls.calls = [e for e in cls.found if e.get("cat") == "mpi"]
        cls.ends = [e for e in cls.found if e["ph"] in "sf"]

    def call_at(self, end):
        """The call within which an arrow begins or ends."""
        (call,) = [c for c in self.calls if (c["pid"], c["tid"]) == (end["pid"], end["tid"])
                   and c["ts"] <= end["ts"] <= c["ts"] + c["dur"]]  # fmt: skip
        return call["name"]

    def arrows(self, first, *last):
        """(from, to) of the arrows from the call named first to one of those named last."""
        begins = {e["id"]: e for e in self.ends
                  if e["ph"] == "s" and self.call_at(e) == first}  # fmt: skip
        found = [e for e in self.ends
                 if e["ph"] == "f" and e["id"] in begins and self.call_at(e) in last]  # fmt: skip
        return sorted((begins[e["id"]]["pid"], e["pid"]) for e in found)

    def test_each_has_two_ends(self):
        self.assertGreater(len(self.ends), 0)
        for sort in "sf":
            ids = [e["id"] for e in self.ends if e["ph"] == sort]
            self.assertEqual(len(ids), len(set(ids)))
            self.assertEqual(set(ids), {e["id"] for e in self.ends})
        for e in self.ends:  # Perfetto leaves out arrows with other texts than numbers
            self.assertRegex(e["id"], "^[0-9a-f]{1,16}$")

    def test_of_a_partition_go_from_the_call_that_sends_it_to_the_one_that_finds_it(self):
        self.assertEqual(self.arrows("MPI_Pready", "MPI_Parrived", "MPI_Wait"), [(0, 1)] * 8)
        # The first partition of the receiver is two of the sender's, and asked for in each round.
        self.assertGreaterEqual(len(self.arrows("MPI_Pready", "MPI_Parrived")), 4)

    def test_of_collective_operations_go_from_their_start_to_their_wait(self):
        ring = [(0, 1), (1, 2), (2, 0)]
        self.assertEqual(self.arrows("MPI_Ibarrier", "MPI_Wait"), ring)
        self.assertEqual(self.arrows("MPI_Ibcast", "MPI_Wait"), [(1, 0), (1, 2)])
        self.assertEqual(self.arrows("MPI_Start", "MPI_Wait"), sorted(ring * 2))

    def test_of_scans_and_of_neighbors_go_to_those_that_need_the_data(self):
        self.assertEqual(self.arrows("MPI_Scan", "MPI_Scan"), [(0, 1), (1, 2)])
        self.assertEqual(self.arrows("MPI_Neighbor_allgather", "MPI_Neighbor_allgather"),
                         [(0, 1), (1, 0), (1, 2), (2, 1)])  # fmt: skip

    def test_of_windows_go_over_fences_and_from_the_signals_of_epochs(self):
        ring = [(0, 1), (1, 2), (2, 0)]
        self.assertEqual(self.arrows("MPI_Win_fence", "MPI_Win_fence"), sorted(ring * 2))
        self.assertEqual(self.arrows("MPI_Win_post", "MPI_Win_start"), [(1, 0)])
        self.assertEqual(self.arrows("MPI_Win_complete", "MPI_Win_wait"), [(0, 1)])

    def test_calls_say_what_they_start_finish_or_access(self):
        def arguments(rank, name):
            return [e["args"] for e in self.calls if (e["pid"], e["name"]) == (rank, name)]

        whole = {"peer": 1, "tag": 7, "bytes": 4000, "communicator": "MPI_COMM_WORLD"}
        self.assertEqual(arguments(0, "MPI_Start")[:2], [whole] * 2)
        self.assertEqual(arguments(0, "MPI_Wait")[:2], [whole] * 2)
        self.assertEqual(arguments(0, "MPI_Pready"), [whole | {"bytes": 1000}] * 8)
        self.assertEqual(arguments(0, "MPI_Ibcast"),
                         [{"communicator": "MPI_COMM_WORLD", "bytes": 4}])  # fmt: skip
        access = {"window": "shared value", "peer": 1, "bytes": 8}
        self.assertEqual(arguments(0, "MPI_Put"), [access])
        self.assertEqual(arguments(0, "MPI_Accumulate"), [access])
        self.assertEqual(arguments(2, "MPI_Win_fence"), [{"window": "shared value"}] * 2)

    def test_counters_return_to_nothing_pending(self):
        for rank in range(3):
            counts = [e for e in self.found
                      if (e["ph"], e["pid"], e["name"]) == ("C", rank, "pending requests")]
            values = [e["args"]["value"] for e in sorted(counts, key=lambda e: e["ts"])]
            self.assertEqual((max(values), values[-1]), (2, 0))


if __name__ == "__main__":
    unittest.main(verbosity=2)
