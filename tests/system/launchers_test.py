#!/usr/bin/env python3
"""Our ranks under another launcher, another library's ranks under our mpiexec.

MPICH's wheel from PyPI, in the build folder, stands for both.
"""

import os
import subprocess
import unittest

import jobs
from jobs import BUILD, MPIEXEC, PEER, run

MPICH = jobs.install_wheel("mpich", "5.0.2", "mpicc_abi")
SCRATCH = f"{BUILD}/tests/launchers"
os.environ["HEADWAY_LOG"] = "info"  # prints why processes of a node share no records

PROGRAM = r"""
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char** argv) {
  int rank, size, sum, *app, found;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_APPNUM, &app, &found);
  MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  printf("rank %d of %d app %d sum %d\n", rank, size, found ? *app : -1, sum);
  fflush(stdout);
  if (argc > 1 && rank == 1) MPI_Abort(MPI_COMM_WORLD, atoi(argv[1]));
  if (argc > 1) MPI_Barrier(MPI_COMM_WORLD);
  MPI_Finalize();
  return 0;
}
"""


class OurRanksUnderHydra(unittest.TestCase):
    HYDRA = MPICH + "/bin/mpiexec"

    def check(self, job, ranks):
        jobs.check_exchange(self, job, ranks, "pmi-1")

    def test_find_each_other(self):
        self.check(run([self.HYDRA, "-n", 4, PEER, "exchange"]), 4)

    def test_find_each_other_through_PMI_PORT(self):
        self.check(run([self.HYDRA, "-pmi-port", "-n", 3, PEER, "exchange"]), 3)

    def test_find_each_other_across_emulated_nodes(self):
        nodes = ["-launcher", "fork", "-hosts", "127.0.0.1,127.0.0.2", "-ppn", 2]
        self.check(run([self.HYDRA, *nodes, "-n", 4, PEER, "exchange"]), 4)

    def test_exchange_large_values(self):
        job = run([self.HYDRA, "-n", 3, PEER, "big", 20000])
        self.check(job, 3)

    def test_abort_with_their_code(self):
        job = run([self.HYDRA, "-n", 2, PEER, "abort", 7, "sleep", 30])
        # Hydra prints the reason in most runs; in some it ends before it forwards the line.
        self.assertEqual(job.code, 7)

    def test_our_mpiexec_inside_theirs_is_a_job_of_its_own(self):
        job = run([self.HYDRA, "-n", 2, MPIEXEC, "-n", 2, PEER, "exchange"])
        self.assertEqual(job.code, 0, job.err)
        self.assertEqual(jobs.ranks_seen(job), [0, 0, 1, 1])
        self.assertEqual(len(jobs.jobs_seen(job)), 2)

    def test_theirs_inside_our_mpiexec_is_a_job_of_its_own(self):
        job = run([MPIEXEC, "-n", 1, self.HYDRA, "-n", 2, PEER, "exchange"])
        self.assertEqual(job.code, 0, job.err)
        self.assertEqual(jobs.ranks_seen(job), [0, 1])


class TheirRanksUnderOurMpiexec(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        os.makedirs(SCRATCH, exist_ok=True)
        with open(SCRATCH + "/theirs.c", "w", encoding="ascii") as file:
            file.write(PROGRAM)
        cls.program = SCRATCH + "/theirs"
        subprocess.run([MPICH + "/bin/mpicc_abi", "-o", cls.program, cls.program + ".c",
                        "-Wl,-rpath," + MPICH + "/lib"], check=True)

    def test_are_one_job(self):
        for ranks in (1, 4):
            job = run([MPIEXEC, "-n", ranks, self.program])
            self.assertEqual(job.code, 0, job.err)
            total = ranks * (ranks - 1) // 2
            self.assertEqual(sorted(job.out.splitlines()),
                             [f"rank {r} of {ranks} app 0 sum {total}" for r in range(ranks)])

    def test_are_told_which_program_they_are(self):
        job = run([MPIEXEC, "-n", 1, self.program, ":", "-n", 1, self.program])
        self.assertEqual(sorted(job.out.splitlines()),
                         ["rank 0 of 2 app 0 sum 1", "rank 1 of 2 app 1 sum 1"])

    def test_abort_with_their_code(self):
        job = run([MPIEXEC, "-n", 2, self.program, 9])
        self.assertEqual(job.code, 9)
        self.assertIn("rank 1", job.err)
        self.assertLess(job.seconds, 20)


if __name__ == "__main__":
    unittest.main(verbosity=2)
