"""E16: what an end-point costs over the rail: one way between two processes, and MPI beside it."""

from .model import Experiment, Panel, Run, at_most

SIZES = ("8", "64", "512")


def runs(scene):
    sizes = ",".join(scene.few(SIZES))
    seconds = ("--seconds", str(scene.seconds))
    for series, environment in (("busy", {"HEADWAY_WAIT": "busy"}),
                                ("asleep", {"HEADWAY_WAIT": "block"})):  # fmt: skip
        how = ("--asleep",) if series == "asleep" else ()
        yield Run("built:over_rail", ("--bytes", "8", *how), series=f"over the rail, {series}")
        yield Run("built:points", ("--sizes", sizes, *seconds), series=f"end-points, {series}",
                  environment=environment)  # fmt: skip
        yield Run("pingpong", ("--pin", "--sizes", sizes, *seconds), series=f"MPI, {series}",
                  environment=environment)  # fmt: skip


def awake(result):
    over = result.values("over the rail, busy", "over_ns", bytes=8)
    return at_most("8 bytes, both awake: ≤ 60 ns over the bare rail", over, 60)


def asleep(result):
    bare = result.values("over the rail, asleep", "rail_ns", bytes=8)
    points = result.values("over the rail, asleep", "points_ns", bytes=8)
    ratios = [b / a for a, b in zip(bare, points) if a]
    return at_most("8 bytes, asleep: ≤ 1.5 × the bare rail's one wake-up", ratios, 1.5)


EXPERIMENT = Experiment(
    name="E16",
    title="latency of end-points over that of the rail",
    source="pcor02, figure 1",
    saw="55 µs more than the network's own layer, all of it two thread wake-ups",
    runs=runs,
    panels=(
        Panel("one way, shared memory, median", "bytes",
              {"end-points": "latency_us", "MPI": "median_us"}, "µs", "message size",
              log_x=True, bytes_x=True),
    ),
    claims=(awake, asleep),
)  # fmt: skip
