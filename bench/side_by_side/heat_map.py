"""The matrix as a heat map: a picture, and tables in Markdown. matplotlib is imported only here."""

import math

from . import runs
from .plots import OURS, PEERS, size_text

BEHIND = 1.05  # above, a cell is marked
AHEAD, WHITE = PEERS[0], "#ffffff"  # blue, white and orange also differ for the colour-blind
FULL_COLOR_AT = 4  # times as long, or as short
CELL_WIDTH, CELL_HEIGHT, LABEL_WIDTH = 0.42, 0.2, 2.3  # inches
ABOVE_PANEL, MARGIN = 0.62, 0.2


class Panel:
    """One part in one group of runs, as numbers: `ratio[row, column]`, only where there is one."""

    def __init__(self, part, table):
        self.part = part
        self.ratio = {}
        for row, of in table.items():
            for column, cell in of.items():
                if (ratio := cell.ratio()) is not None:
                    self.ratio[row, column] = ratio
        self.rows = [row for row in table if any(of == row for of, _ in self.ratio)]
        self.columns = sorted({column for _, column in self.ratio})

    def column_text(self, column):
        return size_text(column) if self.part.column == "bytes" else f"{column:g}"


def panels(book, parts, group):
    made = [Panel(part, runs.cells(book, part, group)) for part in parts]
    return [panel for panel in made if panel.ratio]


def summary(all_panels):
    """"87 of 120 cells within 1.05, 60 at 0.8 or less"."""
    ratios = [ratio for panel in all_panels for ratio in panel.ratio.values()]
    within = sum(ratio <= BEHIND for ratio in ratios)
    ahead = sum(ratio <= 0.8 for ratio in ratios)
    return f"{within} of {len(ratios)} cells within {BEHIND}, {ahead} at 0.8 or less"


def ratio_text(ratio):
    return f"{ratio:.0f}" if ratio >= 10 else f"{ratio:.1f}" if ratio >= 2 else f"{ratio:.2f}"


def row_text(row):
    return ", ".join(row)


def markdown(all_panels):
    """A table for each part; cells that are behind are bold."""
    text = ""
    for panel in all_panels:
        columns = [panel.column_text(column) for column in panel.columns]
        text += f"**{panel.part.title}**\n\n| | {' | '.join(columns)} |\n"
        text += "|---" * (len(columns) + 1) + "|\n"
        for row in panel.rows:
            words = [cell_text(panel.ratio.get((row, column))) for column in panel.columns]
            text += f"| {row_text(row)} | {' | '.join(words)} |\n"
        text += "\n"
    return text


def cell_text(ratio):
    if ratio is None:
        return ""
    return f"**{ratio_text(ratio)}**" if ratio > BEHIND else ratio_text(ratio)


def depth(ratio):
    """From -1 (blue: far ahead) over 0 (white: equal) to 1 (orange: far behind)."""
    if ratio <= 0:
        return -1.0
    return max(-1.0, min(1.0, math.log(ratio) / math.log(FULL_COLOR_AT)))


def draw(all_panels, path, title):
    """Errors: ImportError without matplotlib (scripts/install-deps installs it)."""
    import matplotlib

    matplotlib.use("Agg")
    matplotlib.rcParams["svg.fonttype"] = "none"
    matplotlib.rcParams["svg.hashsalt"] = "matrix"
    from matplotlib import colors, pyplot

    scale = colors.LinearSegmentedColormap.from_list("ahead_and_behind", (AHEAD, WHITE, OURS))
    across = max(len(panel.columns) for panel in all_panels)
    width = LABEL_WIDTH + across * CELL_WIDTH + MARGIN
    heights = [ABOVE_PANEL + len(panel.rows) * CELL_HEIGHT for panel in all_panels]
    height = 0.6 + sum(heights) + MARGIN
    figure = pyplot.figure(figsize=(width, height))
    at = lambda inches: 1 - inches / height  # noqa: E731
    figure.text(MARGIN / width, at(0.3), title, fontsize=11)
    figure.text(MARGIN / width, at(0.5),
                f"time of Headway / time of the best peer: blue ahead, orange behind, "
                f"framed above {BEHIND}", fontsize=8, color="#4b5563")  # fmt: skip
    top = 0.6
    for panel, tall in zip(all_panels, heights):
        bottom = at(top + tall)
        box = (LABEL_WIDTH / width, bottom, len(panel.columns) * CELL_WIDTH / width,
               len(panel.rows) * CELL_HEIGHT / height)  # fmt: skip
        draw_panel(figure.add_axes(box), panel, scale)
        top += tall
    figure.savefig(path, metadata={"Date": None})
    pyplot.close(figure)


def draw_panel(axes, panel, scale):
    from matplotlib import patches

    axes.set_xlim(0, len(panel.columns))
    axes.set_ylim(len(panel.rows), 0)
    framed = []
    for y, row in enumerate(panel.rows):
        for x, column in enumerate(panel.columns):
            ratio = panel.ratio.get((row, column))
            if ratio is None:
                continue
            behind = ratio > BEHIND
            color = scale((depth(ratio) + 1) / 2)
            axes.add_patch(patches.Rectangle((x, y), 1, 1, facecolor=color, edgecolor="#e5e7eb",
                                             linewidth=0.4))  # fmt: skip
            if behind:
                framed.append((x, y))
            axes.text(x + 0.5, y + 0.55, ratio_text(ratio), ha="center", va="center", fontsize=6.5,
                      fontweight="bold" if behind else "normal",
                      color="white" if abs(depth(ratio)) > 0.75 else "#111827")  # fmt: skip
    for x, y in framed:  # above the cells beside it
        axes.add_patch(patches.Rectangle((x + 0.04, y + 0.06), 0.92, 0.88, fill=False,
                                         edgecolor="#111827", linewidth=0.9,
                                         gid=f"behind-{panel.part.name}-{x}-{y}"))  # fmt: skip
    axes.set_xticks([x + 0.5 for x in range(len(panel.columns))],
                    [panel.column_text(column) for column in panel.columns], fontsize=6.5)
    axes.set_yticks([y + 0.5 for y in range(len(panel.rows))], map(row_text, panel.rows),
                    fontsize=7)  # fmt: skip
    axes.xaxis.tick_top()
    axes.tick_params(length=0, pad=2)
    axes.spines[:].set_visible(False)
    axes.annotate(panel.part.title, (0, 1), xycoords="axes fraction", xytext=(0, 16),
                  textcoords="offset points", fontsize=9)  # fmt: skip
