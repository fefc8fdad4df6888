"""E20: the non-blocking allreduce beside a computation of a fixed amount of work."""

from . import nbc
from .model import Experiment, at_most

MiB = 1 << 20


def total(net, cores, bytes_, bound):
    def check(result):
        found = result.values("auto", "ratio", bytes=bytes_, net=net, cores=cores)
        claim = f"{net}, {cores}, {bytes_ / MiB:g} MB: T(both) ≤ {bound} × the longer"
        return at_most(claim, found, bound)

    return check


EXPERIMENT = Experiment(
    name="E20",
    title="non-blocking allreduce beside a computation of fixed work",
    source="thread-or-not08, work-based overhead",
    saw="what interrupts cost shows at last: 3.4 µs each, 1016 of them in a pipelined collective",
    minutes=nbc.MINUTES,
    runs=nbc.runs,
    panels=nbc.panels("ratio", "T(both) / max", "T(both) over the longer of both",
                      level={1: "all hidden", 2: "nothing hidden"}),
    claims=(
        total("TCP at 1 Gbit/s", "both cores compute", 4 * MiB, 1.12),
        total("TCP at 1 Gbit/s", "both cores compute", 16 * MiB, 1.12),
        total("TCP at 1 Gbit/s", "one core spare", 4 * MiB, 1.1),
        total("TCP at 1 Gbit/s", "one core spare", 16 * MiB, 1.1),
        total("shared memory", "one core spare", MiB, 1.1),
    ),
)  # fmt: skip
