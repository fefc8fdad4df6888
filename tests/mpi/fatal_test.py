"""A fatal error ends the job with one line that names rank, call, argument and value. What the
program had printed is there.

Usage: fatal_test.py MPIEXEC PROGRAM
"""
import subprocess
import sys


def run(command, ranks):
    done = subprocess.run(command, capture_output=True, text=True, timeout=20)
    lines = [line for line in done.stderr.splitlines() if line]
    wanted = [f"rank {ranks - 1}", "MPI_Send", "argument 4 (dest) is 77",
              f"MPI_COMM_WORLD has ranks 0 to {ranks - 1}", "MPI_ERR_RANK"]
    telling = [line for line in lines if all(word in line for word in wanted)]
    printed = "printed before the mistake" in done.stdout
    good = done.returncode not in (0, None) and len(telling) == 1 and printed
    if not good:
        print(f"{ranks} ranks: exit status {done.returncode}, {len(telling)} telling lines, "
              f"printed before: {printed}")
        print(done.stderr)
    return good


def main():
    mpiexec, program = sys.argv[1:]
    good = run([program], 1)
    for ranks in (2, 4):
        good &= run([mpiexec, "-n", str(ranks), program], ranks)
    sys.exit(0 if good else 1)


main()
