"""E14: a large message over several unequal rails: each alone, equal parts, parts by profile; and
over several connections on one interface if sampling has found that they are faster.

The rails are links between two namespaces, shaped with a token bucket. Headway is not told their
rates: `sampled` is its default.
"""

import atexit
import functools
import tempfile

from .model import Experiment, Panel, Run, at_least, at_most, ratios

LINKS = {
    2: ("1gbit", "600mbit"),
    3: ("1gbit", "600mbit", "300mbit"),
    4: ("1gbit", "600mbit", "300mbit", "150mbit"),
}
SIZES = {2: ("256K", "1M", "4M", "16M"), 3: ("64M",), 4: ("64M",)}
ALONE = {2: SIZES[2], 4: ("8M",)}  # the first three of the four are those of the three
KiB, MiB = 1 << 10, 1 << 20
DETECTION_MS = 200
FLOWS = "250mbit/flow"
LINK = "1gbit"


@functools.cache
def cache_of(rails):
    """A new cache: an earlier run may have left profiles of other links of the same names."""
    folder = tempfile.TemporaryDirectory(prefix="headway-e14-")
    atexit.register(folder.cleanup)
    return folder.name


def several(rails):
    return {"HEADWAY_RAILS": "tcp", "HEADWAY_CACHE": cache_of(rails)}


def words(scene, sizes):
    return ("--pin", "--sizes", ",".join(sizes), "--seconds", str(scene.seconds))


def runs(scene):
    for rails, links in LINKS.items():
        rate = "+".join(links)

        def run(series, environment, sizes=SIZES[rails], program="pingpong", peers=False):
            return Run(program, words(scene, scene.few(sizes)), series=series,
                       tags={"rails": rails}, environment=environment, net="tcp", rate=rate,
                       peers=peers, timeout_s=300)  # fmt: skip

        yield run("sampled", several(rails), peers=rails == 2)
        if rails == 2:
            yield run("equal", several(rails) | {"HEADWAY_STRATEGY": "equal"})
        yield run("kernel's MPTCP", {"HEADWAY_RAILS": "tcp:hw0"}, program="mptcp")
        for link in range(rails if rails in ALONE else 0):
            yield run(f"rail {link + 1}", {"HEADWAY_RAILS": f"tcp:hw{link}"}, ALONE[rails])
    yield from runs_with_a_cut(scene)
    yield from runs_over_connections(scene)


def runs_with_a_cut(scene):
    """64 MB over both links, the second of which is cut in the middle; and over the first alone."""
    for series, environment, device in (
        ("both rails", several("cut"), ("--device", "hw1")),
        ("first alone", {"HEADWAY_RAILS": "tcp:hw0"}, ()),
    ):
        arguments = (*device, "--times", "1" if scene.quick else "3")
        yield Run("rail_cut", arguments, series=series, tags={"what": "cut"},
                  environment=environment, net="tcp", rate="+".join(LINKS[2]),
                  timeout_s=120)  # fmt: skip


def runs_over_connections(scene):
    """A link that limits the rate of each connection, and a link that limits only the sum."""
    for rate, sizes in ((FLOWS, SIZES[2]), (LINK, ("16M",))):
        alone = {"HEADWAY_RAILS": "tcp", "HEADWAY_CONNECTIONS": "1"}
        for series, environment, first in (
            ("one connection", alone, ()),
            ("as sampled", several(rate), ("sample",)),
        ):
            yield Run("pingpong", words(scene, scene.few(sizes)), series=series, first=first,
                      tags={"what": rate}, environment=environment, net="tcp", rate=rate,
                      timeout_s=300)  # fmt: skip


def sampled_against_one(rate, bound):
    def check(result):
        many, one = (result.values(series, "mb_per_s", what=rate, bytes=16 * MiB)
                     for series in ("as sampled", "one connection"))  # fmt: skip
        claim = f"16 MB over {rate}, connections as sampled: ≥ {bound} × one"
        return at_least(claim, ratios(many, one), bound)

    return check


def share_of_sum(rails, bytes_, bound):
    """The rate of `sampled` over the sum of the single rails' rates, in the same round."""

    def check(result):
        together = result.values("sampled", "mb_per_s", rails=rails, bytes=bytes_)
        where = {"rails": 2, "bytes": bytes_} if rails == 2 else {"rails": 4, "bytes": 8 * MiB}
        singles = [result.values(f"rail {link + 1}", "mb_per_s", **where) for link in range(rails)]
        shares = [all_ / sum(alone) for all_, *alone in zip(together, *singles)]
        claim = f"{rails} rails, {bytes_ // KiB} KB: ≥ {bound} of the sum of the single rails"
        return at_least(claim, shares, bound)

    return check


def better_than_equal(result):
    def rates(series):
        return result.values(series, "mb_per_s", rails=2, bytes=16 * MiB)

    gains = ratios(rates("sampled"), rates("equal"))
    return at_least("2 rails, 16 MB: ≥ 1.28 × equal parts", gains, 1.28)


def cut_costs(result):
    """The time, without the detection of the cut, over the time that is expected: that until the
    cut, and that of the remaining rail for the rest."""
    alone = result.median("first alone", "sound_ms")
    times = [result.values("both rails", name) for name in ("sound_ms", "cut_at_ms", "cut_ms")]
    shares = [(cut - DETECTION_MS) / (at + (1 - at / sound) * alone)
              for sound, at, cut in zip(*times) if alone]  # fmt: skip
    claim = f"64 MB, a rail cut in the middle: ≤ 1.15 × what the other needs + {DETECTION_MS} ms"
    return at_most(claim, shares, 1.15)


def panel(rails):
    text = " + ".join(LINKS[rails])
    return Panel(f"one way over {text}", "bytes", {"rate": "mb_per_s"}, "MB/s", "size",
                 {"rails": rails}, log_x=True, bytes_x=True, higher_is_better=True)  # fmt: skip


EXPERIMENT = Experiment(
    name="E14",
    title="bandwidth over several unequal rails",
    source="multirail08, figure 8",
    saw="1170 and 837 MB/s alone, 1670 in equal parts, 1987 by profile: 0.99 of the sum",
    runs=runs,
    panels=(
        *(panel(rails) for rails in LINKS),
        Panel("64 MB over 1gbit + 600mbit, sound and with the second rail cut", "message_bytes",
              {"sound": "sound_ms", "second cut": "cut_ms"}, "ms", "size", {"what": "cut"},
              kind="bar", bytes_x=True),
        Panel("one way over a link that gives each connection 250 Mbit/s", "bytes",
              {"rate": "mb_per_s"}, "MB/s", "size", {"what": FLOWS}, log_x=True, bytes_x=True,
              higher_is_better=True),
        Panel("one way over a link of 1 Gbit/s", "bytes", {"rate": "mb_per_s"}, "MB/s", "size",
              {"what": LINK}, kind="bar", higher_is_better=True),
    ),
    claims=(
        share_of_sum(2, 16 * MiB, 0.98),
        share_of_sum(2, MiB, 0.93),
        share_of_sum(2, 256 * KiB, 0.93),
        better_than_equal,
        share_of_sum(3, 64 * MiB, 0.97),
        share_of_sum(4, 64 * MiB, 0.97),
        cut_costs,
        sampled_against_one(FLOWS, 3.5),
        sampled_against_one(LINK, 0.98),
    ),
)
