#!/usr/bin/env python3
"""Runs clang-tidy with the checks of .clang-tidy over the sources of src and tools.

    tools/analyse.py [-j JOBS] [WORD…]

With words: only over the targets with one of them in their names (`headway_rails`). Prints what
was found; exit status 1 if that is something. Three quarters of an hour on two processors.

The preset `analyse` compiles several sources at once. As clang's analyser passes over the functions
of included files, this copies the sources one behind the other into one file, with #line.
"""

import argparse
import bisect
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

TOP = pathlib.Path(__file__).resolve().parent.parent
BUILD = TOP / "build/analyse"
MERGED = BUILD / "merged"
TIDY = "clang-tidy-19"
# The same sources as those of another target, with other locks.
TWICE = "progress_nothread"


def target_of(command):
    return re.search(r" -o \S*CMakeFiles/([^/ ]+)\.dir/", command["command"])[1]


def merged(command):
    """The target, its file with all sources, where each begins in it, and the command for it."""
    unity = pathlib.Path(command["file"])
    target = target_of(command)
    sources = [unity]
    if "Unity" in unity.parts:
        sources = re.findall(r'^#include "(.*)"', unity.read_text(), re.MULTILINE)
    lines, begins = [], []
    for source in sources:
        lines.append(f'#line 1 "{source}"')
        begins.append((len(lines), str(source)))
        lines += pathlib.Path(source).read_text(encoding="utf-8").splitlines()
    file = MERGED / f"{target}_{unity.stem}.cpp"
    file.write_text("\n".join(lines) + "\n", encoding="utf-8")
    words = [str(file) if word == str(unity) else word for word in shlex.split(command["command"])]
    return file, begins, {"directory": command["directory"], "file": str(file), "arguments": words}


def analyse(file, begins):
    """What clang-tidy says of the file, with the places in the sources."""
    done = subprocess.run([TIDY, "-p", MERGED, f"--config-file={TOP}/.clang-tidy", "--quiet", file],
                          capture_output=True, text=True, check=False)  # fmt: skip

    def place(found):
        line = int(found[1])
        begin, source = begins[bisect.bisect(begins, (line,)) - 1]
        return f"{os.path.relpath(source, TOP)}:{line - begin}:"

    said = re.sub(re.escape(str(file)) + r":(\d+):", place, done.stdout)
    return done.returncode, said or (done.stderr if done.returncode else "")


def main():
    arguments = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    arguments.add_argument("-j", "--jobs", type=int, default=len(os.sched_getaffinity(0)))
    arguments.add_argument("words", nargs="*", help="in the names of the targets")
    chosen = arguments.parse_args()
    for command in (["cmake", "--preset", "analyse", "--log-level=WARNING"],
                    ["cmake", "--build", BUILD, "--target", "mpi_api"]):  # fmt: skip
        subprocess.run(command, cwd=TOP, stdout=subprocess.DEVNULL, check=True)
    MERGED.mkdir(exist_ok=True)
    commands = json.loads((BUILD / "compile_commands.json").read_text(encoding="utf-8"))
    files = [merged(one) for one in commands if target_of(one) != TWICE]
    (MERGED / "compile_commands.json").write_text(json.dumps([one[2] for one in files]))
    wanted = [one for one in files
              if not chosen.words or any(word in one[0].name for word in chosen.words)]  # fmt: skip
    failed = False
    with ThreadPoolExecutor(chosen.jobs) as threads:
        for (file, *_), (code, said) in zip(wanted, threads.map(lambda f: analyse(*f[:2]), wanted)):
            print(f"{file.stem}: {'found something' if code else 'nothing'}", flush=True)
            if code:
                failed = True
                print(said, flush=True)
    return failed


if __name__ == "__main__":
    sys.exit(main())
