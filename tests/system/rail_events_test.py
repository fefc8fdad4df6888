"""A tool is told of a rail that is lost and of one that is back, by MPI_T, in both processes of a
job whose cable is pulled and put back.

Needs root for network namespaces; says so where it is not.
"""

import unittest

import cabled
from failover_test import run_in_trouble
from jobs import BUILD

PROGRAM = BUILD + "/bin/mpi_tools_rail_events"


class Events(unittest.TestCase):
    def test_both_processes_see_a_rail_go_and_come(self):
        def trouble(cables, over):
            """Again and again: what is lost and back before the rail is in use is no event."""
            while not over.is_set():
                cables.await_traffic("hw0", over)
                cables.pull("hw0")
                over.wait(2)
                cables.put_back("hw0")
                over.wait(4)

        job = run_in_trouble("1gbit+600mbit", trouble, PROGRAM)
        self.assertEqual(job.code, 0, job.err)
        for rank in range(2):
            self.assertIn(f"rank {rank} has seen a rail go and come", job.out)


if __name__ == "__main__":
    cabled.main("1gbit+600mbit", PROGRAM)
