"""Hints of communicators, over shared memory, one connection and two; an unknown value is said.

Usage: hints_test.py MPIEXEC PROGRAM
"""
import os
import pathlib
import subprocess
import sys

PLACES = {
    "the default rails": {},
    "one connection": {"HEADWAY_RAILS": "tcp:lo"},
    "two connections": {
        "HEADWAY_RAILS": "tcp:lo", "HEADWAY_CONNECTIONS": "2"},
}
WARNINGS = {
    "mpi_strategies": "headway_strategy of communicator 'halo' is 'best', which is no strategy; "
                      "there are: fifo, aggregate, equal, sampled, parallel",
    "mpi_priority": "headway_priority of communicator 'halo' is 'high', which is no priority; "
                    "there are: normal, urgent",
}  # fmt: skip


def well(place, settings, mpiexec, program):
    done = subprocess.run([mpiexec, "-n", "2", "--timeout", "60", program], capture_output=True,
                          text=True, timeout=80, env=os.environ | settings)  # fmt: skip
    warning = WARNINGS[pathlib.Path(program).name]
    said = sum(warning in line for line in done.stderr.splitlines())
    if done.returncode == 0 and said == 2:  # once by each rank
        return True
    print(f"{place}: exit status {done.returncode}, {said} warnings\n{done.stdout}{done.stderr}")
    return False


def main():
    results = [well(place, settings, *sys.argv[1:]) for place, settings in PLACES.items()]
    sys.exit(0 if all(results) else 1)


main()
