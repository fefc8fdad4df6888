#!/usr/bin/env python3
"""Runs `reorder` on two packages or L3 caches that this machine imitates, in mount namespaces of
their own: ranks take turns between two processors, which the kernel's files say to be of different
ones. Nodes: tests/mpi/on_nodes.py.

    reorder_test.py MPIEXEC PROGRAM package|cache

Exit status 77: this user may not make mount namespaces, or there is one processor only.
"""
import os
import pathlib
import subprocess
import sys
import tempfile

RANKS = 8
ON_A_PROCESSOR = ('test $((PMI_RANK % 2)) = 0 && own=$FIRST || own=$SECOND; '
                  'exec taskset -c $own "$0" $RESOURCE')
# What is said to be different: the resource, and the file of each processor.
DIFFERENT = {"package": ("hwloc://Package", "topology/physical_package_id"),
             "cache": ("hwloc://L3Cache", "cache/index3/id")}


def skip(why):
    print(f"skipped: {why}")
    sys.exit(77)


def on_processors(command, program, folder, what):
    resource, name = DIFFERENT[what]
    processors = sorted(os.sched_getaffinity(0))[:2]
    if len(processors) < 2:
        skip("this takes two processors")
    mounts = []
    for number, processor in enumerate(processors):
        there = f"/sys/devices/system/cpu/cpu{processor}/{name}"
        if not os.path.exists(there):
            skip(f"the kernel has no {there}")
        here = pathlib.Path(folder, str(number))
        here.write_text(f"{number}\n")
        mounts.append(f"mount --bind {here} {there}")
    values = {"FIRST": processors[0], "SECOND": processors[1], "RESOURCE": resource}
    for key, value in values.items():
        command = [*command, "--env", f"{key}={value}"]
    script = " && ".join([*mounts, 'exec "$0" "$@"'])
    return ["unshare", "-m", "sh", "-c", script, *command, "sh", "-c", ON_A_PROCESSOR, program]


def main():
    mpiexec, program, what = sys.argv[1:]
    with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
        if subprocess.run(["unshare", "-m", "mount", "--bind", folder, "/dev/shm"],
                          stderr=subprocess.DEVNULL).returncode != 0:
            skip("no mount namespaces for this user")
        command = [mpiexec, "-n", str(RANKS), "--timeout", "60"]
        done = subprocess.run(on_processors(command, program, folder, what))
    sys.exit(done.returncode)


if __name__ == "__main__":
    main()
