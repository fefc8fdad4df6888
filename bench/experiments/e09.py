"""E9: mean and worst time of a large message while N threads compute."""

from .model import Experiment, Panel, Run, at_most, ratios, with_comparison

THREADS = (0, 1, 4, 16)
ORDINARY = "ordinary user"
# The kernel's bounds: a thread wakes, works 35 µs, and wakes the next one.
BARE = "bare wake-ups"  # with the greatest weight
BARE_ORDINARY = "bare, ordinary user"


def runs(scene):
    threads = ",".join(str(n) for n in scene.few(THREADS))
    words = ("--pin", "--threads", threads, "--seconds", str(2 * scene.seconds))
    yield Run("n_load", words, peers=True)
    yield Run("n_load", words, ORDINARY, ordinary=True)
    yield Run("progress/woken", ("--weight", *words[1:]), BARE, ranks=0)
    yield Run("progress/woken", words[1:], BARE_ORDINARY, ranks=0, ordinary=True)


def flat_mean(threads, user="headway", limit=3, bare=BARE):
    """`bare`: its mean beside the threads is shown too, over the user's mean alone."""

    def check(result):
        alone = result.values(user, "mean_us", threads=0)
        slowed, bare_slowed = (
            ratios(result.values(of, "mean_us", threads=threads), alone) for of in (user, bare)
        )
        name = f"{user}: mean beside {threads} threads ≤ {limit} × mean alone"
        return with_comparison(at_most(name, slowed, limit), bare, bare_slowed)

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
    claims=(flat_mean(1), flat_mean(4), flat_mean(16), never_long,
            flat_mean(1, ORDINARY, 2, BARE_ORDINARY), flat_mean(4, ORDINARY, 3, BARE_ORDINARY),
            flat_mean(16, ORDINARY, 12, BARE_ORDINARY)),
)  # fmt: skip
