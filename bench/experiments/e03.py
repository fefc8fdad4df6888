"""E3: latency of a small message without locks, without threads, and with threads."""

from .model import Experiment, Panel, Run, at_most, differences

FLAVOURS = {
    "none": {"HEADWAY_PROGRESS": "off", "HEADWAY_LOCKING": "none"},
    "nothread": {"HEADWAY_PROGRESS": "off"},
    "threads": {"HEADWAY_PROGRESS": "auto"},
}


def runs(scene):
    words = ("--pin", "--sizes", "8", "--seconds", str(scene.seconds))
    for flavour, environment in FLAVOURS.items():
        yield Run("pingpong", words, tags={"flavour": flavour}, environment=environment)


def costs_at_most(flavour, of, bound_ns):
    def check(result):
        mine = result.values("headway", "median_us", flavour=flavour)
        bare = result.values("headway", "median_us", flavour=of)
        more_ns = differences(mine, bare, unit=1000)
        return at_most(f"{flavour} − {of} at the median ≤ {bound_ns} ns", more_ns, bound_ns)

    return check


EXPERIMENT = Experiment(
    name="E3",
    title="latency by flavour of the engine",
    source="pioman15, figure 5",
    saw="the engine without threads costs 100 ns, with threads another 100 … 200 at the median",
    runs=runs,
    panels=(
        Panel("8 bytes one way, shared memory", "flavour",
              {"best": "best_us", "median": "median_us", "mean": "mean_us"}, "µs", kind="bar"),
    ),
    claims=(
        costs_at_most("nothread", "none", 20),
        costs_at_most("threads", "none", 40),
        costs_at_most("threads", "nothread", 20),
    ),
)  # fmt: skip
