"""E17: the token benchmark: who looks for messages, and how often working threads help."""

from .model import Experiment, Panel, Run, at_most

PROCESSES = (1, 2, 4)
THREADS = (1, 2, 4, 8)
WORK = (0, 1, 10)
POLICIES = ("pause", "yield", "loop")
POLLS = (0, 5, 10, 100, 1000)


def ttl_of(scene, work):
    """So that a run takes a fraction of a second on two processors, whatever the work."""
    return 20 if scene.quick else {0: 500, 1: 300, 10: 100}[work]


def runs(scene):
    for processes in scene.few(PROCESSES):
        for threads in scene.few(THREADS):
            for work in scene.few(WORK):
                case = f"{processes} × {threads}, work {work}"
                words = ("--threads", threads, "--work", work, "--ttl", ttl_of(scene, work))
                words = tuple(str(word) for word in words)

                def run(policy, polls, case=case, words=words, processes=processes):
                    return Run("built:tokens", (*words, "--policy", policy, "--polls", str(polls)),
                               series=f"{policy}/{polls}", tags={"case": case},
                               ranks=1 + processes)  # fmt: skip

                yield run("auto", 0)
                for policy in POLICIES:
                    for polls in scene.few(POLLS):
                        yield run(policy, polls)


def near_the_best(result):
    """The worst case of `auto` over the best strategy there, medians over the rounds."""
    worst = []
    for case in {row["case"] for rows in result.rows.values() for _, row in rows}:
        found = {series: result.median(series, "seconds", case=case) for series in result.rows}
        others = [seconds for seconds in found.values() if seconds]
        if found.get("auto/0"):
            worst.append(found["auto/0"] / min(others))
    return at_most("auto ≤ 1.05 × the best strategy, every case", [max(worst)] if worst else [],
                   1.05)  # fmt: skip


EXPERIMENT = Experiment(
    name="E17",
    title="token benchmark",
    source="pcor02, figures 2 and 3",
    saw="too few polls and too many both lose",
    runs=runs,
    panels=(Panel("whole run", "case", {"seconds": "seconds"}, "s", kind="bar"),),
    claims=(near_the_best,),
)
