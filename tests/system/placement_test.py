#!/usr/bin/env python3
"""Where mpiexec lets ranks run. A test's name is the promise that it keeps.

    placement_test.py BUILD_FOLDER [test…]
"""

import os
import sys
import unittest

import jobs
from jobs import MPIEXEC

ALLOWED = sorted(os.sched_getaffinity(0))
PROCESSORS = len(ALLOWED)


def run(*words, **options):
    return jobs.run([MPIEXEC, *words], **options)


# A rank ends when it may use all processors. Those that are bound to the first one compute.
FREED = """
import os, sys, time
first, all, end = int(sys.argv[1]), int(sys.argv[2]), time.monotonic() + 30
computes = first in os.sched_getaffinity(0)
while len(os.sched_getaffinity(0)) < all:
    if time.monotonic() > end: sys.exit("a rank is still bound")
    if not computes: time.sleep(0.01)
"""


class Ranks(unittest.TestCase):
    def test_are_bound_where_an_option_says_so(self):
        job = run("-n", 2, "--bind-to", "hwthread", "--report-bindings", "sh", "-c",
                  "grep Cpus_allowed_list /proc/self/status")
        self.assertEqual(job.code, 0, job.err)
        used = [int(line.split()[1]) for line in job.out.splitlines()]
        self.assertLessEqual(set(used), set(ALLOWED))
        self.assertEqual(len(set(used)), min(2, PROCESSORS))
        for rank in range(2):
            self.assertRegex(job.err, rf"rank {rank} is bound to processors \d+\n")
        self.assertIn("rank 0 is not bound", run("--report-bindings", "true").err)

    @unittest.skipUnless(PROCESSORS > 1, "there is one processor")
    def test_as_many_as_processors_are_bound_unless_an_option_says_otherwise(self):
        text = ["sh", "-c", "grep Cpus_allowed_list /proc/self/status; env | grep NODE_PROCESSORS"]
        filled = run("-n", PROCESSORS, *text)
        self.assertEqual(filled.out.count(f"HEADWAY_NODE_PROCESSORS={PROCESSORS}\n"), PROCESSORS)
        places = {line.split()[1] for line in filled.out.splitlines() if "Cpus" in line}
        self.assertEqual(len(places), PROCESSORS, filled.out)
        for words in (("-n", PROCESSORS + 1), ("-n", PROCESSORS, "--bind-to", "none")):
            free = run(*words, *text)
            places = {line.split()[1] for line in free.out.splitlines() if "Cpus" in line}
            self.assertEqual(len(places), 1, free.out)

    @unittest.skipUnless(PROCESSORS > 1, "there is one processor")
    def test_that_wait_for_a_processor_while_another_is_idle_are_freed(self):
        for script in ([], ["sh", "-c", '"$@"; exit $?', "sh"]):  # which waits for its program
            job = run("-v", "-n", 2 * PROCESSORS, "--", *script, sys.executable, "-c", FREED,
                      ALLOWED[0], PROCESSORS)
            self.assertEqual(job.code, 0, job.err)
            self.assertIn("they are not bound any more", job.err)

    def test_that_outnumber_processors_have_no_restartable_sequences(self):
        show = ["sh", "-c", 'echo "tunables $GLIBC_TUNABLES"']

        def tunables(*words, **given):
            return set(run(*words, *show, env={**os.environ, **given}).out.splitlines())

        many, own = ("-n", PROCESSORS + 1), "glibc.malloc.check=0"
        self.assertEqual(tunables("-n", PROCESSORS), {"tunables "})
        self.assertEqual(tunables(*many), {"tunables glibc.pthread.rseq=0"})
        self.assertEqual(tunables(*many, GLIBC_TUNABLES=own),
                         {f"tunables {own}:glibc.pthread.rseq=0"})  # fmt: skip
        chosen = "glibc.pthread.rseq=1"
        self.assertEqual(tunables(*many, GLIBC_TUNABLES=chosen), {f"tunables {chosen}"})
        self.assertEqual(tunables(*many, "-env", "GLIBC_TUNABLES", chosen),
                         {f"tunables {chosen}"})  # fmt: skip

    def test_by_machine_are_those_of_this_one(self):
        self.assertEqual(run("-ppn", 3, "echo", "x").out, "x\n" * 3)
        self.assertEqual(run("--map-by", "ppr:2:node", "echo", "x").out, "x\n" * 2)
        self.assertEqual(run("-ppn", 3, "-n", 2, "echo", "x").out, "x\n" * 2)


if __name__ == "__main__":
    unittest.main(verbosity=2)
