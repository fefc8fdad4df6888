#!/usr/bin/env python3
"""Shows that the simulation finds what it is for: takes back past fixes, one at a time, and expects
that a seed then fails which passes with the fix.

    mutations.py BUILD_FOLDER [--only WORD]
    mutations.py --texts      only whether the source still has what they replace: a second

Each mutation replaces one piece of text in a copy of one file. The files that depend on it are
compiled as ninja would, with the copy in place of the original, and linked in front of the
libraries of the build into a `simulate` of their own. The tree and the build are not changed.
"""
import argparse
import json
import pathlib
import shlex
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]

# What it takes back, the file, the text and what it becomes, and a seed that then fails (0: the
# first that does is looked for), or a seed and what `simulate` is told.
MUTATIONS = [
    ("frames that come twice are dropped (df2c76c)", "src/packets/bundle/reorder_window.hpp",
     "if (f.full) return answer::duplicate;", "if (f.full) return answer::nonsense;", 11),
    ("an old frame is no news (df2c76c)", "src/packets/bundle/reorder_window.hpp",
     "if (ahead < 0) return answer::duplicate;", "if (ahead < 0) return answer::nonsense;", 8),
    ("what a lost rail carried is sent again (df2c76c)", "src/packets/bundle/frame_sender.cpp",
     "  resending_ = true;\n}", "}", 3),
    ("a piece is withdrawn before it is asked for again (df2c76c)",
     "src/packets/transfer/incoming_flows.cpp",
     "    of_.lanes[c.piece->lane].via.memory()->withdraw(*c.ticket);",
     "    if (!c.piece->again) of_.lanes[c.piece->lane].via.memory()->withdraw(*c.ticket);", 8),
    ("a message whose receive ended with a loss does not hold its sender",
     "src/messages/arrivals.cpp",
     "discarded = !r && where.discards(message);",
     "discarded = false;", 51),
    ("a failed rank's message says so also as a request to send", "src/messages/rendezvous.cpp",
     ".given_up = given_up,", ".given_up = 0,", 1795725091000001),
    ("a flush ends at the target", "src/windows/wire_way.cpp",
     "  if (way->is_dirty()) way->synchronise({.what = action::flush});\n  return",
     "  return", (0, "--windows")),
    ("a flush is answered when large puts have arrived", "src/windows/target.cpp",
     "    if (origins_[static_cast<std::size_t>(source)].large_puts != 0) {",
     "    if (false) {", (0, "--windows")),
    ("the requests of a packet are served in their order", "src/windows/target.cpp",
     "    serve(source, *request, *elements);\n",
     "    serve(source, std::exchange(message, {}));\n    serve(source, *request, *elements);\n",
     (0, "--windows")),
    ("requests behind one that broke off with its sender are served", "src/windows/target.cpp",
     "    if (!came && !broke_off) {", "    if (!came) {", (612, "--windows")),
    ("a swap compares", "src/windows/update.cpp",
     "if (std::memcmp(before, expected, bytes) == 0) ", "", (0, "--windows")),
    ("an exclusive lock excludes shared ones", "src/windows/control_line.hpp",
     "(how == lock_type::shared ? exclusive : exclusive | all_shared)",
     "(how == lock_type::shared ? 0 : exclusive | all_shared)", (0, "--windows")),
    ("no process passes those that queue at a target", "src/windows/target.cpp",
     "  if (lock_queue_.empty()) line_.lock.begin_queue();\n", "", (0, "--windows")),
    ("what is behind a lock waits for it", "src/windows/target.cpp",
     "  if (lock_queue_.empty() && line_.lock.grant(how)) {",
     "  if (line_.lock.grant(how) || true) {", (0, "--windows")),
    ("locks are granted in the order of their requests", "src/windows/target.cpp",
     "  lock_queue_.push_back(made);", "  lock_queue_.push_front(made);", (0, "--windows")),
]


def compile_commands(build):
    """Of each source file: its command."""
    entries = json.loads((build / "compile_commands.json").read_text())
    return {pathlib.Path(e["file"]).resolve(): shlex.split(e["command"]) for e in entries}


def link_command(build):
    """What links `simulate`, as words."""
    last = subprocess.run(["ninja", "-C", build, "-t", "commands", "simulate"],
                          capture_output=True, text=True, check=True).stdout.splitlines()[-1]
    words = shlex.split(last)
    return words[2:-2] if words[0] == ":" else words


def united(path, commands):
    """The source that CMake has made to compile `path` and others at once (CMAKE_UNITY_BUILD)."""
    return next(source for source in commands
                if "Unity" in source.parts and f'"{path}"' in source.read_text())  # fmt: skip


def dependents(build, path, commands):
    """The sources of the linked modules that have to be compiled again when `path` changes."""
    if path.suffix == ".cpp":
        return [path if path in commands else united(path, commands)]
    linked = {pathlib.Path(word).stem.removeprefix("lib") for word in link_command(build)
              if word.endswith(".a")}  # fmt: skip
    deps = subprocess.run(["ninja", "-C", build, "-t", "deps"], capture_output=True, text=True,
                          check=True).stdout
    sources = []
    for block in deps.split("\n\n"):
        files = [(build / line.strip()).resolve() for line in block.splitlines()[1:]]
        target = next((part.removesuffix(".dir") for part in pathlib.Path(block.split(":")[0]).parts
                       if part.endswith(".dir")), "")  # fmt: skip
        if path in files and files[0] in commands and target in linked:
            sources.append(files[0])
    return sources


def compiled(build, command, source, path, copy, overlay, to):
    """The object file of `source`, which sees `copy` in place of `path`."""
    words = [w for w in command if w != "ccache"]
    mutated = copy if path == source else to.with_suffix(".cpp")
    if path != source:
        mutated.write_text(source.read_text().replace(f'"{path}"', f'"{copy}"'))
    words[words.index("-o") + 1] = str(to)
    words[words.index("-c") + 1] = str(mutated)
    words[1:1] = [f"-I{overlay / 'src'}"]
    words.append("-Wno-error")
    subprocess.run(words, cwd=build, check=True)
    return str(to)


def texts_that_changed():
    """A line for each mutation whose text is not once in its file: it cannot be applied."""
    return [f"{path}: the text of '{name}' is there {count} times: {before!r}"
            for name, path, before, _, _ in MUTATIONS
            if (count := (ROOT / path).read_text().count(before)) != 1]  # fmt: skip


def mutant(build, path, before, after, folder):
    """A `simulate` with the mutation."""
    text = (ROOT / path).read_text()
    copy = folder / path
    copy.parent.mkdir(parents=True)
    copy.write_text(text.replace(before, after))
    commands = compile_commands(build)
    objects = [
        compiled(build, commands[source], source, ROOT / path, copy, folder, folder / f"{i}.o")
        for i, source in enumerate(dependents(build, ROOT / path, commands))
    ]
    words = link_command(build)
    program = folder / "simulate"
    at = words.index("-o")
    words[at + 1] = str(program)
    words[at:at] = objects
    subprocess.run(words, cwd=build, check=True)
    return program


def fails(program, seed, seeds, told):
    """The first seed that fails; None: all pass."""
    for one in ([seed] if seed else range(1, seeds + 1)):
        try:
            done = subprocess.run([program, "--from", str(one), "--seeds", "1", *told],
                                  stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                  timeout=60, check=False)
            if done.returncode != 0:
                return one
        except subprocess.TimeoutExpired:
            return one
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build", type=lambda p: pathlib.Path(p).resolve(), nargs="?")
    parser.add_argument("--texts", action="store_true", help="run nothing")
    parser.add_argument("--only", default="", help="those whose name has this word")
    parser.add_argument("--seeds", type=int, default=60,
                        help="how many are tried where no seed is known")
    chosen = parser.parse_args()
    if changed := texts_that_changed():
        sys.exit("\n".join(changed))
    if chosen.texts:
        return False
    if chosen.build is None:
        parser.error("a build folder is needed")
    survivors = 0
    for name, path, before, after, seed in MUTATIONS:
        if chosen.only not in name:
            continue
        seed, *told = seed if isinstance(seed, tuple) else (seed,)
        with tempfile.TemporaryDirectory() as folder:
            program = mutant(chosen.build, path, before, after, pathlib.Path(folder))
            found = fails(program, seed, chosen.seeds, told)
        sound = found and not fails(chosen.build / "bin/simulate", found, 1, told)
        survivors += not sound
        said = f"seed {found} fails" if found else "NO SEED FAILS"
        print(f"{name}: without it {said}{'' if sound or not found else ', AND WITH IT TOO'}",
              flush=True)
    return survivors != 0


if __name__ == "__main__":
    sys.exit(main())
