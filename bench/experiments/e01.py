"""E1: latency against the period of idle polling."""

from .model import Experiment, Panel, Run, at_most, ratios

PERIODS_US = (0, 1, 3, 10, 30, 100, 1000, 10000)


def runs(scene):
    for period in scene.few(PERIODS_US):
        yield Run(
            "pingpong",
            ("--pin", "--sizes", "1", "--seconds", str(scene.seconds)),
            tags={"idle_us": period},
            environment={"HEADWAY_PROGRESS": "idle", "HEADWAY_IDLE_US": str(period)},
        )


def ten_is_as_good_as_ten_thousand(result):
    at = {us: result.values("headway", "median_us", idle_us=us) for us in (10, 10000)}
    claim = "median at 10 µs ≤ 1.05 × median at 10 000 µs"
    return at_most(claim, ratios(at[10], at[10000]), 1.05)


EXPERIMENT = Experiment(
    name="E1",
    title="latency against the period of idle polling",
    source="pioman15, figures 2 and 3",
    saw="from 10 µs on the effect is negligible; below, median and mean rise, the best does not",
    runs=runs,
    panels=(
        Panel("1 byte one way, shared memory", "idle_us",
              {"best": "best_us", "median": "median_us", "mean": "mean_us"}, "µs",
              "period of idle polling, µs", log_x=True),
    ),
    claims=(ten_is_as_good_as_ten_thousand,),
)  # fmt: skip
