"""E4: the NAS parallel benchmarks: what background progression gives them, and what it costs."""

from .model import OWN, Experiment, Panel, Run, Scene, against_best_peer, at_most
from .npb import PREFIX

CLASSES = ("W", "A")
RANKS = (2, 4)
BENCHMARKS = ("is", "ep", "cg", "mg", "ft", "lu", "sp", "bt")
SQUARE_ONLY = ("sp", "bt")  # run on square numbers of ranks
OFF = "off"
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
        yield Run(program, series=OFF, environment={"HEADWAY_PROGRESS": "off"}, **common)


def against_off(result, case):
    ours, off = (result.values(name, TIME, case=case) for name in (OWN, OFF))
    ratios = [a / b for a, b in zip(ours, off) if b]
    return at_most(f"{case}: with progression ≤ {OFF_MAX} × without", ratios, OFF_MAX)


def one_off(case):
    return lambda result: against_off(result, case)


def one_peer(case):
    claim = f"{case}: ≤ {BEST_PEER_MAX:.2f} × the best peer"
    return lambda result: against_best_peer(result, claim, TIME, BEST_PEER_MAX, case=case)


def all_claims():
    names = [case_name(*case) for case in cases(Scene())]
    return (*map(one_off, names), *map(one_peer, names))


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
