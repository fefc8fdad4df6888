"""Reads the facts of the MPI standard: constants.txt, types.txt, functions/*.txt.

A function is written as a C declaration without `MPI_`, each parameter with its kind:

    Send(const void *buf: buffer, N count: count, MPI_Datatype datatype: type, ...) +c

N, A and D are types that differ between the two forms of a procedure (see LARGE). Marks behind the
parameters: `+c` has a form with large counts; `anytime` may be called before initialisation and
after finalisation; `same_as X` is another name for X; `name_only` is a name only; `removed` is no
longer in the standard: mpi.h calls it deprecated, and names X of `same_as X` or `instead X`.
The kinds, and what is checked for each, are in entries.py. A kind may be followed by `at root`,
`unless BUFFER` or `unless op` (significant only there, or only when BUFFER is not MPI_IN_PLACE or
the operator not MPI_NO_OP), or by `or null`.
"""
import dataclasses
import pathlib
import re

# Type in the int form, type in the _c form.
LARGE = {"N": ("int", "MPI_Count"), "A": ("MPI_Aint", "MPI_Count"), "D": ("int", "MPI_Aint")}


@dataclasses.dataclass
class Parameter:
    """One parameter: `text` is its type with N, A or D; `length` is that of an array or None."""
    text: str
    name: str
    array: str  # "", "[]", "[count]", "[n][3]"
    kind: str
    condition: str  # "", "at root", "unless sendbuf", "unless op", "or null"

    def poly(self):
        """N, A or D if the two forms of the procedure differ here, else None."""
        found = re.search(r"\b([NAD])\b", self.text)
        return found.group(1) if found else None

    def type(self, large):
        return re.sub(r"\b([NAD])\b", lambda m: LARGE[m.group(1)][large], self.text)

    def declaration(self, large):
        """As in C: an array keeps no length, which C would not check."""
        if self.name == "...":
            return "..."
        gap = "" if self.text.endswith("*") else " "
        array = re.sub(r"^\[\w*\]", "[]", self.array)
        return self.type(large) + gap + self.name + array

    def length(self):
        found = re.match(r"\[(\w*)\]", self.array)
        return found.group(1) if found else None

    def base(self):
        """The type without const, stars: MPI_Comm of `const MPI_Comm *`."""
        return re.sub(r"\bconst\b|[*\s]", "", self.text)

    def is_pointer(self):
        return self.text.endswith("*")


@dataclasses.dataclass
class Function:
    name: str  # without MPI_
    result: str
    parameters: list
    chapter: str
    has_large: bool = False
    anytime: bool = False
    deprecated: bool = False
    removed: bool = False
    instead: str = ""
    name_only: bool = False
    same_as: str = ""

    def forms(self):
        """(suffix, is_large) of each C function that this procedure has."""
        return [("", 0), ("_c", 1)] if self.has_large else [("", 0)]

    def prototype(self, prefix, suffix, large):
        inner = ", ".join(p.declaration(large) for p in self.parameters) or "void"
        gap = "" if self.result.endswith("*") else " "
        return f"{self.result}{gap}{prefix}MPI_{self.name}{suffix}({inner})"

    def implementation(self):
        return (self.same_as or self.name).lower()


@dataclasses.dataclass
class Constant:
    name: str
    type: str
    form: str  # macro or enum
    value: str
    group: str


def _parameter(text, where):
    if text == "...":
        return Parameter("...", "...", "", "raw", "")
    found = re.fullmatch(r"(.*?)(\w+)((?:\[\w*\])*): (\w+)(?: (at root|unless \w+|or null))?", text)
    if not found:
        raise ValueError(f"{where}: parameter '{text}'")
    kind, name, array, what, condition = found.groups()
    return Parameter(kind.strip(), name, array, what, condition or "")


def parse_function(line, chapter):
    found = re.fullmatch(r"(?:(\w+) )?(\w+)\((.*)\)((?: [+\w]+)*)", line)
    if not found:
        raise ValueError(f"{chapter}: '{line}'")
    result, name, inner, marks = found.groups()
    parts = [part for part in inner.split(", ") if part]
    made = Function(name, result or "int", [_parameter(p, name) for p in parts], chapter)
    words = marks.split()
    made.has_large = "+c" in words
    made.anytime = "anytime" in words
    made.deprecated = "deprecated" in words
    made.removed = "removed" in words
    made.name_only = "name_only" in words
    if "same_as" in words:
        made.same_as = made.instead = words[words.index("same_as") + 1]
    if "instead" in words:
        made.instead = words[words.index("instead") + 1]
    return made


def read_functions(folder):
    """All procedures, sorted by chapter and name; a line that starts with a blank continues."""
    functions = []
    for path in sorted(pathlib.Path(folder, "functions").glob("*.txt")):
        lines = []
        for raw in path.read_text().splitlines():
            text = raw.split("#")[0].rstrip()
            if not text:
                continue
            if text[0] == " ":
                lines[-1] += " " + text.strip()
            else:
                lines.append(text)
        functions += [parse_function(line, path.stem) for line in lines]
    return functions


def read_constants(folder):
    constants, group, kind, form = [], "", "", ""
    for raw in pathlib.Path(folder, "constants.txt").read_text().splitlines():
        head = re.match(r"\[(.*) (macro|enum)\]\s+#\s*(.*)", raw)
        if head:
            kind, form, group = head.groups()
            continue
        text = raw.split("#")[0].strip()
        if text:
            name, value = text.split()
            constants.append(Constant(name, kind, form, value, group))
    return constants


def read_types(folder):
    """[(name, struct)], [(result, name, parameters)], [(new, old)]."""
    handles, callbacks, aliases = [], [], []
    for raw in pathlib.Path(folder, "types.txt").read_text().splitlines():
        words = raw.split()
        if not words or words[0] == "#":
            continue
        if words[0] == "handle":
            handles.append((words[1], words[2]))
        elif words[0] == "alias":
            aliases.append((words[1], words[2]))
        else:
            result, name, inner = re.fullmatch(r"callback (\w+) (\w+)\((.*)\)", raw).groups()
            callbacks.append((result, name, inner))
    return handles, callbacks, aliases
