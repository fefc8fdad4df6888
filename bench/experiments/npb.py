"""The NAS parallel benchmarks, whose sources are not in this repository: a folder NPB3.4-MPI of
https://www.nas.nasa.gov/software/npb.html, or of a release near it. Each library's wrappers build
them in a copy of the folder."""

import os
import re
import shutil
import subprocess

from side_by_side.programs import RunError

PREFIX = "npb:"  # of the programs that a Run names: npb:cg.A
# Interfaces are implicit in NPB, and its calls pass buffers of several types.
SETTINGS = """MPIFC = {mpifort}
FLINK = $(MPIFC)
FFLAGS = -O3 -fallow-argument-mismatch -fallow-invalid-boz
FLINKFLAGS = -O3
MPICC = {mpicc}
CLINK = $(MPICC)
CFLAGS = -O3
CLINKFLAGS = -O3
CC = cc
BINDIR = ../bin
RAND = randi8
"""


def build(run, library, environment, folder):
    """The path of the program, built if it is not there or older than the compiler's wrapper.
    Errors: RunError."""
    benchmark, size = run.name.removeprefix(PREFIX).split(".")
    copy = folder / "npb"
    program = copy / "bin" / f"{benchmark}.{size}.x"
    wrapper = library.mpicc if benchmark == "is" else library.mpifort
    if program.exists() and program.stat().st_mtime > os.stat(wrapper).st_mtime:
        return program
    if not copy.exists():
        shutil.copytree(run.sources, copy)
        (copy / "bin").mkdir(exist_ok=True)
    settings = SETTINGS.format(mpifort=library.mpifort, mpicc=library.mpicc)
    (copy / "config/make.def").write_text(settings)
    program.unlink(missing_ok=True)
    command = ["make", "-C", copy / benchmark.upper(), "clean"]
    subprocess.run(command, capture_output=True, check=False)
    command = ["make", "-C", str(copy), benchmark.upper(), f"CLASS={size}"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    if not program.exists():
        raise RunError(f"{' '.join(command)}\n{(done.stdout + done.stderr).strip()[-2000:]}")
    return program


def rows(output):
    """The row of a run: its time, which has two decimals, and the same by operation, which has more
    digits. Errors: RunError if the result was not verified."""
    if not re.search(r"Verification\s*=\s*SUCCESSFUL", output):
        raise RunError("the result was not verified")
    row = {"seconds": number_of("Time in seconds", output)}
    rate = number_of("Mop/s total", output)
    return [row | ({"us_per_operation": 1 / rate} if rate else {})]


def number_of(name, output):
    return float(re.search(rf"{name}\s*=\s*([\d.]+)", output)[1])
