"""E16: what an end-point costs over the rail: one way between two processes, and MPI beside it."""

from .model import Experiment, Panel, Run, at_most

SIZES = ("8", "64", "512")


def runs(scene):
    sizes = ",".join(scene.few(SIZES))
    seconds = ("--seconds", str(scene.seconds))
    for series, environment in (("busy", {"HEADWAY_WAIT": "busy"}),
                                ("asleep", {"HEADWAY_WAIT": "block"})):  # fmt: skip
        yield Run("built:points", ("--sizes", sizes, *seconds), series=f"end-points, {series}",
                  environment=environment)  # fmt: skip
        yield Run("pingpong", ("--pin", "--sizes", sizes, *seconds), series=f"MPI, {series}",
                  environment=environment)  # fmt: skip


def over_mpi(how):
    def check(result):
        mine = result.values(f"end-points, {how}", "latency_us", bytes=8)
        mpi = result.values(f"MPI, {how}", "median_us", bytes=8)
        over = [1000 * (a - b) for a, b in zip(mine, mpi)]
        return at_most(f"8 bytes, {how}: ≤ 60 ns over MPI on the same rail", over, 60)

    return check


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
    claims=(over_mpi("busy"), over_mpi("asleep")),
)  # fmt: skip
