"""Writes the entry points that Fortran calls: one for each function and form.

    pmpi_x_           mpif.h and the module mpi; and mpi_f08 where no buffer is passed
    pmpi_x_f08_       another name of it
    pmpi_x_f08ts_     mpi_f08, buffers as descriptors
    pmpi_x_c_f08_, pmpi_x_c_f08ts_    the form with large counts

Each has a weak name without the first p. An entry converts its arguments (src/mpi/fortran), calls
PMPI_X, and stores the code in ierror where the program passed one. A function that src/mpi/fortran/
special.hpp declares is called there instead, with the arguments as Fortran passes them.
"""

import re

# What a call in C is given for a scalar of a kind that needs no object for the conversion.
WEIGHTS = {"sourceweights", "destweights", "weights"}
# Names that src/mpi/fortran defines itself.
CALLBACKS = [f"mpi_{kind}{word}" for word in ("dup_fn_", "null_copy_fn_", "null_delete_fn_")
             for kind in ("", "comm_", "type_", "win_")]
BY_HAND = [
    "mpi_sizeof_f08ts_", "mpi_conversion_fn_null_", "mpi_conversion_fn_null_c_", "mpipriv1_",
    "mpipriv2_", "mpiprivc_", "mpifcmb5_", "mpifcmb9_", "mpifcmba_", *CALLBACKS,
]
TEXTS = ("text", "text_out", "texts")
# An array of handles has an element for each process or neighbour.
SIZES = {"collectives": "peer_count", "nonblocking_collectives": "peer_count",
         "persistent_collectives": "peer_count", "neighborhood": "neighbor_count"}


# Buffers of collectives that one count and one datatype describe.
DESCRIBED = [re.compile(pattern + r"(_init)?/\w+$", re.I) for pattern in (
    r"I?bcast", r"I?(neighbor_)?(all)?gatherv?(?=(_init)?/sendbuf)",
    r"I?scatterv?(?=(_init)?/recvbuf)")]


# Of these a buffer is one element.
ONE_ELEMENT = ("Fetch_and_op", "Compare_and_swap")
# A buffer is a place, or was given to another call before: it need not be contiguous.
ONLY_ADDRESSES = re.compile(r"(Get_address|File_\w+_end)$")
# A split collective access to a file is named after the call that it is in one piece.
SPLIT = re.compile(r"File_(\w+)_(begin|end)$")


def describes_sections(binding, i):
    """Whether argument `i`, a buffer, may be a section: it is followed by a count and a datatype,
    and these describe all of it."""
    arguments = binding.arguments
    if arguments[i].kind != "choice":
        return False
    if is_partitioned(binding) or binding.name in ONE_ELEMENT:
        return True
    if [a.kind for a in arguments[i + 1:i + 3]] != ["integer", "handle"] or arguments[i + 1].array:
        return False
    if binding.function.chapter in ("point_to_point", "rma", "io"):
        return True
    return any(each.match(f"{binding.name}/{arguments[i].name}") for each in DESCRIBED)


def is_partitioned(binding):
    return binding.function.chapter == "partitioned" and binding.has_choice()


def described_arguments(binding):
    """({argument: its buffer} of counts, the same of datatypes), for buffers that may be sections
    and whose count and datatype are then others; arguments are numbers."""
    if binding.name in ONE_ELEMENT:
        return {}, {}
    buffers = [i for i in range(len(binding.arguments)) if describes_sections(binding, i)]
    further = 1 if is_partitioned(binding) else 0  # the number of partitions is between
    return ({i + 1 + further: binding.arguments[i].name for i in buffers},
            {i + 2 + further: binding.arguments[i].name for i in buffers})


def started_request(binding):
    """The argument for the request of an operation that the call starts or prepares; or None."""
    return next((a for a in binding.arguments if a.kind == "handle" and not a.array and
                 a.c.base() == "MPI_Request" and a.intent == "OUT"), None)


def ends_with_synchronisation(binding):
    """Whether the call begins an operation on a window that has no request."""
    names = [a.name for a in binding.arguments]
    return "target_rank" in names and "win" in names and started_request(binding) is None


def split_access(binding, part):
    """The split collective access of which the call is this part, "begin" or "end"; or None."""
    found = SPLIT.match(binding.name)
    return found[1] if found and found[2] == part else None


def copies_sections(binding):
    """Whether the call can have a contiguous copy of a section that no datatype describes: it has
    ended when it returns, or there is a request, a synchronisation or a call that ends it."""
    return (started_request(binding) is not None or ends_with_synchronisation(binding)
            or split_access(binding, "begin") is not None or not binding.is_lasting())


def returns_address(binding):
    """Whether the module mpi has a second form of it, which returns TYPE(C_PTR)."""
    return any(a.kind == "pointer" for a in binding.arguments) and not binding.is_detach()


class _Entry:
    """One entry point: collects the lines of its body."""

    def __init__(self, binding, large, described, special):
        self.binding, self.large, self.described, self.special = binding, large, described, special
        self.before, self.lengths = [], []
        self.counts, self.types = described_arguments(binding) if described else ({}, {})

    def suffix(self):
        made = "_c" if self.large and not self.binding.only_large() else ""
        if self.described:
            return f"{made}_f08ts_" if self.binding.has_choice() else f"{made}_f08_"
        return f"{made}_f08_" if self.large else "_"

    def declare(self, a):
        const = "const " if a.intent == "IN" and not a.written_in_c() else ""
        name = a.name
        if a.kind in ("integer", "logical"):
            return f"{const}{a.c_type(self.large)}* {name}"
        if a.kind in ("handle", "status"):
            return f"{const}int* {name}"
        if a.kind in TEXTS:
            if self.described and a.kind == "text":  # in a procedure with BIND(C)
                return f"const descriptor* {name}"
            self.lengths.append(f"std::size_t {name}_length")
            return f"{const}char* {name}"
        if a.kind == "choice":
            return f"const descriptor* {name}" if self.described else f"void* {name}"
        if a.kind == "address":
            return f"{const}MPI_Aint* {name}"
        return f"procedure* {name}" if a.kind == "procedure" else f"void* {name}"

    # -- one argument of the call in C -------------------------------------------------------------

    def handle(self, a):
        base, name = a.c.base(), a.name
        if not a.array:
            if a.intent == "IN" and not a.c.is_pointer():
                return f"handle<{base}>(*{name})"
            wrapper = "written" if a.intent == "OUT" else "exchanged"
            self.before.append(f"{wrapper}<{base}> {name}_({name});")
            return f"{name}_.address()"
        wrapper = {"IN": "handle_array", "OUT": "written_array"}.get(a.intent, "exchanged_array")
        self.before.append(f"{wrapper}<{base}> {name}_({name}, {self.element_count(a)});")
        return f"{name}_.data()"

    def element_count(self, a):
        length = a.c.length()
        if length:
            return f"*{length}"
        size = SIZES[self.binding.function.chapter]
        if size == "neighbor_count":
            size = "destination_count" if a.name.startswith("send") else "source_count"
        elif a.name == "sendtypes":  # with MPI_IN_PLACE there need not be any
            buffer = "sendbuf->address" if self.described else "sendbuf"
            return f"is_in_place({buffer}) ? 0 : {size}(*comm)"
        return f"{size}(*comm)"

    def text(self, a):
        name = a.name
        if a.kind == "text" and self.described:
            self.before.append(f"const text_in {name}_({name});")
            return f"{name}_.get()"
        if a.kind == "text":
            kind = "trimmed_text" if self.binding.function.chapter == "info" else "text_in"
            self.before.append(f"const {kind} {name}_({name}, {name}_length);")
            return f"{name}_.get()"
        self.before.append(f"text_out<{a.length}> {name}_({name}, {name}_length);")
        return f"{name}_.buffer()"

    def choice(self, i, a):
        if not self.described:
            return f"choice({a.name})"
        written = str(a.intent != "IN").lower()
        if describes_sections(self.binding, i):
            self.before.append(self.section(a, written))
            return f"{a.name}_.address()"
        if not self.copies():
            return f"choice({a.name}->address)"
        if a.c.condition == "at root":
            self.before.append(f"void* const {a.name}_ = copies.of_at_root("
                               f"{a.name}, {written}, *root, *comm);")
            return f"{a.name}_"
        return f"copies.of({a.name}, {written})"

    def section(self, a, written):
        """The object for a buffer that may be a section."""
        names = [b.name for b in self.binding.arguments]
        if is_partitioned(self.binding):
            return (f"partitioned_section {a.name}_({a.name}, *partitions, *count, *datatype, "
                    f"{written});")
        count, kind = "1", "datatype"
        if self.binding.name not in ONE_ELEMENT:
            at = names.index(a.name)
            count, kind = f"*{names[at + 1]}", names[at + 2]
        more = f", copies, {written}" if self.copies() else ""
        return f"const section {a.name}_({a.name}, {count}, *{kind}{more});"

    def copies(self):
        """Whether the entry has an object for contiguous copies of sections."""
        b = self.binding
        if not self.described or not b.has_choice() or is_partitioned(b) or not copies_sections(b):
            return False
        described = any(describes_sections(b, i) for i in range(len(b.arguments)))
        return described or started_request(b) is not None

    def integer(self, i, a):
        if a.name in WEIGHTS:
            return f"weights_at({a.name})"
        if "[3]" in a.c.array:
            return f"triplets({a.name})"
        if a.array or a.c.is_pointer():
            return a.name
        if i in self.counts:
            count = f"{self.counts[i]}_.count()"
            return f"static_cast<int>({count})" if a.c_type(self.large) == "int" else count
        return f"*{a.name}"

    def argument(self, i, a):
        if a.kind == "handle":
            return f"{self.types[i]}_.type()" if i in self.types else self.handle(a)
        if a.kind == "status":
            if a.intent in ("IN", "INOUT"):
                return f"status_at({a.name})"
            return f"statuses_or_ignore({a.name})" if a.array else f"status_or_ignore({a.name})"
        if a.kind in TEXTS:
            return self.text(a)
        if a.kind == "choice":
            return self.choice(i, a)
        if a.kind == "pointer" and self.binding.is_detach() and not self.described:
            self.before.append(f"void* {a.name}_ = nullptr;  // has no type in mpif.h and mpi")
            self.before.append(f"static_cast<void>({a.name});")
            return f"&{a.name}_"
        return a.name if a.kind == "pointer" else self.integer(i, a)

    # -- the whole ---------------------------------------------------------------------------------

    def is_special(self):
        return self.binding.name.lower() in self.special

    def condition(self):
        """True in C++ if all buffers can be passed on as they are described."""
        if not self.described or ONLY_ADDRESSES.match(self.binding.name):
            return ""
        tests = []
        for i, a in enumerate(self.binding.arguments):
            if describes_sections(self.binding, i):
                tests.append(f"{a.name}_.is_usable()")
            elif a.kind == "choice" and not self.copies():
                tests.append(f"is_contiguous(*{a.name})")
        return " && ".join(tests)

    def call(self):
        b = self.binding
        if self.is_special():
            inner = [self.choice(i, a) if a.kind == "choice" else a.name
                     for i, a in enumerate(b.arguments)]
            inner += [n.split()[-1] for n in self.lengths]
            return f"special::{b.name.lower()}({', '.join(inner)})"
        inner = ", ".join(self.argument(i, a) for i, a in enumerate(b.arguments))
        suffix = "_c" if self.large and not b.only_large() else ""
        return f"PMPI_{b.name}{suffix}({inner})"

    def keeping(self):
        """The lines after the call for the copies that live as long as the operation."""
        request = started_request(self.binding)
        ended = split_access(self.binding, "end")
        if ended:
            return [f'  end_split_copies(*fh, "{ended}");']
        if self.described and is_partitioned(self.binding):
            return [f"  buf_.keep(code, {request.name}_.address());"]
        if not self.copies():
            return []
        if request:
            return [f"  copies.keep(code, {request.name}_.address());"]
        if ends_with_synchronisation(self.binding):
            return ["  copies.keep(code, *win, *target_rank);"]
        begun = split_access(self.binding, "begin")
        return [f'  copies.keep(code, *fh, "{begun}");'] if begun else []

    def text_of(self):
        b = self.binding
        declared = [self.declare(a) for a in b.arguments]
        name = f"p{b.symbol()}{self.suffix()}"
        if b.has_ierror():
            declared.append("int* ierror")
        head = f"{b.function.result if b.is_function() else 'void'} {name}"
        call = self.call()
        if self.lengths:
            declared += self.lengths
        if self.copies():
            self.before.insert(0, "section_copies copies;")
        if not b.function.anytime:  # such calls are not recorded
            # Behind the conversions, which call MPI, too.
            self.before.append("count_as_called_from(__builtin_return_address(0));")
        lines = [f"{head}({', '.join(declared)}) {{"] + [f"  {line}" for line in self.before]
        if b.is_function():
            lines.append(f"  return {call};")
        elif not b.has_ierror():
            lines.append(f"  {call};")
        else:
            condition = self.condition()
            if condition:
                call = f"{condition} ? {call} : refuse_section()"
            lines.append(f"  const int code = {call};")
            lines += self.keeping()
            lines.append("  if (ierror != nullptr) *ierror = code;")
        lines.append("}")
        return name, "\n".join(lines)


def entries_of(binding, special):
    """[(name, text, [other names])] of a binding."""
    made = []

    def put(large, described, *others):
        name, text = _Entry(binding, large, described, special).text_of()
        made.append((name, text, [name[1:], *others]))

    if binding.name == "Sizeof":  # written by hand: it has one form, with a descriptor
        return []
    symbol = binding.symbol()
    separate = binding.has_choice() or binding.is_detach()
    if not binding.only_large():
        shared = binding.in_f08 and not separate
        others = [f"p{symbol}_f08_", f"{symbol}_f08_"] if shared else []
        if returns_address(binding):
            others += [f"p{symbol}_cptr_", f"{symbol}_cptr_"]
        put(False, False, *others)
        if separate and binding.in_f08:
            put(False, True)
    if binding.function.has_large or binding.only_large():
        put(True, separate)
    return made


HEAD = """// Generated by api/generate.py: entry points for Fortran, chapter {chapter}. Do not edit.
#include "mpi/fortran/conversions.hpp"
#include "mpi/fortran/special.hpp"

// NOLINTNEXTLINE(bugprone-macro-parentheses): it declares `other`
#define HEADWAY_NAME(other, name) extern __typeof__(name) other \\
  __attribute__((weak, alias(#name), visibility("default")));

using namespace headway::mpi::fortran;

#pragma GCC visibility push(default)
extern "C" {{

"""


TAIL = '\n}  // extern "C"\n#pragma GCC visibility pop\n'


def write_entries(chapter, bindings, special):
    parts = []
    for binding in bindings:
        for name, text, others in entries_of(binding, special):
            parts.append(text)
            parts += [f"HEADWAY_NAME({other}, {name})" for other in others]
            parts.append("")
    return HEAD.format(chapter=chapter) + "\n".join(parts) + TAIL


# Of the functions that == and /= between handles of a type call: {word in the name: operator of C}.
OPERATORS = {"same": "==", "other": "!="}


def operator_name(word, handle):
    return f"headway_{word}_{handle.removeprefix('MPI_').lower()}"


def write_operators(handles):
    """A function for each operator and type. It is no procedure with BIND(C), which may not return
    a LOGICAL in standard Fortran."""
    lines = [f"int {operator_name(word, handle)}_(const int* left, const int* right) "
             f"{{ return *left {sign} *right; }}"
             for word, sign in OPERATORS.items() for handle in handles]
    return HEAD.format(chapter="operators") + "\n".join(lines) + TAIL


def names(bindings, special, handles):
    entries = [n for b in bindings for name, _, others in entries_of(b, special)
               for n in [name, *others]]
    return sorted(entries + [f"{operator_name(word, handle)}_" for word in OPERATORS
                             for handle in handles])
