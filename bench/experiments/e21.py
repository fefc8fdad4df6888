"""E21: one-sided operations on a target that waits, and on one that computes."""

from dataclasses import replace

from .model import (OWN, Experiment, Panel, Run, against_best_peer, at_most,
                    ratios, surely_at_most)  # fmt: skip

MiB = 1 << 20
SIZES = {"8 bytes": 8, "1 MB": MiB}
PLACES = {"shared memory": "shm", "TCP": "tcp"}
TARGETS = {"the target waits": 0, "the target computes": 1}
# The rows in which the kernel alone does what the operation needs, without a library.
FLOORS = {"shared memory": "kernel_floor", "TCP": "tcp_floor"}
OPTIONS = {"shared memory": "--kernel-floor", "TCP": "--tcp-floor"}
EARLY = "mpich:ofi"  # the flush of a put returns before the data is in the target's memory


def runs(scene):
    words = ("--pin", "--created", "--sizes", ",".join(map(str, SIZES.values())),
             "--seconds", str(scene.seconds / 5))  # fmt: skip
    for place, net in PLACES.items():
        yield Run("one_sided", (*words, OPTIONS[place]), tags={"net": place}, net=net, peers=True)


def beside(place, operation, size, bound, column="median_us"):
    """Ours on a target that computes, over ours on one that waits, in the same round."""

    def check(result):
        where = {"net": place, "operation": operation, "bytes": size}
        busy = result.values(OWN, column, computing=1, **where)
        idle = result.values(OWN, column, computing=0, **where)
        claim = f"{place}, {operation} of {size} bytes: computing ≤ {bound} × waiting"
        return at_most(claim, ratios(busy, idle), bound)

    return check


def bounded(operation, column, bound):
    def check(result):
        found = result.values(OWN, column, net="TCP", operation=operation, bytes=8, computing=1)
        return at_most(f"TCP, {operation} of 8 bytes, computing: {column} ≤ {bound} µs", found,
                       bound)  # fmt: skip

    return check


def over_floor(place, operation, computing, bound):
    """Ours over what the kernel alone takes, in the same round."""

    def check(result):
        where = {"net": place, "bytes": 8, "computing": computing}
        ours = result.values(OWN, "median_us", operation=operation, **where)
        floor = result.values(OWN, "median_us", operation=FLOORS[place], **where)
        state = "computing" if computing else "waiting"
        claim = f"{place}, {operation} of 8 bytes, {state}: ≤ {bound} × the kernel alone"
        return surely_at_most(claim, ratios(ours, floor), bound)

    return check


def ahead(place, operation, size, bound):
    """Ours over the best peer whose operation has ended at the target when its flush returns."""

    def check(result):
        rows = {name: found for name, found in result.rows.items()
                if operation != "put" or name != EARLY}  # fmt: skip
        claim = f"{place}, {operation} of {size} bytes, waiting: ≤ {bound} × the best peer"
        return against_best_peer(replace(result, rows=rows), claim, "median_us", bound,
                                 judge=surely_at_most, net=place, operation=operation, bytes=size,
                                 computing=0)  # fmt: skip

    return check


def panels():
    for place in PLACES:
        for target, computing in TARGETS.items():
            for size, bytes_ in SIZES.items():
                yield Panel(f"{size} and flush, {place}, {target}", "operation",
                            {"median": "median_us"}, "µs", kind="bar", log_y=True,
                            where={"net": place, "computing": computing,
                                   "bytes": bytes_})  # fmt: skip


EXPERIMENT = Experiment(
    name="E21",
    title="one-sided communication beside a computing target",
    source="MPI-5.0, chapter 12",
    saw="passive targets need not call MPI; in the other libraries each operation waits until they "
    "do",
    minutes=2,
    runs=runs,
    panels=tuple(panels()),
    claims=(
        beside("shared memory", "fetch_op", 8, 1.1),
        beside("shared memory", "put", 8, 1.1),
        beside("shared memory", "put", MiB, 1.1),
        bounded("fetch_op", "median_us", 30),
        bounded("get", "median_us", 30),
        bounded("fetch_op", "p99_us", 120),
        bounded("get", "p99_us", 120),
        beside("TCP", "put", MiB, 1.15),
        beside("TCP", "get", MiB, 1.15),
        over_floor("shared memory", "put", 1, 1.3),
        *(over_floor("TCP", name, 0, 1.25) for name in ("put", "get", "fetch_op")),
        *(over_floor("TCP", name, 1, 1.25) for name in ("put", "get", "fetch_op")),
        *(ahead("shared memory", name, 8, 1.0) for name in ("put", "fetch_op")),
        *(ahead("shared memory", name, MiB, 1.0) for name in ("put", "get", "accumulate")),
        *(ahead("TCP", name, 8, 0.9) for name in ("put", "get", "fetch_op")),
        *(ahead("TCP", name, MiB, 1.0) for name in ("put", "get", "accumulate")),
    ),
)  # fmt: skip
