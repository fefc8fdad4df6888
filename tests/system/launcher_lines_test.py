#!/usr/bin/env python3
"""Command lines of other launchers' users: all run, or are answered in one line with what to write.

    launcher_lines_test.py BUILD_FOLDER

The lines are examples of these manuals, or follow the syntax that they give:

    MPICH       the wiki's page "Using the Hydra Process Manager" ("wiki") and mpiexec(1) ("man"),
                both in MPICH's repository; `mpiexec.hydra -help` of MPICH 5.0 ("help")
    Open MPI    mpirun(1) of Open MPI 5.0
    Intel MPI   Developer Reference for Linux 2021.14, "Global Hydra Options" ("global"), "Local
                Options" ("local"), "gtool Options" ("gtool")

The lines of docs/mpiexec.md are run too. Programs are scripts here that write down that they ran.
Host names are as in the manuals; a script that prints its words stands in for Hydra.
"""

import os
import re
import shlex
import stat
import subprocess
import tempfile
import unittest

from jobs import MPIEXEC

# (where it is from, the line, what is expected): a number is that of the ranks that run here, a
# text that begins with '-' what Hydra is started with, another what the one line of answer says.
LINES = (
    ("MPICH, man", "mpiexec -n 4 a.out", 4),
    ("MPICH, man", "mpiexec -n 4 ocean : -n 8 air", 12),
    ("MPICH, man", "mpiexec -configfile config", 5),
    ("MPICH, wiki", "mpiexec ./app", 1),
    ("MPICH, wiki", "mpiexec -f hosts -n 4 ./app", "-hosts donner:2,foo:3,shakey:2 -n 4 ./app"),
    ("MPICH, wiki", "mpiexec -f hosts -n 4 ./app1 : -n 4 ./app2",
     "-hosts donner:2,foo:3,shakey:2 -n 4 ./app1 : -n 4 ./app2"),
    ("MPICH, wiki", "mpiexec -f hosts -iface ib0 -n 4 ./app1",
     "-hosts donner:2,foo:3,shakey:2 -iface ib0 -n 4 ./app1"),
    ("MPICH, wiki", "mpiexec -launcher ssh -launcher-exec /usr/bin/ssh -f hosts -n 4 ./app",
     "-hosts donner:2,foo:3,shakey:2 -launcher ssh -launcher-exec /usr/bin/ssh -n 4 ./app"),
    ("MPICH, wiki", "mpiexec -rmk pbs ./app", 1),
    ("MPICH, wiki", "mpiexec -n 8 -bind-to hwthread ./app", 8),
    ("MPICH, wiki", "mpiexec -n 8 -bind-to core:2 ./app", 8),
    ("MPICH, wiki", "mpiexec -n 8 -bind-to socket -map-by hwthread ./app", 8),
    ("MPICH, wiki", "mpiexec -enable-x -f hosts -n 4 ./app",
     "-hosts donner:2,foo:3,shakey:2 -enable-x -n 4 ./app"),
    ("MPICH, wiki", "mpiexec -demux select -n 4 ./app", 4),
    ("MPICH, help", "mpiexec -genv FOO bar -genvall -n 2 ./app", 2),
    ("MPICH, help", "mpiexec -ppn 2 -hosts donner,foo -n 4 ./app",
     "-hosts donner,foo -ppn 2 -n 4 ./app"),
    ("MPICH, help", "mpiexec -prepend-rank -outfile-pattern out.%r -n 2 ./app", 2),
    ("MPICH, help", "mpiexec -print-all-exitcodes -disable-auto-cleanup -verbose -n 2 ./app", 2),
    ("MPICH, help", "mpiexec -genvnone -n 2 ./app", "write: env -i"),
    ("MPICH, help", "mpiexec -membind firsttouch -n 2 ./app", "write: .*numactl"),

    ("Open MPI", "mpirun -H aa,aa,bb ./a.out", "-hosts aa:2,bb -n 3 ./a.out"),
    ("Open MPI", "mpirun --hostfile myhostfile ./a.out", "-hosts aa:2,bb:2,cc:2 -n 6 ./a.out"),
    ("Open MPI", "mpirun -H aa,bb --map-by ppr:2:node ./a.out", "-hosts aa,bb -ppn 2 -n 4 ./a.out"),
    ("Open MPI", "mpirun -H aa,bb --pernode ./a.out", "-hosts aa,bb -ppn 1 -n 2 ./a.out"),
    ("Open MPI", "mpirun -H aa -n 1 hostname : -H bb,cc -n 2 uptime",
     "-hosts aa,bb,cc -n 1 hostname : -n 2 uptime"),
    ("Open MPI", "mpirun --np 4 --report-bindings --map-by core --bind-to core ./a.out", 4),
    ("Open MPI", "mpirun --np 4 --report-bindings --map-by package --bind-to package ./a.out", 4),
    ("Open MPI", "mpirun --np 4 --report-bindings --map-by slot:PE=2 --bind-to core ./a.out", 4),
    ("Open MPI", "mpirun --np 4 --map-by package --bind-to package --rank-by span ./a.out",
     "write: --map-by"),
    ("Open MPI", "mpirun -x PATH -x OFILE=/tmp/out my_executable", 1),
    ("Open MPI", "mpirun --mca btl tcp,self -n 1 ./a.out", 1),
    ("Open MPI", "mpirun --tag-output --stdin none --oversubscribe -np 4 ./a.out", 4),
    ("Open MPI", "mpirun --output-filename logs/run -np 2 ./a.out", 2),
    ("Open MPI", "mpirun --xterm 0 -np 2 ./a.out", "write: mpiexec -n 1 xterm"),
    ("Open MPI", "mpirun --timestamp-output -np 2 ./a.out", r"write: .*\bts\b"),
    ("Open MPI", "mpirun --display bind,map -np 2 ./a.out", 2),
    ("Open MPI", "mpirun --display-allocation -np 2 ./a.out", 2),
    ("Open MPI", "mpirun --map-by :OVERSUBSCRIBE -np 8 ./a.out", 8),
    ("Open MPI", "mpirun --map-by core:OVERSUBSCRIBE --bind-to core:overload-allowed -np 4 ./a.out",
     4),
    ("Open MPI", "mpirun --display topo -np 2 ./a.out", "write: bind, map or allocation"),
    ("Open MPI", "mpirun --rankfile myrankfile ./a.out", "write: --bind-to"),

    ("Intel MPI, global", "mpirun -perhost 2 -n 4 -machinefile hosts ./app",
     "-hosts donner:2,foo:3,shakey:2 -ppn 2 -n 4 ./app"),
    ("Intel MPI, global", "mpirun -genv I_MPI_DEBUG=5 -l -n 4 ./app", 4),
    ("Intel MPI, global", "mpirun -s all -n 2 ./app", 2),
    ("Intel MPI, global", "mpirun -configfile config", 5),
    ("Intel MPI, global", "mpirun -aps -n 2 ./app",
     "write: mpiexec --report FILE …, HEADWAY_STATS=1 mpiexec …, or HEADWAY_TRACE="),
    ("Intel MPI, global", "mpirun -print-rank-map -localhost localhost -n 2 ./app", 2),
    ("Intel MPI, global", "mpirun -ordered-output -n 2 ./app", "write: --label"),
    ("Intel MPI, global", "mpirun -tmpdir /scratch -n 2 ./app", "write: TMPDIR=DIRECTORY mpiexec"),
    ("Intel MPI, global", "mpirun -genvexcl A,B -n 2 ./app", "write: env -u NAME"),
    ("Intel MPI, global", "mpirun -genvuser -n 2 ./app", 2),
    ("Intel MPI, global", "mpirun -check_mpi -n 2 ./app", "write: mpiexec … valgrind"),
    ("Intel MPI, local", "mpirun -envuser -n 2 ./app", 2),
    ("Intel MPI, local", "mpirun -env OMP_NUM_THREADS 2 -host localhost -n 2 ./app", 2),
    ("Intel MPI, local", "mpirun -wdir . -umask 022 -n 2 ./app", "write: umask"),
    ("Intel MPI, gtool", "mpirun -n 4 -gtool gdb:0,1=attach ./app", "write: .*--gdb=RANKS"),
)  # fmt: skip

PROGRAMS = "a.out app app1 app2 ocean air my_executable hostname uptime"
FILES = {
    "hosts": "# This is a sample host file\ndonner:2  # first\nfoo:3\nshakey:2\n",
    "myhostfile": "aa slots=2\nbb slots=2\ncc slots=2\n",
    "input": "some text\n",
    "config": "# comment\n-n 2 ./app\n-n 3 ./app2\n",
}


def write(path, text, mode=0o644):
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    os.chmod(path, mode | stat.S_IRUSR)


PAGE = os.path.join(os.path.dirname(__file__), "..", "..", "docs", "mpiexec.md")


class Lines(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.here = self.folder.name
        for program in PROGRAMS.split():
            write(f"{self.here}/{program}", f'echo ran >> "{self.here}/ran"\n', 0o755)
        for name, text in FILES.items():
            write(f"{self.here}/{name}", text)
        os.mkdir(f"{self.here}/launchers")
        write(f"{self.here}/launchers/mpiexec.hydra", '#!/bin/sh\necho "$@"\n', 0o755)

    def tearDown(self):
        self.folder.cleanup()

    def run_line(self, line, launchers=True):
        words = shlex.split(line)
        path = f"{self.here}/launchers:/bin" if launchers else "/nonexistent"
        kept = {k: v for k, v in os.environ.items() if not k.startswith("SLURM_")}
        return subprocess.run([MPIEXEC, *words[1:]], cwd=self.here, env=kept | {"PATH": path},
                              input="", text=True, capture_output=True, timeout=60, check=False)

    def ran(self):
        try:
            with open(f"{self.here}/ran", encoding="ascii") as file:
                return len(file.readlines())
        except FileNotFoundError:
            return 0
        finally:
            if os.path.exists(f"{self.here}/ran"):
                os.unlink(f"{self.here}/ran")

    def test_there_are_forty(self):
        self.assertGreaterEqual(len(LINES), 40)

    def test_each_runs_or_says_what_to_write(self):
        for source, line, expected in LINES:
            with self.subTest(source=source, line=line):
                done = self.run_line(line)
                if isinstance(expected, int):
                    self.assertEqual((done.returncode, self.ran()), (0, expected), done.stderr)
                elif expected.startswith("-"):
                    self.assertEqual((done.returncode, done.stdout), (0, expected + "\n"),
                                     done.stderr)
                else:
                    self.assertEqual((done.returncode, self.ran()), (2, 0))
                    self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
                    self.assertRegex(done.stderr, re.compile(expected))

    def test_the_lines_of_the_page_run(self):
        with open(PAGE, encoding="utf-8") as file:
            lines = re.findall(r"^    (mpiexec .*?)(?:  +#.*)?$", file.read(), re.MULTILINE)
        self.assertGreater(len(lines), 10)
        for line in lines:
            with self.subTest(line=line):
                done = self.run_line(line)
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertTrue(self.ran() or "-hosts " in done.stdout)

    def test_without_a_launcher_for_other_machines_one_line_says_so(self):
        done = self.run_line("mpiexec -hosts donner,foo -n 2 ./app", launchers=False)
        self.assertEqual((done.returncode, done.stderr.count("\n")), (2, 1), done.stderr)
        for launcher in ("srun", "mpiexec.hydra", "prterun"):
            self.assertIn(launcher, done.stderr)


if __name__ == "__main__":
    unittest.main(verbosity=2)
