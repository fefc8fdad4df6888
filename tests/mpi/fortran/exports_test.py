"""The library for Fortran exports exactly the names that api/ gives it.

Usage: exports_test.py LIBRARY NAMES
"""
import pathlib
import subprocess
import sys


def main():
    library, names = sys.argv[1:]
    listed = subprocess.run(["nm", "-D", "--defined-only", library], check=True, text=True,
                            stdout=subprocess.PIPE).stdout
    found = {line.split()[-1].split("@")[0] for line in listed.splitlines()}
    wanted = set(pathlib.Path(names).read_text().split())
    for name in sorted(wanted ^ found):
        print(f"{name}: {'missing' if name in wanted else 'not wanted'}")
    sys.exit(wanted != found)


if __name__ == "__main__":
    main()
