"""E6: time to send during a fixed computation, by size: the longer of both, or their sum."""

from .model import Experiment, Panel, Run, at_most

WORK_US = (100, 500, 1000)
SIZES = ("1K", "16K", "64K", "256K", "1M", "4M")


def runs(scene):
    for work in scene.few(WORK_US):
        words = ("--pin", "--side", "both", "--sizes", ",".join(scene.few(SIZES)), "--work",
                 str(work), "--seconds", str(scene.seconds / 2))  # fmt: skip
        yield Run("overlap", words, tags={"work": work}, net=scene.net, rate=scene.rate,
                  peers=True)  # fmt: skip


def longer_not_sum(work):
    def check(result):
        ratios = result.values("headway", "ratio", work=work, bytes=1 << 20)
        return at_most(f"1 MB, {work} µs: T(both) ≤ 1.1 × the longer of both", ratios, 1.1)

    return check


EXPERIMENT = Experiment(
    name="E6",
    title="send time against size beside a computation on both sides",
    source="pioman15, figure 9",
    saw="the longer of computing and sending, from 100 µs of computing on; peers take the sum",
    runs=runs,
    panels=tuple(
        Panel(f"send time beside {work} µs of computing", "bytes", {"time": "both_us"}, "µs",
              "message size", where={"work": work}, log_x=True, log_y=True, bytes_x=True,
              level={work: "the computation"})
        for work in WORK_US
    ),
    claims=tuple(longer_not_sum(work) for work in WORK_US),
)  # fmt: skip
