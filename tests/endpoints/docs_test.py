#!/usr/bin/env python3
"""The programs of docs/endpoints.md compile without a warning and print what the page says.

    docs_test.py PAGE INCLUDE BUILD
"""

import os
import pathlib
import re
import socket
import subprocess
import sys
import tempfile

PROGRAM = re.compile(r"```c\n(/\* (?P<name>\w+)\.c \*/\n.*?)```", re.S)
SCRIPT = re.compile(r"```python\n(# (?P<name>\w+)\.py\n.*?)```", re.S)
CONSOLE = re.compile(r"```console\n(?P<commands>(?:\$ [^\n]*\n)+)(?P<said>.*?)```", re.S)
MEETING = "127.0.0.1:4711"
INSTALLED = "PREFIX/lib/headway/python"  # where the page finds the binding


def run(command, folder, environment):
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True,
                          timeout=60, check=False)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}: exit status {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def free_address():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return f"127.0.0.1:{probe.getsockname()[1]}"


def speaks_python():
    """Debian's own Python has Debian's cffi and NumPy; another one first on the path may not."""
    asked = subprocess.run(["/usr/bin/python3", "-c", "import cffi, numpy"], capture_output=True,
                           check=False)  # fmt: skip
    return asked.returncode == 0


def main():
    page, include, build = (pathlib.Path(word).resolve() for word in sys.argv[1:])
    environment = dict(os.environ, PATH=f"{build / 'bin'}:/usr/bin:{os.environ['PATH']}",
                       HEADWAY_LIBRARY=str(build / "lib/libheadway.so"))  # fmt: skip
    text = page.read_text(encoding="utf-8")
    programs, consoles = list(PROGRAM.finditer(text)), list(CONSOLE.finditer(text))
    if not programs or len(programs) != text.count("```c\n"):
        sys.exit(f"{len(programs)} programs understood of " + str(text.count("```c\n")))
    if len(consoles) != text.count("```console\n"):
        sys.exit(f"{len(consoles)} consoles understood of " + str(text.count("```console\n")))
    with tempfile.TemporaryDirectory() as folder:
        for one in programs:
            name = one["name"]
            source = pathlib.Path(folder) / f"{name}.c"
            source.write_text(one[1], encoding="utf-8")
            run(["cc", "-std=c11", "-Wall", "-Wextra", "-Wpedantic", "-Werror", str(source), "-o",
                 name, f"-I{include}", f"-L{build / 'lib'}", f"-Wl,-rpath,{build / 'lib'}",
                 "-lheadway", "-pthread"], folder, environment)
        for one in SCRIPT.finditer(text):
            script = pathlib.Path(folder) / f"{one['name']}.py"
            script.write_text(one[1], encoding="utf-8")
        for one in consoles:
            commands = one["commands"].replace("$ ", "", 1).replace("\n$ ", "\n")
            if "python3" in commands and not speaks_python():
                print(f"{commands}skipped: needs cffi and NumPy for Python")
                continue
            commands = commands.replace(INSTALLED, str(include.parent / "python"))
            said = run(["sh", "-c", commands.replace(MEETING, free_address())], folder, environment)
            if said != one["said"]:
                sys.exit(f"{commands}the page says\n{one['said']}and it says\n{said}")
            print(f"{commands}as the page says")


main()
