"""What the tests of Fortran have in common: commands that must succeed, and programs of which each
rank prints `passed`."""

import os
import pathlib
import subprocess
import sys


def run(*command, compiler=None):
    """Runs a command, with `compiler` for mpifort. What it has printed. A failure ends the test."""
    words = [str(word) for word in command]
    env = os.environ | ({"HEADWAY_FC": compiler} if compiler else {})
    done = subprocess.run(words, env=env, text=True, stdin=subprocess.DEVNULL, timeout=240,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if done.returncode != 0:
        sys.exit(f"{' '.join(words)} exited with {done.returncode}\n{done.stdout}")
    return done.stdout


def run_on_ranks(build, program, counts):
    """`counts`: numbers of ranks, with commas between."""
    for count in counts.split(","):
        output = run(pathlib.Path(build, "bin/mpiexec"), "-n", count, "--timeout", "60", program)
        if output.count("passed") != int(count):
            sys.exit(f"on {count} ranks, not all passed:\n{output}")
