"""E16: end-points against the bare rail and other libraries, and the gain of avoiding a copy."""

import statistics

from side_by_side.figures import Verdict, not_measured

from .model import (Experiment, Panel, Run, at_least, at_most, ratios, spread_words,
                    with_comparison)  # fmt: skip
from side_by_side.rounds import spread

SIZES = (64, 1024, 16384, 1 << 20)
BLOCKS = (64 << 10, 256 << 10, 1 << 20)
OTHERS = {"zmq": "ZeroMQ", "nng": "NNG"}
RAIL = "over the rail"
SOCKET = "a socket, never asleep"  # one connection, one thread a side, no library
# The launcher places our processes; the other libraries' programs have an option for the place.
PLACES = {
    "thread": ("threads of a process", 1, {}),
    "machine": ("processes of a machine", 2, {}),
    "tcp": ("TCP, loopback", 2, {"HEADWAY_RAILS": "self,tcp"}),
}


def over_the_rail(scene):
    for series, how in (("awake", ()), ("asleep", ("--asleep",))):
        batches = ("--batches", "21") if scene.quick else ()
        yield Run("built:over_rail", ("--bytes", "8", *how, *batches), series=series,
                  tags={"place": RAIL})  # fmt: skip


def beside_others(scene):
    """Short rows, a tenth of the usual time: many in turns are more exact than one long one."""
    seconds = ("--seconds", str(scene.seconds / 10))
    sizes = ("--sizes", ",".join(str(size) for size in scene.few(SIZES)))
    for place, (text, processes, environment) in PLACES.items():
        tags = {"place": text}
        yield Run("built:points", ("--library", "headway", *sizes, *seconds), tags=tags,
                  ranks=processes, series="end-points", environment=environment)  # fmt: skip
        for library, name in OTHERS.items():
            words = ("--library", library, "--place", place, *sizes, *seconds)
            yield Run("built:points", words, tags=tags, ranks=0, series=name)
    words = ("--library", "socket", "--place", "tcp", *sizes, *seconds)
    yield Run("built:points", words, tags={"place": PLACES["tcp"][0]}, ranks=0, series=SOCKET)
    words = ("--library", "queue", *sizes, *seconds)
    yield Run("built:points", words, tags={"place": PLACES["thread"][0]}, ranks=0,
              series="a pointer through a queue")  # fmt: skip


def streams(scene):
    size = ("--bytes", str(64 << 20)) if scene.quick else ()
    for block in scene.few(BLOCKS):
        yield Run("built:stream", ("--block", str(block), "--rounds", "3", *size), series="stream")


def runs(scene):
    yield from over_the_rail(scene)
    yield from beside_others(scene)
    yield from streams(scene)


def awake(result):
    over = result.values("awake", "over_ns", bytes=8)
    return at_most("8 bytes, both awake: ≤ 60 ns over the bare rail", over, 60)


def asleep(result):
    bare = result.values("asleep", "rail_ns", bytes=8)
    points = result.values("asleep", "points_ns", bytes=8)
    claim = "8 bytes, asleep: ≤ 1.5 × the bare rail's one wake-up"
    return at_most(claim, ratios(points, bare), 1.5)


def by_pointer(bytes_):
    """Latency between threads, against a pointer through a queue in the same round."""

    def check(result):
        place = PLACES["thread"][0]
        ours = result.values("end-points", "latency_us", place=place, bytes=bytes_)
        bare = result.values("a pointer through a queue", "latency_us", place=place, bytes=bytes_)
        claim = f"{bytes_} bytes between threads: ≤ 2 × a pointer through a queue"
        return at_most(claim, ratios(ours, bare), 2)

    return check


def ahead(place, bytes_, column, unit, more_is_better):
    """Ours against each library in the same round; the verdict is against the best of them."""

    def as_good(values, others):
        return ratios(values, others) if more_is_better else ratios(others, values)

    def check(result):
        text, _, _ = PLACES[place]
        where = {"place": text, "bytes": bytes_}
        ours = result.values("end-points", column, **where)
        found = {name: result.values(name, column, **where) for name in OTHERS.values()}
        found = {name: values for name, values in found.items() if values}
        claim = f"{text}, {bytes_} bytes: {unit} ahead of ZeroMQ and NNG"
        if not ours or not found:
            return not_measured(claim)
        choose = max if more_is_better else min
        best = choose(found, key=lambda name: statistics.median(found[name]))
        times = as_good(ours, found[best])
        if not times:
            return not_measured(claim)
        s = spread(times)
        verdict = Verdict(claim, s.median > 1, f"{spread_words(s)} times {best}")
        bare = result.values(SOCKET, column, **where)
        return with_comparison(verdict, SOCKET, as_good(bare, found[best]))

    return check


def in_place(block):
    def check(result):
        names = ("in_place_gbps", "bare_gbps", "ring_gbps")
        here, alone, ring = (result.values("stream", name, block=block) for name in names)
        claim = f"stream of {block >> 10} KiB blocks in place: ≥ 1.5 × through a ring"
        verdict = at_least(claim, ratios(here, ring), 1.5)
        return with_comparison(verdict, "without a library", ratios(alone, ring))

    return check


def panels():
    yield Panel("8 bytes one way between two processes, shared memory", "bytes",
                {"the bare rail": "rail_ns", "end-points": "points_ns", "over it": "over_ns"},
                "ns", where={"place": RAIL})  # fmt: skip
    for text, _, _ in PLACES.values():
        yield Panel(f"{text}, one way", "bytes", {"": "latency_us"}, "µs", where={"place": text},
                    log_x=True, log_y=True, bytes_x=True)  # fmt: skip
        yield Panel(f"{text}, in one direction", "bytes", {"": "rate"}, "messages/s",
                    where={"place": text}, log_x=True, log_y=True, bytes_x=True)  # fmt: skip
    yield Panel("1 GiB computed in one process, read in the other", "block",
                {"in place": "in_place_gbps", "through a ring": "ring_gbps",
                 "in place without a library": "bare_gbps"}, "GB/s", log_x=True, bytes_x=True,
                higher_is_better=True)  # fmt: skip


EXPERIMENT = Experiment(
    name="E16",
    title="end-points over the bare rail, beside ZeroMQ and NNG, and in place",
    source="pcor02, figure 1",
    saw="55 µs more than the network's own layer, all of it two thread wake-ups",
    runs=runs,
    panels=tuple(panels()),
    claims=(
        awake,
        asleep,
        *(by_pointer(size) for size in SIZES),
        *(ahead(place, size, "latency_us", "latency", False) for place in PLACES for size in SIZES),
        *(ahead(place, size, "rate", "rate", True) for place in PLACES for size in SIZES),
        *(in_place(block) for block in BLOCKS),
    ),
)  # fmt: skip
