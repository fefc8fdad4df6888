"""Our library for Fortran has every procedure that Intel's libmpifort_abi.so.1 has. Skipped (77) if
Intel MPI is not there; `bench/compare --peer impi` installs it.

Usage: intel_names_test.py NAMES INTEL
"""
import pathlib
import re
import subprocess
import sys

# A module's mark, or a procedure of a module's own, which only its compiler calls.
OF_MODULES = re.compile(r"\._$|_mp_")
# Names of procedures in this form only; others differ from it in letters and underscores.
PROCEDURE = re.compile(r"p?mpi_\w*[^_]_$")
# In mpi_f08 we have it as mpi_free_mem_f08ts_, since its argument is a buffer.
OTHER_NAMES = {"mpi_free_mem_f08_"}


def main():
    names, intel = sys.argv[1:]
    if not pathlib.Path(intel).exists():
        print(f"skipped: there is no {intel}")
        return 77
    ours = set(pathlib.Path(names).read_text().split())
    listed = subprocess.run(["nm", "-D", "--defined-only", intel], check=True, text=True,
                            stdout=subprocess.PIPE).stdout
    theirs = {line.split()[-1] for line in listed.splitlines()}
    theirs = {n for n in theirs if PROCEDURE.match(n) and not OF_MODULES.search(n)}
    for name in sorted(theirs - ours - OTHER_NAMES):
        print(f"{name}: only in Intel's library")
    both = theirs & ours
    print(f"{len(both)} names in both, {len(ours - theirs)} in ours only")
    return 1 if theirs - ours - OTHER_NAMES or len(both) < 900 else 0


if __name__ == "__main__":
    sys.exit(main())
