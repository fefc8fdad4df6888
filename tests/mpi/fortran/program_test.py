"""Builds a Fortran program with mpifort and one compiler, and runs it on some ranks.

Usage: program_test.py BUILD COMPILER WORK RANKS SOURCE…; the first source names the program. C
sources are compiled with mpicc first.
"""
import os
import pathlib
import sys

sys.dont_write_bytecode = True
from commands import run, run_on_ranks  # noqa: E402


def main():
    build, compiler, work, ranks, *sources = sys.argv[1:]
    binaries = pathlib.Path(build, "bin")
    folder = pathlib.Path(work)
    folder.mkdir(parents=True, exist_ok=True)
    os.chdir(folder)  # modules of the program are made here
    inputs = []
    for source in sources:
        if source.endswith(".c"):
            made = folder / (pathlib.Path(source).stem + ".o")
            run(binaries / "mpicc", "-c", source, "-o", made)
            source = made
        inputs.append(source)
    program = folder / pathlib.Path(sources[0]).stem
    run(binaries / "mpifort", "-g", *inputs, "-o", program, compiler=compiler)
    run_on_ranks(build, program, ranks)


if __name__ == "__main__":
    main()
