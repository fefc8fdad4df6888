#!/usr/bin/env python3
"""The code of docs/progress.md is one program: it compiles without a warning as C and as C++, and
runs."""

import pathlib
import re
import subprocess
import sys
import tempfile


def main():
    page, include, library = (pathlib.Path(word) for word in sys.argv[1:])
    program = "".join(re.findall(r"^```c\n(.*?)^```$", page.read_text(), re.M | re.S))
    for suffix, *compiler in ((".c", "cc", "-std=gnu11"), (".cpp", "c++", "-std=c++11")):
        with tempfile.TemporaryDirectory(prefix="headway_docs_") as scratch:
            source, built = pathlib.Path(scratch, f"page{suffix}"), pathlib.Path(scratch, "page")
            source.write_text(program)
            subprocess.run([*compiler, "-Wall", "-Wextra", "-Werror", f"-I{include}", source, "-o",
                            built, library, f"-Wl,-rpath,{library.parent}"], check=True)
            said = subprocess.run([built], check=True, text=True, capture_output=True, timeout=60)
        print(said.stdout, end="")
        if said.stdout != "hello\n":
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
