"""E21: one-sided operations on a target that waits, and on one that computes."""

from .model import OWN, Experiment, Panel, Run, at_most

MiB = 1 << 20
SIZES = {"8 bytes": 8, "1 MB": MiB}
PLACES = {"shared memory": "shm", "TCP": "tcp"}
TARGETS = {"the target waits": 0, "the target computes": 1}


def runs(scene):
    words = ("--pin", "--created", "--sizes", ",".join(map(str, SIZES.values())),
             "--seconds", str(scene.seconds / 5))  # fmt: skip
    for place, net in PLACES.items():
        yield Run("one_sided", words, tags={"net": place}, net=net, peers=True)


def beside(place, operation, size, bound, column="median_us"):
    """Ours on a target that computes, over ours on one that waits, in the same round."""

    def check(result):
        where = {"net": place, "operation": operation, "bytes": size}
        busy = result.values(OWN, column, computing=1, **where)
        idle = result.values(OWN, column, computing=0, **where)
        claim = f"{place}, {operation} of {size} bytes: computing ≤ {bound} × waiting"
        return at_most(claim, [a / b for a, b in zip(busy, idle) if b], bound)

    return check


def bounded(place, operation, size, column, bound):
    def check(result):
        found = result.values(OWN, column, net=place, operation=operation, bytes=size, computing=1)
        claim = f"{place}, {operation} of {size} bytes, computing: {column} ≤ {bound} µs"
        return at_most(claim, found, bound)

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
    # In shared memory a target that waits takes part, so that one that computes is compared with
    # what the kernel's copies cost, not with it: a system call, two, and a copy of 1 MB.
    claims=(
        bounded("shared memory", "put", 8, "median_us", 3),
        bounded("shared memory", "fetch_op", 8, "median_us", 6),
        bounded("shared memory", "put", MiB, "median_us", 100),
        bounded("TCP", "fetch_op", 8, "median_us", 30),
        bounded("TCP", "get", 8, "median_us", 30),
        bounded("TCP", "fetch_op", 8, "p99_us", 120),
        bounded("TCP", "get", 8, "p99_us", 120),
        beside("TCP", "put", MiB, 1.15),
        beside("TCP", "get", MiB, 1.15),
    ),
)  # fmt: skip
