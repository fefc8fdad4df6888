"""Compiles and links a call of every MPI function in the three forms of Fortran, and runs the
programs, which call nothing but MPI_Init and MPI_Finalize, and compare the values of all constants.

Usage: calls_test.py SOURCE BUILD COMPILER WORK
"""
import pathlib
import re
import sys

sys.dont_write_bytecode = True
SOURCE, BUILD, COMPILER, WORK = sys.argv[1:]
sys.path.insert(0, str(pathlib.Path(SOURCE, "api")))
import fortran  # noqa: E402
import fortran_text  # noqa: E402
import table  # noqa: E402
from commands import run  # noqa: E402

KINDS = {"int": "i", "MPI_Aint": "a", "MPI_Count": "c", "MPI_Offset": "o"}
DECLARED = """  logical :: never = .false.
  integer :: i, ia(10), ierror, st(MPI_STATUS_SIZE), sta(MPI_STATUS_SIZE,4), iaa(3,2)
  integer(MPI_ADDRESS_KIND) :: a, aa(10)
  integer(MPI_COUNT_KIND) :: c, ca(10)
  integer(MPI_OFFSET_KIND) :: o, oa(10)
  logical :: l, la(10)
  character(len=8) :: t, ta(2), taa(1,2)
  real :: buf(10)
"""
DECLARED_F08 = """  type(MPI_Status) :: s, sa(4)
  type(c_ptr) :: p
"""


def scalar_or_array(letter, argument):
    if fortran_text.array_of(argument) == "(3,*)":
        return letter + "aa"
    return letter + ("a" if argument.array else "")


def value(a, large, f08):
    """A variable of the argument's type."""
    if a.kind == "integer":
        return scalar_or_array(KINDS[a.c_type(large)], a)
    if a.kind == "logical":
        return scalar_or_array("l", a)
    if a.kind == "handle":
        return scalar_or_array(f"h_{a.c.base()[4:].lower()}" if f08 else "i", a)
    if a.kind == "status":
        return scalar_or_array("s" if f08 else "st", a)
    if a.kind in ("text", "text_out"):
        return "t"
    if a.kind == "texts":
        return "taa" if "count" in fortran_text.array_of(a) else "ta"
    if a.kind == "pointer":
        return "p" if f08 else "a"
    if a.kind == "procedure":
        return f"f_{a.c.base()}" if f08 else "callback"
    return {"choice": "buf", "address": "a"}[a.kind]


def call(binding, large, f08):
    values = [value(a, large, f08) for a in binding.arguments]
    name = binding.name
    if f08 and binding.only_large() and not binding.own_name:
        name = name.removesuffix("_c")
    if not f08 and name == "Status_f2f08":
        values[1] = "s"
    if not f08 and name == "Status_f082f":
        values[0] = "s"
    if binding.has_ierror():
        values.append("ierror")
    text = f"MPI_{name}({', '.join(values)})"
    if binding.is_function():
        text = ("buf(1) = real(" if binding.function.result == "double" else "a = (") + text + ")"
    else:
        text = "call " + text
    return fortran_text.wrapped(f"    {text}")


def calls(bindings, f08, modern):
    lines = []
    for b in bindings:
        if f08 and not b.in_f08 or not modern and b.name in ("Sizeof", "Status_f2f08",
                                                             "Status_f082f"):
            continue
        if not b.only_large():
            lines += call(b, 0, f08)
        if f08 and (b.only_large() or b.function.has_large and b.overloads()):
            lines += call(b, 1, f08)
    return lines


def comparisons(constants, f08):
    """The lines that compare the constants that are numbers or handles with those of api/."""
    lines = []
    for c in constants:
        is_handle = c.type in fortran_text.HANDLES
        # Of MPI_T Fortran has the error classes alone. Strings in Fortran have no end.
        if re.match("MPI_F_|MPI_T_(?!ERR_)", c.name) or not (
                is_handle or c.type in ("int", "MPI_Offset")):
            continue
        value = int(c.value, 0) - c.name.startswith("MPI_MAX_")
        ours = f"{c.name}%MPI_VAL" if is_handle and f08 else c.name
        lines.append(f"    if ({ours} /= {value}) print *, '{c.name} has another value'")
    return lines


def program(bindings, constants, form):
    f08 = form == "f08"
    lines = ["program calls"]
    if form == "mpif":
        lines += ["  implicit none", "  include 'mpif.h'"]
    else:
        lines += ["  use, intrinsic :: iso_c_binding, only: c_ptr",
                  f"  use {'mpi_f08' if f08 else 'mpi'}", "  implicit none"]
    lines += DECLARED.splitlines()
    if f08:
        lines += DECLARED_F08.splitlines()
        lines += [f"  type({h}) :: h_{h[4:].lower()}, h_{h[4:].lower()}a(4)"
                  for h in fortran_text.HANDLES]
        kinds = {a.c.base() for b in bindings if b.in_f08 for a in b.arguments
                 if a.kind == "procedure"}
        lines += [f"  procedure({kind}), pointer :: f_{kind}" for kind in sorted(kinds)]
    else:
        lines += ["  external :: callback"]
        if form == "mpi":
            lines += ["  type(MPI_Status) :: s"]
    lines += ["  call MPI_Init(ierror)", "  if (never) then"]
    lines += calls(bindings, f08, form != "mpif")
    lines += ["  end if"] + comparisons(constants, f08)
    lines += ["  call MPI_Finalize(ierror)", "  print *, 'passed'", "end program"]
    if not f08:
        lines += ["subroutine callback()", "end subroutine"]
    return "\n".join(lines) + "\n"


def main():
    bindings = fortran.read_bindings(pathlib.Path(SOURCE, "api"))
    constants = table.read_constants(pathlib.Path(SOURCE, "api"))
    folder = pathlib.Path(WORK)
    folder.mkdir(parents=True, exist_ok=True)
    for form in ("mpif", "mpi", "f08"):
        source = folder / f"calls_{form}.f90"
        source.write_text(program(bindings, constants, form))
        binary = folder / f"calls_{form}"
        run(pathlib.Path(BUILD, "bin/mpifort"), "-O0", "-w", "-std=f2018", source, "-o", binary,
            compiler=COMPILER)
        output = run(binary).split()
        if output != ["passed"]:
            sys.exit(f"the program of form {form} printed {' '.join(output)}")


if __name__ == "__main__":
    main()
