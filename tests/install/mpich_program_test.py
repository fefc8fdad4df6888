#!/usr/bin/env python3
"""A program that MPICH's mpicc_abi built runs with our library if LD_LIBRARY_PATH names it."""

import subprocess
import sys
import unittest

import place
from place import HELLO, SCRATCH, run

VERSION = "5.0.2"
PEER = place.BUILD / "peers" / f"mpich-{VERSION}"


def peer():
    """Installs MPICH's wheel in the build folder, once. (Its folder or None, the error)."""
    if not (PEER / "bin" / "mpicc_abi").exists():
        subprocess.run([sys.executable, "-m", "venv", PEER], check=True)
        command = [PEER / "bin" / "pip", "install", "--quiet", f"mpich=={VERSION}"]
        done = subprocess.run(command, text=True, capture_output=True, timeout=200)
        if done.returncode != 0:
            return None, done.stderr.strip().splitlines()[-1]
    return PEER, ""


class MpichProgram(unittest.TestCase):
    def setUp(self):
        run(PEER / "bin" / "mpicc_abi", HELLO / "hello.c", "-o", "hello")
        self.ours = place.environment(LD_LIBRARY_PATH=place.BUILD / "lib")

    def test_it_runs_with_our_library_under_our_launcher(self):
        output = run(place.BUILD / "bin" / "mpiexec", "-n", 2, SCRATCH / "hello", env=self.ours)
        self.assertIn("the ranks add up to 1", output)

    def test_it_runs_with_our_library_under_mpichs_launcher(self):
        output = run(PEER / "bin" / "mpiexec", "-n", 2, SCRATCH / "hello", env=self.ours)
        self.assertIn("the ranks add up to 1", output)

    def test_the_loader_resolves_our_library(self):
        resolved = run("ldd", SCRATCH / "hello", env=self.ours)
        self.assertIn(str(place.BUILD / "lib" / "libmpi_abi.so.1"), resolved)


if __name__ == "__main__":
    folder, reason = peer()
    if folder is None:
        print(f"SKIPPED: PyPI's mpich {VERSION} could not be installed: {reason}")
        sys.exit(77)
    unittest.main(verbosity=2)
