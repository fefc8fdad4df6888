#!/usr/bin/env python3
"""Every command of the README, of CONTRIBUTING.md and of docs/ is run here, in the order of its
page, or is in the table below: with the test that runs it, or with why none does.

    doc_commands_test.py BUILD_FOLDER

A command is an indented line, one of a console, or one in running text or a table that has
arguments; its first word is a program. With "…", "[" or "A|B" in it, it is the form of several
commands, and not run. Programs that pages call `./program`, `./app`, `./a`, `./b`, `./p` and so on
are examples/hello; PREFIX is the build folder as an installation would be.
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
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]

PROGRAM = (
    r"(?:[A-Z][A-Z0-9_]*=\S+ +)*"
    r"(?:mpi(?:cc|cxx|fort|exec|run)(?:\.hydra)?|headway(?! top:)|make|srun|prterun|cc|python3|pip|"
    r"pkg-config|export|module|spack|update-alternatives|apt-get|dpkg-(?:buildpackage|source)|"
    r"cmake|ctest|ninja|simulate|oracle|time|"
    r"(?:bench|build|tools|scripts|tests|environment|\.ci)/[\w./-]+)"
)  # fmt: skip
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```[ \t]*$", re.M | re.S)
LINE = re.compile(rf"^ {{4,}}((?:{PROGRAM}|\.)(?: .*)?)$", re.M)
SPAN = re.compile(r"(?<!`)`([^`]+)`(?!`)")
COMMENT = re.compile(r"  +#.*| {3,}[a-z].*")  # what a page says of the command behind it
FORM = re.compile(r"…| \[|\w\|\w")
# A subcommand or an option that is spoken of.
NAME = re.compile(
    r"headway (?:bench|report|sample|top|tune)(?: --\w+)?|(?:mpiexec|srun)(?: -[\w=-]+)+"
)

RUN = "run"
MEASURES = "not run: measures for minutes, on an idle machine"
RECORD = "not run: says how a figure of the page was measured"
CLUSTER = "not run: wants a Slurm cluster; tests/system/slurm_test.py has one, for other programs"
HYDRA = "not run: wants other machines; tests/system/launchers_test.py starts jobs so on this one"
BUILDS = "not run: it would build beside the tests that run"

# (how the page's path begins, how the command begins): what is done with it. The longest fits. A
# pair is a file and a text in it: the line that runs the command.
TABLE = {
    ("", ""): RUN,
    ("", "srun"): CLUSTER,
    ("", "prterun"): "not run: wants PRRTE; tests/system/pmix_test.py installs and starts it",
    ("", "mpiexec.hydra"): HYDRA,
    ("", "bench/compare"): MEASURES,
    ("", "mpiexec -n 2 build/release/bench/"): MEASURES,
    ("", "make"): BUILDS,
    ("", "cmake --preset"): BUILDS,
    ("", "cmake --build"): BUILDS,
    ("", "make install"): ("tests/install/place.py", '"cmake", "--install"'),
    ("", "make demo"): "not run: it would install packages; tests/bench/compare_test.py draws",
    ("", "ctest"): "not run: ctest runs this test",
    ("", ".ci/"): "not run: it runs this test",
    ("", "pip install ."): ("tests/install/wheel_test.py", '"install", "--quiet", wheel'),
    ("", "pip wheel ."): ("tests/install/wheel_test.py", '"pip", "wheel"'),
    ("", "make packages"): (".ci/nightly", "scripts/make-packages"),
    ("", "make site"): (".ci/nightly", "make site"),
    ("", "make test"): (".ci/nightly", "make test"),
    ("", "bench/mpi/"): RECORD,
    ("", "spack"): "not run: no package registry has Spack; a person",
    ("", "tools/analyse.py"): (".ci/nightly", "tools/analyse.py"),

    ("README.md", "apt-get"): "not run: installs a package of Debian",
    ("README.md", "mpiexec -hosts a,b"): ("tests/system/launcher_lines_test.py", "-hosts donner"),
    ("README.md", "mpiexec -n 4 python -m mpi4py"): ("tests/mpi/mpi4py/run.py", "helloworld"),
    ("README.md", "MPICC="): ("tests/mpi/mpi4py/run.py", '"MPICC": str(prefix'),

    ("docs/benchmarks.md", ""): MEASURES,
    ("docs/collectives.md", "headway tune"): ("tests/system/tune_test.py", 'HEADWAY, "tune"'),
    ("docs/collectives.md", "mpiexec -n 16 headway tune"): ("tests/system/tune_test.py",
                                                            'before=(jobs.MPIEXEC, "-n", "2")'),
    ("docs/collectives.md", "mpiexec -n 4 collectives"): RECORD,
    ("docs/decisions/", ""): RECORD,
    ("docs/decisions/", "headway info"): RUN,
    ("docs/endpoints.md", ""): ("tests/endpoints/docs_test.py", "CONSOLE.finditer"),
    ("docs/endpoints.md", "cc program.c"): ("tests/install/installed_test.py",
                                            '"--libs", "headway", env=env'),
    ("docs/endpoints.md", "mpicc program.c"): RUN,
    ("docs/endpoints.md", "export"): RUN,
    ("docs/endpoints.md", "pip install"): ("tests/install/wheel_test.py",
                                           '"install", "--quiet", wheel'),
    ("docs/experiments/", ""): RECORD,
    ("docs/experiments/README.md", "headway bench list"): RUN,
    ("docs/experiments/README.md", "headway bench"):
        "not run: minutes; tests/bench/headway_bench_test.py runs E9 --quick",
    ("docs/failures.md", "tests/system/refusal_sweep.py"): ("tests/system/CMakeLists.txt",
                                                            "headway_launch_test(refusal_sweep"),
    ("docs/for/mpi-programs.md", "MPICC="): ("tests/mpi/mpi4py/run.py", '"MPICC": str(prefix'),
    ("docs/fortran.md", "bench/fortran/run"): "not run: downloads and builds MPICH; a person",
    ("docs/matrix.md", ""): MEASURES,
    ("docs/mpiexec.md", "mpiexec -hosts"): ("tests/system/launcher_lines_test.py", "of_the_page"),
    ("docs/mpiexec.md", "mpiexec -f hosts"): ("tests/system/launcher_lines_test.py", "of_the_page"),
    ("docs/mpiexec.md", "mpiexec -configfile"): ("tests/system/launcher_lines_test.py",
                                                 "of_the_page"),
    ("docs/mpiexec.md", "mpiexec --gdb=1"): ("tests/system/mpiexec_test.py", '"--gdb=1"'),
    ("docs/mpi5.md", "python3 api/scoreboard.py"): ("tests/mpi/CMakeLists.txt",
                                                    "api/scoreboard.py"),
    ("docs/packages.md", "apt-get install"): ("scripts/make-packages", "recommends /try/*.deb"),
    ("docs/packages.md", "dpkg-buildpackage -us -uc -S"): ("scripts/make-packages",
                                                           "dpkg-buildpackage -us -uc -S"),
    ("docs/packages.md", "dpkg-source"): ("scripts/make-packages", "dpkg-source -x"),
    ("docs/packages.md", "dpkg-buildpackage -us -uc -b"): ("scripts/make-packages",
                                                           "dpkg-buildpackage -us -uc -b"),
    ("docs/packages.md", "update-alternatives --set mpi "): ("scripts/make-packages",
                                                             "update-alternatives --set mpi "),
    ("docs/packages.md", "update-alternatives --set mpirun"): ("scripts/make-packages",
                                                               "update-alternatives --set mpirun"),
    ("docs/packages.md", "python3 -m venv"): ("tests/install/wheel_test.py", '"-m", "venv"'),
    ("docs/packages.md", "environment/bin/pip"): ("tests/install/wheel_test.py",
                                                  '"install", "--quiet", wheel'),
    ("docs/packages.md", "environment/bin/mpiexec"): ("tests/install/wheel_test.py",
                                                      '"mpiexec", "-n", 2, BIN / "python"'),
    ("docs/packages.md", "MPICC="): ("tests/mpi/mpi4py/run.py", '"MPICC": str(prefix'),
    ("docs/packages.md", "module"): ("tests/install/installed_test.py", '"sh", "load", "headway"'),
    ("docs/rails.md", "headway sample"): ("tests/system/sample_test.py", '"sample", "--quick"'),
    ("docs/security.md", "tools/fuzz_coverage.py"): BUILDS,
    ("docs/simulation.md", "tests/simulation/mutations.py"): BUILDS,
    ("docs/simulation.md", "time simulate"): RECORD,
    ("docs/testing.md", "cmake --preset tsan"): (".ci/nightly", "tests tsan"),
    ("docs/testing.md", "simulate --from SEED --seeds COUNT"): RECORD,
    ("docs/testing.md", "HEADWAY_TEST_WHOLE=1"): (".ci/nightly", "export HEADWAY_TEST_WHOLE=1"),
    ("docs/watching.md", "headway top"): ("tests/system/top_test.py", 'HEADWAY, "top"'),
    ("docs/watching.md", "headway top | jq"):
        "not run: jq is no dependency; tests/system/top_test.py reads the same lines",
    ("docs/watching.md", "mpiexec -n 2 pingpong"): RECORD,
}  # fmt: skip

# What stands for something else in a command, and what takes long, in the commands that are run.
COPIES = "app app1 app2 a b p"
INSTEAD = (
    (r"\bbuild/(?:release|dev)\b", jobs.BUILD),
    (r"^scripts/", f"{ROOT}/scripts/"),
    (r"^ninja ", "ninja -n "),  # knows the targets, builds nothing
    (r"^(?=simulate |oracle )", f"{jobs.BUILD}/bin/"),
    (r"--seeds 1000\b", "--seeds 20"),
    (r"--seeds 50 --length 64\b", "--seeds 2 --length 4"),
    (r"--seconds 3600\b", "--seconds 1"),
    (r"\bSEED\b", "7"),
    (r"\bWORD\b", "tcp"),
    (r"\bTOOL\b", "env"),
)


def indented(block):
    """The commands of a block as indented lines: in a console they follow a "$"."""
    lines = block[2].replace("\\\n", " ").splitlines()
    if block[1] == "sh":
        return "\n".join("    " + line for line in lines)
    shown = [line[2:] for line in lines if line.startswith("$ ")] if block[1] in "console" else []
    return "\n".join("    " + line for line in shown)


def commands_of(page):
    text = BLOCK.sub(indented, page.read_text("utf-8")).replace("\\\n", " ")
    found = [(match.start(), match[1]) for match in LINE.finditer(text)]
    found += [(match.start(), match[1]) for match in SPAN.finditer(LINE.sub(blank, text))
              if re.fullmatch(rf"{PROGRAM} .+", match[1]) and not NAME.fullmatch(match[1])]
    return list(dict.fromkeys(COMMENT.sub("", line).strip() for _, line in sorted(found)))


def blank(match):
    return " " * len(match[0])


def name_of(page):
    return page.relative_to(ROOT).as_posix()


def key_of(page, line):
    fitting = [key for key in TABLE if name_of(page).startswith(key[0]) and line.startswith(key[1])]
    return max(fitting, key=lambda key: (len(key[1]) if not key[0] else 1000 + len(key[1])))


class Commands(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        for name in ("hello.c", "hello.f90", "hello.c program.c"):
            shutil.copy(HELLO / name.split()[0], self.folder / name.split()[-1])
        self.make_prefix()
        self.environment = {
            **{name: text for name, text in os.environ.items() if not name.startswith("HEADWAY_")},
            "PATH": f"{jobs.BUILD}/bin:{os.environ['PATH']}",
            "PKG_CONFIG_PATH": f"{self.folder}/PREFIX/lib/pkgconfig",
            "XDG_CACHE_HOME": str(self.folder),
        }
        self.run_line(f"mpicc hello.c -o program && for i in {COPIES}; do cp program $i; done")

    def make_prefix(self):
        prefix, build = self.folder / "PREFIX", pathlib.Path(jobs.BUILD)
        for name in ("lib/pkgconfig", "include"):
            (prefix / name).mkdir(parents=True)
        files = {"bin": build / "bin", "share": build / "share",
                 "include/headway": ROOT / "include/headway"}  # fmt: skip
        files |= {f"include/{path.name}": path for path in (build / "include").iterdir()}
        files |= {f"lib/{path.name}": path for path in (build / "lib").glob("*.so*")}
        files |= {f"lib/pkgconfig/{path.name}": path for path in (build / "installed").glob("*.pc")}
        for name, target in files.items():
            (prefix / name).symlink_to(target)

    def run_line(self, line):
        for pattern, text in INSTEAD:
            line = re.sub(pattern, text, line)
        done = subprocess.run(["bash", "-ec", line], cwd=self.folder, env=self.environment,
                              stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              timeout=120, check=False)  # fmt: skip
        self.assertEqual(done.returncode, 0, f"{line}\n{done.stdout}{done.stderr}")

    def test_every_command_of_every_page_does_what_it_is_for(self):
        ran = set()
        for page in PAGES:
            for line in commands_of(page):
                if FORM.search(line) or TABLE[key_of(page, line)] != RUN or line in ran:
                    continue
                if "mpifort" in line and not shutil.which("gfortran"):
                    continue
                with self.subTest(page=name_of(page), line=line):
                    self.run_line(line)
                    ran.add(line)
                if (self.folder / "report.html").exists():  # the page compares two of them
                    for name in ("before.html", "after.html"):
                        shutil.copy(self.folder / "report.html", self.folder / name)
        self.assertGreater(len(ran), 50)
        print(f"{len(ran)} commands were run", flush=True)

    def test_the_table_names_no_command_that_is_gone(self):
        used = {key_of(page, line) for page in PAGES for line in commands_of(page)}
        self.assertEqual(set(TABLE) - used, set())

    def test_what_is_said_to_run_a_command_has_the_line_that_does(self):
        for key, done in TABLE.items():
            with self.subTest(key=key):
                if isinstance(done, tuple):
                    self.assertIn(done[1], (ROOT / done[0]).read_text("utf-8"))
                else:
                    self.assertTrue(done == RUN or done.startswith("not run: "), done)

    def test_programs_of_commands_that_are_not_run_exist(self):
        sources = {path.stem for folder in ("bench", "tests", "tools")
                   for path in (ROOT / folder).rglob("*.c*")}  # fmt: skip
        for page in PAGES:
            for line in commands_of(page):
                for word in re.findall(r"(?:^| )((?:bench|tools|scripts|tests)/[\w./-]+)", line):
                    made = re.fullmatch(r"bench/(\w+)", word)
                    with self.subTest(page=name_of(page), line=line):
                        self.assertTrue((ROOT / word).exists() or (made and made[1] in sources))
                for word in re.findall(r"\bbuild/(?:release|dev)/(?:bench|bin)/(\w+)", line):
                    with self.subTest(page=name_of(page), line=line):
                        made = pathlib.Path(jobs.BUILD, "bin", word)
                        self.assertTrue(word in sources or made.exists())

    def test_each_kind_of_user_has_a_page_that_begins_with_a_command(self):
        readme, site = (ROOT / "README.md").read_text("utf-8"), (ROOT / "mkdocs.yml").read_text()
        pages = sorted((ROOT / "docs/for").iterdir())
        self.assertGreaterEqual(len(pages), 5)
        for page in pages:
            with self.subTest(page=page.name):
                self.assertTrue(commands_of(page))
                self.assertIn("**What to expect.**", page.read_text("utf-8"))
                self.assertIn(f"(docs/for/{page.name})", readme)
                self.assertIn(f": for/{page.name}\n", site)


if __name__ == "__main__":
    unittest.main()
