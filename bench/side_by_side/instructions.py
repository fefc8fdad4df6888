"""Instructions of MPI calls, read from what Valgrind's callgrind_annotate prints."""

import re
from dataclasses import dataclass


@dataclass(frozen=True)
class Count:
    calls: int
    instructions: int


def counted(table):
    """{name of a call: Count}, from callgrind_annotate's functions, each below its callers."""
    counts, calls = {}, 0
    for line in table.splitlines():
        found = re.match(r"\s*([\d,]+) \([^)]*\)\s+([<*])\s+(.*)", line)
        if not found:
            calls = 0
            continue
        number, mark, what = found.groups()
        if mark == "<":
            times = re.search(r"\(([\d,]+)x\)", what)
            calls += int(times[1].replace(",", "")) if times else 0
            continue
        name = re.search(r":P?(MPI_\w+)( \[|$)", what)
        if name and calls:
            counts[name[1]] = Count(calls, int(number.replace(",", "")))
        calls = 0
    return counts
