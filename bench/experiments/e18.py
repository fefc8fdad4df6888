"""E18: one producer hands events to N consuming threads."""

from .model import Experiment, Panel, Run, at_most, ratios

CONSUMERS = (1, 2, 4, 8, 16, 32, 64)


def runs(scene):
    for consumers in scene.few(CONSUMERS):
        events = "2000" if scene.quick else "20000"
        yield Run("built:events", ("--consumers", str(consumers), "--events", events), ranks=0)


def over_the_floor(result):
    """Median of the rounds' ratios; both terms contain the kernel's time to wake one of many."""
    ours = result.values("headway", "handling_us", consumers=64)
    floor = result.values("headway", "floor_us", consumers=64)
    claim = "handling delay, 64 consumers ≤ 2 × that by a bare futex for each"
    return at_most(claim, ratios(ours, floor), 2)


def flat(result):
    few = result.values("headway", "handling_us", consumers=2)
    many = result.values("headway", "handling_us", consumers=64)
    claim = "handling delay, 64 consumers ≤ 1.5 × that of 2"
    return at_most(claim, ratios(many, few), 1.5)


EXPERIMENT = Experiment(
    name="E18",
    title="hand-off of events to N consumers",
    source="pcor02, figure 4",
    saw="context switches dominate; delays grow with the consumers",
    runs=runs,
    panels=(
        Panel("an event every 10 µs", "consumers",
              {"handling": "handling_us", "99 % of handling": "handling_99_us",
               "production": "production_us", "a bare futex for each": "floor_us",
               "99 % of a bare futex": "floor_99_us"},
              "µs", "consumers", log_x=True, log_y=True),
    ),
    claims=(flat, over_the_floor),
)  # fmt: skip
