"""E10: latency by kind of locking, with one thread and with two threads at the same time."""

from .model import Experiment, Panel, Run, at_most, differences, ratios

SIZES = ("1", "64", "1K", "8K")


def runs(scene):
    sizes = ",".join(scene.few(SIZES))
    alone = ("--pin", "--sizes", sizes, "--seconds", str(scene.seconds))
    pairs = ("--pin", "--threads", "2", "--seconds", str(scene.seconds))
    for locking in ("none", "coarse", "fine"):
        environment = {"HEADWAY_LOCKING": locking, "HEADWAY_PROGRESS": "off"}
        yield Run("pingpong", alone, locking, environment=environment)
    for locking in ("coarse", "fine"):
        yield Run("n_to_n", pairs, locking, environment={"HEADWAY_LOCKING": locking})


def costs(locking, bound_ns):
    def check(result):
        with_, without = (result.values(of, "median_us", bytes=1) for of in (locking, "none"))
        more_ns = differences(with_, without, unit=1000)
        return at_most(f"1 byte: {locking} − none at the median ≤ {bound_ns} ns", more_ns, bound_ns)

    return check


def at_once(result):
    fine, coarse = (result.values(of, "mean_us", threads=2) for of in ("fine", "coarse"))
    claim = "two ping-pongs at once: mean with fine locks ≤ with one lock"
    return at_most(claim, ratios(fine, coarse), 1.0)


EXPERIMENT = Experiment(
    name="E10",
    title="latency by locking",
    source="thread09, figures 3 and 5",
    saw="a library-wide lock costs 140 ns, locks by list 230; with two ping-pongs at once the "
    "latter are better",
    runs=runs,
    panels=(
        Panel("one way, shared memory, median", "bytes", {"median": "median_us"}, "µs",
              "message size", log_x=True, bytes_x=True),
        Panel("two ping-pongs of one byte at once, mean", "threads", {"mean": "mean_us"}, "µs",
              "pairs of threads", kind="bar"),
    ),
    claims=(costs("coarse", 140), costs("fine", 230), at_once),
)  # fmt: skip
