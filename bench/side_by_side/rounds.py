"""Rounds: each runs every contender once, and the cache-line probe before each; then statistics.

Times on a shared machine drift by the minute. So libraries are not measured one after the other but
in rounds; each round starts with another contender, and a comparison is the median over the rounds
of the ratio within one round.
"""

import contextlib
import shutil
import statistics
import sys
from dataclasses import dataclass, field

from . import network, programs


@dataclass(frozen=True)
class Case:
    """One benchmark with arguments and a network.

    `net`: "shm", "tcp", "nodes" (network.two_nodes); `rate`: None = unshaped.
    """

    benchmark: str
    arguments: tuple = ()
    ranks: int = 2
    net: str = "shm"
    rate: str | None = None
    settings: tuple = ()  # also these, which run on request alone
    timeout_s: float = 180

    @property
    def title(self):
        return " ".join([self.benchmark, *self.arguments]) + f", {self.ranks} ranks"


@dataclass
class Result:
    """values[label][key], also[label][key]: a number for each round. failed[label]: the error."""

    case: Case
    place: str
    values: dict = field(default_factory=dict)
    also: dict = field(default_factory=dict)
    failed: dict = field(default_factory=dict)
    probes_ns: list = field(default_factory=list)
    own: str | None = None  # the label of ours at its defaults
    ours: tuple = ()  # the labels of all our settings

    @property
    def metric(self):
        return programs.METRICS[self.case.benchmark]

    @property
    def keys(self):
        return list(dict.fromkeys(key for of in self.values.values() for key in of))

    @property
    def peers(self):
        return [label for label in self.values if label not in self.ours]

    def median(self, label, key, of=None):
        found = (self.values if of is None else of).get(label, {}).get(key)
        return statistics.median(found) if found else None

    def best_peer(self, key, among=None):
        """The label of the best peer for this row, by its median; None if no peer has the row."""
        having = [label for label in self.peers if self.values[label].get(key)]
        having = [label for label in having if among is None or label.split(":")[0] in among]
        choose = max if self.metric.higher_is_better else min
        return choose(having, key=lambda label: self.median(label, key), default=None)

    def ratio(self, label, other, key):
        """Spread of label / other, round by round; None without a round that has both."""
        ours = self.values.get(label, {}).get(key, [])
        theirs = self.values.get(other, {}).get(key, [])
        ratios = [a / b for a, b in zip(ours, theirs) if b]
        return spread(ratios) if ratios else None

    def as_json(self):
        return {
            "benchmark": self.case.benchmark,
            "arguments": list(self.case.arguments),
            "ranks": self.case.ranks,
            "place": self.place,
            "unit": self.metric.unit,
            "cache_line_ns": self.probes_ns,
            "failed": self.failed,
            "rows": [
                {
                    "key": dict(zip(self.metric.key, key)),
                    "rounds": {label: of.get(key, []) for label, of in self.values.items()},
                    "also": {label: of.get(key, []) for label, of in self.also.items()},
                }
                for key in self.keys
            ],
        }


@dataclass(frozen=True)
class Spread:
    median: float
    low: float
    high: float


def spread(values):
    return Spread(statistics.median(values), min(values), max(values))


def place_of(case):
    if case.net == "tcp":
        return network.tcp_place(case.rate)
    if case.net == "nodes":
        return network.two_nodes(case.rate)
    return contextlib.nullcontext(network.SHARED_MEMORY)


def show_status(text):
    """Shows a live line on a terminal; a log gets only the tables."""
    if sys.stderr.isatty():
        print(f"\r\033[K{text}", end="", file=sys.stderr, flush=True)


def run_case(case, contenders, folder, rounds):
    """Runs `case` with all contenders that suit it. Errors are in Result.failed."""
    with place_of(case) as place:
        chosen = [c for c in contenders
                  if c.setting.serves(case.benchmark, place, case.settings)]
        result = Result(case, place.name)
        result.ours = tuple(c.label for c in chosen if c.own)
        result.own = next((c.label for c in chosen if c.own and not c.setting.name), None)
        built, probe = build(case, chosen, place, folder, result)
        for number in range(rounds):
            turn = number % len(built) if built else 0
            for contender in built[turn:] + built[:turn]:
                if contender.label in result.failed:
                    continue
                show_status(f"round {number + 1}/{rounds}: {case.title}: {contender.label} …")
                nanoseconds = programs.probe_ns(probe)
                result.probes_ns += [] if nanoseconds is None else [nanoseconds]
                one_run(case, contender, place, folder, result)
        show_status("")
        return result


def compiler_of_system():
    return shutil.which("cc") or "cc"


def build(case, chosen, place, folder, result):
    """Compiles; returns the contenders for which that succeeded, and the probe."""
    built, probe = [], None
    own_folder = folder / "programs"
    for contender in chosen:
        environment = contender.environment(place)
        target = contender.library.programs(folder)
        compiler = contender.library.mpicc
        try:
            programs.compile_benchmark(case.benchmark, compiler, environment, target)
            probe = programs.compile_benchmark("cache_line", compiler_of_system(), None, own_folder)
        except programs.RunError as fault:
            result.failed[contender.label] = str(fault)
            continue
        result.values[contender.label] = {}
        built.append(contender)
    return built, probe


def one_run(case, contender, place, folder, result):
    program = contender.library.programs(folder) / case.benchmark
    arguments = list(case.arguments)
    try:
        found = programs.run_benchmark(
            case.benchmark, program, arguments, contender, place, case.ranks, case.timeout_s
        )
    except programs.RunError as fault:
        result.failed[contender.label] = str(fault)
        result.values.pop(contender.label, None)
        return
    for key, (value, also) in found.items():
        result.values[contender.label].setdefault(key, []).append(value)
        result.also.setdefault(contender.label, {}).setdefault(key, []).append(also)
