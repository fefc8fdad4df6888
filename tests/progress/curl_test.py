#!/usr/bin/env python3
"""examples/progress downloads from a server on this machine; every byte arrives, in every turn."""

import importlib.util
import re
import subprocess
import sys
from importlib.machinery import SourceFileLoader

sys.dont_write_bytecode = True
FILES = 24


def fnv(data):
    value = 0xCBF29CE484222325
    for byte in data:
        value = (value ^ byte) * 0x100000001B3 & 0xFFFFFFFFFFFFFFFF
    return value


def main():
    program, serve = sys.argv[1:]
    spec = importlib.util.spec_from_loader("serve", SourceFileLoader("serve", serve))
    served = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(served)
    with subprocess.Popen([serve], stdout=subprocess.PIPE, text=True) as server:
        url = server.stdout.readline().strip()
        try:
            done = subprocess.run([program, url, str(FILES), "3"], text=True, timeout=100,
                                  stdout=subprocess.PIPE, check=False)
        finally:
            server.terminate()
    print(done.stdout)
    contents = [served.content(number) for number in range(FILES)]
    total = sum(fnv(content) for content in contents) & 0xFFFFFFFFFFFFFFFF
    last = f"last download: {sum(map(len, contents))} bytes, checksum {total:016x}, 0 failed"
    kept = done.returncode == 0 and last in done.stdout
    return 0 if kept and re.search(r"time saved: -?\d+ %", done.stdout) else 1


if __name__ == "__main__":
    sys.exit(main())
