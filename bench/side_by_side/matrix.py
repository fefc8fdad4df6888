"""The matrix: every kind of communication by size and by number of ranks, in pieces of minutes.

A machine is rarely free for the hour that all of it takes. So each run is appended to a file as
soon as it ends, the case with the fewest rounds is next, and what is drawn comes from the file
(runs.py, heat_map.py).
"""

import contextlib
import dataclasses
import datetime
import math
import os
import time

from . import network, programs, rounds, runs

MESSAGE_SIZES = "1..4M"  # by powers of two
COLLECTIVE_SIZES = (8, 64, 1 << 10, 8 << 10, 64 << 10, 512 << 10, 4 << 20)
BLOCKS_BYTES_MAX = 8 << 20  # of all ranks' blocks together
VECTORS = "barrier,bcast,reduce,allreduce,scan"
BLOCKS = "redscat,gather,scatter,allgather,alltoall"
FORMS = ("blocking", "nonblocking", "persistent")
RANKS = (2, 4, 8, 16)


@dataclasses.dataclass(frozen=True)
class Part:
    """Cases whose cells stand in one block of the heat map. `column`: the key that goes across;
    `cases`: (label of its rows, case)."""

    name: str
    title: str
    column: str
    cases: tuple


def case(benchmark, *words, ranks=2, net="shm"):
    return rounds.Case(benchmark, tuple(words), ranks, net, timeout_s=30)


def title_of(one):
    """Under which its rounds are counted."""
    return f"{one.title}, {one.net}" if one.net != "shm" else one.title


def streams():
    sizes = ("--sizes", MESSAGE_SIZES, "--seconds", "0.03")
    window = (*sizes, "--window", "64")
    small = ("--sizes", "1..64K", "--seconds", "0.03")
    return (
        ("ping-pong", case("pingpong", *sizes)),
        ("MPI_Sendrecv", case("pingpong", *sizes, "--sendrecv")),
        ("64 in flight, one way", case("pingpong", *window)),
        ("64 in flight, both ways", case("pingpong", *window, "--both-ways")),
        ("64 in flight, one way, one buffer", case("pingpong", *window, "--one-buffer")),
        ("64 in flight, both ways, one buffer",
         case("pingpong", *window, "--both-ways", "--one-buffer")),
        *((f"{ranks // 2} pairs, ping-pong", case("pingpong", *small, ranks=ranks))
          for ranks in RANKS[1:3]),
        *((f"{ranks // 2} pairs, 16 in flight",
           case("pingpong", *small, "--window", "16", ranks=ranks)) for ranks in RANKS[1:3]),
    )  # fmt: skip


def tcp_streams():
    sizes = ("--sizes", MESSAGE_SIZES, "--seconds", "0.03")
    window = ("--sizes", "1..1M", "--seconds", "0.03", "--window", "64")
    return (
        ("ping-pong", case("pingpong", *sizes, net="tcp")),
        ("64 in flight, one way", case("pingpong", *window, net="tcp")),
        ("64 in flight, both ways", case("pingpong", *window, "--both-ways", net="tcp")),
    )


def one_sided():
    words = ("--created", "--sizes", "8,64K,256K,1M", "--seconds", "0.02")
    return (
        ("shared memory", case("one_sided", *words)),
        ("TCP", case("one_sided", *words, net="tcp")),
    )


def collectives(form, net="shm", every_ranks=RANKS):
    def of(ranks, names, sizes):
        words = ("--form", form, "--seconds", "0.02", "--operations", names)
        text = ",".join(map(str, sizes))
        one = case("collectives", *words, "--sizes", text, ranks=ranks, net=net)
        return f"{ranks} ranks", one

    def blocks(ranks):
        return [size for size in COLLECTIVE_SIZES if size * ranks <= BLOCKS_BYTES_MAX]

    return tuple(
        one
        for ranks in every_ranks
        for one in (of(ranks, VECTORS, COLLECTIVE_SIZES), of(ranks, BLOCKS, blocks(ranks)))
    )


PARTS = (
    Part("streams", "Messages between two ranks or pairs of ranks, by size", "bytes", streams()),
    *(Part(form, f"Collective operations, {form}, by size of the vector or of one block", "bytes",
           collectives(form)) for form in FORMS),
    Part("types", "Data that is not contiguous on either side, by bytes sent", "bytes",
         (("", case("strided", "--sizes", "32K,256K,2M", "--seconds", "0.1")),)),
    Part("threads", "Threads of each rank that share a communicator, by their number", "threads",
         (("ping-pongs a second", case("n_to_n", "--threads", "1,2,4", "--seconds", "0.3")),
          ("messages a second", case("message_rate", "--threads", "1,2,4", "--seconds", "0.3")))),
    Part("thread-collectives", "Collective operations of several threads of each rank at once, "
         "each on its communicator, by their number", "threads",
         (("", case("thread_collectives", "--threads", "1,2,4", "--seconds", "0.1")),)),
    Part("tcp-streams", "Messages between two ranks over TCP, by size", "bytes", tcp_streams()),
    Part("tcp-collectives", "Collective operations over TCP, blocking, by size of the vector or of "
         "one block", "bytes", collectives("blocking", "tcp", RANKS[:2])),
    Part("one-sided", "One-sided operations on created windows, each with its flush, by size",
         "bytes", one_sided()),
    Part("matching", "Messages among many that wait, by how many", "depth",
         (("", case("matching", "--depths", "10,1000,30000", "--seconds", "0.05")),)),
)  # fmt: skip


def parts_named(names):
    """The parts of these names, all if none is named. Errors: ValueError with the first unknown."""
    known = {part.name: part for part in PARTS}
    for name in names:
        if name not in known:
            raise ValueError(f"no part '{name}' of the matrix, only: {', '.join(known)}")
    return [part for part in PARTS if not names or part.name in names]


def pinned(of):
    """The case as it is run: ranks that have a core each are bound to it."""
    a_core_each = of.ranks <= len(os.sched_getaffinity(0))
    words = ("--pin", *of.arguments) if a_core_each else of.arguments
    return dataclasses.replace(of, arguments=words)


class Measurement:
    """Runs rounds of the cases until the time is over; every run goes to the file at once."""

    def __init__(self, parts, contenders, folder, path):
        # Ours only at its defaults: what else it can be set to is no claim.
        self.contenders = [c for c in contenders if not c.own or not c.setting.name]
        self.cases = [(part, label, one) for part in parts for label, one in part.cases]
        self.folder, self.path = folder, path
        self.book = runs.Book.read(path)
        self.places = {"shm": network.SHARED_MEMORY}

    def build(self):
        """Compiles every program, so that no measurement waits for a compiler."""
        for benchmark in dict.fromkeys(one.benchmark for _, _, one in self.cases):
            for contender in self.contenders:
                environment = contender.environment(network.SHARED_MEMORY)
                target = contender.library.programs(self.folder)
                programs.compile_benchmark(benchmark, contender.library.mpicc, environment, target)
        self.probe = programs.compile_benchmark(
            "cache_line", rounds.compiler_of_system(), None, self.folder / "programs"
        )

    def next_case(self, left_s):
        """The case with the fewest rounds of those whose round has not taken longer than is left;
        nothing if there is none."""
        fitting = [one for one in self.cases
                   if self.book.longest_round_s(title_of(one[2])) <= left_s]  # fmt: skip
        return min(fitting, key=lambda one: self.book.rounds_of(title_of(one[2])), default=None)

    @contextlib.contextmanager
    def places_made(self):
        """While it lasts, cases over TCP have a network. Prints which one it is."""
        with contextlib.ExitStack() as stack:
            if any(one.net == "tcp" for _, _, one in self.cases):
                self.places["tcp"] = stack.enter_context(network.tcp_place())
                print(f"over TCP: {self.places['tcp'].name}")
            yield

    def run(self, seconds):
        end = time.monotonic() + seconds
        with self.places_made():
            while (left := end - time.monotonic()) > 0 and (chosen := self.next_case(left)):
                self.one_round(*chosen, end)
        rounds.show_status("")

    def one_round_each(self):
        with self.places_made():
            for part, label, of in self.cases:
                self.one_round(part, label, of, math.inf)
        rounds.show_status("")

    def one_round(self, part, label, of, end):
        number = self.book.rounds_of(title_of(of)) + 1
        turn = number % len(self.contenders)
        for contender in self.contenders[turn:] + self.contenders[:turn]:
            if contender.setting.serves(of.benchmark, self.places[of.net]):
                rounds.show_status(f"{part.name}: {title_of(of)}: {contender.label} …")
                found = self.one_run(of, contender, end)
                self.append(part, label, of, number, contender, found)

    def one_run(self, of, contender, end):
        """What a run adds to its record: rows or why it failed, and the probes beside it."""
        program = contender.library.programs(self.folder) / of.benchmark
        start = time.monotonic()
        longest_s = min(of.timeout_s, max(1, end - start + 5))
        before_ns = programs.probe_ns(self.probe)
        try:
            rows = programs.run_benchmark(of.benchmark, program, list(pinned(of).arguments),
                                          contender, self.places[of.net], of.ranks,
                                          longest_s)  # fmt: skip
            found = {"rows": [[*key, value] for key, (value, _) in rows.items()]}
        except programs.RunError as fault:
            # An end that this measurement's own limit brought is no fault of the library. Its time
            # is kept, so that such a round is begun only where there is more.
            cut = longest_s < of.timeout_s and str(fault).startswith("no end after")
            found = {"rows": []} if cut else {"failed": str(fault)}
        after_ns = programs.probe_ns(self.probe)
        return {**found, "cache_line_ns": [before_ns, after_ns],
                "seconds": round(time.monotonic() - start, 2)}  # fmt: skip

    def append(self, part, label, of, number, contender, found):
        record = {
            "part": part.name, "label": label, "case": title_of(of), "benchmark": of.benchmark,
            "round": number, "contender": contender.label, "own": contender.own,
            "place": self.places[of.net].name,
            "when": datetime.datetime.now().isoformat(timespec="seconds"), **found,
        }  # fmt: skip
        self.book.add(record)
        runs.append(self.path, record)
