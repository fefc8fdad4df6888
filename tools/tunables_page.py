#!/usr/bin/env python3
"""Writes docs/tunables.md from the output of `headway info --json`.

    tools/tunables_page.py build/release            write it
    tools/tunables_page.py build/release --check    only print the differences, with exit status 1
"""

import difflib
import json
import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "tunables.md"

HEAD = (
    "# Tunables\n\n"
    "Every setting of the library is an environment variable; this page is what `headway info` "
    "says of them, written by `tools/tunables_page.py` and checked by the test `tunables_page`. "
    "Sizes may end in `k`, `M` or `G` (powers of 1024). A value that makes no sense is reported in "
    "one line on standard error, and the default is used.\n\n"
    "| name | default | accepts | meaning |\n|---|---|---|---|\n"
)


def cell(text):
    return text.replace("|", "\\|")


def row(one):
    unit = f" {one['unit']}" if one["unit"] else ""
    default = f"`{one['default']}`{unit}" if one["default"] else "(empty)"
    return f"| `{one['name']}` | {default} | {cell(one['accepts'])} | {cell(one['why'])} |\n"


def page(build):
    environment = {n: v for n, v in os.environ.items() if not n.startswith("HEADWAY_")}
    command = [pathlib.Path(build, "bin", "headway"), "info", "--json"]
    output = subprocess.run(command, env=environment, check=True, capture_output=True, text=True)
    tunables = sorted(json.loads(output.stdout)["tunables"], key=lambda one: one["name"])
    return HEAD + "".join(row(one) for one in tunables)


def main(build, check=False):
    fresh = page(build)
    if not check:
        PAGE.write_text(fresh, encoding="utf-8")
        return 0
    kept = PAGE.read_text(encoding="utf-8") if PAGE.exists() else ""
    old, new = kept.splitlines(), fresh.splitlines()
    lines = difflib.unified_diff(old, new, "kept", "fresh", lineterm="")
    text = "\n".join(lines)
    if text:
        print(f"{text}\ndocs/tunables.md is stale: run tools/tunables_page.py {build}")
    return 1 if text else 0


if __name__ == "__main__":
    arguments = [word for word in sys.argv[1:] if word != "--check"]
    if len(arguments) != 1:
        sys.exit(__doc__)
    sys.exit(main(arguments[0], "--check" in sys.argv))
