"""An experiment's result as text: a table a panel, and the verdicts."""

import collections
import statistics

from side_by_side.report import number
from side_by_side.rounds import spread
from side_by_side.runs import MOVED

CELL_WIDTH = 12


def spread_cell(values):
    """`1.2 (1.1…1.5)`, or the value alone where there is one round."""
    s = spread(values)
    if len(values) == 1:
        return number(s.median)
    return f"{number(s.median)} ({number(s.low)}…{number(s.high)})"


def table(panel, curves, xs):
    """Lines of text. Column x first, then a column a curve."""
    labels = list(curves)
    head = [panel.x, *labels]
    rows = [[x_text(x), *(spread_cell(c[x]) if x in c else "-" for c in curves.values())]
            for x in xs]  # fmt: skip
    widths = [max(CELL_WIDTH if i else 0, *(len(row[i]) for row in [head, *rows])) + 2
              for i in range(len(head))]  # fmt: skip
    for row in [head, *rows]:
        cells = [row[0].ljust(widths[0]), *(c.rjust(w) for c, w in zip(row[1:], widths[1:]))]
        yield "".join(cells).rstrip()


def x_text(x):
    return f"{x:g}" if isinstance(x, float) else str(x)


def best_peer_lines(panel, result, curves, xs):
    """For each x the ratio of ours to the best peer, round by round; no lines without peers."""
    ours = [label for label in curves if label.split(" ")[0] in result.own or label in result.own]
    peers = [label for label in curves if label not in ours]
    if not ours or not peers:
        return
    choose = max if panel.higher_is_better else min
    for x in xs:
        having = [label for label in peers if x in curves[label]]
        if not having or x not in curves[ours[0]]:
            continue
        best = choose(having, key=lambda label: statistics.median(curves[label][x]))
        ratio = result.ratio(curves[ours[0]][x], curves[best][x])
        if ratio:
            text = f"{ratio.median:.3f} ({ratio.low:.3f} … {ratio.high:.3f})"
            yield f"  {panel.x} {x_text(x)}: {ours[0]} / {best} = {text}"


def distances_line(distances):
    """How many runs had their cores near, far, or moved. Ratios are of runs of one kind."""
    count = collections.Counter(distances)
    return (f"{count['near']} runs with the cores near each other, {count['far']} far apart, "
            f"{count[MOVED]} while they were moved; "
            "ratios are of two runs of the same distance")  # fmt: skip


def print_result(result):
    experiment = result.experiment
    print(f"\n{experiment.name}: {experiment.title} ({experiment.source})")
    print(f"the paper found: {experiment.saw}")
    line = f"median (lowest…highest) of {result.rounds} rounds; {', '.join(result.places)}"
    if result.probes_ns:
        s = spread(result.probes_ns)
        line += f"; a cache line takes {s.median:.0f} ns ({s.low:.0f} … {s.high:.0f})"
    print(line)
    if any(result.distances):
        print(distances_line(result.distances))
    for panel in experiment.panels:
        curves, xs = result.curves(panel), result.xs(panel)
        if not curves:
            continue
        print(f"\n{panel.title}: {panel.unit}")
        for text in table(panel, curves, xs):
            print(text)
        for text in best_peer_lines(panel, result, curves, xs):
            print(text)
    for series, why in result.failed.items():
        print(f"{series}: failed: {why}")


def print_verdicts(verdicts):
    if verdicts:
        print()
    for verdict in verdicts:
        mark = {True: "reached", False: "NOT reached", None: "unknown"}[verdict.reached]
        print(f"  {mark:<12} {verdict.claim}: {verdict.text}")
