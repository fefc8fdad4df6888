"""E17: the token benchmark: which threads poll for messages, and how often working threads do."""

import statistics

from side_by_side.figures import Verdict, not_measured

from .model import OWN, Experiment, Panel, Run, surely_at_most

PROCESSES = (1, 2, 4)
THREADS = (1, 2, 4, 8)
WORK = (0, 1, 10)
POLICIES = ("pause", "yield", "loop")
POLLS = (0, 5, 10, 100, 1000)
BOUND = 1.05
TWINS = ("auto/0", "event/0")  # the same code if there is no handler
TURNS = 15  # of each strategy in a run
TURN_MS = 30  # length of a turn: within 8 ms threads stay on the cores where they start


def strategies(scene):
    looks = scene.few(POLLS)
    return ("auto/0", "event/0", *(f"{policy}/{n}" for policy in POLICIES for n in looks))


def case_name(processes, threads, work):
    return f"{processes} × {threads}, {work}"


def runs(scene):
    """One start for each case; within it the strategies take turns."""
    turns = ("--rounds", "2" if scene.quick else str(TURNS),
             "--turn-ms", "8" if scene.quick else str(TURN_MS))  # fmt: skip
    for processes in scene.few(PROCESSES):
        for threads in scene.few(THREADS):
            for work in scene.few(WORK):
                words = ("--threads", str(threads), "--work", str(work), *turns)
                yield Run("built:tokens", (*words, "--strategies", ",".join(strategies(scene))),
                          tags={"case": case_name(processes, threads, work)},
                          ranks=1 + processes)  # fmt: skip


def of_case(result, case):
    """The turns of one case: {strategy: time} each."""
    rows = [row for _, row in result.rows.get(OWN, []) if row["case"] == case]
    return [{name: row[name] for name in row if "/" in name} for row in rows]


def best_of(turns, without=()):
    """The strategy with the lowest median. Strategies that are many times slower run only once."""
    found = {}
    for name in dict.fromkeys(name for turn in turns for name in turn if name not in without):
        times = [turn[name] for turn in turns if name in turn]
        if 2 * len(times) >= len(turns):
            found[name] = statistics.median(times)
    return min(found, key=found.get, default=None)


def far_off(turns):
    """`auto` over the best other strategy, if all others ran only once."""
    once = {name: turns[0][name] for name in turns[0] if name not in TWINS}
    if not once:
        return None
    name = min(once, key=once.get)
    return statistics.median(turn["auto/0"] for turn in turns) / once[name], name


def ratios(turns):
    """`auto` over the best strategy, turn by turn, and that strategy's name.

    Which of sixteen strategies is best is partly chance. So it is chosen in one half of the turns
    and compared in the other half, and the other way round.
    """
    halves = turns[::2], turns[1::2]
    found, names = [], []
    for choosing, comparing in (halves, halves[::-1]):
        name = best_of(choosing, without=TWINS)
        if name:
            names.append(name)
            found += [turn["auto/0"] / turn[name] for turn in comparing if name in turn]
    return found, " and ".join(dict.fromkeys(names))


def verdict_of(result, case):
    turns = of_case(result, case)
    found, name = ratios(turns)
    claim = f"{case}: auto ≤ {BOUND} × the best other"
    alone = far_off(turns) if turns and not found else None
    if alone:
        return Verdict(claim, alone[0] <= BOUND, f"{alone[0]:.2f} × {alone[1]}, a single turn")
    return surely_at_most(claim, found, BOUND, of=name)


def one_case(processes, threads, work):
    return lambda result: verdict_of(result, case_name(processes, threads, work))


def every_case(result):
    """One verdict on all cases that were measured."""
    cases = dict.fromkeys(row["case"] for _, row in result.rows.get(OWN, []))
    reached = [verdict_of(result, case).reached for case in cases]
    text = (
        f"{reached.count(True)} of {len(reached)} cases; "
        f"{reached.count(None)} not decided, {reached.count(False)} beyond it"
    )
    claim = f"auto ≤ {BOUND} × the best other, every case"
    if not reached:
        return not_measured(claim)
    return Verdict(claim, False if False in reached else None if None in reached else True, text)


def noise(result):
    """`event` over `auto`, which run the same code: the noise of the measurement."""
    found = [turn["event/0"] / turn["auto/0"] for _, turn in result.rows.get(OWN, [])
             if "event/0" in turn]  # fmt: skip
    claim = "event over auto, the same code, turn by turn"
    if len(found) < 4:
        return not_measured(claim)
    quarters = statistics.quantiles(found)
    text = f"{quarters[1]:.2f}, quarters {quarters[0]:.2f} … {quarters[2]:.2f}"
    return Verdict(claim, abs(quarters[1] - 1) <= 0.02, text)


def panel(title, names):
    return Panel(title, "case", {name: name for name in names}, "µs a hop", kind="bar")


EXPERIMENT = Experiment(
    name="E17",
    title="token benchmark: processes × threads, work in units of 145 µs",
    source="pcor02, figures 2 and 3",
    saw="too few polls and too many both lose",
    runs=runs,
    panels=(
        panel("working threads do not look", [f"{p}/0" for p in ("auto", "event", *POLICIES)]),
        panel("looks in the middle of work", [f"{p}/{n}" for p in POLICIES for n in (10, 1000)]),
    ),
    claims=(
        noise,
        *(one_case(p, t, w) for p in PROCESSES for t in THREADS for w in WORK),
        every_case,
    ),
)  # fmt: skip
