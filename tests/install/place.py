"""Shared by the tests of this folder: the build folder, a scratch folder, running commands."""

import argparse
import os
import pathlib
import subprocess
import sys
import tempfile

parser = argparse.ArgumentParser()
parser.add_argument("--build", type=pathlib.Path, required=True)
parser.add_argument("--source", type=pathlib.Path, required=True)
options, rest = parser.parse_known_args()
sys.argv[1:] = rest

BUILD = options.build.resolve()
SOURCE = options.source.resolve()
HELLO = SOURCE / "examples" / "hello"

_scratch = tempfile.TemporaryDirectory(prefix="headway_install_")
os.chmod(_scratch.name, 0o755)  # an experiment also runs as an ordinary user
SCRATCH = pathlib.Path(_scratch.name)


def environment(**more):
    """This process's, without variables that select another MPI or another library."""
    foreign = ("HEADWAY_", "MPI_", "OMPI_", "MPICH_", "LD_LIBRARY_", "PKG_CONFIG_", "DESTDIR")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(foreign)}
    return kept | {name: str(value) for name, value in more.items()}


def run(*command, env=None, cwd=SCRATCH, timeout=120):
    """Runs a command and returns its output. Fails with all output if its status is not 0."""
    words = [str(word) for word in command]
    done = subprocess.run(words, env=env or environment(), cwd=cwd, timeout=timeout, text=True,
                          stdin=subprocess.DEVNULL, capture_output=True)
    if done.returncode != 0:
        raise AssertionError(f"{' '.join(words)} exited with {done.returncode}\n"
                             f"{done.stdout}{done.stderr}")
    return done.stdout


def install():
    """Installs as `make install` does, then moves the folder: tests show that it can be moved."""
    first, second = SCRATCH / "first", SCRATCH / "second folder"
    run("cmake", "--install", BUILD, "--strip", "--prefix", first)
    first.rename(second)
    return second
