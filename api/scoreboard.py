#!/usr/bin/env python3
"""Writes docs/mpi5.md: the requirements of MPI-5.0 with the tests that show each; which MPI
functions work, by chapter, and which tests call each.

Requirements and their tests are read from api/requirements.txt: a test that is not there is an
error. What works is read from the declarations in src/mpi, as api/generate.py does; which functions
are tested from the sources of tests/mpi. A test holds the page to what this program writes.
Usage: scoreboard.py [--check]. Without --check it writes the page. Standard library only.
"""
import argparse
import os
import pathlib
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).parent))
sys.dont_write_bytecode = True
import entries  # noqa: E402
import generate  # noqa: E402
import table  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs/mpi5.md"
TESTS = ROOT / "tests/mpi"
REQUIREMENTS = ROOT / "api/requirements.txt"
MPI4PY_MODULES = TESTS / "mpi4py/modules.txt"
SHOWN_MAX = 3  # tests named for a function; the number of the others follows
# The chapters of api/functions, in the order of the standard.
CHAPTERS = {
    "point_to_point": "Point-to-point communication", "partitioned": "Partitioned communication",
    "datatypes": "Datatypes", "collectives": "Collective operations, blocking",
    "nonblocking_collectives": "Collective operations, non-blocking",
    "persistent_collectives": "Collective operations, persistent",
    "neighborhood": "Neighbourhood collectives", "groups": "Groups",
    "communicators": "Communicators and inter-communicators", "attributes": "Attributes",
    "topologies": "Process topologies", "environment": "Environment", "errors": "Errors",
    "info": "Info objects", "sessions": "Start, end and sessions",
    "dynamic_processes": "Dynamic processes", "rma": "One-sided communication",
    "external_interfaces": "External interfaces", "io": "Files",
    "tools": "Tool information interface", "profiling": "Profiling interface",
    "abi": "Application binary interface", "language_interop": "Language bindings",
    "removed": "Names that MPI-3.0 removed",
}
HEAD = """# MPI-5.0, by requirement and by function

What the standard requires and the tests that show it, then which of its functions work. Tests are \
programs under [tests](../tests) and [mpi4py's own](../tests/mpi/mpi4py/modules.txt). What Headway \
does where the standard leaves a choice is in [mpi.md](mpi.md).

This page is written by `python3 api/scoreboard.py` out of \
[api/requirements.txt](../api/requirements.txt), the declarations in `src/mpi` and the sources of \
the tests. A test holds that it is up to date, and that each test it names is there.

## By requirement

The requirements are worded here, and not as finely divided as the standard: a row can stand for \
several of its sentences.

"""
FUNCTIONS_HEAD = """## By function

The programs under [tests/mpi](../tests/mpi) that call each function and check what it does. A \
function with two forms (`MPI_Send`, `MPI_Send_c`) has one row: both forms are generated from one \
implementation.

"""


def test_link(test):
    """A test of api/requirements.txt as a link. Errors: ends the program if it is not there."""
    kind, _, module = test.partition(":")
    if kind == "mpi4py":
        if not re.search(rf"^{module}\b", MPI4PY_MODULES.read_text(), re.M):
            sys.exit(f"scoreboard.py: {MPI4PY_MODULES} has no module {module}")
        return f"[mpi4py {module}](../tests/mpi/mpi4py/modules.txt)"
    path = ROOT / "tests" / kind
    if not path.is_file():
        sys.exit(f"scoreboard.py: {REQUIREMENTS} names {kind}, which is not under tests")
    if module and not re.search(rf"^[a-z][\w* ]*\b{module}\(", path.read_text(), re.M):
        sys.exit(f"scoreboard.py: {kind} has no function {module}")
    name = kind.removeprefix("mpi/").rsplit(".", 1)[0]
    return f"[{name}{module and ': ' + module}](../tests/{kind})"


def requirements():
    """The part of the page that api/requirements.txt gives."""
    summary, parts, rows, sums = [], [], [], [0, 0]
    lines = [line for line in REQUIREMENTS.read_text().splitlines() if line and line[0] != "#"
             or line.startswith("## ")]
    for line in [*lines, "## "]:
        if not line.startswith("## "):
            text, _, tests = (part.strip() for part in line.partition("|"))
            rows.append((text, [test_link(t.strip()) for t in tests.split(",") if t.strip()]))
            continue
        if rows:
            shown = sum(bool(tests) for _, tests in rows)
            sums = [sums[0] + len(rows), sums[1] + shown]
            summary.append(f"| {title} | {len(rows)} | {shown} |")
            table_rows = [f"| {text} | {', '.join(tests) or 'not shown'} |" for text, tests in rows]
            parts.append("\n".join([f"### {title}: what is required\n",
                                    "| requirement | shown by |", "|---|---|", *table_rows]))
        title, rows = line[3:], []
    total = f"| all | {sums[0]} | {sums[1]} |"
    return "\n".join(["| chapter | requirements | shown |", "|---|---|---|", *summary, total, "",
                      "\n\n".join(parts), "", ""])


def source_of(path, includes):
    """The text of a test as the compiler sees it, because macros make the names of some functions;
    without mpi.h, which names every function. As it is, where it needs generated files."""
    if path.suffix != ".c":
        return path.read_text()
    made = subprocess.run([os.environ.get("CC", "cc"), "-E", "-P",
                           *(f"-I{folder}" for folder in includes), path],
                          capture_output=True, text=True)
    return made.stdout if made.returncode == 0 else path.read_text()


def tests_of_functions():
    """{name of a function without MPI_: the tests that call it}, in the order of their paths."""
    found = {}
    with tempfile.TemporaryDirectory() as empty:
        pathlib.Path(empty, "mpi.h").touch()
        includes = [empty, TESTS, *sorted(p for p in TESTS.rglob("*") if p.is_dir())]
        for path in sorted([*TESTS.rglob("*.c"), *TESTS.rglob("*.cpp")]):
            for name in sorted(set(re.findall(r"\bP?MPI_(\w+)", source_of(path, includes)))):
                found.setdefault(name, []).append(path.relative_to(TESTS).as_posix())
    return found


def rows_of(functions, calls, tests):
    """[(function, works, [test])]"""
    rows = []
    for f in functions:
        names = {f.name + suffix for suffix, _ in f.forms()}
        its = sorted({test for name in names for test in tests.get(name, [])})
        rows.append((f, entries.implemented(f, calls), its))
    return rows


def tests_text(tests):
    shown = ", ".join(f"[{t.rsplit('.', 1)[0]}](../tests/mpi/{t})" for t in tests[:SHOWN_MAX])
    more = len(tests) - SHOWN_MAX
    return shown + (f", {more} more" if more > 0 else "")


def page():
    functions = [f for f in table.read_functions(ROOT / "api") if not f.name_only]
    calls, _ = generate.read_calls(ROOT / "src/mpi")
    tests = tests_of_functions()
    chapters = generate.chapters(functions)
    unknown = chapters.keys() - CHAPTERS.keys()
    if unknown:
        sys.exit(f"scoreboard.py: no title for {', '.join(sorted(unknown))}")
    summary, parts, sums = [], [], [0, 0, 0]
    for chapter, title in CHAPTERS.items():
        rows = rows_of(chapters.get(chapter, []), calls, tests)
        if not rows:
            continue
        numbers = (len(rows), sum(works for _, works, _ in rows),
                   sum(works and bool(its) for _, works, its in rows))
        sums = [a + b for a, b in zip(sums, numbers)]
        anchor = re.sub(r"[^a-z0-9 -]", "", title.lower()).replace(" ", "-")
        summary.append(f"| [{title}](#{anchor}) | {numbers[0]} | {numbers[1]} | {numbers[2]} |")
        lines = [f"| `MPI_{f.name}` | {'yes' if works else 'not yet'} | "
                 f"{tests_text(its) if works else ''} |" for f, works, its in rows]
        parts.append("\n".join([f"### {title}\n", "| function | works | tests |", "|---|---|---|",
                                *lines]))
    total = "| all | " + " | ".join(map(str, sums)) + " |"
    return "\n".join([HEAD + requirements() + FUNCTIONS_HEAD +
                      "| chapter | functions | work | tested here |", "|---|---|---|---|",
                      *summary, total, "", "\n\n".join(parts), ""])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--check", action="store_true", help="fail unless the page is up to date")
    options = parser.parse_args()
    if not options.check:
        PAGE.write_text(page())
    elif not PAGE.exists() or PAGE.read_text() != page():
        sys.exit("docs/mpi5.md is out of date: run python3 api/scoreboard.py")


if __name__ == "__main__":
    main()
