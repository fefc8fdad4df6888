#!/usr/bin/env python3
"""headway/endpoint.h compiles alone without a warning as C11, C17, C++11 to C++20; the headers
of owners do as C++17 to C++23.

    header_test.py INCLUDE CC CXX
"""

import subprocess
import sys


def main():
    include, cc, cxx = sys.argv[1:]
    for compiler, language, dialects in (
        (cc, "c", ("c11", "gnu11", "c17")),
        (cxx, "c++", ("c++11", "c++14", "c++17", "c++20")),
    ):
        for dialect in dialects:
            subprocess.run(
                [compiler, f"-std={dialect}", "-Wall", "-Wextra", "-Wpedantic", "-Werror",
                 "-fsyntax-only", "-x", language, f"-I{include}", "-"],
                input="#include <headway/endpoint.h>\n#include <headway/endpoint.h>\n"
                      "int use(void) { return headway_endpoint_close(0); }\n"
                      "int use(void);\n" if language == "c" else
                      "#include <headway/endpoint.h>\n"
                      "int use() { return headway_endpoint_close(0); }\n",
                text=True, check=True)

    for header in ("endpoint.hpp", "progress.hpp"):
        for dialect in ("c++17", "c++20", "c++2b"):
            subprocess.run(
                [cxx, f"-std={dialect}", "-Wall", "-Wextra", "-Wpedantic", "-Wshadow",
                 "-Wconversion", "-Werror", "-fsyntax-only", "-x", "c++", f"-I{include}", "-"],
                input=f"#include <headway/{header}>\n" * 2, text=True, check=True)  # fmt: skip


main()
