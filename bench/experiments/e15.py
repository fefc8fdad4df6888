"""E15: messages of a middle size cut over two rails, against one rail alone.

The paper cuts packets that a processor copies, and pays for waking a second core. Over TCP the
kernel copies at memory's speed and the network takes the time, so what is measured is what cutting
gains at all, from which size on, and that it costs nothing below.
"""

from .e14 import several
from .model import Experiment, Panel, Run, at_most

RATE = "1gbit+1gbit"
SIZES = ("1K", "4K", "16K", "32K", "64K", "128K", "256K")


def runs(scene):
    arguments = ("--pin", "--sizes", ",".join(scene.few(SIZES)), "--seconds", str(scene.seconds))
    for series, environment in (
        ("one rail", {"HEADWAY_RAILS": "tcp:hw0"}),
        ("two rails", several("equal")),
    ):
        yield Run("pingpong", arguments, series=series, environment=environment, net="tcp",
                  rate=RATE, peers=series == "two rails")  # fmt: skip


def against_one(bytes_, bound):
    def check(result):
        times = [result.values(series, "median_us", bytes=bytes_)
                 for series in ("two rails", "one rail")]  # fmt: skip
        claim = f"{bytes_ >> 10} KB: two rails take ≤ {bound} of what one takes"
        return at_most(claim, [two / one for two, one in zip(*times)], bound)

    return check


EXPERIMENT = Experiment(
    name="E15",
    title="messages of a middle size over two equal rails",
    source="multirail08, figure 9 (there: predicted from measured parts)",
    saw="up to 30 % less above 4 KB, if waking a core costs 3 µs; more below",
    runs=runs,
    panels=(
        Panel("one way over 1 + 1 Gbit/s", "bytes", {"time": "median_us"}, "µs", "size",
              log_x=True, log_y=True, bytes_x=True),
    ),
    claims=(against_one(1 << 10, 1.03), against_one(128 << 10, 0.7), against_one(256 << 10, 0.7)),
)  # fmt: skip
