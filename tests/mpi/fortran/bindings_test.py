"""Compares the Fortran bindings of api/ with those of the standard: the PyPI package pympistandard
prints them out of the sources of MPI-5.0. Skipped (77) if the package cannot be installed.

Usage: bindings_test.py SOURCE WORK
"""
import pathlib
import re
import subprocess
import sys

sys.dont_write_bytecode = True
SOURCE, WORK = sys.argv[1:]
sys.path.insert(0, str(pathlib.Path(SOURCE, "api")))
import fortran  # noqa: E402
import fortran_modules  # noqa: E402
import fortran_text  # noqa: E402
import table  # noqa: E402

# The standard's text says INTENT(IN) of a buffer that is received into.
ERRATA = {("mpi_precv_init", "buf")}
ONLY_MPIF = {"mpi_attr_delete", "mpi_attr_get", "mpi_attr_put", "mpi_keyval_create",
             "mpi_keyval_free"}


def standard():
    if not pathlib.Path(WORK, "pympistandard").exists():
        done = subprocess.run([sys.executable, "-m", "pip", "install", "--quiet", "--target", WORK,
                               "pympistandard==0.2"], text=True, capture_output=True, timeout=120)
        if done.returncode != 0:
            print(f"skipped: pympistandard cannot be installed: {done.stderr.strip()[-300:]}")
            sys.exit(77)
    sys.path.insert(0, WORK)
    import pympistandard  # noqa: E402  # pylint: disable=import-outside-toplevel
    pympistandard.use_api_version(1)
    return pympistandard.PROCEDURES, pympistandard.CALLBACKS


def type_of(declaration):
    """A type and its attributes in one spelling. Lengths of strings, and ASYNCHRONOUS, are no part
    of how an argument is passed; the standard leaves the latter out of some declarations."""
    text = declaration.upper().replace("KIND=", "").replace(" ", "")
    text = re.sub(r"CHARACTER\(LEN=\w+\)", "CHARACTER(LEN=*)", text)
    return text.replace(",ASYNCHRONOUS", "")


def in_standard(text):
    made = {}
    for line in text.splitlines()[1:]:
        kind, _, names = line.strip().partition(" :: ")
        if names and not kind.startswith("USE"):
            for name, length in re.findall(r"(\w+)(\([^)]*\))?", names):
                made[name] = (type_of(kind), bool(length))
    made.pop("ierror", None)
    return made


def in_ours(binding, large):
    made = {}
    for a in binding.arguments:
        kind, _, name = fortran_text.in_f08(a, large, False, False).partition(" :: ")
        made[re.match(r"\w+", name)[0]] = (type_of(kind), "(" in name)
    return made


def order(form):
    """The names of the arguments of a binding in the standard, as a call gives them."""
    head = str(form).strip().removeprefix("ABSTRACT INTERFACE").strip().splitlines()[0]
    return re.sub(r".*\((.*)\)", r"\1", head).lower().replace(" ", "").split(",")


def callback_differences(callbacks):
    folder = pathlib.Path(SOURCE, "api")
    renamed = fortran.read_differences(folder)["renamed"]
    ours = fortran_modules.callbacks(table.read_types(folder), renamed)
    for callback in callbacks.values():
        express = callback.express
        for form in (express.f08, express.embiggen and express.embiggen.f08):
            if not form:
                continue
            name = re.search(r"(\w+)\(", str(form))[1]
            text = " ".join(line.strip().rstrip("&") for line in ours.get(name, []))
            head = re.search(r"\(([\w, ]*)\)", text)
            if head is None or head[1].lower().replace(" ", "").split(",") != order(form):
                yield f"{name}: {head and head[1]}, not {', '.join(order(form))}"
                continue
            theirs = in_standard(str(form))
            made = in_standard("\n".join(["", *ours[name]]))
            if made != theirs:
                yield f"{name}: {made}, not {theirs}"


def differences(procedures, bindings):
    seen = set()
    for name, procedure in procedures.items():
        express = procedure.express
        for large, form in ((0, express.f08), (1, express.embiggen and express.embiggen.f08)):
            if not form:
                continue
            binding = bindings.get(f"{name}_c" if large else name) or bindings.get(name)
            if binding is None or large and not (binding.function.has_large or
                                                 binding.only_large()):
                yield f"{name}: no binding{' with large counts' if large else ''}"
                continue
            seen.add(binding.symbol())
            names = [a.name.lower() for a in binding.arguments]
            if names + ["ierror"] * binding.has_ierror() != [n for n in order(form) if n]:
                yield f"{name}: {', '.join(names)} in another order than {', '.join(order(form))}"
            theirs, ours = in_standard(str(form)), in_ours(binding, large)
            for argument in sorted(theirs.keys() | ours.keys()):
                if theirs.get(argument) != ours.get(argument) and (name, argument) not in ERRATA:
                    yield f"{name} {argument}: {ours.get(argument)}, not {theirs.get(argument)}"
    for extra in sorted(bindings.keys() - seen - ONLY_MPIF):
        yield f"{extra}: not in the standard"


def main():
    bindings = {b.symbol(): b for b in fortran.read_bindings(pathlib.Path(SOURCE, "api"))
                if not b.function.removed}
    procedures, callbacks = standard()
    found = list(differences(procedures, bindings)) + list(callback_differences(callbacks))
    print("\n".join(found))
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
