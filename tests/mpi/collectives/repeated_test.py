#!/usr/bin/env python3
"""Sums of floating point have the same bits in every run on as many ranks.

    repeated_test.py MPIEXEC PROGRAM

Runs PROGRAM several times on each number of ranks, beside a computing process in every second run,
so that messages and waits come in another order, and compares what it prints.
"""
import subprocess
import sys

RUNS = 4
RANKS = (2, 3, 4, 7)


def results(mpiexec, program, ranks, loaded):
    """What a run prints of its results."""
    load = subprocess.Popen([sys.executable, "-c", "while True: pass"]) if loaded else None
    try:
        done = subprocess.run([mpiexec, "-n", str(ranks), "--timeout", "60", program],
                              capture_output=True, text=True)
    finally:
        if load:
            load.kill()
            load.wait()
    if done.returncode != 0:
        sys.exit(f"{ranks} ranks: {done.stderr}{done.stdout[-500:]}")
    return [line for line in done.stdout.splitlines() if len(line.split()) == 4]


def main():
    mpiexec, program = sys.argv[1:]
    for ranks in RANKS:
        first = results(mpiexec, program, ranks, False)
        if not first:
            sys.exit(f"{ranks} ranks: no results")
        for run in range(1, RUNS):
            again = results(mpiexec, program, ranks, run % 2 == 1)
            differing = [f"{a} / {b}" for a, b in zip(first, again) if a != b]
            if differing or len(first) != len(again):
                sys.exit(f"{ranks} ranks, run {run}: {len(differing)} of {len(first)} results "
                         f"differ, as {differing[:3]}")
        print(f"{ranks} ranks: {len(first)} results, the same in {RUNS} runs")


if __name__ == "__main__":
    main()
