"""The figures to reach: for each the benchmarks to run, and the claims that must then be true."""

from dataclasses import dataclass

from .rounds import Case, spread

PIN = "--pin"
BEFORE_AND_AFTER = "nothing-slower"
MATCHING_CASES = ("posted", "posted-rev", "posted-any", "late", "late-rev", "late-any")
NOT_MEASURED = "not measured"


@dataclass(frozen=True)
class Verdict:
    claim: str
    reached: bool | None  # None: there was nothing to compare, or it is not decided
    text: str

    @property
    def measured(self):
        return self.text != NOT_MEASURED


def not_measured(claim):
    return Verdict(claim, None, NOT_MEASURED)


def against_best_peer(key, bound, among=None, case=0):
    """Ours at defaults over the best peer: at most `bound`, or at least if higher is better."""

    def check(results):
        result = results[case]
        metric = result.metric
        peers = f"best of {', '.join(among)}" if among else "best peer"
        sign = "≥" if metric.higher_is_better else "≤"
        claim = f"{row_name(metric, key)} {sign} {bound:g} × {peers}"
        other = result.best_peer(key, among)
        ratio = result.ratio(result.own, other, key) if other else None
        return ratio_verdict(claim, ratio, bound, metric, f"of {other}" if other else "")

    return check


def against_setting(key, setting, bound, case=0, ours=""):
    """Ours in the setting `ours` against ours in another one; "" is the defaults."""

    def check(results):
        result = results[case]
        own = result.own or "headway"
        label, other = (f"{own}:{name}" if name else own for name in (ours, setting))
        with_it = f" with {ours}" if ours else ""
        claim = f"{row_name(result.metric, key)}{with_it} ≤ {bound:g} × {other}"
        return ratio_verdict(claim, result.ratio(label, other, key), bound, result.metric, "")

    return check


def against_number(key, bound, case=0):
    def check(results):
        result = results[case]
        claim = f"{row_name(result.metric, key)} ≤ {bound:g} ({result.metric.unit})"
        found = result.values.get(result.own, {}).get(key)
        if not found:
            return not_measured(claim)
        s = spread(found)
        text = f"{s.median:.3g} ({s.low:.3g} … {s.high:.3g})"
        return Verdict(claim, s.median <= bound, text)

    return check


def against_own_row(key, other_key, bound, case=0):
    """Ours in one row against ours in another row of the same run."""

    def check(results):
        result = results[case]
        metric = result.metric
        sign = "≥" if metric.higher_is_better else "≤"
        claim = f"{row_name(metric, key)} {sign} {bound:g} × its {row_name(metric, other_key)}"
        rows = result.values.get(result.own, {})
        pairs = list(zip(rows.get(key, []), rows.get(other_key, [])))
        ratio = spread([a / b for a, b in pairs if b]) if pairs else None
        return ratio_verdict(claim, ratio, bound, metric, "")

    return check


def row_name(metric, key):
    return ", ".join(f"{name} {value}" for name, value in zip(metric.key, key)) or metric.value


def ratio_verdict(claim, ratio, bound, metric, other):
    if ratio is None:
        return not_measured(claim)
    higher = metric.higher_is_better
    reached = ratio.median >= bound if higher else ratio.median <= bound
    text = f"{ratio.median:.3f}{' ' * bool(other)}{other} ({ratio.low:.3f} … {ratio.high:.3f})"
    return Verdict(claim, reached, text)


@dataclass(frozen=True)
class Figure:
    what: str
    cases: tuple
    claims: tuple
    peers: tuple | None = None  # contenders other than ours that matter; None: all given


MiB = 1 << 20
SHORT = (PIN, "--seconds", "0.5")


def against_before(key, bound, case):
    return against_best_peer(key, bound, among=("before",), case=case)

FIGURES = {
    "overlap": Figure(
        "overlap, both sides compute, TCP at 1 Gbit/s; the latency not raised for it",
        (
            Case("overlap", (PIN, "--side", "both", "--sizes", "16M,64M", "--iterations", "3"),
                 net="tcp", rate="1gbit"),
            Case("pingpong", (PIN, "--sizes", "1", "--seconds", "0.5"), net="tcp"),
        ),
        (
            against_number(("both", 16 * MiB), 1.10),
            against_number(("both", 64 * MiB), 1.10),
            against_setting((1,), "off", 1.05, case=1),
        ),
    ),
    "latency": Figure(
        "8 bytes one way, shared memory, progression on",
        (Case("pingpong", (PIN, "--sizes", "8", "--seconds", "0.5")),),
        (against_best_peer((8,), 1.0), against_setting((8,), "off", 1.05)),
    ),
    "bandwidth": Figure(
        "4 MB one way, shared memory",
        (Case("pingpong", (PIN, "--sizes", "4M", "--seconds", "0.5")),),
        (against_best_peer((4 * MiB,), 1.05, among=("impi",)),),
    ),
    "tcp-latency": Figure(
        "1 byte over TCP, unshaped",
        (Case("pingpong", (PIN, "--sizes", "1", "--seconds", "0.5"), net="tcp"),),
        (against_best_peer((1,), 1.0),),
    ),
    "one-to-n": Figure(
        "1-to-N threads, own tag each, mean",
        (Case("one_to_n", (PIN, "--threads", "2,64", "--seconds", "0.5")),),
        (against_number((64,), 3.5), against_own_row((64,), (2,), 1.5)),
    ),
    "message-rate": Figure(
        "8-byte messages per second, 1 / 2 / 4 threads a rank",
        (Case("message_rate", (PIN, "--threads", "1,2,4", "--seconds", "0.5")),),
        (
            against_best_peer((2,), 1.0),
            against_best_peer((4,), 1.0),
            against_own_row((4,), (1,), 0.9),
        ),
    ),
    "matching": Figure(
        "a message beside 10, 1 000 and 100 000 that wait",
        (Case("matching", (PIN, "--depths", "10,1000,100000")),),
        tuple(
            claim
            for case in MATCHING_CASES
            for claim in (
                against_best_peer((case, 100_000), 1.0),
                against_own_row((case, 100_000), (case, 10), 2.0),
            )
        ),
    ),
    "allreduce": Figure(
        "8-byte allreduce with more ranks than cores",
        tuple(Case("allreduce", ("--sizes", "8", "--seconds", "0.5"), ranks=n) for n in (4, 8, 16)),
        (
            against_best_peer((4, 8), 1.1, case=0),
            against_best_peer((8, 8), 1.0, case=1),
            against_best_peer((16, 8), 1.0, case=2),
        ),
    ),
    "neighbors": Figure(
        "MPI_Neighbor_alltoall on a 2-D torus",
        tuple(Case("neighbors", ("--sizes", "8,64K", "--seconds", "0.3"), ranks=n)
              for n in (4, 16)),
        tuple(against_best_peer((ranks, bytes_each), 0.7, case=case)
              for case, ranks in ((0, 4), (1, 16)) for bytes_each in (8, 64 << 10)),
    ),
    "partitioned": Figure(
        "16 partitions made ready over time: end after the last one",
        (Case("partitioned", (PIN, "--sizes", "64K,1M", "--seconds", "0.5")),),
        tuple(against_number((bytes_each,), 1.1) for bytes_each in (64 << 10, MiB)),
    ),
    "intercommunicator": Figure(
        "8 bytes one way through an inter-communicator, in turns with an intra-communicator",
        (Case("in_turns", (PIN, "--way", "inter", "--seconds", "0.5")),),
        (against_number(("inter", 8), 1.02),),
    ),
    "mpi-t": Figure(
        "8 bytes one way with MPI_T initialised and no event handled, in turns with without",
        (Case("in_turns", (PIN, "--way", "mpi_t", "--seconds", "0.5")),),
        (against_number(("mpi_t", 8), 1.02),),
    ),
    "report": Figure(
        "with HEADWAY_REPORT: 8 bytes one way, shared memory; overlap, TCP at 1 Gbit/s",
        (
            Case("pingpong", (PIN, "--sizes", "8", "--seconds", "0.5"), settings=("report",)),
            Case("overlap", (PIN, "--side", "both", "--sizes", "16M", "--iterations", "3"),
                 net="tcp", rate="1gbit", settings=("report",)),
        ),
        (
            against_setting((8,), "", 1.02, ours="report"),
            against_setting(("both", 16 * MiB), "", 1.02, case=1, ours="report"),
        ),
    ),
    "recv-cpu": Figure(
        "processor time of a rank blocked 10 s in MPI_Recv",
        (Case("recv_cpu", (PIN, "--seconds", "10")),),
        (against_number((), 0.05),),
    ),
    "start-up": Figure(
        "mpiexec -n 8 ./hello, start to end",
        (Case("hello", ranks=8),),
        (against_best_peer((), 1.0, among=("mpich",)),),
    ),
    BEFORE_AND_AFTER: Figure(
        "an earlier Headway in the same turns: --before DIR",
        (
            Case("pingpong", (*SHORT, "--sizes", "8,64K,4M")),
            Case("message_rate", (*SHORT, "--threads", "1,4")),
            Case("pingpong", (*SHORT, "--sizes", "1,64K,16M"), net="tcp"),
            Case("overlap", (PIN, "--side", "both", "--sizes", "16M", "--iterations", "3"),
                 net="tcp", rate="1gbit"),
            Case("n_load", (*SHORT, "--threads", "1,16")),
            Case("allreduce", ("--sizes", "8", "--seconds", "0.5")),
            Case("allreduce", ("--sizes", "8", "--seconds", "0.5"), ranks=8),
            Case("allreduce", ("--sizes", "8", "--seconds", "0.5"), ranks=16),
            Case("hello", ranks=48),
        ),
        (
            *(against_before((size,), 1.03, 0) for size in (8, 64 << 10, 4 * MiB)),
            *(against_before((threads,), 0.97, 1) for threads in (1, 4)),
            *(against_before((size,), 1.03, 2) for size in (1, 64 << 10, 16 * MiB)),
            against_before(("both", 16 * MiB), 1.03, 3),
            *(against_before((threads,), 1.03, 4) for threads in (1, 16)),
            *(against_before((ranks, 8), 1.03, case)
              for case, ranks in ((5, 2), (6, 8), (7, 16))),
            against_before((), 1.0, 8),
        ),
    ),
}  # fmt: skip
