"""Programs that start, communicate and end as memcheck sees them: no invalid access, no use of what
was never written, no memory lost.

By default a few seconds of starts and ends; with HEADWAY_TEST_WHOLE each program over each rail and
on each number of ranks: about ten minutes.
"""

import collections
import os
import pathlib
import re
import shutil
import tempfile
import unittest

import jobs
from jobs import BUILD, MPIEXEC, WHOLE

FOUND = 99  # the exit status of a process in which memcheck found something
VALGRIND = ["valgrind", f"--error-exitcode={FOUND}", "--leak-check=full",
            "--show-leak-kinds=definite,indirect", "--errors-for-leak-kinds=definite,indirect",
            "--num-callers=30"]  # fmt: skip
# The beginnings of what it reports at once; the rest it adds up at the end.
AT_ONCE = r"==\d+== (Invalid|Mismatched|Conditional jump|Use of uninit|Syscall param|Source and)"
LIMIT = 300

Program = collections.namedtuple("Program", "name ranks rails", defaults=[("shm", "tcp:lo")])
SHORT = [Program("mpi_environment", (1, 2)), Program("endpoint_messages", (2,), ("shm",))]
ALL = [
    *(Program(f"mpi_{name}", (1, 2, 4)) for name in
      ("messages", "requests", "communicators", "sessions", "buffers", "threads")),
    *(Program(f"mpi_{name}", (1, 2)) for name in ("environment", "errors", "attributes")),
    *(Program(f"mpi_collectives_{name}", (1, 2, 4)) for name in ("small", "persistent", "varying")),
    *(Program(f"mpi_one_sided_{name}", (2, 4)) for name in ("epochs", "flush")),
    Program("mpi_partitioned", (2, 4)),
    Program("mpi_intercommunicators_creation", (2, 4)),
    Program("mpi_topologies_graphs", (4,)),
    *(Program(f"endpoint_{name}", (1, 2, 4)) for name in ("messages", "with_mpi", "churn")),
    *(Program(f"endpoint_{name}", (ranks,)) for name, ranks in (("calls", 1), ("packed", 2))),
]  # fmt: skip


class Memcheck(unittest.TestCase):
    def run_checked(self, program, ranks, rail):
        """The job, and how many processes came to their end as memcheck sees it."""
        with tempfile.TemporaryDirectory() as folder:
            rails = "self," + rail if program.startswith("endpoint") else rail
            job = jobs.run([MPIEXEC, "-n", ranks, "--timeout", LIMIT - 10, *VALGRIND,
                            f"--log-file={folder}/%p", f"{BUILD}/bin/{program}"], limit=LIMIT,
                           env=os.environ | {"HEADWAY_RAILS": rails})  # fmt: skip
            said = [path.read_text(errors="replace") for path in pathlib.Path(folder).iterdir()]
        ended = [text for text in said if "ERROR SUMMARY" in text]
        for text in said:
            shown = without_system_calls(text)
            self.assertNotRegex(shown, AT_ONCE)
            if text in ended:
                self.assertRegex(shown, "ERROR SUMMARY: 0 errors")
        return job, len(ended)

    def test_programs_that_end_well(self):
        for program in ALL if WHOLE else SHORT:
            for rail in program.rails:
                for ranks in program.ranks:
                    with self.subTest(program=program.name, ranks=ranks, rail=rail):
                        job, ended = self.run_checked(program.name, ranks, rail)
                        self.assertEqual(job.code, 0, job.out + job.err)
                        self.assertGreaterEqual(ended, ranks)

    # The launcher ends ranks while memcheck adds up, except where there is no other one.
    def test_a_program_that_fails(self):
        for ranks in (1, 2, 4) if WHOLE else (1,):
            for rail in ("shm", "tcp:lo"):
                with self.subTest(ranks=ranks, rail=rail):
                    job, _ = self.run_checked("mpi_fatal", ranks, rail)
                    self.assertIn("MPI_ERR_RANK", job.err)
                    self.assertNotEqual(job.code, FOUND)


def without_system_calls(text):
    """Without what memcheck says of system calls that it does not know."""
    return re.sub(r"(?m)^--\d+-- .*\n", "", text)


if __name__ == "__main__":
    if not shutil.which("valgrind"):
        jobs.skip("no valgrind here")
    unittest.main(verbosity=2)
