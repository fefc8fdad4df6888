"""A fatal error ends the job with one line that names rank, call, argument and value. What the
program had printed is there, also in other files than standard output, and the job does not wait
for a reader that stands still. What all ranks have to say is said once.

Usage: fatal_test.py MPIEXEC PROGRAM
"""
import os
import pathlib
import subprocess
import sys
import tempfile
import time


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


def streams_are_flushed(mpiexec, program):
    """A megabyte of standard output, and a file that the program had opened, are whole; where the
    reader of standard output stands still, the file is, and the job ends."""
    good = True
    for command in ([program], [mpiexec, "-n", "2", program]):
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder, "file")
            done = subprocess.run([*command, file, "much"], capture_output=True, text=True,
                                  timeout=20)
            whole = done.stdout.count("\n") == 50000 and done.stdout.endswith("the mistake")
            written = file.read_text() == "written before the mistake"
            good &= whole and written
            if not (whole and written):
                print(f"{command}: output whole: {whole}, file written: {written}", done.stderr)
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder, "file")
        begun = time.monotonic()
        with subprocess.Popen([program, file, "much"], stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL) as job:
            try:
                ended = job.wait(timeout=20) != 0  # nothing is read meanwhile
            except subprocess.TimeoutExpired:
                job.kill()
                ended = False
        written = file.exists() and file.read_text() == "written before the mistake"
        if not (ended and written):
            print(f"the reader stands still: ended: {ended} after "
                  f"{time.monotonic() - begun:.1f} s, file written: {written}")
        good &= ended and written
    return good


def say_once(mpiexec, program):
    """A misspelt setting, and an error with which all ranks start, are a line each, not one a rank.
    """
    wrong = {"HEADWAY_SPIN_SU": "1", "HEADWAY_RAILS": "nodriver"}
    done = subprocess.run([mpiexec, "-n", "4", program], capture_output=True, text=True,
                          env=os.environ | wrong, timeout=20)
    wanted = ("HEADWAY_SPIN_SU is no setting: did you mean HEADWAY_SPIN_US?",
              "HEADWAY_RAILS: 'nodriver' is no driver")
    good = done.returncode != 0 and all(done.stderr.count(text) == 1 for text in wanted)
    if not good:
        print(f"said by several ranks, or by none: exit status {done.returncode}")
        print(done.stderr)
    return good


def main():
    mpiexec, program = sys.argv[1:]
    good = run([program], 1)
    for ranks in (2, 4):
        good &= run([mpiexec, "-n", str(ranks), program], ranks)
    good &= streams_are_flushed(mpiexec, program)
    good &= say_once(mpiexec, program)
    sys.exit(0 if good else 1)


main()
