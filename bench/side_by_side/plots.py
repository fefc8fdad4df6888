"""Pictures of comparisons, and the style of all pictures. matplotlib is imported only here."""

# Colours that also differ for the colour-blind, most by their brightness; markers differ as well.
OURS = "#c2410c"
PEERS = ("#1d4ed8", "#e69f00", "#0f766e", "#cc79a7", "#111827", "#56b4e9", "#7c3aed", "#94a3b8")
MARKERS = "osD^vPX*"
FAINT = "#6b7280"


def looks(labels, own):
    """{label: (color, marker, width of the line)}. The first label that `own` says yes to is ours;
    every other one has the next colour and marker."""
    first = next((label for label in labels if own(label)), None)
    found, others = ({} if first is None else {first: (OURS, MARKERS[0], 2.4)}), 0
    for label in labels:
        if label not in found:
            color, marker = PEERS[others % len(PEERS)], MARKERS[(others + 1) % len(MARKERS)]
            found[label] = (color, marker, 1.5)
            others += 1
    return found


def draw_curve(axes, label, look, points):
    """`points`: (x, median, least, greatest), rising. A single point has no line. The range is a
    band behind a line, and a bar at a single point."""
    color, marker, width = look
    xs, medians, lows, highs = zip(*points)
    alone = len(points) == 1
    if alone:
        below, above = [medians[0] - lows[0]], [highs[0] - medians[0]]
        axes.errorbar(xs, medians, yerr=[below, above], color=color, marker=marker, markersize=6,
                      linestyle="none", elinewidth=1, capsize=2, label=label)  # fmt: skip
    else:
        axes.plot(xs, medians, color=color, linewidth=width, marker=marker, markersize=5,
                  label=label, zorder=3 if color == OURS else 2)  # fmt: skip
        axes.fill_between(xs, lows, highs, color=color, alpha=0.13, linewidth=0)


def draw_levels(axes, levels):
    """Horizontal lines, whose texts stand beside the axes: nothing is drawn there."""
    for level, text in levels.items():
        axes.axhline(level, color="#9ca3af", linewidth=1, linestyle=(0, (4, 3)), zorder=1)
        axes.annotate(text, (1, level), xycoords=("axes fraction", "data"), xytext=(5, 0),
                      textcoords="offset points", va="center", fontsize=8.5, color=FAINT)


def number_text(value):
    """1234567 as "1.23 M"."""
    for unit, factor in (("G", 1e9), ("M", 1e6), ("k", 1e3)):
        if abs(value) >= factor:
            return f"{value / factor:.3g} {unit}"
    return f"{value:.3g}"


def plain_numbers(axis, logarithmic):
    """Ticks as people write numbers: neither powers of ten nor a factor above the axis."""
    from matplotlib import ticker

    axis.set_major_formatter(ticker.FuncFormatter(lambda value, _: number_text(value)))
    if logarithmic:
        low, high = axis.get_view_interval()
        within_two_decades = low > 0 and high / low < 100
        axis.set_major_locator(ticker.LogLocator(subs=(1, 2, 5) if within_two_decades else (1,)))
        axis.set_minor_formatter(ticker.NullFormatter())


def add_legend(axes, **options):
    """To the right of the axes, and of the texts of levels."""
    axes.legend(frameon=False, loc="center left", bbox_to_anchor=(1.0 if not axes.texts else 1.17,
                0.5), **options)  # fmt: skip


def part_ticks(axes):
    """Turns the texts at the x axis where they would overlap."""
    axes.figure.draw_without_rendering()
    boxes = [t.get_window_extent() for t in axes.get_xticklabels() if t.get_text()]
    if any(a.x1 + 4 > b.x0 for a, b in zip(boxes, boxes[1:])):
        # At 35 degrees, two centres must be 1.8 heights apart; these are twice their distances.
        steep = any(b.x0 + b.x1 - a.x0 - a.x1 < 3.6 * a.height for a, b in zip(boxes, boxes[1:]))
        for text in axes.get_xticklabels():
            text.set(rotation=90 if steep else 35, ha="right", rotation_mode="anchor",
                     va="center" if steep else "baseline")  # fmt: skip


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
    ticks = sorted({key[-1] for key in result.keys})
    curves = {label: series(result, label, side) for label in result.values}
    for label, look in looks(list(curves), lambda label: label == result.own).items():
        if curves.get(label):
            draw_curve(axes, label, look, curves[label])
    axes.set_xscale("log", base=2)
    axes.set_xticks(ticks, [size_text(tick) for tick in ticks])
    axes.minorticks_off()
    axes.set_xlabel("message size")
    if result.case.benchmark == "overlap":
        mark_overlap(axes)
        axes.set_title(f"Overlap, {side} computing: {result.place}", loc="left", fontsize=11)
    else:
        axes.set_yscale("log")
        plain_numbers(axes.yaxis, True)
        axes.set_ylabel(result.metric.unit)
        axes.set_title(f"{result.case.title}: {result.place}", loc="left", fontsize=11)
    add_legend(axes)
    part_ticks(axes)
    figure.savefig(path)
    pyplot.close(figure)


def mark_overlap(axes):
    axes.set_ylim(min(0.9, axes.get_ylim()[0]), max(2.15, axes.get_ylim()[1]))
    axes.set_ylabel("T(computation + communication) / max of both")
    draw_levels(axes, {1: "all hidden", 2: "nothing hidden"})
