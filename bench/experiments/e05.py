"""E5: overlap of a 4 MB message with computation, by the length of the computation."""

from .model import Experiment, Panel, Run, against_best_peer, at_most

FACTORS = (0.25, 0.5, 1, 2, 4)
SIDES = ("both", "sender", "receiver")


def runs(scene):
    for factor in scene.few(FACTORS):
        words = ("--pin", "--side", "all", "--sizes", "4M", "--factor", str(factor),
                 "--seconds", str(scene.seconds))  # fmt: skip
        yield Run("overlap", words, tags={"factor": factor}, net=scene.net, rate=scene.rate,
                  peers=True)  # fmt: skip


def all_hidden(side):
    def check(result):
        ratios = result.values("headway", "ratio", side=side, factor=1)
        claim = f"{side} computing, T(comp) = T(comm): T(both) ≤ 1.1 × either"
        return at_most(claim, ratios, 1.1)

    return check


def ahead(side):
    claim = f"{side} computing, T(comp) = T(comm): T(both) / T(comp) ≤ the best peer's"
    return lambda result: against_best_peer(result, claim, "of_comp", 1.0, side=side, factor=1)


def panel(side):
    text = {"both": "both sides compute", "sender": "the sender computes",
            "receiver": "the receiver computes"}[side]  # fmt: skip
    return Panel(f"4 MB, {text}", "factor", {"ratio": "of_comp"}, "T(both) / T(comp)",
                 "T(comp) / T(comm)", where={"side": side}, log_x=True, level={1: "all hidden"})


EXPERIMENT = Experiment(
    name="E5",
    title="overlap ratio of 4 MB against computing time",
    source="pioman15, figures 7 and 8",
    saw="the ratio reaches 1 where computing takes as long as the message; Open MPI's only when "
    "the sender alone computes, MVAPICH2's never",
    runs=runs,
    panels=tuple(panel(side) for side in SIDES),
    claims=(*(all_hidden(side) for side in SIDES), *(ahead(side) for side in SIDES)),
)
