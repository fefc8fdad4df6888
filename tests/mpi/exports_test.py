"""The library exports every MPI_ and PMPI_ function, nothing else, and all that mpi4py needs.

Usage: exports_test.py LIBRARY NAMES MPI4PY_NAMES
"""
import pathlib
import subprocess
import sys

# For libheadway.so and libmpifort_abi.so beside it, and those of headway/communicator.h.
OWN = {"headway_endpoint_table", "headway_attach_to_request", "headway_attach_to_partitions",
       "headway_attach_to_window", "headway_called_from", "headway_exchange_recorder",
       "headway_numbered", "headway_comm_set_priority", "headway_comm_get_priority"}


def exported(library):
    listing = subprocess.run(["nm", "-D", "--defined-only", library], check=True,
                             capture_output=True, text=True).stdout
    return {line.split()[-1]: line.split()[-2] for line in listing.splitlines()}


def main():
    library, names, mpi4py = sys.argv[1:]
    functions = set(pathlib.Path(names).read_text().split())
    wanted = functions | {f"P{name}" for name in functions} | OWN
    found = exported(library)
    needed = {line for line in pathlib.Path(mpi4py).read_text().split("\n")
              if line and line[0] != "#"}
    trouble = [f"missing: {name}" for name in sorted(wanted - set(found))]
    trouble += [f"too much: {name}" for name in sorted(set(found) - wanted)]
    trouble += [f"mpi4py needs: {name}" for name in sorted(needed - set(found))]
    # Strong PMPI_, weak MPI_: a profiler replaces the second and calls the first.
    trouble += [f"{name} is not weak" for name in sorted(functions & set(found))
                if found[name] not in "Ww"]
    trouble += [f"P{name} is weak" for name in sorted(functions)
                if found.get(f"P{name}") in ("W", "w")]
    soname = subprocess.run(["readelf", "-d", library], check=True, capture_output=True,
                            text=True).stdout
    if "libmpi_abi.so.1" not in soname:
        trouble.append("the soname is not libmpi_abi.so.1")
    print("\n".join(trouble))
    sys.exit(1 if trouble else 0)


main()
