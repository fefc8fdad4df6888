#!/usr/bin/env python3
"""What bench/instructions reads from callgrind_annotate, and its refusals."""

import pathlib
import subprocess
import sys
import unittest

sys.dont_write_bytecode = True
BENCH = pathlib.Path(__file__).resolve().parents[2] / "bench"
sys.path.insert(0, str(BENCH))
from side_by_side.instructions import Count, counted  # noqa: E402

TABLE = """
Events shown:     Ir

  2,000 (20.00%)  < bench:timed (4x) [bench/pingpong]
     60 ( 0.60%)  < bench:first (1,002x) [bench/pingpong]
  2,060 (20.60%)  *  entries:PMPI_Irecv [lib/libmpi_abi.so.1]
  1,500 (15.00%)  >   message:start (1,006x)

     10 ( 0.10%)  < bench:timed (1x) [bench/pingpong]
     10 ( 0.10%)  *  entries:refuse_PMPI_Irecv [lib/libmpi_abi.so.1]

    700 ( 7.00%)  < ???:timed (7x) [pingpong]
    700 ( 7.00%)  *  ???:MPI_Waitall [lib/libmpi.so.40]

    900 ( 9.00%)  *  ???:PMPI_Send [lib/libmpi.so.40]
"""


class Counted(unittest.TestCase):
    def test_calls_are_those_of_all_callers(self):
        self.assertEqual(counted(TABLE)["MPI_Irecv"], Count(1006, 2060))

    def test_a_call_has_one_name_with_and_without_the_p(self):
        self.assertEqual(counted(TABLE)["MPI_Waitall"], Count(7, 700))

    def test_other_functions_and_those_without_callers_are_left_out(self):
        self.assertEqual(set(counted(TABLE)), {"MPI_Irecv", "MPI_Waitall"})


class Refusals(unittest.TestCase):
    def refused(self, *words):
        done = subprocess.run([BENCH / "instructions", *words], capture_output=True, text=True)
        self.assertNotEqual(done.returncode, 0)
        return done.stderr

    def test_a_library_is_needed(self):
        self.assertIn("--ours", self.refused("--rank", "0"))

    def test_there_are_two_ranks(self):
        self.assertIn("--rank", self.refused("--ours", "build", "--rank", "2"))


if __name__ == "__main__":
    unittest.main()
