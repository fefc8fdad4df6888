"""mpi.h compiles alone, without a warning, in every dialect that the standard or we promise.

Usage: header_test.py INCLUDE_FOLDER C_COMPILER CXX_COMPILER
"""
import subprocess
import sys

WARNINGS = ["-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Wshadow", "-Wundef", "-Werror"]
PROGRAM = """
#include <mpi.h>
int use(MPI_Comm comm, MPI_Status *status);
int use(MPI_Comm comm, MPI_Status *status) {
  int value = 0;
  MPI_Datatype types[2];
  types[0] = MPI_INT;
  types[1] = MPI_DATATYPE_NULL;
  return MPI_Recv(&value, 1, types[0], MPI_ANY_SOURCE, MPI_ANY_TAG, comm, status) +
         MPI_Recv_c(&value, 1, types[0], MPI_ANY_SOURCE, MPI_ANY_TAG, comm, MPI_STATUS_IGNORE);
}
"""


def check(compiler, language, dialect):
    command = [compiler, f"-std={dialect}", "-x", language, "-fsyntax-only", "-I", sys.argv[1],
               *WARNINGS, "-"]
    done = subprocess.run(command, input=PROGRAM, capture_output=True, text=True)
    if done.returncode != 0:
        print(f"{compiler} -std={dialect}:\n{done.stderr}")
    return done.returncode == 0


def main():
    c, cxx = sys.argv[2:4]
    good = True
    for dialect in ("c90", "c99", "c11", "c17"):
        good &= check(c, "c", dialect)
    for dialect in ("c++98", "c++11", "c++17", "c++20", "c++23"):
        good &= check(cxx, "c++", dialect)
    sys.exit(0 if good else 1)


main()
