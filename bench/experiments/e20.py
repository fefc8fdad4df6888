"""E20: the non-blocking allreduce during a computation of a fixed amount of work."""

from . import nbc
from .model import Experiment, at_most, with_comparison

MiB = 1 << 20


def total(net, cores, bytes_, bound):
    def check(result):
        where = {"bytes": bytes_, "net": net, "cores": cores}
        verdict = at_most(f"{net}, {cores}, {bytes_ / MiB:g} MB: T(both) ≤ {bound} × the longer",
                          result.values("auto", "ratio", **where), bound)  # fmt: skip
        verdict = with_comparison(verdict, nbc.SOCKETS,
                                  result.values(nbc.SOCKETS, "ratio", **where))
        busy = busy_cores(result, where) if net == nbc.SHARED_MEMORY else []
        return with_comparison(verdict, "both cores busy throughout", busy)

    return check


def busy_cores(result, where):
    """The ratio if two cores shared, without idle time, both ranks' time for the collective alone
    and the work of the rank that computes."""
    rows = zip(result.values("auto", "allreduce_us", **where),
               result.values("auto", "work_us", **where))  # fmt: skip
    return [(2 * alone + work) / 2 / max(alone, work) for alone, work in rows if alone]


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
