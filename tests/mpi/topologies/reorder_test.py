#!/usr/bin/env python3
"""Runs `reorder` on two nodes that this machine imitates: ranks take turns between two folders that
stand for /dev/shm in a mount namespace of their own, and so do not share memory with the others.

    reorder_test.py MPIEXEC PROGRAM

Exit status 77: this user may not make mount namespaces."""
import pathlib
import subprocess
import sys
import tempfile

RANKS = 8
ON_A_NODE = ('mount --bind "$FOLDER/node$((PMI_RANK % 2))" /dev/shm && exec "$0"')


def main():
    mpiexec, program = sys.argv[1:]
    with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
        for node in range(2):
            pathlib.Path(folder, f"node{node}").mkdir()
        if subprocess.run(["unshare", "-m", "mount", "--bind", f"{folder}/node0", "/dev/shm"],
                          stderr=subprocess.DEVNULL).returncode != 0:
            print("skipped: no mount namespaces for this user")
            sys.exit(77)
        done = subprocess.run([mpiexec, "-n", str(RANKS), "--timeout", "60", "--env",
                               f"FOLDER={folder}", "unshare", "-m", "sh", "-c", ON_A_NODE, program])
    sys.exit(done.returncode)


if __name__ == "__main__":
    main()
