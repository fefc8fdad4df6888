"""E15: messages of medium size divided over two rails, against one rail; small ones while both
rails are busy; and what the failover layer costs if there is only one rail.

The paper divides packets that a processor copies, and pays for waking a second core. Over TCP the
kernel copies at memory's speed and the network takes the time. So this measures from which size on
division gains, and that it costs nothing below.
"""

from .e14 import several
from .model import Experiment, Panel, Run, at_least, at_most, ratios

RATE = "1gbit+1gbit"
SIZES = ("1", "8", "1K", "4K", "16K", "32K", "64K", "128K", "256K")
STRATEGIES = ("fifo", "aggregate", "sampled")
# A peer that one interface reaches: with the failover layer, and without.
ONE_RAIL = {
    "failover on": {"HEADWAY_RAILS": "tcp"},
    "failover off": {"HEADWAY_RAILS": "tcp", "HEADWAY_RAILS_PER_PEER": "1"},
}


def runs(scene):
    arguments = ("--pin", "--sizes", ",".join(scene.few(SIZES)), "--seconds", str(scene.seconds))
    for series, environment in (
        ("one rail", {"HEADWAY_RAILS": "tcp:hw0"}),
        ("two rails", several("equal")),
    ):
        yield Run("pingpong", arguments, series=series, tags={"what": "cut"},
                  environment=environment, net="tcp", rate=RATE,
                  peers=series == "two rails")  # fmt: skip
    yield from runs_beside_large_ones(scene)
    yield from runs_over_one_rail(scene)


def runs_beside_large_ones(scene):
    for strategy in STRATEGIES:
        yield Run("busy_rails", ("--pin", "--seconds", str(scene.seconds)), net="tcp", rate=RATE,
                  series="small beside large", tags={"what": "busy", "strategy": strategy},
                  environment=several("busy") | {"HEADWAY_STRATEGY": strategy})  # fmt: skip


def runs_over_one_rail(scene):
    seconds = ("--seconds", str(scene.seconds))
    for series, environment in ONE_RAIL.items():
        for what, arguments in (
            ("alone", ("--sizes", "1,8")),
            ("rate", ("--sizes", "8", "--window", "64")),
        ):
            yield Run("pingpong", ("--pin", *arguments, *seconds), series=series, net="tcp",
                      tags={"what": what}, environment=environment)  # fmt: skip


def against_one(bytes_, bound):
    def check(result):
        times = [result.values(series, "median_us", bytes=bytes_)
                 for series in ("two rails", "one rail")]  # fmt: skip
        size = f"{bytes_ >> 10} KB" if bytes_ >= 1 << 10 else f"{bytes_} B"
        claim = f"{size}: two rails take ≤ {bound} of what one takes"
        return at_most(claim, ratios(*times), bound)

    return check


def aggregated(result):
    rates = [result.values("small beside large", "thousand_per_s", strategy=strategy)
             for strategy in ("sampled", "fifo")]  # fmt: skip
    claim = "small messages while both rails are busy: as by default, together, ≥ 3 × first-come"
    return at_least(claim, ratios(*rates), 3)


def failover_costs(figure, **where):
    def check(result):
        on, off = (result.values(series, "median_us", **where) for series in ONE_RAIL)
        claim = f"one rail, failover on against off, {figure}: ≤ 1.03"
        return at_most(claim, ratios(on, off), 1.03)

    return check


EXPERIMENT = Experiment(
    name="E15",
    title="messages of a middle size over two equal rails",
    source="multirail08, figure 9 (another figure: there packets that a processor copies)",
    saw="up to 30 % less above 4 KB, if waking a core costs 3 µs; more below",
    runs=runs,
    panels=(
        Panel("one way over 1 + 1 Gbit/s", "bytes", {"time": "median_us"}, "µs", "size",
              {"what": "cut"}, log_x=True, log_y=True, bytes_x=True),
        Panel("64 bytes while 4 MB messages keep both rails busy", "strategy",
              {"rate": "thousand_per_s"}, "thousand/s", where={"what": "busy"}, kind="bar",
              higher_is_better=True),
        Panel("over one rail that is not shaped", "bytes", {"time": "median_us"}, "µs", "size",
              {"what": "alone"}, log_x=True, bytes_x=True),
    ),
    claims=(
        against_one(8, 1.03),
        against_one(1 << 10, 1.03),
        against_one(128 << 10, 0.7),
        against_one(256 << 10, 0.7),
        aggregated,
        failover_costs("1 B", what="alone", bytes=1),
        failover_costs("8 B", what="alone", bytes=8),
        failover_costs("a message of a window of 64, 8 B", what="rate", bytes=8),
    ),
)  # fmt: skip
