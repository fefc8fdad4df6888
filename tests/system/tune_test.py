#!/usr/bin/env python3
"""`headway tune` measures and keeps a table, which jobs use if all ranks have found the same one.

Ranks that chose different algorithms would wait for each other for ever, so every job here has a
time limit.
"""

import os
import pathlib
import re
import stat
import subprocess
import sys
import tempfile
import unittest

import jobs

HEADWAY = jobs.BUILD + "/bin/headway"
REDUCING = jobs.BUILD + "/bin/mpi_collectives_reducing"
IN_FORCE = "collectives as headway tune has measured"


def with_sum(text):
    value = 0xCBF29CE484222325
    for byte in text.encode():
        value = (value ^ byte) * 0x100000001B3 % 2**64
    return f"{text}sum {value:016x}\n"


class Tables(unittest.TestCase):
    """A table in a cache folder of its own, and jobs that find it."""

    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.version, self.machine = "none", "none"
        file = self.write(self.table())
        (self.version,) = re.findall(r"version none, this is (.*)", self.refusal(file))
        file = self.write(self.table())
        (self.machine,) = re.findall(r"machine none, this is (.*)", self.refusal(file))

    def table(self, rows=("row allreduce 4194304 chain",), ranks=4):
        """The text of a table for jobs of `ranks` ranks."""
        processors = len(os.sched_getaffinity(0))
        lines = ["headway collectives 1", f"version {self.version}", f"machine {self.machine}",
                 f"shape {ranks} ranks {processors} processors at 1764000000", *rows]
        return with_sum("".join(line + "\n" for line in lines))

    def write(self, text, cache="cache"):
        folder = self.folder / cache / "collectives"
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        host = os.uname().nodename
        file = folder / "".join(c if c.isalnum() or c in "-." else f"%{ord(c):02x}" for c in host)
        file.write_text(text)
        file.chmod(0o600)
        return file

    def job(self, *groups, **variables):
        """Groups of (ranks, cache folder) of one job; what it said."""
        command = [jobs.MPIEXEC, "--timeout", "50"]
        for number, (ranks, cache) in enumerate(groups):
            own = ["env", f"HEADWAY_CACHE={self.folder / cache}"]
            command += [":"] * bool(number) + ["-n", str(ranks), *own, REDUCING]
        done = jobs.run(command, limit=60, env=os.environ | {"HEADWAY_LOG": "info"} | variables)
        self.assertEqual(done.code, 0, done.out + done.err)
        return done.err

    def refusal(self, file):
        """Why all ranks do without this table: one line for the job."""
        said = self.job((4, "cache"))
        self.assertNotIn(IN_FORCE, said)
        lines = [line for line in said.splitlines() if "is not used" in line]
        self.assertEqual(len(lines), 1, said)
        self.assertIn(f"table of algorithms {file} is not used: ", lines[0])
        return lines[0]

    def test_is_in_force_on_all_ranks_that_find_it(self):
        self.write(self.table())
        said = self.job((4, "cache"))
        self.assertEqual(said.count(IN_FORCE), 4, said)
        self.assertNotIn("is not used", said)

    def test_is_in_force_where_ranks_find_equal_ones_in_different_places(self):
        for cache in ("one", "two"):
            self.write(self.table(), cache)
        self.assertEqual(self.job((2, "one"), (2, "two")).count(IN_FORCE), 4)

    def test_is_not_used_in_a_job_of_another_shape(self):
        self.write(self.table())
        said = self.job((2, "cache"))
        self.assertNotIn(IN_FORCE, said)
        self.assertNotIn("is not used", said)

    def check_different(self, *groups):
        said = self.job(*groups)
        self.assertNotIn(IN_FORCE, said)
        self.assertEqual(said.count("have found different ones"), 1, said)

    def test_is_not_used_where_the_tables_of_the_ranks_differ(self):
        sizes = (100, 1000, 100000, 4194304)
        self.write(self.table([f"row allreduce {size} ring" for size in sizes]), "one")
        self.write(self.table([f"row allreduce {size} chain" for size in sizes]), "two")
        self.check_different((1, "one"), (3, "two"))

    def test_is_not_used_where_a_rank_has_none(self):
        self.write(self.table(["row allreduce 4194304 chain"]))
        self.check_different((3, "cache"), (1, "nothing"))

    def test_is_refused_in_one_line_if_it_is_damaged_or_truncated(self):
        good = self.table()
        file = self.write(good.replace("chain", "charm"))
        self.assertIn("the sum over it is wrong", self.refusal(file))
        file = self.write(good[: len(good) // 2])
        self.assertIn("no sum at the end", self.refusal(file))

    def test_is_refused_in_one_line_if_it_is_of_another_version_or_machine(self):
        self.version, right = "0.0.9", self.version
        said = self.refusal(self.write(self.table()))
        self.assertIn(f"of version 0.0.9, this is {right}", said)
        self.version, self.machine = right, "0" * 16 + " Other"
        self.assertIn("of machine 0", self.refusal(self.write(self.table())))

    def test_is_refused_in_one_line_if_others_can_write_it(self):
        file = self.write(self.table())
        file.chmod(0o622)
        self.assertIn("it can be written by others", self.refusal(file))
        file.chmod(0o600)
        file.parent.chmod(0o777)
        self.assertIn("its folder can be written by others", self.refusal(file))

    def test_yields_to_what_the_user_names(self):
        self.write(self.table())
        self.assertIn(IN_FORCE, self.job((4, "cache"), HEADWAY_COLLECTIVES="allreduce:doubling"))
        text = self.info(HEADWAY_COLLECTIVES="allreduce:doubling")
        self.assertIn("(set by HEADWAY_COLLECTIVES: first where it fits)", text)

    def info(self, **variables):
        done = jobs.run([HEADWAY, "info", "--collectives"],
                        env=os.environ | {"HEADWAY_CACHE": str(self.folder / "cache")} | variables)
        self.assertEqual(done.code, 0, done.err)
        return done.out

    def test_is_shown_with_its_date(self):
        self.write(self.table(["row allreduce 100 slots chain", "row allreduce 2048 ring"]))
        text = self.info()
        self.assertRegex(text, r"slots +4 ranks on \d+ processors of one node, up to 100 B: "
                               r"measured by headway tune on 2025-11-2\d: slots, else chain\n")
        self.assertRegex(text, r"ring +4 ranks .*, up to 2 KB: measured by headway tune on")
        self.assertIn("built in, one step, no message", text)


class Tuning(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))

    def tune(self, *words, before=()):
        return jobs.run([*before, HEADWAY, "tune", "--quick", *words], limit=150,
                        env=os.environ | {"HEADWAY_CACHE": str(self.folder),
                                          "HEADWAY_SPIN_SU": "3"})  # misspelt

    def kept(self):
        return list(self.folder.glob("collectives/*"))

    def test_keeps_a_table_that_jobs_of_this_shape_use_or_says_why_not(self):
        done = self.tune("--ranks", "2")
        if done.code:  # other programs run on this machine
            self.assertRegex(done.err, "the machine is busy|implausible, and not kept")
            self.assertEqual(self.kept(), [])
            return
        (file,) = self.kept()
        self.assertEqual(stat.S_IMODE(file.stat().st_mode), 0o600)
        self.assertIn("shape 2 ranks", file.read_text())
        for name in ("barrier", "bcast", "allreduce", "alltoall", "reduce_scatter"):
            self.assertIn(f"row {name} ", file.read_text())
            self.assertIn(name, done.out)
        job = jobs.run([jobs.MPIEXEC, "-n", "2", REDUCING], env=os.environ | {
            "HEADWAY_CACHE": str(self.folder), "HEADWAY_LOG": "info"})
        self.assertEqual(job.code, 0, job.err)
        self.assertEqual(job.err.count(IN_FORCE), 2)

    def test_keeps_nothing_on_a_busy_machine(self):
        spin = [sys.executable, "-c", "while True: pass"]
        others = [subprocess.Popen(spin) for _ in range(2 * os.cpu_count() + 2)]
        try:
            done = self.tune(before=(jobs.MPIEXEC, "-n", "2"))
        finally:
            for one in others:
                one.kill()
                one.wait()
        self.assertEqual(done.code, 1)
        self.assertIn("the machine is busy", done.err)
        self.assertEqual(done.err.count("did you mean HEADWAY_SPIN_US?"), 1, done.err)
        self.assertEqual(self.kept(), [])


if __name__ == "__main__":
    unittest.main()
