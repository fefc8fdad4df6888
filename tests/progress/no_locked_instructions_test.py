#!/usr/bin/env python3
"""The flavour without threads has no atomic read-modify-write anywhere: its code is searched."""

import platform
import re
import shutil
import subprocess
import sys

# x86-64: a lock prefix, or an exchange with memory, which locks by itself.
LOCKED = re.compile(r"^\s+[0-9a-f]+:\s+(lock\b|xchg\s.*\()", re.M)


def count(library):
    command = ["objdump", "-d", "--no-show-raw-insn", library]
    code = subprocess.run(command, check=True, text=True, capture_output=True).stdout
    return len(LOCKED.findall(code))


def main():
    threads, none = sys.argv[1:]
    if platform.machine() != "x86_64" or not shutil.which("objdump"):
        print("SKIPPED: knows the instructions of x86-64 only, and needs objdump")
        return 77
    found = {"threads": count(threads), "none": count(none)}
    print("locked instructions by flavour:", found)
    return 0 if found["threads"] > 0 and found["none"] == 0 else 1


if __name__ == "__main__":
    sys.exit(main())
