"""A report names the place in the Fortran program that makes a call, in each form of the interface.

Usage: call_sites_test.py BUILD COMPILER WORK SOURCE C-SOURCE
"""

import json
import os
import pathlib
import sys

sys.dont_write_bytecode = True
from commands import run  # noqa: E402

SENDS = {"by_mpif": 100, "by_mpi": 200, "by_mpi_f08": 300, "call_in_c": 50, "by_section": 1}
OTHERS = {"MPI_Comm_size", "MPI_Op_create", "MPI_Allreduce", "MPI_Op_free", "MPI_Barrier"}
RANKS = 2


def main():
    build, compiler, work, source, c_source = sys.argv[1:]
    binaries, folder = pathlib.Path(build, "bin"), pathlib.Path(work)
    folder.mkdir(parents=True, exist_ok=True)
    os.chdir(folder)
    run(binaries / "mpicc", "-g", "-c", c_source, "-o", "in_c.o")
    run(binaries / "mpifort", "-g", source, "in_c.o", "-o", "call_sites", compiler=compiler)
    run(binaries / "mpiexec", "--report", "report.html", "-n", RANKS, "./call_sites")
    data = json.loads(run(binaries / "headway", "report", "--json", "report.html"))
    for function, places in (("MPI_Send", SENDS), ("MPI_Alltoallw", {"by_conversion": 1})):
        found = {site["place"].split(" ")[0].strip(",_"): site["calls"]
                 for site in data["calls"] if site["function"] == function}
        expected = {place: calls * RANKS for place, calls in places.items()}
        if found != expected:
            sys.exit(f"{function}: found {found}, not {expected}")
    counted = {site["function"] for site in data["calls"]}
    if counted != OTHERS | {"MPI_Send", "MPI_Alltoallw"}:
        sys.exit(f"the program does not call these alone: {sorted(counted)}")
    unexpected = [site for site in data["calls"]
                  if any(word in site["place"] for word in ("mpi_send", "mpi_op", "entries_"))]
    if unexpected:
        sys.exit(f"not a place in the program: {unexpected}")


if __name__ == "__main__":
    main()
