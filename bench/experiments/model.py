"""An experiment: runs to make, panels that show their rows, claims to check.

A run is one start of a benchmark program in one setting. Every row of its JSON file becomes a row
of the result, together with the run's tags; a panel is one table and one picture of these rows.
"""

import math
import statistics
from collections.abc import Callable
from dataclasses import dataclass, field

from side_by_side.figures import Verdict, not_measured
from side_by_side.rounds import spread
from side_by_side.runs import MOVED

OWN = "headway"


@dataclass(frozen=True)
class Scene:
    """The options of the command line from which an experiment makes its list of runs."""

    seconds: float = 0.5  # time to aim at for one row of a benchmark
    quick: bool = False  # a test of the program: few points, times that mean nothing
    net: str = "shm"
    rate: str | None = None
    npb: str | None = None  # folder with the sources of the NAS parallel benchmarks
    cases: tuple = ()  # of E4, parts of names; empty: all

    def few(self, values, kept=2):
        """All values, or with --quick the first and the last ones."""
        if not self.quick or len(values) <= kept:
            return tuple(values)
        return (*values[: kept - 1], values[-1])


@dataclass(frozen=True)
class Run:
    """`program`: bench/mpi/NAME.c, `FOLDER/NAME` for another folder of bench, `built:NAME` for a
    program that only a build folder has, or `npb:cg.A`, made from the folder `sources` (npb.py).
    `ranks` 0: started without a launcher.

    `series`: the curve's name; a peer's curve has the peer's name in front. `peers`: the program
    uses MPI alone, so peers make this run too. `environment`: for ours only. `links`: libraries
    that the program needs besides MPI. `first`: arguments of our command `headway`, which is run
    once before all rounds, at the same place and with as many ranks. `ordinary`: as a user without
    privileges, also where root runs the experiment.
    """

    program: str
    arguments: tuple = ()
    series: str = ""
    tags: dict = field(default_factory=dict)
    environment: dict = field(default_factory=dict)
    ranks: int = 2
    net: str = "shm"
    rate: str | None = None
    peers: bool = False
    links: tuple = ()
    first: tuple = ()
    timeout_s: float = 180
    ordinary: bool = False
    sources: str | None = None

    @property
    def name(self):
        return self.program.rpartition("/")[2]


@dataclass(frozen=True)
class Panel:
    """A table and a picture: column `x` of the rows against the columns `values`.

    `values`: {name of the curve: column}; legends omit the name if it is the only one.
    `where`: {column: value}, the rows to take. `kind`: "line", or "bar" if x has names instead of
    numbers. `level`: {y: text}, horizontal lines for comparison.
    """

    title: str
    x: str
    values: dict
    unit: str
    x_title: str = ""
    where: dict = field(default_factory=dict)
    kind: str = "line"
    log_x: bool = False
    log_y: bool = False
    bytes_x: bool = False
    higher_is_better: bool = False
    level: dict = field(default_factory=dict)


@dataclass(frozen=True)
class Experiment:
    """`runs(scene)` lists the runs. `claims`: functions from a Result to a Verdict.

    `source`: short name of the paper (docs/papers.md) and its figure. `saw`: what the paper found.
    `minutes`: duration with the usual rounds and no peers, if it is long.
    """

    name: str
    title: str
    source: str
    saw: str
    runs: Callable
    panels: tuple
    claims: tuple = ()
    minutes: int = 0


class Sample(float):
    """A number of a row. `cores`: how far apart they were during its run (runs.distance)."""

    def __new__(cls, value, cores=None):
        made = super().__new__(cls, value)
        made.cores = cores
        return made


def comparable(above, below):
    """Two lists of samples, round by round: (a, b) of the rounds in which the cores were as far
    apart in both runs. The host moves the cores of a virtual machine, and times follow that."""
    return [(a, b) for a, b in zip(above, below) if a.cores == b.cores != MOVED]


def ratios(above, below):
    return [a / b for a, b in comparable(above, below) if b]


def differences(above, below, unit=1):
    return [unit * (a - b) for a, b in comparable(above, below)]


@dataclass
class Result:
    """rows[series]: a list of (round, row). failed[run]: why it did not end well."""

    experiment: Experiment
    rounds: int
    rows: dict = field(default_factory=dict)
    failed: dict = field(default_factory=dict)
    places: list = field(default_factory=list)
    probes_ns: list = field(default_factory=list)
    distances: list = field(default_factory=list)  # of the cores, one of each run
    own: set = field(default_factory=set)  # names of our library's series

    def add(self, series, number, rows, own, cores=None):
        self.rows.setdefault(series, []).extend((number, row | {"cores": cores}) for row in rows)
        self.distances.append(cores)
        if own:
            self.own.add(series)

    def values(self, series, column, **where):
        """One number a round: `column` of the rows that have all of `where`."""
        return [
            Sample(row[column], row["cores"])
            for _, row in self.rows.get(series, [])
            if column in row and all(row.get(name) == value for name, value in where.items())
        ]

    def median(self, series, column, **where):
        found = self.values(series, column, **where)
        return statistics.median(found) if found else None

    def ratio(self, above, below):
        """Spread of `ratios`; None without any."""
        found = ratios(above, below)
        return spread(found) if found else None

    def xs(self, panel):
        """The panel's values of x, by size for lines, in order of appearance for bars."""
        found = {}
        for rows in self.rows.values():
            for _, row in rows:
                if panel.x in row and all(row.get(k) == v for k, v in panel.where.items()):
                    found[row[panel.x]] = None
        return sorted(found) if panel.kind == "line" else list(found)

    def curves(self, panel):
        """{label: {x: [a value a round]}}, ours first."""
        made = {}
        for series in sorted(self.rows, key=lambda name: name not in self.own):
            for name, column in panel.values.items():
                label = " ".join(filter(None, (series, name if len(panel.values) > 1 else "")))
                points = {
                    x: self.values(series, column, **panel.where, **{panel.x: x})
                    for x in self.xs(panel)
                }
                points = {x: found for x, found in points.items() if found}
                if points:
                    made[label or OWN] = points
        return made

    def as_json(self):
        return {
            "experiment": self.experiment.name,
            "title": self.experiment.title,
            "source": self.experiment.source,
            "rounds": self.rounds,
            "places": self.places,
            "cache_line_ns": self.probes_ns,
            "failed": self.failed,
            "series": {
                series: [{"round": number, **row} for number, row in rows]
                for series, rows in self.rows.items()
            },
        }


def at_most(claim, values, bound, of=""):
    """The verdict that the median of `values` is at most `bound`. `of`: what they are multiples
    of."""
    if not values:
        return not_measured(claim)
    s = spread(values)
    return Verdict(claim, s.median <= bound, spread_words(s) + (of and f" of {of}"))


def at_least(claim, values, bound, of=""):
    verdict = at_most(claim, values, bound, of)
    if verdict.reached is None:
        return verdict
    return Verdict(claim, statistics.median(values) >= bound, verdict.text)


def interval(values):
    """The 95 % confidence interval of the median, by the sign test: two of the sorted values. All
    of them where they are fewer than six, so that it is less certain."""
    ordered = sorted(values)
    away = 0.98 * math.sqrt(len(ordered))
    middle = (len(ordered) - 1) / 2
    low, high = math.floor(middle - away), math.ceil(middle + away)
    return ordered[max(low, 0)], ordered[min(high, len(ordered) - 1)]


def interval_words(values, low, high):
    return f"{statistics.median(values):.2f} ({low:.2f} … {high:.2f} with 95 %)"


ROUNDS_MIN = 4  # from which there is an interval


def surely_at_most(claim, values, bound, of=""):
    """As `at_most`, with a symmetric rule for noise: reached if the whole 95 % interval of the
    median is at most `bound`, missed if all of it is above, and else not decided."""
    if len(values) < ROUNDS_MIN:
        return not_measured(claim)
    low, high = interval(values)
    text = interval_words(values, low, high) + (of and f" of {of}")
    if high <= bound or low > bound:
        return Verdict(claim, high <= bound, text)
    return Verdict(claim, None, text + ": not decided, the bound is within the noise")


def same_as(claim, values):
    """The verdict that 1 is in the 95 % interval of the median of these ratios, of two things that
    are the same: the interval is the noise of the measurement."""
    if len(values) < ROUNDS_MIN:
        return not_measured(claim)
    low, high = interval(values)
    return Verdict(claim, low <= 1 <= high, interval_words(values, low, high))


def against_best_peer(
    result, claim, column, bound, higher_is_better=False, judge=None, **where
):
    """Ours over the best of all peers and settings in these rows, round by round. `judge`:
    `surely_at_most`, for instance, instead of what `higher_is_better` says."""
    peers = {name: result.values(name, column, **where)
             for name in result.rows if name not in result.own}  # fmt: skip
    peers = {name: found for name, found in peers.items() if found}
    if not peers:
        return Verdict(claim, None, "no peer was measured")
    choose = max if higher_is_better else min
    best = choose(peers, key=lambda name: statistics.median(peers[name]))
    judge = judge or (at_least if higher_is_better else at_most)
    return judge(claim, ratios(result.values(OWN, column, **where), peers[best]), bound, of=best)


def with_comparison(verdict, name, values):
    """The same verdict; its text also has a reference, `name`, measured in the same rounds."""
    if not values:
        return verdict
    text = f"{verdict.text}; {name} {spread_words(spread(values))}"
    return Verdict(verdict.claim, verdict.reached, text)


def spread_words(s):
    return f"{s.median:.3g} ({s.low:.3g} … {s.high:.3g})"
