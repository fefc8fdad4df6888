#!/usr/bin/env python3
"""The programs of docs/endpoints.md compile without a warning and print what the page says.

    docs_test.py PAGE INCLUDE BUILD
"""

import os
import pathlib
import re
import subprocess
import sys
import tempfile

PAIR = re.compile(
    r"```c\n(/\* (?P<name>\w+)\.c \*/\n(?P<rest>.*?))```\n\n```console\n\$ (?P<command>[^\n]*)\n"
    r"(?P<said>.*?)```", re.S)


def run(command, folder, environment):
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True,
                          timeout=60, check=False)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}: exit status {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def main():
    page, include, build = (pathlib.Path(word).resolve() for word in sys.argv[1:])
    environment = dict(os.environ, PATH=f"{build / 'bin'}:{os.environ['PATH']}")
    programs = list(PAIR.finditer(page.read_text(encoding="utf-8")))
    fences = page.read_text(encoding="utf-8").count("```c\n")
    if not programs or len(programs) != fences:
        sys.exit(f"{len(programs)} programs understood of {fences}")
    with tempfile.TemporaryDirectory() as folder:
        for one in programs:
            name = one["name"]
            source = pathlib.Path(folder) / f"{name}.c"
            source.write_text(one[1], encoding="utf-8")
            run(["cc", "-std=c11", "-Wall", "-Wextra", "-Wpedantic", "-Werror", str(source), "-o",
                 name, f"-I{include}", f"-L{build / 'lib'}", f"-Wl,-rpath,{build / 'lib'}",
                 "-lheadway", "-pthread"], folder, environment)
            said = run(one["command"].split(), folder, environment)
            if said != one["said"]:
                sys.exit(f"{name}: the page says\n{one['said']}and it says\n{said}")
            print(f"{name}: as the page says")


main()
