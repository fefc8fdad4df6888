"""Results as text: a table for each case, and the verdicts of a figure."""

from .rounds import spread

LABEL_WIDTH = 16
CELL_WIDTH = 10


def number(value):
    if value is None:
        return "-"
    if value == 0:
        return "0"
    size = abs(value)
    return f"{value:,.0f}".replace(",", " ") if size >= 1000 else f"{value:.3g}"


def spread_text(s):
    return f"{s.median:.3f} ({s.low:.3f} … {s.high:.3f})"


def cells(words, labels):
    """The words right-aligned, in columns that are wide enough for their labels."""
    widths = [max(CELL_WIDTH, len(label) + 2) for label in labels]
    return "".join(f"{word:>{width}}" for word, width in zip(words, widths))


def print_result(result, rounds):
    metric = result.metric
    print(f"\n{result.case.title}, {result.place}: {metric.unit}")
    line = f"median of {rounds} rounds"
    if result.probes_ns:
        s = spread(result.probes_ns)
        line += f"; a cache line takes {s.median:.0f} ns ({s.low:.0f} … {s.high:.0f})"
    print(line)
    labels = list(result.values)
    compared = result.own in result.values and result.peers
    width = max([LABEL_WIDTH, *(len(key_text(key)) + 2 for key in result.keys)])
    name = " ".join(metric.key)
    tail = f"   {'best peer':<18}ours / best peer" if compared else ""
    print(f"{name:<{width}}{cells(labels, labels)}{tail}")
    for key in result.keys:
        medians = [number(result.median(label, key)) for label in labels]
        row = f"{key_text(key):<{width}}{cells(medians, labels)}"
        best = result.best_peer(key) if compared else None
        ratio = result.ratio(result.own, best, key) if best else None
        print(row + (f"   {best:<18}{spread_text(ratio)}" if ratio else ""))
        if metric.also:
            beside = [number(result.median(label, key, result.also)) for label in labels]
            print(f"{'  ' + metric.also:<{width}}{cells(beside, labels)}")
    for label, why in result.failed.items():
        print(f"{label}: failed: {why}")


def key_text(key):
    return " ".join(str(part) for part in key)


def print_verdicts(name, figure, verdicts):
    print(f"\nfigure {name}: {figure.what}")
    for verdict in verdicts:
        mark = {True: "reached", False: "NOT reached", None: "unknown"}[verdict.reached]
        print(f"  {mark:<12} {verdict.claim}: {verdict.text}")
