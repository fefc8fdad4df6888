"""Declarations in Fortran: of arguments, procedures and constants; and long lines, divided."""
import re

LINE_MAX = 120
KIND_OF = {"int": "integer", "MPI_Aint": "integer(MPI_ADDRESS_KIND)",
           "MPI_Count": "integer(MPI_COUNT_KIND)", "MPI_Offset": "integer(MPI_OFFSET_KIND)"}
# Handles whose constants Fortran has.
HANDLES = ("MPI_Comm", "MPI_Datatype", "MPI_Errhandler", "MPI_File", "MPI_Group", "MPI_Info",
           "MPI_Message", "MPI_Op", "MPI_Request", "MPI_Session", "MPI_Win")
IGNORE_TYPE = ("!DIR$ IGNORE_TKR {0}", "!GCC$ ATTRIBUTES NO_ARG_CHECK :: {0}")


def wrapped(line):
    """A statement on as many lines as it needs, divided behind commas."""
    if len(line) <= LINE_MAX:
        return [line]
    margin = len(line) - len(line.lstrip())
    made, rest = [], line
    while len(rest) > LINE_MAX:
        cut = rest.rindex(", ", 0, LINE_MAX - 2) + 1
        made.append(rest[:cut] + " &")
        rest = " " * (margin + 4) + rest[cut:].lstrip()
    return made + [rest]


def array_of(a):
    """The dimensions of an array argument."""
    if "[3]" in a.c.array:
        return "(3,*)"
    if a.kind == "texts" and a.c.text.count("*") > 1:
        return "(count,*)"
    return "(*)" if a.array or a.kind == "texts" else ""


def in_mpi(a):
    """The lines that declare an argument in the module mpi."""
    intent = ", intent(in)" if a.intent == "IN" else ""
    if a.kind == "choice" or (a.kind == "pointer" and "buffer" in a.name):
        directives = [d.format(a.name) for d in IGNORE_TYPE]
        return directives + [f"integer, dimension(*){intent} :: {a.name}"]
    if a.kind == "procedure":
        return [f"external :: {a.name}"]
    if a.name == "f08_status":
        return [f"type(MPI_Status){intent} :: {a.name}"]
    if a.kind == "status":
        rest = ",*" if a.array else ""
        return [f"integer{intent} :: {a.name}(MPI_STATUS_SIZE{rest})"]
    kind = {"logical": "logical", "handle": "integer", "address": KIND_OF["MPI_Aint"],
            "pointer": KIND_OF["MPI_Aint"]}.get(a.kind)
    if a.kind in ("text", "text_out", "texts"):
        kind = "character(len=*)"
    elif a.kind == "integer":
        kind = KIND_OF[a.c_type(False)]
    return [f"{kind}{intent} :: {a.name}{array_of(a)}"]


def in_f08(a, large, asynchronous, contiguous):
    """The line that declares an argument in mpi_f08."""
    intent = f", intent({a.intent.lower()})" if a.intent else ""
    last = ", asynchronous" if asynchronous and (a.kind == "choice" or a.array) else ""
    if a.kind == "choice":
        kind = "type(*), dimension(..)" + (", contiguous" if contiguous else "")
    elif a.kind == "procedure":
        kind = f"procedure({a.c.base()})"
    elif a.kind in ("status", "handle"):
        kind = f"type({a.c.base()})"
    elif a.kind == "integer":
        kind = KIND_OF[a.c_type(large)]
    elif a.kind in ("text", "text_out", "texts"):
        kind = "character(len=*)"
    else:
        kind = {"logical": "logical", "address": KIND_OF["MPI_Aint"],
                "pointer": "type(c_ptr)"}[a.kind]
    return f"{kind}{intent}{last} :: {a.name}{array_of(a)}"


def procedure(binding, name, label, declarations, ierror):
    """An interface body. `label`: the linker's name for it, or '' for the usual one."""
    names = [a.name for a in binding.arguments] + (["ierror"] if binding.has_ierror() else [])
    bind = f' bind(C, name="{label}")' if label else ""
    what = "function" if binding.is_function() else "subroutine"
    result = ""
    if binding.is_function():
        result = " result(made)"
        kind = "double precision" if binding.function.result == "double" else KIND_OF["MPI_Aint"]
        declarations = declarations + [f"{kind} :: made"]
    if binding.has_ierror():
        declarations = declarations + [ierror]
    lines = wrapped(f"    {what} {name}({', '.join(names)}){bind}{result}")
    lines.append("      import")
    for line in declarations:
        lines += wrapped("      " + line)
    return lines + [f"    end {what} {name}"]


# -- constants ------------------------------------------------------------------------------------

# Only in Fortran. The integers have the sizes of C's types; default INTEGER is C's int.
OWN_CONSTANTS = [
    ("integer", "MPI_STATUS_SIZE", "8"), ("integer", "MPI_SOURCE", "1"),
    ("integer", "MPI_TAG", "2"), ("integer", "MPI_ERROR", "3"),
    ("integer", "MPI_ADDRESS_KIND", "8"),
    ("integer", "MPI_COUNT_KIND", "8"), ("integer", "MPI_OFFSET_KIND", "8"),
    ("integer", "MPI_INTEGER_KIND", "4"),
]
# Of the tools interface Fortran has the error classes alone.
ONLY_C = re.compile("MPI_F_|MPI_T_(?!ERR_)")
# What mpi_f08 promises about buffers of operations under way, and the other two forms do not.
PROMISES = ("MPI_SUBARRAYS_SUPPORTED", "MPI_ASYNC_PROTECTS_NONBLOCKING")
BLOCKS = [("MPIPRIV1", "MPI_BOTTOM MPI_IN_PLACE MPI_STATUS_IGNORE"),
          ("MPIPRIV2", "MPI_STATUSES_IGNORE MPI_ERRCODES_IGNORE"),
          ("MPIPRIVC", "MPI_ARGVS_NULL MPI_ARGV_NULL"), ("MPIFCMB5", "MPI_UNWEIGHTED"),
          ("MPIFCMB9", "MPI_WEIGHTS_EMPTY"), ("MPIFCMBA", "MPI_BUFFER_AUTOMATIC")]
BLOCK_VARIABLES = [
    ("integer", "MPI_BOTTOM"), ("integer", "MPI_IN_PLACE"), ("integer", "MPI_BUFFER_AUTOMATIC"),
    ("integer", "MPI_ERRCODES_IGNORE(1)"), ("integer", "MPI_UNWEIGHTED(1)"),
    ("integer", "MPI_WEIGHTS_EMPTY(1)"), ("character", "MPI_ARGVS_NULL(1,1)"),
    ("character", "MPI_ARGV_NULL(1)"),
]
STATUS_VARIABLES = {
    "integer": [("integer", "MPI_STATUS_IGNORE(MPI_STATUS_SIZE)"),
                ("integer", "MPI_STATUSES_IGNORE(MPI_STATUS_SIZE,1)")],
    "type(MPI_Status)": [("type(MPI_Status)", "MPI_STATUS_IGNORE"),
                         ("type(MPI_Status)", "MPI_STATUSES_IGNORE(1)")],
}


def numbers(constants):
    """[(type, name, value)] of the constants that are numbers. A string in Fortran has no end, so
    that its greatest length is one less than in C."""
    made = list(OWN_CONSTANTS)
    for c in constants:
        if c.type in HANDLES:
            made.append((c.type, c.name, str(int(c.value, 0))))
        elif c.type in ("int", "MPI_Offset") and not ONLY_C.match(c.name):
            value = int(c.value, 0) - (1 if c.name.startswith("MPI_MAX_") else 0)
            made.append(("integer(8)" if c.type == "MPI_Offset" else "integer", c.name, str(value)))
    return made


def variables(status):
    """The constants that are addresses, as (type, name) and as (block, names)."""
    return BLOCK_VARIABLES + STATUS_VARIABLES[status]
