#!/usr/bin/env python3
"""House rules that a machine can check: one line per breach, exit status 1 if there is any.

    tools/tidy.py layers    which module of src/ includes and names which, against tools/layers.txt
    tools/tidy.py text      sizes, marks, paths, getenv, atomics' memory orders, header habits
    tools/tidy.py language  words that were replaced, the glossary's terms, files that are cited
    tools/tidy.py format    clang-format 19, nothing rewritten (make format rewrites)
    tools/tidy.py           all of them

Each rule is a function from a file to breaches, and has a test in tests/house/tidy_test.py that
shows it a bad piece of code. Where a rule must be broken, an entry in a table of tidy_exceptions.py
says so, with its reason.
"""

import ast
import pathlib
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import tidy_language as language  # noqa: E402
from tidy_exceptions import COMPOSITIONS, GETENV_ALLOWED, MACHINE_TIME_ALLOWED  # noqa: E402
from tidy_layers import driver_of, module_of, named_modules, parse_layers, roots_of  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parent.parent

COLUMNS_MAX = 100
FILE_LINES_MAX = 500
FUNCTION_LINES_MAX = 70

CXX = {".cpp", ".hpp", ".c", ".h"}
CODE = CXX | {".py", ".sh", ".cmake"}

# Files that describe a rule and therefore contain what it forbids.
SPEAKS_OF_RULES = {"tools/tidy.py", "tools/tidy_exceptions.py", "tools/tidy_language.py",
                   "tests/house/tidy_test.py"}


@dataclass(frozen=True)
class File:
    """A file under the repository's root: its path from there, and its text."""

    path: str
    text: str

    @property
    def suffix(self):
        return pathlib.PurePosixPath(self.path).suffix

    @property
    def is_code(self):
        name = pathlib.PurePosixPath(self.path).name
        return self.suffix in CODE or name in {"CMakeLists.txt", "Makefile"} or self.is_script

    @property
    def is_script(self):
        return self.suffix == "" and self.text.startswith("#!")

    @property
    def is_cxx(self):
        return self.suffix in CXX

    def module(self, table):
        """The row of tools/layers.txt that this file belongs to. None: outside src/'s folders."""
        inside = self.path.removeprefix("src/")
        if inside == self.path or "/" not in inside:
            return None
        return module_of(inside, table) or inside.split("/")[0]

    def lines(self):
        return self.text.splitlines()


@dataclass(frozen=True)
class Breach:
    path: str
    line: int
    text: str

    def __str__(self):
        return f"{self.path}:{self.line}: {self.text}"


def blank(match):
    """The same number of lines and columns, with nothing in them."""
    return re.sub(r"[^\n]", " ", match.group())


def without_comments(text, strings=True):
    """C++ text with comments blanked out, and the insides of strings too unless told otherwise."""
    pattern = r"//[^\n]*|/\*.*?\*/"
    literal = r'R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])\''

    def keep_or_blank(match):
        is_literal = match.group()[0] in "\"'R"
        return match.group() if is_literal and not strings else blank(match)

    return re.sub(f"{literal}|{pattern}", keep_or_blank, text, flags=re.DOTALL)


def line_of(text, position):
    return text.count("\n", 0, position) + 1


# ---- layers -------------------------------------------------------------------------------------


INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*"([^"]+)"', re.MULTILINE)


def includes(file):
    """(line, path) of every include in quotes."""
    text = without_comments(file.text, strings=False)
    return [(line_of(text, m.start()), m[1]) for m in INCLUDE.finditer(text)]


# The module that lists all drivers.
NAMES_DRIVERS = {"runtime"}


def check_layers(file, table):
    module = file.module(table)
    if module is None or not file.is_cxx:
        return
    if module not in table:
        yield Breach(file.path, 1, f"module '{module}' has no line in tools/layers.txt")
        return
    for line, path in includes(file):
        theirs = module_of(path, table)
        if theirs is None and path.split("/")[0] in roots_of(table):
            yield Breach(file.path, line, f'"{path}" lies in no module of tools/layers.txt')
        elif theirs is not None and theirs not in table[module]:
            what = f"module '{module}' may not include module '{theirs}'"
            yield Breach(file.path, line, what)
        driver = driver_of(path)
        if driver and driver_of(file.path) != driver and module not in NAMES_DRIVERS:
            yield Breach(file.path, line, f"driver '{driver}' is named outside its folder")
    code = without_comments(file.text)
    for position, theirs in named_modules(code, table):
        if theirs not in table[module]:
            what = f"module '{module}' may not name a type or function of module '{theirs}'"
            yield Breach(file.path, line_of(code, position), what)


def check_rooted_includes(file, table):
    if not file.is_cxx or not file.path.startswith(("src/", "tools/", "tests/")):
        return
    for line, path in includes(file):
        roots = roots_of(table) | {"headway", "tests", "tools"}
        rooted = "/" in path and path.split("/")[0] in roots
        beside = "/" not in path and not file.path.startswith("src/")
        if not rooted and not beside and path != "mpi.h":
            yield Breach(file.path, line, f'include "{path}" is not rooted at src/')


# ---- text ---------------------------------------------------------------------------------------


def check_sizes(file):
    if not file.is_code:
        return
    lines = file.lines()
    if len(lines) > FILE_LINES_MAX:
        yield Breach(file.path, len(lines), f"{len(lines)} lines, at most {FILE_LINES_MAX}")
    for number, line in enumerate(lines, 1):
        if len(line) > COLUMNS_MAX:
            yield Breach(file.path, number, f"{len(line)} columns, at most {COLUMNS_MAX}")


def check_blanks(file):
    if not file.is_code:
        return
    for number, line in enumerate(file.lines(), 1):
        if line != line.rstrip():
            yield Breach(file.path, number, "blanks at the end of the line")
    if file.text and not file.text.endswith("\n"):
        yield Breach(file.path, len(file.lines()), "no newline at the end of the file")


SCOPE = re.compile(r"\s*(template\s*<.*?>\s*)?(class|struct|union|enum|namespace)\b", re.DOTALL)


def opens_function(head):
    """Does a brace behind this text open a function's body? `head`: since the last ; { or }."""
    head = re.sub(r"^\s*#.*$", "", head, flags=re.MULTILINE)
    if "(" not in head or head.rstrip().endswith(("=", ",", "(")):
        return False
    return not SCOPE.match(head)


def cxx_functions(text):
    """(first line, lines) of each function body at namespace or class scope. A heuristic."""
    text = without_comments(text)
    stack = []  # "scope", or the position where a function's text starts
    since = 0
    for match in re.finditer(r"[;{}]", text):
        at = match.start()
        inside = any(kind != "scope" for kind in stack)
        if match[0] == "{":
            head = text[since:at]
            start = since + len(head) - len(head.lstrip())
            if inside:
                stack.append("scope")
            else:
                stack.append(start if opens_function(head) else "scope")
        elif match[0] == "}" and stack:
            kind = stack.pop()
            if kind != "scope":
                first = line_of(text, kind)
                yield first, line_of(text, at) - first + 1
        since = at + 1


def python_functions(text):
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield node.lineno, node.end_lineno - node.lineno + 1


def check_functions(file):
    if file.is_cxx:
        found = cxx_functions(file.text)
    elif file.suffix == ".py" or file.is_script and "python" in file.lines()[0]:
        found = python_functions(file.text)
    else:
        return
    for line, length in found:
        if length > FUNCTION_LINES_MAX:
            what = f"function of {length} lines, at most {FUNCTION_LINES_MAX}"
            yield Breach(file.path, line, what)


MARKS = re.compile(r"\b(TODO|FIXME|XXX)\b")
MACHINE_PATH = re.compile(r"(?<![\w.$}/*-])/(?:work|root|home|Users)(?=[/\"'\s)]|$)", re.MULTILINE)
REGISTRY = re.compile(r"\b(pypi\.org|pythonhosted\.org|deb\.debian\.org|registry\.npmjs\.org)\b")


def check_words(file):
    if file.path in SPEAKS_OF_RULES:
        return
    for rule, what in (
        (MARKS, "finish it, or write it down as an issue"),
        (MACHINE_PATH, "a path of one machine"),
        (REGISTRY, "the name of a registry's host"),
    ):
        for match in rule.finditer(file.text):
            yield Breach(file.path, line_of(file.text, match.start()), f"'{match[0]}': {what}")


def check_getenv(file, why="the environment is read in base/tunable.cpp only"):
    allowed = file.path.startswith(tuple(GETENV_ALLOWED))
    if allowed or not file.is_cxx or not file.path.startswith(("src/", "tools/")):
        return
    text = without_comments(file.text)
    for match in re.finditer(r"\b(secure_)?getenv\b|\benviron\b", text):
        yield Breach(file.path, line_of(text, match.start()), why)


def check_clock(file):
    """Time is a value below the bindings: two engines of a process may have different clocks."""
    allowed = file.path.startswith(tuple(MACHINE_TIME_ALLOWED))
    if allowed or not file.is_cxx or not file.path.startswith("src/"):
        return
    text = without_comments(file.text)
    machine = r"\bmachine_now_ns\b|\bclock_gettime\(CLOCK_MONOTONIC|\bsteady_clock\b"
    for match in re.finditer(machine, text):
        yield Breach(file.path, line_of(text, match.start()),
                     "the time comes from the clock that the module was given (base/clock.hpp)")


def check_settings(file):
    """Tunables are known to a module's tunables.cpp, and read by what composes the modules."""
    if not file.is_cxx or not file.path.startswith("src/") or file.path.endswith("/tunables.cpp"):
        return
    text = without_comments(file.text, strings=False)
    if not file.path.startswith(("src/base/", "src/mpi/tools/")):  # MPI_T shows and sets them
        for match in re.finditer(r'#include "base/tunable\.hpp"', text):
            yield Breach(file.path, line_of(text, match.start()),
                         "tunables belong into the module's tunables.cpp")
    if file.path not in COMPOSITIONS:
        for match in re.finditer(r"\w::from_environment\(", text):
            yield Breach(file.path, line_of(text, match.start()),
                         "settings are values: only a composition reads the environment")


def call_arguments(text, opening):
    """What stands between the parenthesis at `opening` and its partner."""
    depth = 0
    for at in range(opening, len(text)):
        depth += {"(": 1, ")": -1}.get(text[at], 0)
        if depth == 0:
            return text[opening + 1 : at]
    return ""


ATOMIC_CALL = re.compile(
    r"(?:\.|->)\s*(load|store|exchange|fetch_\w+|compare_exchange_\w+|test_and_set)\s*(\()"
)
# memory_order_…, or a constant or parameter named after one.
SAYS_ORDER = re.compile(r"memory_order|\b(order|relaxed|acquire|release|acq_rel|seq_cst)\b")
ATOMIC_NAME = re.compile(r"\b(?:[Aa]tomic(?:_flag)?)\s*<[^;={}]*?>\s+(\w+)\s*[;{,]")


def check_atomics(file):
    """Every atomic access says its memory order. Also those that hide behind = and ++."""
    if not file.is_cxx or not file.path.startswith("src/"):
        return
    text = without_comments(file.text)
    for match in ATOMIC_CALL.finditer(text):
        arguments = call_arguments(text, match.start(2))
        if match[1] == "exchange" and not arguments.strip():
            continue  # launch::job::exchange(): nothing atomic takes no argument but load
        if not SAYS_ORDER.search(arguments):
            line = line_of(text, match.start())
            yield Breach(file.path, line, f"atomic {match[1]} without a memory order")
    for name in {m[1] for m in ATOMIC_NAME.finditer(text)}:
        uses = rf"(?:\+\+|--)\s*{name}\b|\b{name}\s*(?:\+\+|--|[-+|&^]?=(?!=))"
        for match in re.finditer(uses, text):
            line = line_of(text, match.start())
            yield Breach(file.path, line, f"atomic '{name}' is used by an operator: order unsaid")


def check_header_habits(file):
    """Headers are guarded; a source includes its own header first: proof that it compiles alone."""
    if file.suffix == ".hpp" and "#pragma once" not in file.text:
        yield Breach(file.path, 1, "#pragma once is missing")
    if file.suffix == ".cpp" and file.path.startswith("src/"):
        own = file.path.removeprefix("src/").removesuffix(".cpp") + ".hpp"
        named = [path for _, path in includes(file)]
        if own in named and named[0] != own:
            yield Breach(file.path, 1, f'"{own}" is not the first include')


LABEL = re.compile(r"/// (?:[A-Z][a-z]+:[ ]+)(?<=/// .{10})(?=\S)")  # as wide as "Progress: "
LABEL_INSIDE = re.compile(r"///.*\S\s+(Shape|Threads|Progress|Errors|Source):\s{2,}")


def check_docstrings(file):
    """The table under a type's first sentence keeps its columns: labels left, text indented."""
    if not file.is_cxx:
        return
    inside = False
    for number, line in enumerate(file.lines(), 1):
        line = line.strip()
        if LABEL_INSIDE.match(line):
            yield Breach(file.path, number, "a label of the docstring is not at its line's start")
        elif inside and line.startswith("/// ") and not line.startswith("///   "):
            if not LABEL.match(line):
                yield Breach(file.path, number, "text of the docstring's table is not indented")
        inside = LABEL.match(line) or inside and line.startswith("/// ")


TEXT_RULES = (
    check_docstrings,
    check_sizes,
    check_blanks,
    check_functions,
    check_words,
    check_getenv,
    check_clock,
    check_settings,
    check_atomics,
    check_header_habits,
)


# ---- the repository -----------------------------------------------------------------------------


def repository_paths():
    """Every file that git would take; without git, every file outside build/."""
    command = ["git", "ls-files", "-co", "--exclude-standard", "-z"]
    asked = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    if asked.returncode == 0:
        names = [name for name in asked.stdout.split("\0") if name]
    else:
        found = (p.relative_to(ROOT) for p in ROOT.rglob("*") if p.is_file())
        names = [str(p) for p in found if p.parts[0] not in {"build", ".git"}]
    return sorted({name for name in names if (ROOT / name).is_file()})


def repository_files():
    for name in repository_paths():
        try:
            yield File(name, (ROOT / name).read_text(encoding="utf-8"))
        except UnicodeDecodeError:
            continue  # a picture


def layer_breaches(files):
    table = parse_layers((ROOT / "tools/layers.txt").read_text(encoding="utf-8"))
    for file in files:
        yield from check_layers(file, table)
        yield from check_rooted_includes(file, table)


def text_breaches(files):
    for file in files:
        for rule in TEXT_RULES:
            yield from rule(file)


def language_breaches(files):
    files = [file for file in files if file.path not in SPEAKS_OF_RULES]
    repository = language.Repository(repository_paths())
    for file in files:
        if language.is_checked(file.path):
            for line, what in language.replaced_words(file.path, file.text):
                yield Breach(file.path, line, what)
            for line, what in language.missing_files(file.path, file.text, repository):
                yield Breach(file.path, line, what)
    texts = [file.text for file in files if file.path.startswith(("src/", "include/"))]
    for glossary in (file for file in files if file.path == "docs/glossary.md"):
        for line, what in language.unused_terms(glossary.text, texts):
            yield Breach(glossary.path, line, what)


def find_clang_format():
    for name in ("clang-format-19", "clang-format"):
        path = shutil.which(name)
        if path is None:
            continue
        version = subprocess.run([path, "--version"], capture_output=True, text=True).stdout
        if " 19." in version:
            return path
    return None


def format_breaches(files):
    tool = find_clang_format()
    if tool is None:
        yield Breach("tools/tidy.py", 1, "clang-format 19 is not installed (scripts/install-deps)")
        return
    paths = [file.path for file in files if file.is_cxx]
    command = [tool, "--dry-run", "--Werror", *paths]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    for path, line in dict.fromkeys(re.findall(r"^(\S+?):(\d+):\d+: error", done.stderr, re.M)):
        yield Breach(path, int(line), "not as clang-format 19 writes it (make format)")
    if done.returncode and "error" not in done.stderr:
        yield Breach("tools/tidy.py", 1, f"clang-format: {done.stderr.strip()}")


CHECKS = {
    "layers": layer_breaches,
    "text": text_breaches,
    "language": language_breaches,
    "format": format_breaches,
}


def main(arguments):
    wanted = arguments or list(CHECKS)
    unknown = [name for name in wanted if name not in CHECKS]
    if unknown:
        print(f"tidy: no check '{unknown[0]}', there are: {', '.join(CHECKS)}", file=sys.stderr)
        return 2
    files = list(repository_files())
    breaches = [breach for name in wanted for breach in CHECKS[name](files)]
    for breach in breaches:
        print(breach)
    print(f"tidy: {', '.join(wanted)}: {len(files)} files, {len(breaches)} breaches")
    return 1 if breaches else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
