"""E9: mean and worst time of a large message while N threads compute."""

from .model import Experiment, Panel, Run, at_most, with_comparison

THREADS = (0, 1, 4, 16)
BARE = "bare wake-ups"  # the kernel's bound: a thread of the greatest weight wakes, works 35 µs


def runs(scene):
    threads = ",".join(str(n) for n in scene.few(THREADS))
    words = ("--pin", "--threads", threads, "--seconds", str(2 * scene.seconds))
    yield Run("n_load", words, peers=True)
    yield Run("progress/woken", ("--weight", *words[1:]), BARE, ranks=0)


def flat_mean(threads):
    def check(result):
        alone = result.values("headway", "mean_us", threads=0)
        beside = result.values("headway", "mean_us", threads=threads)
        ratios = [a / b for a, b in zip(beside, alone)]
        return at_most(f"mean beside {threads} threads ≤ 3 × mean alone", ratios, 3)

    return check


def never_long(result):
    worst = result.values("headway", "worst_us")
    verdict = at_most("maximum < 20 ms at every N", [max(worst)] if worst else [], 20000)
    bare = result.values(BARE, "worst_us", threads=max(THREADS))
    return with_comparison(verdict, BARE, bare)


EXPERIMENT = Experiment(
    name="E9",
    title="1 MB latency beside N computing threads",
    source="pioman15, figure 12",
    saw="median flat in N, maximum below 20 ms; Open MPI's maximum is arbitrarily high",
    runs=runs,
    panels=(
        Panel("1 MB one way beside N computing threads on each side, mean", "threads",
              {"mean": "mean_us"}, "µs", "computing threads on each side", log_y=True),
        Panel("the same, median", "threads", {"median": "median_us"}, "µs",
              "computing threads on each side", log_y=True),
        Panel("the same, maximum", "threads", {"maximum": "worst_us"}, "µs",
              "computing threads on each side", log_y=True, level={20000: "20 ms"}),
    ),
    claims=(flat_mean(1), flat_mean(4), flat_mean(16), never_long),
)  # fmt: skip
