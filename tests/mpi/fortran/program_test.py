"""Builds a Fortran program with mpifort and one compiler, and runs it on some ranks.

Usage: program_test.py BUILD COMPILER WORK RANKS SOURCE…; the first source names the program. C
sources are compiled with mpicc first.
"""
import os
import pathlib
import subprocess
import sys


def run(*command, env=None):
    words = [str(word) for word in command]
    done = subprocess.run(words, env=env, text=True, stdin=subprocess.DEVNULL, timeout=240,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if done.returncode != 0:
        sys.exit(f"{' '.join(words)} exited with {done.returncode}\n{done.stdout}")
    return done.stdout


def main():
    build, compiler, work, ranks, *sources = sys.argv[1:]
    binaries = pathlib.Path(build, "bin")
    folder = pathlib.Path(work)
    folder.mkdir(parents=True, exist_ok=True)
    os.chdir(folder)  # modules of the program are made here
    env = os.environ | {"HEADWAY_FC": compiler}
    inputs = []
    for source in sources:
        if source.endswith(".c"):
            made = folder / (pathlib.Path(source).stem + ".o")
            run(binaries / "mpicc", "-c", source, "-o", made)
            source = made
        inputs.append(source)
    program = folder / pathlib.Path(sources[0]).stem
    run(binaries / "mpifort", "-g", *inputs, "-o", program, env=env)
    for count in ranks.split(","):
        output = run(binaries / "mpiexec", "-n", count, "--timeout", "60", program, env=env)
        if output.count("passed") != int(count):
            sys.exit(f"on {count} ranks, not all passed:\n{output}")


if __name__ == "__main__":
    main()
