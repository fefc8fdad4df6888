"""Writes the checked entry points: PMPI_X strong, MPI_X a weak alias of it, for every function.

What the implementation of a call (src/mpi/*/*_calls.hpp) receives for a parameter, by its kind:

    comm type op group errhandler win file session message   a reference to the object
    intracomm                          the same; no inter-communicator
    request, "... or null"             a pointer to the object, null for MPI_X_NULL
    info                               pointer, null for MPI_INFO_NULL (info_needed: reference)
    out, inout (a handle)              reference to a pointer to the object; null becomes MPI_X_NULL
    out, inout (a number)              reference; N, A and D are MPI_Count, narrowed behind the call
    N, A, D                            MPI_Count
    counts, displacements              `integers`: a view of int or 64-bit numbers
    buffer status statuses requests types array text text_out pointer_out optional raw
                                       as in C

Checked, unless HEADWAY_CHECKS=off: handles always; counts, sizes and lengths not negative; ranks,
roots and tags in range; no null where something is written or read; datatypes committed where data
is sent or received. See `_Entry.check`.
"""
import textwrap

OBJECTS = {
    "MPI_Comm": "communicator", "MPI_Datatype": "datatype", "MPI_Op": "operation",
    "MPI_Group": "group", "MPI_Info": "info", "MPI_Errhandler": "errhandler", "MPI_Win": "window",
    "MPI_File": "file", "MPI_Session": "session", "MPI_Request": "request",
    "MPI_Message": "message",
}
# Parameters bear the names of classes: these are qualified.
OBJECTS = {handle: f"headway::mpi::{name}" for handle, name in OBJECTS.items()}
HANDLE_KINDS = {"comm", "intracomm", "type", "op", "group", "info", "info_needed", "errhandler",
                "win", "file", "session", "request", "message"}
# Where a call finds its error handler: the object that has one, or, where a call makes such an
# object, its argument.
OWNERS = ("comm", "intracomm", "win", "file", "session")
OWNER_HANDLES = ("MPI_Comm", "MPI_Win", "MPI_File", "MPI_Session")
COMM_SIZED = {"collectives", "nonblocking_collectives", "persistent_collectives"}
NEIGHBOR_SIZED = {"neighborhood"}  # arrays have an entry for each neighbour
DATA_KINDS = {"buffer", "count", "type", "op", "counts", "displacements"}
SCOPES = {"io": "file", "tools": "tool"}
# Most of their calls are shorter than a microsecond: see report::function::light.
LIGHT = {"point_to_point", "partitioned"}
NUMBER_CHECKS = {"count": ("MPI_ERR_COUNT", "< 0"), "size": ("MPI_ERR_ARG", "< 0"),
                 "length": ("MPI_ERR_ARG", "< 0")}


def implemented(function, calls):
    return not function.name_only and function.implementation() in calls


class _Entry:
    """One C function: collects the lines of its body."""

    def __init__(self, function, suffix, large, calls, index):
        self.function, self.suffix, self.large, self.index = function, suffix, large, index
        self.known = implemented(function, calls)
        self.form = calls.get(function.implementation())
        self.parameters = function.parameters
        self.lines = []
        self.owner = self._owner()

    def _owner(self):
        for kind in OWNERS:
            for p in self.parameters:
                if p.kind == kind:
                    return p
        for p in self.parameters:
            if p.kind == "inout" and p.base() in OWNER_HANDLES:
                return p
        return next((p for p in self.parameters if p.kind == "errhandler"), None)

    def where(self):
        # MPI_File_open has the default error handler of files, not its communicator's.
        by_scope = self.function.chapter == "io" and self.owner and self.owner.kind == "comm"
        return f"{self.owner.name}_" if self.owner and not by_scope else "nullptr"

    def number(self, p):
        return self.parameters.index(p) + 1

    def put(self, text):
        self.lines.append("  " + text)

    def refuse(self, condition, what):
        self.put(f"if ({condition}) [[unlikely]] return {what};")

    def significant(self, p):
        """A condition in C++ under which `p` matters, or ''."""
        if p.condition == "at root":
            return "comm_->is_root(root)"
        conditions = []
        if p.kind in DATA_KINDS and any(q.kind == "root" for q in self.parameters):
            # In the root's group of an inter-communicator nothing else matters.
            others = {q.kind for q in self.parameters if q.condition == "at root"}
            both_sides = not others or (others == {"buffer"} and p.kind != "buffer")
            conditions.append("comm_->has_part_in(root)" if both_sides else
                              "comm_->serves_root(root)")
        if p.condition.startswith("unless"):
            name = p.condition.split()[1]
            conditions.append(f"{name} != {'MPI_NO_OP' if name == 'op' else 'MPI_IN_PLACE'}")
        return " && ".join(conditions)

    def only_where_significant(self, p, test):
        condition = self.significant(p)
        return f"{condition} && {test}" if condition else test

    # -- the parts of a body ---------------------------------------------------------------------

    def resolve_handle(self, p):
        made = OBJECTS[p.base()]
        n = self.number(p)
        where = self.where() if p is not self.owner else "nullptr"
        if p.kind in ("info", ) or p.condition == "or null":
            value = f"*{p.name}" if p.is_pointer() else p.name
            self.put(f"{made}* {p.name}_ = find<{made}>({value});")
            self.refuse(f"{p.name}_ == nullptr && {value} != null_handle<{made}>()",
                        f"refuse_handle(site, {where}, {n}, {value})")
            return
        value = f"*{p.name}" if p.is_pointer() else p.name
        self.put(f"{made}* {p.name}_ = find<{made}>({value});")
        if self.significant(p):
            self.refuse(self.only_where_significant(p, f"{p.name}_ == nullptr"),
                        f"refuse_handle(site, {where}, {n}, {value})")
            self.put(f"if ({p.name}_ == nullptr) {p.name}_ = &nothing<{made}>();")
        else:
            self.refuse(f"{p.name}_ == nullptr", f"refuse_handle(site, {where}, {n}, {value})")
        if made == "headway::mpi::file" and self.function.chapter == "io":
            self.refuse(f"{p.name}_->is_null()", f"refuse_handle(site, nullptr, {n}, {value})")
        if p.kind == "intracomm":
            self.refuse(f"{p.name}_->is_inter()", f"refuse_inter(site, *{p.name}_, {n})")

    def resolve(self, p):
        if p.kind in HANDLE_KINDS:
            self.resolve_handle(p)
        elif p.kind == "inout" and p.base() in OBJECTS:
            self.refuse(f"{p.name} == nullptr", f"refuse_null(site, nullptr, {self.number(p)})")
            self.resolve_handle(p)

    def element_count(self, p):
        """How many entries an array argument has, or None where only the implementation knows."""
        if p.length():
            return p.length()
        if p.length() == "" and self.function.chapter in COMM_SIZED:
            own_group = self.function.name.lower().lstrip("i").startswith("reduce_scatter")
            return "comm_->size()" if own_group else "comm_->peer_count()"
        if p.length() == "" and self.function.chapter in NEIGHBOR_SIZED:
            return self.neighbors(p)
        return None

    def neighbors(self, p):
        """How many neighbours an argument of a neighbourhood collective is about."""
        return f"comm_->{'destination' if p.name.startswith('s') else 'source'}_count()"

    def check(self, p):
        n, where, name = self.number(p), self.where(), p.name
        if p.kind in NUMBER_CHECKS:
            error, test = NUMBER_CHECKS[p.kind]
            self.refuse(self.only_where_significant(p, f"{name} {test}"),
                        f"refuse_negative(site, {where}, {error}, {n}, {name})")
        elif p.kind == "dest":
            self.refuse(f"!comm_->may_send_to({name})",
                        f"refuse_rank(site, *comm_, MPI_ERR_RANK, {n}, {name})")
        elif p.kind == "source":
            self.refuse(f"!comm_->may_receive_from({name})",
                        f"refuse_rank(site, *comm_, MPI_ERR_RANK, {n}, {name})")
        elif p.kind == "tag":
            self.refuse(f"!is_tag({name})", f"refuse_tag(site, {where}, {n}, {name})")
        elif p.kind == "anytag":
            self.refuse(f"!is_tag({name}) && {name} != MPI_ANY_TAG",
                        f"refuse_tag(site, {where}, {n}, {name})")
        elif p.kind == "buffer":
            self.check_buffer(p)
        elif p.kind == "type" and self.communicates():
            self.refuse(self.only_where_significant(p, f"!{name}_->committed"),
                        f"refuse_uncommitted(site, {where}, {n})")
        elif p.kind in ("out", "in", "text", "text_out", "pointer_out") or (
                p.kind == "inout" and p.base() not in OBJECTS):
            self.refuse(f"{name} == nullptr", f"refuse_null(site, {where}, {n})")
        elif p.kind in ("counts", "types", "requests", "array"):
            self.check_array(p)

    def communicates(self):
        """Data is sent or received: datatypes have to be committed. Packing does without."""
        return self.function.chapter != "datatypes" and any(
            p.kind == "buffer" for p in self.parameters)

    def check_buffer(self, p):
        behind = self.parameters[self.number(p):]
        count = next((q for q in behind if q.kind in ("count", "size")), None)
        kind = next((q for q in behind if q.kind == "type"), None)
        if count is None or count.kind != "count" or kind is None:
            return
        test = f"{p.name} == nullptr && {count.name} > 0 && !{kind.name}_->is_absolute()"
        if self.function.chapter in NEIGHBOR_SIZED:
            test += f" && {self.neighbors(p)} > 0"
        self.refuse(self.only_where_significant(p, test),
                    f"refuse_buffer(site, {self.where()}, {self.number(p)}, {count.name})")

    def check_array(self, p):
        count, n, where = self.element_count(p), self.number(p), self.where()
        if count is None:
            return
        self.refuse(self.only_where_significant(p, f"{p.name} == nullptr && {count} > 0"),
                    f"refuse_null(site, {where}, {n})")
        call = {
            "counts": f"refuse_counts(site, {where}, {n}, integers({p.name}), {count})",
            "types": f"refuse_types(site, {where}, {n}, {p.name}, {count}, "
                     f"{str(self.communicates()).lower()})",
            "requests": f"refuse_requests(site, {where}, {n}, {p.name}, {count})",
        }.get(p.kind)
        if call:
            condition = self.significant(p)
            guard = f"if ({condition}) " if condition else ""
            self.put(f"{guard}{{")
            self.put(f"  if (const int wrong = {call}; wrong != MPI_SUCCESS) [[unlikely]] "
                     "return wrong;")
            self.put("}")

    def prepare(self, p):
        """Declares what stands for `p` during the call, where that is not `p` itself."""
        if p.kind == "out" and p.base() in OBJECTS:
            self.put(f"{OBJECTS[p.base()]}* {p.name}_ = nullptr;")
        elif p.kind in ("out", "inout") and p.poly():
            first = f" = *{p.name}" if p.kind == "inout" else " = 0"
            self.put(f"MPI_Count {p.name}_{first};")

    def argument(self, p):
        if p.kind in HANDLE_KINDS:
            pointer = p.kind in ("info", "request") or p.condition == "or null"
            if p.kind == "request" and p.condition != "or null":
                pointer = False
            return f"{p.name}_" if pointer else f"*{p.name}_"
        if p.kind in ("out", "inout") and (p.base() in OBJECTS or p.poly()):
            return f"{p.name}_"
        if p.kind in ("out", "inout", "in"):
            return f"*{p.name}"
        if p.kind in ("counts", "displacements"):
            return f"integers({p.name})"
        return p.name

    def finish(self, p):
        if p.kind in ("out", "inout") and p.base() in OBJECTS:
            self.put(f"*{p.name} = handle_of({p.name}_);")
        elif p.kind in ("out", "inout") and p.poly():
            narrow = p.type(self.large).replace("*", "").strip() == "int"
            value = f"narrowed({p.name}_)" if narrow else f"{p.name}_"
            self.put(f"*{p.name} = {value};")

    def call(self):
        if not self.form:
            inner = ", ".join(self.argument(p) for p in self.parameters)
            return f"calls::{self.function.implementation()}({inner})"
        form, name = self.form
        made = "" if form.startswith("run") else ", request_"
        if form.endswith("message"):
            buffer, count, _, peer, tag = (p.name for p in self.parameters[:5])
            return (f"{form}({{const_cast<void*>({buffer}), {count}, datatype_, {peer}, {tag}, "
                    f"comm_, message_mode::{name}}}{made})")
        # A collective; its info argument is ignored.
        inner = ", ".join(self.argument(p) for p in self.parameters
                          if p.kind not in ("comm", "info", "out"))
        return f"{form}(*comm_, calls::{name}{{{inner}}}{made})"

    # -- whole bodies ----------------------------------------------------------------------------

    def unsupported(self):
        if self.owner and not self.function.anytime:
            self.refuse("!running()", "refuse_state(site)")
        if self.owner:  # an invalid handle is reported also by calls that are not implemented
            self.resolve(self.owner)
        for p in self.parameters:
            if p is not self.owner and p.name != "...":
                self.put(f"static_cast<void>({p.name});")
        self.put(f"return refuse_unsupported(site, {self.where()});")

    def plain(self):
        """A function that returns no error code, or whose handles stay as they are."""
        inner = ", ".join(p.name for p in self.parameters if p.name != "...")
        self.put(f"return calls::{self.function.implementation()}({inner});")

    def record(self):
        """What an entry point asks first; where calls are recorded, it notes this one."""
        self.put("recorded_call call;")
        self.put("using enum library::call_mode;")
        self.put("if (const auto calls = calls_are(); calls != plain) [[unlikely]] {")
        self.put("  if (calls == refused) return refuse_state(site);")
        self.put("  call.begin(site.recorded, __builtin_return_address(0));")
        self.put("}")

    def checked(self):
        if not self.function.anytime:
            self.record()
        first = [p for p in self.parameters if p is self.owner]
        for p in first + [p for p in self.parameters if p is not self.owner]:
            if not (p.kind in DATA_KINDS and self.significant(p)):
                self.resolve(p)
        self.root_check()
        for p in self.parameters:
            if p.kind in DATA_KINDS and self.significant(p):
                self.resolve(p)
        body, self.lines = self.lines, []
        for p in self.parameters:
            self.check(p)
        checks, self.lines = self.lines, body
        if checks:
            self.put("if (checks_on()) [[likely]] {")
            self.lines += ["  " + line for line in checks]
            self.put("}")
        for p in self.parameters:
            self.prepare(p)
        self.put(f"const int code = {self.call()};")
        for p in self.parameters:
            self.finish(p)
        # A call that frees a handle may have freed the object: MPI_COMM_SELF's handler is called.
        where = self.where() if not self.owner or self.owner.kind != "inout" else "nullptr"
        self.refuse("code != MPI_SUCCESS", f"raise(site, {where}, code)")
        self.put("return MPI_SUCCESS;")

    def root_check(self):
        for p in self.parameters:
            if p.kind == "root":
                self.refuse(f"!comm_->may_have_root({p.name})",
                            f"refuse_rank(site, *comm_, MPI_ERR_ROOT, {self.number(p)}, {p.name})")

    def text(self):
        f = self.function
        raw = all(p.kind == "raw" for p in self.parameters)
        if not self.known:
            self.unsupported()
        elif f.result != "int" or (raw and f.anytime and self.parameters and
                                   f.name.endswith("toint")) or f.name == "Pcontrol":
            self.plain()
        else:
            self.checked()
        names = "".join(f'"{p.name}", ' for p in self.parameters) + "nullptr"
        name = f"MPI_{f.name}{self.suffix}"
        scope = SCOPES.get(f.chapter, "common")
        light = str(f.chapter in LIGHT).lower()
        head = [f"{f.prototype('P', self.suffix, self.large)} {{"]
        if any("site" in line for line in self.lines):
            head += [f"  static constexpr const char* names[] = {{{names}}};",
                     f'  static constexpr call_site site{{"{name}", names, '
                     f'handler_scope::{scope}, {{"{name}", {self.index}, {light}}}}};']
        return "\n".join(head + self.lines + ["}", f"HEADWAY_PROFILED({name})", ""])


HEAD = """// Generated by api/generate.py: the entry points of chapter {chapter}. Do not edit.
#pragma GCC visibility push(default)
#include <mpi.h>
#pragma GCC visibility pop

#include "mpi/abi/entry.hpp"
{includes}
// NOLINTNEXTLINE(bugprone-macro-parentheses): it declares `name`
#define HEADWAY_PROFILED(name) __typeof__(P##name) name \\
  __attribute__((weak, alias("P" #name), visibility("default")));

using namespace headway::mpi;

extern "C" {{

"""


def write_entries(chapter, functions, calls, headers, indices):
    """One source file; `calls` are the names that exist, with their form, declared in `headers`;
    `indices` the number of each C function."""
    parts = []
    for function in functions:
        for suffix, large in function.forms():
            index = indices[function.name + suffix]
            parts.append(_Entry(function, suffix, large, calls, index).text())
    includes = "".join(f'#include "mpi/{header}"\n' for header in headers)
    head = HEAD.format(chapter=textwrap.shorten(chapter, 60), includes=includes)
    if any(f.removed for f in functions):  # a recorded call calls itself
        head = f'#pragma GCC diagnostic ignored "-Wdeprecated-declarations"\n{head}'
    return head + "\n".join(parts) + '\n}  // extern "C"\n'
