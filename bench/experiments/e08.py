"""E8: N pairs of threads play ping-pong at the same time."""

from .model import Experiment, Panel, Run, against_best_peer, at_least

THREADS = (1, 2, 4, 8, 16, 32, 64)


def runs(scene):
    threads = ",".join(str(n) for n in scene.few(THREADS))
    words = ("--pin", "--threads", threads, "--seconds", str(scene.seconds))
    yield Run("n_to_n", words, net=scene.net, rate=scene.rate, peers=True)


def rate_at(threads):
    def check(result):
        found = result.values("headway", "exchanges_per_s", threads=threads)
        return at_least(f"ping-pongs a second at {threads} pairs ≥ 434 000", found, 434000)

    return check


def latency_at(threads):
    claim = f"mean latency at {threads} pairs ≤ the best peer's"
    return lambda result: against_best_peer(result, claim, "mean_us", 1.0, threads=threads)


EXPERIMENT = Experiment(
    name="E8",
    title="latency of N pairs of threads",
    source="pioman15, figure 11",
    saw="grows linearly with N, with a lower slope than MVAPICH2's, as packets aggregate",
    runs=runs,
    panels=(
        Panel("1 byte one way, mean over the pairs", "threads", {"mean": "mean_us"}, "µs",
              "pairs of threads", log_x=True, log_y=True),
        Panel("ping-pongs a second, all pairs together", "threads", {"rate": "exchanges_per_s"},
              "1/s", "pairs of threads", log_x=True, higher_is_better=True),
    ),
    claims=(*(rate_at(n) for n in (4, 16, 64)), *(latency_at(n) for n in (4, 16, 64))),
)  # fmt: skip
