"""E2: processor time that the library takes from a computing program, by its polling period."""

from .model import Experiment, Panel, Run, at_most

IDLE_US = (0, 1, 10, 100, 1000, 10000)
TIMER_MS = (1, 10, 100)


def run(scene, points, text, **settings):
    # Some polling points have no period, so the axis has names instead of numbers.
    environment = {f"HEADWAY_{name}": str(value) for name, value in settings.items()}
    environment["HEADWAY_PROGRESS"] = points
    words = ("--pin", "--seconds", str(2 * scene.seconds))
    return Run("quiet", words, tags={"polling": text}, environment=environment)


def runs(scene):
    yield run(scene, "off", "none")
    yield run(scene, "auto", "auto")
    for period in scene.few(IDLE_US):
        yield run(scene, "idle", f"idle {period} µs", IDLE_US=period)
    for period in scene.few(TIMER_MS):
        yield run(scene, "timer", f"timer {period} ms", TIMER_US=1000 * period)


def takes_at_most(pending, bound, words):
    def check(result):
        found = {}
        for _, row in result.rows.get("headway", []):
            if row["pending"] == pending and row["polling"] != "none":
                found.setdefault(row["polling"], []).append(row["taken_pct"])
        worst = max(found.values(), key=lambda values: sorted(values)[len(values) // 2], default=[])
        which = next((name for name, values in found.items() if values is worst), "")
        claim = f"processor time taken, {words} ≤ {bound} % (worst: {which})"
        return at_most(claim, worst, bound)

    return check


EXPERIMENT = Experiment(
    name="E2",
    title="computation beside the library's polling, no communication",
    source="pioman15, figure 4",
    saw="computing time differs by less than 0.5 % at any period from 0 to 1000 µs; the timer's "
    "period, 1 … 100 ms, is not seen at all",
    runs=runs,
    panels=(
        Panel("processor time that our threads take, nothing pending", "polling",
              {"taken": "taken_pct"}, "% of the time", where={"pending": 0}, kind="bar"),
        Panel("processor time with one receive pending", "polling", {"taken": "taken_pct"},
              "% of the time", where={"pending": 1}, kind="bar"),
        Panel("a quantum of work, nothing pending", "polling", {"work": "work_us"}, "µs",
              where={"pending": 0}, kind="bar"),
        Panel("a quantum of work with one receive pending", "polling", {"work": "work_us"}, "µs",
              where={"pending": 1}, kind="bar"),
    ),
    claims=(
        takes_at_most(0, 0.1, "nothing pending,"),
        takes_at_most(1, 0.5, "one receive pending,"),
    ),
)  # fmt: skip
