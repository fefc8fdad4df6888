"""E12: time of an ltask if the submitting core polls, and if another core polls."""

from .model import Experiment, Panel, Run, at_most, differences


def runs(scene):
    count = "2000" if scene.quick else "200000"
    yield Run("built:affinity", ("--iterations", count), ranks=0)


def hand_over(result):
    another, own = (result.values("headway", "median_ns", poller=core) for core in (1, 0))
    return at_most("another core polls: + 400 ns at most, the paper's shared cache",
                   differences(another, own), 400)  # fmt: skip


EXPERIMENT = Experiment(
    name="E12",
    title="an ltask by the core that polls",
    source="thread09, figure 8",
    saw="+0.4 µs from a core that shares the cache, +1.2 … 2.3 µs from one that does not, +3.1 µs "
    "from another chip",
    runs=runs,
    panels=(
        Panel("from submission on core 0 until it is seen done there", "poller",
              {"best": "best_ns", "median": "median_ns", "mean": "mean_ns"}, "ns",
              "core that polls", kind="bar"),
    ),
    claims=(hand_over,),
)  # fmt: skip
