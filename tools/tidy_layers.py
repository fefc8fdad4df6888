"""What tools/tidy.py knows of the modules of src/: tools/layers.txt, and which a text names."""

import re

# The namespace of a module inside `headway`, where it is not the module's name.
NAMESPACES = {
    "c_api/endpoints": "endpoint_api",
    "c_api/progress": "progress_api",
    "c_api/shared_runtime": "shared_runtime",
    "mpi/fortran": "mpi::fortran",
}


def parse_layers(text):
    """module -> the modules that it may include, itself among them. A module is a folder of src/,
    or a folder in one, as `c_api/progress`."""
    table = {}
    for line in text.splitlines():
        if line.strip() and not line.startswith("#"):
            module, _, below = line.partition(":")
            table[module.strip()] = set(below.split()) | {module.strip()}
    return table


def module_of(path, table):
    """The module that a path below src/ lies in: the longest name in the table that it begins with.
    None: no name of the table is one of its folders."""
    folders = path.split("/")[:-1]
    for depth in range(len(folders), 0, -1):
        name = "/".join(folders[:depth])
        if name in table:
            return name
    return None


def roots_of(table):
    """The folders that lie in src/ itself."""
    return {module.split("/")[0] for module in table}


def driver_of(path):
    """The driver whose folder this is: "shm" of src/rails/shm/ring.hpp or rails/shm/ring.hpp."""
    match = re.match(r"(?:src/)?rails/([a-z0-9_]+)/", path)
    return match[1] if match else None


def named_modules(code, table):
    """(position, module) of each place that names a module's namespace, also where no header of
    that module is included. `code` has no comments."""
    modules = {NAMESPACES.get(module, module): module for module in table}
    longest_first = "|".join(sorted(modules, key=len, reverse=True))
    inside = rf"(?<![\w:.>])({longest_first})::"
    outside = rf"\bheadway::({longest_first})\b"
    for found in re.finditer(f"{inside}|{outside}", code):
        yield found.start(), modules[found[1] or found[2]]
