"""E4: the NAS parallel benchmarks: what background progression gives them, and what it costs."""

from .model import (OWN, Experiment, Panel, Run, Scene, against_best_peer, ratios,
                    same_as, surely_at_most)  # fmt: skip
from .npb import PREFIX

CLASSES = ("W", "A")
RANKS = (2, 4)
BENCHMARKS = ("is", "ep", "cg", "mg", "ft", "lu", "sp", "bt")
SQUARE_ONLY = ("sp", "bt")  # run on square numbers of ranks
OFF = "off"
AGAIN = "again"  # Headway once more, for the noise of the measurement
TIME = "us_per_operation"  # of which ratios are formed
BEST_PEER_MAX, OFF_MAX = 1.00, 1.01


def case_name(benchmark, size, ranks):
    return f"{benchmark}.{size}, {ranks} ranks"


def cases(scene):
    for size in ("S",) if scene.quick else CLASSES:
        for ranks in scene.few(RANKS, 1):
            for benchmark in BENCHMARKS:
                name = case_name(benchmark, size, ranks)
                chosen = not scene.cases or any(text in name for text in scene.cases)
                if chosen and (benchmark not in SQUARE_ONLY or ranks == 4):
                    yield benchmark, size, ranks


def runs(scene):
    for benchmark, size, ranks in cases(scene):
        common = {"tags": {"case": case_name(benchmark, size, ranks)}, "ranks": ranks,
                  "sources": scene.npb, "timeout_s": 900}  # fmt: skip
        program = f"{PREFIX}{benchmark}.{size}"
        yield Run(program, peers=True, **common)
        yield Run(program, series=AGAIN, **common)
        yield Run(program, series=OFF, environment={"HEADWAY_PROGRESS": "off"}, **common)


def over(result, above, below, case):
    return ratios(*(result.values(name, TIME, case=case) for name in (above, below)))


def against_itself(case):
    claim = f"{case}: Headway again over Headway, the noise"
    return lambda result: same_as(claim, over(result, AGAIN, OWN, case))


def against_off(case):
    claim = f"{case}: with progression ≤ {OFF_MAX} × without"
    return lambda result: surely_at_most(claim, over(result, OWN, OFF, case), OFF_MAX)


def against_peers(case):
    claim = f"{case}: ≤ {BEST_PEER_MAX:.2f} × the best peer"
    return lambda result: against_best_peer(result, claim, TIME, BEST_PEER_MAX,
                                            judge=surely_at_most, case=case)  # fmt: skip


def all_claims():
    names = [case_name(*case) for case in cases(Scene())]
    return tuple(claim(name) for claim in (against_itself, against_off, against_peers)
                 for name in names)  # fmt: skip


EXPERIMENT = Experiment(
    name="E4",
    title="NAS parallel benchmarks with and without background progression",
    source="pioman15, figure 6",
    saw="all flavours of the engine within 2 %",
    runs=runs,
    panels=(Panel("time of the benchmark", "case", {"time": "seconds"}, "s", kind="bar",
                  log_y=True),),
    claims=all_claims(),
    minutes=30,
)
