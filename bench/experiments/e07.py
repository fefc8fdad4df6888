"""E7: ping-pong of one thread with N threads of the other process in turn."""

from .model import Experiment, Panel, Run, at_most, ratios

THREADS = (1, 2, 4, 8, 16, 32, 64)


def runs(scene):
    threads = ",".join(str(n) for n in scene.few(THREADS))
    words = ("--pin", "--threads", threads, "--seconds", str(scene.seconds))
    yield Run("one_to_n", words, net=scene.net, rate=scene.rate, peers=True)


def mean_at(threads):
    def check(result):
        found = result.values("headway", "mean_us", threads=threads)
        return at_most(f"mean at {threads} threads ≤ 3.5 µs", found, 3.5)

    return check


def flat(result):
    many, two = (result.values("headway", "mean_us", threads=threads) for threads in (64, 2))
    return at_most("flat: mean at 64 ≤ 1.5 × mean at 2", ratios(many, two), 1.5)


EXPERIMENT = Experiment(
    name="E7",
    title="latency of one thread with N threads",
    source="pioman15, figure 10",
    saw="flat in N; MVAPICH2's grows with N",
    runs=runs,
    panels=(
        Panel("1 byte one way, mean", "threads", {"mean": "mean_us"}, "µs", "receiving threads",
              log_x=True, log_y=True),
        Panel("1 byte one way, median", "threads", {"median": "median_us"}, "µs",
              "receiving threads", log_x=True, log_y=True),
    ),
    claims=(mean_at(2), mean_at(8), mean_at(64), flat),
)  # fmt: skip
