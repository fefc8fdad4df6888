"""An experiment's result as a picture, in the form of the paper's figure. Imports matplotlib."""

import statistics

from side_by_side import plots
from side_by_side.plots import size_text, style


def is_own(label, own):
    return any(label == name or label.startswith(name + " ") for name in own | {"headway"})


def draw_lines(axes, curves, looks, xs):
    """Medians, with the range over the rounds behind them."""
    for label, found in curves.items():
        points = [(x, statistics.median(found[x]), min(found[x]), max(found[x]))
                  for x in xs if x in found]  # fmt: skip
        plots.draw_curve(axes, label, looks[label], points)


def draw_bars(axes, curves, looks, xs, text=str):
    width = 0.8 / len(curves)
    for place, (label, points) in enumerate(curves.items()):
        at = [i for i, x in enumerate(xs) if x in points]
        medians = [statistics.median(points[xs[i]]) for i in at]
        below = [m - min(points[xs[i]]) for i, m in zip(at, medians)]
        above = [max(points[xs[i]]) - m for i, m in zip(at, medians)]
        axes.bar([i + (place - (len(curves) - 1) / 2) * width for i in at], medians, width * 0.92,
                 yerr=[below, above], ecolor="#374151", error_kw={"linewidth": 0.8},
                 color=looks[label][0], label=label)  # fmt: skip
    axes.set_xticks(range(len(xs)), [text(x) for x in xs])


def scale_x(axes, panel, xs):
    if panel.log_x:
        # A symmetric logarithm if 0 is a point, as in the papers' figures of periods.
        positive = [x for x in xs if x > 0]
        if min(xs) <= 0 and positive:
            axes.set_xscale("symlog", linthresh=min(positive))
        else:
            axes.set_xscale("log", base=2 if panel.bytes_x else 10)
    axes.set_xticks(xs, [size_text(x) if panel.bytes_x else f"{x:g}" for x in xs])
    axes.minorticks_off()


def draw_panel(axes, panel, result):
    curves, xs = result.curves(panel), result.xs(panel)
    looks = plots.looks(list(curves), lambda label: is_own(label, result.own))
    style(axes)
    if panel.kind == "bar":
        draw_bars(axes, curves, looks, xs, size_text if panel.bytes_x else str)
    else:
        draw_lines(axes, curves, looks, xs)
        scale_x(axes, panel, xs)
    if panel.log_y:
        axes.set_yscale("log")
    else:
        axes.set_ylim(bottom=0)
    plots.plain_numbers(axes.yaxis, panel.log_y)
    plots.draw_levels(axes, panel.level)
    axes.set_title(panel.title, loc="left", fontsize=10.5)
    axes.set_xlabel(panel.x_title or panel.x, fontsize=9)
    axes.set_ylabel(panel.unit, fontsize=9)
    if len(curves) > 1:
        plots.add_legend(axes, fontsize=8.5)
    plots.part_ticks(axes)


def draw(result, path):
    """One panel below the other. Errors: ImportError without matplotlib."""
    import matplotlib

    matplotlib.use("Agg")
    matplotlib.rcParams["svg.fonttype"] = "none"
    matplotlib.rcParams["svg.hashsalt"] = result.experiment.name
    from matplotlib import pyplot

    panels = [panel for panel in result.experiment.panels if result.curves(panel)]
    if not panels:
        return False
    figure, grid = pyplot.subplots(
        len(panels), 1, figsize=(8, 0.5 + 3.3 * len(panels)), squeeze=False, layout="constrained"
    )
    for axes, panel in zip(grid.flat, panels):
        draw_panel(axes, panel, result)
    experiment = result.experiment
    title = f"{experiment.name}: {experiment.title}"
    figure.suptitle(title, x=0.012, ha="left", fontsize=12)
    figure.savefig(path, metadata={"Date": None})
    pyplot.close(figure)
    return True
