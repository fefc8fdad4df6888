"""The picture of `make demo`: the parts of a time step's duration, for each kind of exchange."""

import textwrap

from .plots import FAINT, OURS, style

COMPUTATION = "#94a3b8"
COMMUNICATION = OURS
INK = "#111827"


def draw_bar(axes, at, times, floor):
    computation, total = times["computation_ms"], times["total_ms"]
    waited = max(0, total - computation)
    axes.barh(at, computation, height=0.6, color=COMPUTATION)
    axes.barh(at, waited, left=computation, height=0.6, color=COMMUNICATION)
    axes.annotate(f"{total:.1f} ms, {total / floor:.2f}×", (max(total, floor), at), xytext=(7, 0),
                  textcoords="offset points", va="center", fontsize=9, color=INK)  # fmt: skip


def draw_scene(axes, title, floor, runs):
    for at, (_, times) in enumerate(runs):
        draw_bar(axes, at, times, floor)
    axes.axvline(floor, color=INK, linewidth=1, linestyle=(0, (3, 3)))
    style(axes)
    axes.grid(axis="y", visible=False)
    axes.spines["left"].set_visible(False)
    axes.set_ylim(len(runs) - 0.5, -0.5)
    axes.set_yticks(range(len(runs)), [name.replace(", ", ",\n") for name, _ in runs])
    axes.set_title(textwrap.fill(title, 48), loc="left", fontsize=10.5, color=INK,
                   fontweight="bold")  # fmt: skip
    axes.tick_params(axis="x", colors=FAINT, labelsize=8.5)
    axes.tick_params(axis="y", length=0, labelsize=9, labelcolor=INK)


def widest(scenes):
    return max(max(floor, *(times["total_ms"] for _, times in runs)) for _, floor, runs in scenes)


def draw(scenes, path, library):
    """`scenes`: a list of (title, floor in ms, [(name, times)]), four at most.

    Errors: ImportError without matplotlib (scripts/install-deps installs it).
    """
    import matplotlib

    matplotlib.use("Agg")
    matplotlib.rcParams["svg.fonttype"] = "none"
    from matplotlib import pyplot
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    figure, grid = pyplot.subplots(2, 2, figsize=(10, 6), sharex=True, sharey=True,
                                  layout="constrained")  # fmt: skip
    for axes, scene in zip(grid.flat, scenes):
        draw_scene(axes, *scene)
        axes.set_xlim(0, widest(scenes) * 1.42)
    for axes in grid[-1]:
        axes.set_xlabel("ms a step", fontsize=8.5, color=FAINT)
    figure.get_layout_engine().set(rect=(0, 0.06, 1, 0.94), hspace=0.06, wspace=0.05)
    title = f"Heat in a plate, by {library.capitalize()}: what a time step is made of"
    figure.suptitle(title, fontsize=13, x=0.012, ha="left", color=INK)
    figure.legend(
        handles=[
            Patch(color=COMPUTATION, label="computation"),
            Patch(color=COMMUNICATION, label="communication not hidden"),
            Line2D([], [], color=INK, linewidth=1, linestyle=(0, (3, 3)),
                   label="the longer of both alone, 1.00×: all hidden"),
        ],
        loc="lower left", ncols=3, frameon=False, fontsize=9,
    )  # fmt: skip
    figure.savefig(path)
    pyplot.close(figure)
