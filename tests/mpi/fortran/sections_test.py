"""Calls every non-blocking and persistent collective with array sections as buffers, and compares
what it sends and receives with the blocking collective on contiguous arrays. Persistent ones are
started twice, with other data. The elements between those of a section must not change.

Usage: sections_test.py SOURCE BUILD COMPILER WORK RANKS
"""
import pathlib
import re
import sys

sys.dont_write_bytecode = True
SOURCE, BUILD, COMPILER, WORK, RANKS = sys.argv[1:]
sys.path.insert(0, str(pathlib.Path(SOURCE, "api")))
import fortran  # noqa: E402
import fortran_text  # noqa: E402
from commands import run, run_on_ranks  # noqa: E402

SECTION = "(2, 1:8:2, :)"
KINDS = ("int", "MPI_Aint", "MPI_Count")
# The value of an argument, and of element `i` of one that is an array, from 0.
SCALARS = {"sendcount": "3", "recvcount": "3", "count": "3", "root": "ranks - 1"}
ARRAYS = {"sendcounts": "3", "recvcounts": "3", "sdispls": "4 * i", "rdispls": "4 * i",
          "displs": "4 * i"}
IN_BYTES = {name: f"4 * ({ARRAYS[name]})" for name in ("sdispls", "rdispls")}  # of the w forms

HEAD = f"""program sections
  use mpi_f08
  implicit none
  integer, asynchronous :: out(2, 8, 16), in(2, 8, 16)
  integer :: sent(64), expected(64), i, ranks, rank, round, root, failures = 0
  type(MPI_Request) :: request
  type(MPI_Comm) :: ring
  type(MPI_Datatype) :: types(16) = MPI_INTEGER
"""
START = """  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  call MPI_Cart_create(MPI_COMM_WORLD, 1, [ranks], [.true.], .false., ring)
  if (.not. MPI_SUBARRAYS_SUPPORTED) error stop 'sections are not supported'
"""
END = f"""  call MPI_Comm_free(ring)
  if (failures > 0) error stop 1
  call MPI_Finalize()
  print *, 'passed'
contains
  subroutine prepare(number)
    integer, intent(in) :: number
    out = -7
    in = -1
    sent = [(i + 100 * rank + 1000 * number, i = 1, 64)]
    expected = -1
    out{SECTION} = reshape(sent, [4, 16])
  end subroutine
  subroutine compare(name)
    character(len=*), intent(in) :: name
    if (any(reshape(in{SECTION}, [64]) /= expected)) call report(name, 'received other data')
    if (any(reshape(out{SECTION}, [64]) /= sent)) call report(name, 'changed its send buffer')
    if (any(in(1, :, :) /= -1) .or. any(in(2, 2:8:2, :) /= -1) .or. any(out(1, :, :) /= -7) .or. &
        any(out(2, 2:8:2, :) /= -7)) call report(name, 'wrote between the elements')
  end subroutine
  subroutine report(name, what)
    character(len=*), intent(in) :: name, what
    print *, name, ': ', what
    failures = failures + 1
  end subroutine
end program
"""


def argument(binding, a, large, is_section):
    if a.kind == "choice":
        if a.name in ("sendbuf", "buffer"):
            return f"out{SECTION}" if is_section else "sent"
        return f"in{SECTION}" if is_section else "expected"
    if a.kind == "handle" and a.array:
        return "types"
    if a.kind == "handle":
        return {"MPI_Comm": "ring", "MPI_Info": "MPI_INFO_NULL", "MPI_Op": "MPI_SUM",
                "MPI_Request": "request", "MPI_Datatype": "MPI_INTEGER"}[a.c.base()]
    if a.name == "root":
        return "root"
    in_bytes = "_bytes" if "alltoallw" in binding.name.lower() and a.name in IN_BYTES else ""
    return f"{a.name}{in_bytes}_{a.c_type(large).lower()}"


def call(binding, large, is_section):
    values = [argument(binding, a, large, is_section) for a in binding.arguments]
    return fortran_text.wrapped(f"  call MPI_{binding.name}({', '.join(values)})")


def variables():
    declared, set_to = [], []
    for kind in KINDS:
        for name, value in SCALARS.items():
            declared.append(f"  {fortran_text.KIND_OF[kind]} :: {name}_{kind.lower()}")
            set_to.append(f"  {name}_{kind.lower()} = {value}")
        for suffix, values in (("", ARRAYS), ("_bytes", IN_BYTES)):
            for name, value in values.items():
                variable = f"{name}{suffix}_{kind.lower()}"
                declared.append(f"  {fortran_text.KIND_OF[kind]} :: {variable}(16)")
                set_to.append(f"  {variable} = [({value}, i = 0, 15)]")
    return declared, set_to


def test_of(binding, blocking, large):
    """The lines that test one form of a binding against the blocking one."""
    name = f"MPI_{binding.name}{' with large counts' if large else ''}"
    reference = call(blocking, large, False)
    starting = call(binding, large, True)
    ending = ["  call MPI_Wait(request, MPI_STATUS_IGNORE)", f"  call compare('{name}')"]
    if not binding.name.endswith("_init"):
        return ["  call prepare(1)"] + reference + starting + ending
    return starting + ["  do round = 1, 2", "  call prepare(round)"] + reference + [
        "  call MPI_Start(request)"] + ending + ["  end do", "  call MPI_Request_free(request)"]


def program():
    bindings = {b.name: b for b in fortran.read_bindings(pathlib.Path(SOURCE, "api"))}
    declared, lines = variables()
    tested = 0
    for binding in bindings.values():
        name = re.sub(r"^I(?=[a-z])|_init$", "", binding.name)
        blocking = bindings.get(name[0].upper() + name[1:])
        is_collective = binding.function.chapter in (
            "nonblocking_collectives", "persistent_collectives", "neighborhood")
        if not is_collective or not binding.has_choice() or blocking in (None, binding):
            continue
        for large in (0, 1):
            lines += test_of(binding, blocking, large)
            tested += 1
    if tested != 84:
        sys.exit(f"{tested} forms found, 84 expected")
    return "\n".join([HEAD] + declared + [START, "  root = ranks - 1"] + lines) + "\n" + END


def main():
    folder = pathlib.Path(WORK)
    folder.mkdir(parents=True, exist_ok=True)
    source, binary = folder / "sections.f90", folder / "sections"
    source.write_text(program())
    run(pathlib.Path(BUILD, "bin/mpifort"), "-O0", "-g", source, "-o", binary, compiler=COMPILER)
    run_on_ranks(BUILD, binary, RANKS)


if __name__ == "__main__":
    main()
