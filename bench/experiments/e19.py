"""E19: the non-blocking allreduce during a computation of a fixed time."""

from . import nbc
from .model import Experiment, at_most


def runs(scene):
    return nbc.runs(scene, "--by-time")


def small_overhead(result):
    found = result.values("auto", "overhead_us", bytes=8, net="shared memory",
                          cores="both cores compute")  # fmt: skip
    return at_most("8 bytes, shared memory: starting and finishing add ≤ 2 µs", found, 2)


EXPERIMENT = Experiment(
    name="E19",
    title="non-blocking allreduce beside a computation of fixed time",
    source="thread-or-not08, overhead by size",
    saw="a progress thread pays with a spare core; without one it is scheduled too late, unless at "
    "real-time priority",
    minutes=nbc.MINUTES,
    runs=runs,
    panels=nbc.panels("overhead_us", "µs", "time added to the computation", log_y=True),
    claims=(small_overhead,),
)  # fmt: skip
