"""The Fortran bindings of the MPI functions, derived from their C declarations.

A parameter of a binding is one of these kinds:

    integer     INTEGER, or one of the kinds ADDRESS, COUNT, OFFSET
    logical     LOGICAL
    handle      INTEGER; in mpi_f08 a derived type
    status      INTEGER(MPI_STATUS_SIZE); in mpi_f08 TYPE(MPI_Status)
    text        CHARACTER(LEN=*): the call reads it
    text_out    CHARACTER(LEN=*): the call writes it
    texts       an array of strings
    choice      a buffer of any type
    address     INTEGER(KIND=MPI_ADDRESS_KIND) where C has void *
    pointer     the same, written by the call; in mpi_f08 TYPE(C_PTR)
    procedure   a callback

What does not follow from the C declaration is in fortran_differences.txt.
"""
import dataclasses
import pathlib
import re

import table

KINDS = {"MPI_Aint": "MPI_ADDRESS_KIND", "MPI_Count": "MPI_COUNT_KIND",
         "MPI_Offset": "MPI_OFFSET_KIND"}
# Chapters and functions of C without a Fortran binding.
WITHOUT_CHAPTERS = {"tools"}
CONVERSION = re.compile(r"_(fromint|toint)$")
ARRAY_KINDS = ("array", "statuses", "requests", "types", "counts", "displacements")
# Their buffers may be used after the call has returned.
LASTING = re.compile(
    r"(I(?!nit|nfo|nter|s_)\w+|File_i\w+|\w+_(init|begin|end|attach_buffer)|\w*[Bb]uffer_attach|"
    r"R?(put|get|accumulate|get_accumulate)|Put|Get|Accumulate|Get_accumulate|Fetch_and_op|"
    r"Compare_and_swap|Win_(create|attach|detach)|Free_mem|Get_address|F_sync_reg)$")


@dataclasses.dataclass
class Argument:
    name: str
    kind: str
    intent: str     # IN, OUT, INOUT, ""
    array: bool
    c: object       # table.Parameter
    length: str = ""  # of a text_out: the constant
    of_mpi1: bool = False  # addresses are INTEGER, as attributes are

    def c_type(self, large):
        """Of an integer: its type in C, or the one of the same size as in Fortran."""
        made = re.sub(r"\bconst\b|[*\s]", "", self.c.type(large))
        return "int" if made == "void" or self.of_mpi1 else made

    def written_in_c(self):
        return (self.c.is_pointer() or self.array) and not self.c.text.startswith("const")


@dataclasses.dataclass
class Binding:
    function: object
    arguments: list
    in_f08: bool
    own_name: bool  # the large form is called MPI_X_c in mpi_f08

    @property
    def name(self):
        return self.function.name

    def only_large(self):
        """The large form of a function whose two forms differ in more than types."""
        return self.name.endswith("_c")

    def symbol(self):
        return f"mpi_{self.name.lower()}"

    def has_choice(self):
        return any(a.kind == "choice" for a in self.arguments)

    def is_detach(self):
        """The buffer's address is returned in mpi_f08 only."""
        return any(a.kind == "pointer" and "detach" in self.name.lower() for a in self.arguments)

    def is_function(self):
        return self.function.result != "int"

    def has_ierror(self):
        return not self.is_function() and self.name not in ("Pcontrol", "F_sync_reg")

    def overloads(self):
        """Whether the same name can serve both forms in mpi_f08: an argument differs in kind."""
        return any(a.kind == "integer" and a.c_type(0) == "int" != a.c_type(1)
                   for a in self.arguments)

    def is_lasting(self):
        """Whether its buffers are used after it has returned."""
        return bool(LASTING.match(self.name))


def read_differences(folder):
    """{fact: {function: [words]}}; `logical` and others collect words of several lines."""
    facts = {}
    for raw in pathlib.Path(folder, "fortran_differences.txt").read_text().splitlines():
        words = raw.split("#")[0].split()
        if not words:
            continue
        fact, rest = words[0], words[1:]
        made = facts.setdefault(fact, {})
        if fact in ("not_in_f08", "own_name", "c_only"):
            made.update({name: [] for name in rest})
        else:
            made.setdefault(rest[0], []).append(rest[1:])
    return facts


def _kind(function, p, logical):
    base = p.base()
    if p.name in logical:
        return "logical"
    if p.name in ("attribute_val", "extra_state"):
        return "integer" if function.deprecated else "address"
    if base.endswith("_function") or base.endswith("_function_c"):
        return "procedure"
    if base == "MPI_Status":
        return "status"
    if base == "char":
        if p.text.count("*") > 1 or (p.array and p.text.endswith("*")):
            return "texts"
        return "text" if p.text.startswith("const") else "text_out"
    if base == "void":
        return "pointer" if p.kind == "pointer_out" else "choice"
    return "integer" if base in ("int", "N", "A", "D") or base in KINDS else "handle"


def _intent(p, kind):
    if kind in ("text", "texts", "procedure"):
        return "IN" if kind != "procedure" else ""
    if kind == "choice":
        return "IN" if p.text.startswith("const") else ""
    if kind == "status":
        return {"in": "IN", "inout": "INOUT", "out": "OUT"}.get(p.kind, "")
    if kind == "address":
        return "OUT" if p.kind == "pointer_out" else "IN"
    if kind in ("text_out", "pointer"):
        return "OUT"
    if p.kind == "inout":
        return "INOUT"
    if p.array or p.text.endswith("*"):
        constant = p.text.startswith("const")
        if p.name in ("sourceweights", "destweights", "array_of_errcodes") and not constant:
            return ""
        if p.kind == "requests" and not constant:
            return "INOUT"
        return "IN" if constant else "OUT"
    return "IN"


def _argument(function, p, facts):
    logical = [w for words in facts.get("logical", {}).get(function.name, []) for w in words]
    renamed = dict(facts.get("renamed", {}).get(function.name, []))
    texts = dict(facts.get("text_out", {}).get(function.name, []))
    kind = _kind(function, p, logical)
    array = kind != "text" and bool(p.array) or p.kind in ARRAY_KINDS and p.text.endswith("*")
    intent = dict(facts["intent"].get(function.name, [])).get(p.name, _intent(p, kind))
    return Argument(renamed.get(p.name, p.name), kind, intent.replace("NONE", ""), array, p,
                    texts.get(p.name, ""), function.removed)


def _has_binding(function, facts):
    return function.chapter not in WITHOUT_CHAPTERS and not CONVERSION.search(function.name) and (
        not function.name_only and function.name not in facts["c_only"])


def read_bindings(folder):
    """Every function of the standard that has a Fortran binding, sorted as read."""
    facts = read_differences(folder)
    functions = table.read_functions(folder)
    lines = pathlib.Path(folder, "fortran_functions.txt").read_text().splitlines()
    functions += [table.parse_function(line, "fortran") for line in lines
                  if line and not line.startswith("#")]
    made = []
    for f in functions:
        if not _has_binding(f, facts):
            continue
        left_out = [w for words in facts["without"].get(f.name, []) for w in words]
        arguments = [_argument(f, p, facts) for p in f.parameters if p.name not in left_out]
        in_f08 = not f.removed and f.name not in facts["not_in_f08"]
        made.append(Binding(f, arguments, in_f08,
                            f.name.removesuffix("_c") in facts["own_name"]))
    return made
