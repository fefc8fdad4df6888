#!/usr/bin/env python3
"""Runs mpi4py's own tests on this library: the modules of modules.txt on 1 to 5 ranks, and its
small benchmarks on four.

    run.py --prefix BUILD_OR_INSTALL --work FOLDER [--only MODULE…] [--ranks N…]

Builds mpi4py 4.1.2 from its source distribution with PREFIX/bin/mpicc, once, into a virtual
environment under FOLDER; later runs use it again (it is linked to a library, not to a build).
Exit status 0: all passed; 1: something failed; 77: PyPI cannot be reached, said on standard error.
"""
import argparse
import os
import pathlib
import re
import subprocess
import sys
import tarfile

VERSION = "4.1.2"
HERE = pathlib.Path(__file__).parent
SKIPPED = 77
JOB_SECONDS_MAX = 200


def lines_of(name):
    """The lines of a data file, without comments."""
    for line in (HERE / name).read_text().splitlines():
        if line.strip() and not line.startswith("#"):
            yield line.strip()


def run(command, **options):
    return subprocess.run([str(part) for part in command], text=True, **options)


def fail_loudly(text, status):
    print(f"mpi4py tests: {text}", file=sys.stderr)
    sys.exit(status)


def prepare(prefix, work):
    """Returns (python, tests): a Python that has mpi4py built for us, and its tests' folder."""
    work.mkdir(parents=True, exist_ok=True)
    python = work / "venv/bin/python"
    source = work / f"mpi4py-{VERSION}"
    if not python.exists():
        run([sys.executable, "-m", "venv", work / "venv"], check=True)
    archive = work / f"mpi4py-{VERSION}.tar.gz"
    if not archive.exists():
        got = run([python, "-m", "pip", "download", "-q", "--no-binary", "mpi4py", "--no-deps",
                   "-d", work, f"mpi4py=={VERSION}"],
                  capture_output=True)
        if not archive.exists():
            fail_loudly(f"skipped, PyPI gives no mpi4py {VERSION}: {got.stderr[-300:]}", SKIPPED)
    if not source.exists():
        with tarfile.open(archive) as packed:
            packed.extractall(work)
    if run([python, "-c", "import mpi4py.MPI"], capture_output=True).returncode != 0:
        environment = {"MPICC": str(prefix / "bin/mpicc"), "MPI4PY_BUILD_MPIABI": "1",
                       "CFLAGS": "-O0"}
        built = run([python, "-m", "pip", "install", "-q", archive],
                    env={**os.environ, **environment}, capture_output=True)
        if built.returncode != 0:
            fail_loudly(f"skipped, mpi4py cannot be built: {built.stderr[-2000:]}",
                        SKIPPED if "Connection" in built.stderr else 1)
    done = run([python, "-c", "import mpi4py.MPI"], capture_output=True)
    if done.returncode != 0:
        fail_loudly(f"it cannot be imported: {done.stderr}", 1)
    return python, source / "test"


def run_modules(prefix, python, tests, modules, ranks):
    """True if the modules passed, one after the other in one job."""
    command = [prefix / "bin/mpiexec", "-n", ranks, "--timeout", JOB_SECONDS_MAX, python,
               tests / "main.py", "-q", "--no-builddir", *modules]
    done = run(command, capture_output=True)
    counts = re.findall(r"Ran (\d+) tests? in", done.stderr)
    good = done.returncode == 0 and len(counts) == ranks
    number = counts[0] if counts else "no"
    print(f"{'ok  ' if good else 'FAIL'} {len(modules)} modules on {ranks}: {number} tests",
          flush=True)
    if not good:
        print(done.stderr[-6000:], file=sys.stderr)
    return good


def run_benchmark(prefix, python, name, line):
    """True if it ended well and printed a line that matches."""
    done = run([prefix / "bin/mpiexec", "-n", 4, "--timeout", JOB_SECONDS_MAX, python,
                "-m", "mpi4py.bench", *name.split()], capture_output=True)
    good = done.returncode == 0 and re.search(line, done.stdout) is not None
    print(f"{'ok  ' if good else 'FAIL'} mpi4py.bench {name} on 4", flush=True)
    if not good:
        print(done.stdout[-3000:], done.stderr[-3000:], file=sys.stderr)
    return good


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--prefix", type=pathlib.Path, required=True)
    parser.add_argument("--work", type=pathlib.Path, required=True)
    parser.add_argument("--only", nargs="*")
    parser.add_argument("--ranks", nargs="*", type=int, default=range(1, 6))
    options = parser.parse_args()
    prefix = options.prefix.resolve()
    python, tests = prepare(prefix, options.work.resolve())
    good = True
    if not options.only:
        for name, line in (("helloworld", "process 3 of 4"), ("ringtest", "4 processes"),
                           ("pingpong --max-size 65536", r"65536 .*\|")):
            good &= run_benchmark(prefix, python, name, line)
    modules = options.only or list(lines_of("modules.txt"))
    for ranks in options.ranks:
        good &= run_modules(prefix, python, tests, modules, ranks)
    sys.exit(0 if good else 1)


if __name__ == "__main__":
    main()
