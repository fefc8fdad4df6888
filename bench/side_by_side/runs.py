"""Runs of the matrix, one JSON object a line, and what follows from them: groups and ratios.

The host moves the virtual cores of a machine: a cache line takes 30 ns between them at one time and
160 ns at another. Times of small messages follow it, so runs are compared within a group: all near,
or all far.
"""

import json
import pathlib
import statistics

from . import programs

NEAR_NS_MAX = 80  # a cache line between near cores takes less
GROUPS = ("near", "far")
MOVED = "moved"
# What the values of a key mean that are no words.
WORDS = {("computing", 0): "target waits", ("computing", 1): "target computes"}


def append(path, record):
    with pathlib.Path(path).open("a", encoding="utf-8") as file:
        file.write(json.dumps(record, ensure_ascii=False) + "\n")


def distance(probes_ns):
    """How far apart the cores were during a run: "near", "far", MOVED, or None where nothing is
    known. `probes_ns`: the time of a cache line before the run and behind it."""
    if len(probes_ns) < 2 or None in probes_ns:
        return None
    if max(probes_ns) < NEAR_NS_MAX:
        return "near"
    return "far" if min(probes_ns) >= NEAR_NS_MAX else MOVED


class Book:
    """All runs of a file."""

    def __init__(self, records=()):
        self.records = list(records)

    @classmethod
    def read(cls, path):
        """Empty if there is no file. A last line that was cut off is left out."""
        path = pathlib.Path(path)
        records = []
        for line in path.read_text(encoding="utf-8").splitlines() if path.exists() else ():
            try:
                records.append(json.loads(line))
            except json.JSONDecodeError:
                continue
        return cls(records)

    def add(self, record):
        self.records.append(record)

    def of_case(self, title):
        return [r for r in self.records if r["case"] == title]

    def rounds_of(self, title):
        return max((r["round"] for r in self.of_case(title)), default=0)

    def longest_round_s(self, title):
        by_round = {}
        for r in self.of_case(title):
            by_round[r["round"]] = by_round.get(r["round"], 0) + r["seconds"]
        return max(by_round.values(), default=0)

    def failures(self):
        """{(part, rows, contender): why}, of the last run of each that failed."""
        return {(r["part"], r["label"], r["contender"]): r["failed"]
                for r in self.records if r.get("failed")}  # fmt: skip

    def span(self):
        """The first and the last day of measuring; nothing without a run."""
        days = sorted(r["when"][:10] for r in self.records)
        return (days[0], days[-1]) if days else None


class Cell:
    """All values of one row and column: values[contender][round]."""

    def __init__(self, benchmark):
        self.higher_is_better = programs.METRICS[benchmark].higher_is_better
        self.values = {}
        self.own = None
        self.peers = set()  # that have this cell, in any group

    def add(self, record, value):
        self.values.setdefault(record["contender"], {})[record["round"]] = value
        if record["own"]:
            self.own = record["contender"]

    def median(self, label):
        return statistics.median(self.values[label].values())

    def best_peer(self):
        """None unless every peer that has this cell at all has it in this group: among others, the
        best one might be missing."""
        if not self.peers or self.peers - set(self.values):
            return None
        peers = [label for label in self.values if label != self.own]
        choose = max if self.higher_is_better else min
        return choose(peers, key=self.median, default=None)

    def ratios(self):
        """How many times as long ours takes as the best peer, a value for each round that has both.
        Where the cores were moved so often that no round has both, one of the medians."""
        best = self.best_peer()
        if self.own is None or best is None:
            return []
        ours, theirs = self.values[self.own], self.values[best]
        common = [(ours[n], theirs[n]) for n in ours if n in theirs]
        pairs = common or [(self.median(self.own), self.median(best))]
        if self.higher_is_better:
            pairs = [(b, a) for a, b in pairs]
        return [a / b for a, b in pairs if b]

    def ratio(self):
        found = self.ratios()
        return statistics.median(found) if found else None


def cells(book, part, group):
    """{row: {column: Cell}} of one part in one group of runs; a row is a tuple of words."""
    table = {}
    for record in book.records:
        if record["part"] != part.name:
            continue
        names = programs.METRICS[record["benchmark"]].key
        for *key, value in record.get("rows", ()):
            row, column = place(record, dict(zip(names, key)), part.column)
            cell = table.setdefault(row, {}).setdefault(column, Cell(record["benchmark"]))
            if not record["own"]:
                cell.peers.add(record["contender"])
            if distance(record.get("cache_line_ns", ())) == group:
                cell.add(record, value)
    return dict(sorted(table.items(), key=lambda one: order(one[0], table)))


def place(record, key, column):
    """The row and the column of a value. The number of ranks is in the label of the case."""
    words = [WORDS.get((name, of), str(of)) for name, of in key.items()
             if name not in (column, "ranks")]  # fmt: skip
    return tuple(word for word in (*words, record["label"]) if word), key[column]


def order(row, table):
    """Rows of one operation stand together, in the order in which the operations were measured;
    below each other by number of ranks."""
    first = list(dict.fromkeys(of[0] for of in table))
    number = next((int(word.split()[0]) for word in row if word.split()[0].isdigit()), 0)
    return first.index(row[0]), number if len(row) > 1 else 0
