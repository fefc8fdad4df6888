#!/usr/bin/env python3
"""Kills one rank of death.c after so many collectives; the others must end by themselves, in time.

    death_test.py MPIEXEC PROGRAM
"""
import os
import subprocess
import sys
import time

LIMIT_S = 20.0


def run(mpiexec, program, ranks, fatal_round, algorithms=""):
    begin = time.monotonic()
    done = subprocess.run([mpiexec, "--keep-going", "-n", str(ranks), program, str(fatal_round)],
                          capture_output=True, text=True, timeout=LIMIT_S, check=False,
                          env={**os.environ, "HEADWAY_COLLECTIVES": algorithms})
    said = [line for line in done.stdout.splitlines() if "error class" in line]
    good = len(said) == ranks - 1 and "nobody noticed" not in done.stderr
    good = good and "it took" not in done.stderr
    if not good:
        print(f"{ranks} ranks, round {fatal_round} {algorithms}: {time.monotonic() - begin:.1f} s\n"
              f"{done.stdout}{done.stderr}", file=sys.stderr)
    return good


def main():
    mpiexec, program = sys.argv[1:]
    good = True
    for ranks in (2, 3, 4, 7):
        for fatal_round in (0, 1, 6, 7, 9, 10):
            good = run(mpiexec, program, ranks, fatal_round) and good
        for fatal_round in (10, 15):  # allreduces of 300 KB and 3 MB
            good = run(mpiexec, program, ranks, fatal_round, "allreduce:ring") and good
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
