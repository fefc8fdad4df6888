#!/usr/bin/env python3
"""Runs a program on ranks that are spread over nodes which this machine imitates: ranks of one node
have a /dev/shm of their own, in mount namespaces, and messages between nodes go over TCP. Packets
are counted (HEADWAY_STATS).

    on_nodes.py MPIEXEC PROGRAM NODES

NODES: a letter for each rank, the same one for ranks on the same node: `aabb`.
Exit status 77: this user may not make mount namespaces.
"""
import os
import pathlib
import subprocess
import sys
import tempfile

ON_A_NODE = ('node=$(echo $NODES | cut -c $((PMI_RANK + 1))); '
             'mount --bind "$FOLDER/$node" /dev/shm && exec "$0"')


def main():
    mpiexec, program, nodes = sys.argv[1:]
    with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
        if subprocess.run(["unshare", "-m", "mount", "--bind", folder, "/dev/shm"],
                          stderr=subprocess.DEVNULL).returncode != 0:
            print("skipped: no mount namespaces for this user")
            sys.exit(77)
        for node in set(nodes):
            pathlib.Path(folder, node).mkdir()
        known = dict(os.environ, FOLDER=folder, NODES=nodes, HEADWAY_STATS="2")
        done = subprocess.run([mpiexec, "-n", str(len(nodes)), "--timeout", "100",
                               "unshare", "-m", "sh", "-c", ON_A_NODE, program],
                              env=known)  # fmt: skip
    sys.exit(done.returncode)


if __name__ == "__main__":
    main()
