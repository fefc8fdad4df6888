#!/usr/bin/env python3
"""Every command of the README and of docs/ is run here, in the order of its page, or named below
with what runs it instead.

    doc_commands_test.py BUILD_FOLDER

A command is an indented line, or one of a console, whose first word is a program. Programs that
pages call `./program` or `./app` are examples/hello.
"""

import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

import jobs

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
HELLO = ROOT / "examples/hello"
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]

COMMAND = re.compile(
    r"^    (?P<line>(?:[A-Z_]+=\S+ )*(?:mpi(?:cc|cxx|fort|exec|run)(?:\.hydra)?|headway|make|srun|"
    r"cc|python3|pip|export|module|spack|update-alternatives|apt-get|dpkg-(?:buildpackage|source)|"
    r"cmake|ctest|\.(?= )|"
    r"(?:bench|build|tools|scripts|environment|\.ci)/\S+)(?: .*)?)$", re.M)  # fmt: skip

# (page, the command as it begins): what runs it instead.
ELSEWHERE = {
    ("README.md", "make demo"): "a person, on a fresh machine; scripts/demo: bench/compare_test.py",
    ("README.md", "make test"): "this is it",
    ("README.md", "make install"): "tests/install/installed_test.py",
    ("benchmarks.md", ""): "tests/bench",
    ("matrix.md", ""): "tests/bench/matrix_test.py",
    ("collectives.md", "headway tune"): "tests/system/tune_test.py",
    ("collectives.md", "mpiexec -n 16 headway tune"): "tests/system/tune_test.py",
    ("collectives.md", "srun"): "tests/system/slurm_test.py",
    ("endpoints.md", ""): "tests/endpoints/docs_test.py",
    ("fortran.md", "bench/fortran/run"): "a person; it downloads MPICH",
    ("mpiexec.md", ""): "tests/system/launcher_lines_test.py",
    ("packages.md", "make packages"): "itself: it tries the packages",
    ("packages.md", "dpkg-"): "scripts/make-packages without a folder, in .ci/nightly",
    ("packages.md", "update-alternatives"): "scripts/make-packages",
    ("packages.md", "python3 -m venv"): "tests/install/wheel_test.py",
    ("packages.md", "environment/bin"): "tests/install/wheel_test.py",
    ("packages.md", "MPICC="): "tests/mpi/mpi4py",
    ("packages.md", "export PATH"): "tests/install/installed_test.py",
    ("packages.md", ". PREFIX"): "tests/house/help_pages_test.py",
    ("packages.md", "module"): "tests/install/installed_test.py",
    ("packages.md", "spack"): "a person: no package registry has Spack",
    ("rails.md", ""): "tests/system/sample_test.py",
    ("simulation.md", ""): "tests/simulation",
    ("testing.md", "HEADWAY_RAILS=tcp:lo mpiexec -n 4 build"): "tests/traffic",
    ("testing.md", "cmake --preset tsan"): ".ci/nightly",
    ("testing.md", "HEADWAY_TEST_WHOLE=1 ctest"): ".ci/nightly",
    ("testing.md", "tools/analyse.py"): ".ci/nightly",
    ("watching.md", "headway top"): "tests/system/top_test.py",
}  # fmt: skip


def commands_of(page):
    text = re.sub(r"^```(?:sh|console)\n(.*?)^```", indented, page.read_text("utf-8"),
                  flags=re.M | re.S)  # fmt: skip
    return [found["line"] for found in COMMAND.finditer(text)]


def indented(block):
    return re.sub(r"^(?:\$ )?", "    ", block[1], flags=re.M)


def elsewhere(page, line):
    """The key of the table, or None."""
    fitting = [key for key in ELSEWHERE if key[0] == page.name and line.startswith(key[1])]
    return max(fitting, key=lambda key: len(key[1]), default=None)


class Commands(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        for name in ("hello.c", "hello.f90"):
            shutil.copy(HELLO / name, self.folder)
        self.environment = {
            **{name: text for name, text in os.environ.items() if not name.startswith("HEADWAY_")},
            "PATH": f"{jobs.BUILD}/bin:{os.environ['PATH']}",
        }
        self.run_line("mpicc hello.c -o program && cp program app")

    def run_line(self, line):
        done = subprocess.run(["bash", "-ec", line], cwd=self.folder, env=self.environment,
                              stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              timeout=120, check=False)  # fmt: skip
        self.assertEqual(done.returncode, 0, f"{line}\n{done.stdout}{done.stderr}")

    def test_every_command_of_every_page_does_what_it_is_for(self):
        ran = 0
        for page in PAGES:
            for line in commands_of(page):
                if elsewhere(page, line) or ("mpifort" in line and not shutil.which("gfortran")):
                    continue
                with self.subTest(page=page.name, line=line):
                    self.run_line(line)
                    ran += 1
                if (self.folder / "report.html").exists():  # the page compares two of them
                    for name in ("before.html", "after.html"):
                        shutil.copy(self.folder / "report.html", self.folder / name)
        self.assertGreater(ran, 5)

    def test_the_table_names_no_command_that_is_gone(self):
        named = {elsewhere(page, line) for page in PAGES for line in commands_of(page)}
        self.assertEqual(set(ELSEWHERE) - named, set())


if __name__ == "__main__":
    unittest.main()
