"""E13: a message and a short computation: submission inline, or on an idle core."""

from .model import Experiment, Panel, Run, at_most, differences

SIZES = ("1", "64", "512", "4K", "16K")
WAYS = {
    "inline": {"HEADWAY_OFFLOAD": "inline"},
    "notify": {"HEADWAY_OFFLOAD": "notify"},
    "idle": {"HEADWAY_OFFLOAD": "idle", "HEADWAY_PROGRESS": "idle"},
}


def runs(scene):
    words = ("--pin", "--sizes", ",".join(scene.few(SIZES)), "--seconds", str(scene.seconds))
    for way, environment in WAYS.items():
        yield Run("offload", words, way, environment=environment)


def costs(way, bound_us):
    def check(result):
        other, inline = (result.values(of, "median_us", bytes=1) for of in (way, "inline"))
        more_us = differences(other, inline)
        return at_most(f"1 byte: {way} − inline ≤ {bound_us} µs", more_us, bound_us)

    return check


EXPERIMENT = Experiment(
    name="E13",
    title="Isend, 10 µs of computing, Wait: who submits",
    source="thread09, figure 9",
    saw="left to another core by a notification +2 µs, found by an idle core +0.4 µs",
    runs=runs,
    panels=(
        Panel("round trip, shared memory", "bytes", {"time": "median_us"}, "µs", "message size",
              log_x=True, bytes_x=True),
    ),
    claims=(costs("notify", 2), costs("idle", 0.4)),
)  # fmt: skip
