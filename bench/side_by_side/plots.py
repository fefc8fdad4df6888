"""Pictures of comparisons. matplotlib is imported only here."""

OURS = "#c2410c"
PEERS = ("#1d4ed8", "#0f766e", "#7c3aed", "#64748b", "#a16207", "#be185d", "#4d7c0f", "#334155")


def size_text(size):
    for unit, factor in (("GB", 1 << 30), ("MB", 1 << 20), ("KB", 1 << 10)):
        if size >= factor:
            return f"{size / factor:g} {unit}"
    return f"{size:g} B"


def style(axes):
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(axis="y", color="#e5e7eb", linewidth=0.8)
    axes.set_axisbelow(True)


def series(result, label, side):
    """(size, median, low, high) by message size."""
    points = []
    for key in result.keys:
        found = result.values[label].get(key)
        if found and (len(key) == 1 or key[0] == side):
            points.append((key[-1], result.median(label, key), min(found), max(found)))
    return sorted(points)


def draw_series(axes, points, label, color, own):
    sizes, medians, lows, highs = zip(*points)
    width = 2.6 if own else 1.6
    axes.plot(sizes, medians, color=color, linewidth=width, marker="o", markersize=4.5,
              label=label, zorder=3 if own else 2)  # fmt: skip
    axes.fill_between(sizes, lows, highs, color=color, alpha=0.12, linewidth=0)


def draw(result, path, side="both"):
    """A line for each contender by message size: median and range over the rounds.

    Errors: ImportError without matplotlib (scripts/install-deps installs it).
    """
    import matplotlib

    matplotlib.use("Agg")
    matplotlib.rcParams["svg.fonttype"] = "none"
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(8, 4.5), layout="constrained")
    style(axes)
    colors = iter(PEERS)
    ticks = sorted({key[-1] for key in result.keys})
    for label in result.values:
        points = series(result, label, side)
        own = label == result.own
        color = OURS if own else next(colors, PEERS[-1])
        if points:
            draw_series(axes, points, label, color, own)
    axes.set_xscale("log", base=2)
    axes.set_xticks(ticks, [size_text(tick) for tick in ticks])
    axes.minorticks_off()
    axes.set_xlabel("message size")
    if result.case.benchmark == "overlap":
        mark_overlap(axes)
        axes.set_title(f"Overlap, {side} computing: {result.place}", loc="left", fontsize=11)
    else:
        axes.set_yscale("log")
        axes.set_ylabel(result.metric.unit)
        axes.set_title(f"{result.case.title}: {result.place}", loc="left", fontsize=11)
    axes.legend(frameon=False, loc="center left", bbox_to_anchor=(1.0, 0.5))
    figure.savefig(path)
    pyplot.close(figure)


def mark_overlap(axes):
    axes.set_ylim(min(0.9, axes.get_ylim()[0]), max(2.15, axes.get_ylim()[1]))
    axes.set_ylabel("T(computation + communication) / max of both")
    for level, text in ((1, "all hidden"), (2, "nothing hidden")):
        axes.axhline(level, color="#9ca3af", linewidth=1, linestyle=(0, (4, 3)), zorder=1)
        axes.annotate(
            text, (1, level), xycoords=("axes fraction", "data"), xytext=(-4, 4),
            textcoords="offset points", ha="right", va="bottom", fontsize=9, color="#6b7280",
        )  # fmt: skip
