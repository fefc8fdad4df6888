"""E11: latency of small messages with busy, sleeping, fixed-spin and adaptive waits."""

from .model import Experiment, Panel, Run, at_most, ratios

SIZES = ("1", "16", "256", "2K")
MODES = {
    "busy, no threads": {"HEADWAY_WAIT": "busy", "HEADWAY_PROGRESS": "off"},
    "busy": {"HEADWAY_WAIT": "busy"},
    "sleep": {"HEADWAY_WAIT": "block"},
    "spin 5 µs": {"HEADWAY_WAIT": "fixed", "HEADWAY_SPIN_US": "5"},
    "adaptive": {"HEADWAY_WAIT": "adaptive"},
}


def runs(scene):
    words = ("--pin", "--sizes", ",".join(scene.few(SIZES)), "--seconds", str(scene.seconds))
    for mode, environment in MODES.items():
        yield Run("pingpong", words, series=mode, environment=environment)


def within(mode, of, bound):
    def check(result):
        above, below = (result.values(name, "median_us", bytes=1) for name in (mode, of))
        return at_most(f"1 byte, {mode} ≤ {bound} × {of}", ratios(above, below), bound)

    return check


EXPERIMENT = Experiment(
    name="E11",
    title="latency by the way of waiting",
    source="thread09, figures 6 and 7",
    saw="the engine costs 200 ns, waiting on semaphores 750 ns, which a spin of 5 µs hides",
    runs=runs,
    panels=(
        Panel("one way, shared memory, median", "bytes", {"median": "median_us"}, "µs",
              "message size", log_x=True, log_y=True, bytes_x=True),
    ),
    claims=(
        within("busy", "busy, no threads", 1.05),
        within("spin 5 µs", "busy", 1.05),
        within("adaptive", "busy", 1.05),
    ),
)  # fmt: skip
