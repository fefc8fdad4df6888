#!/usr/bin/env python3
"""What `headway bench` computes from given rows, and that each experiment is complete."""

import math
import pathlib
import sys
import unittest

sys.dont_write_bytecode = True
ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "bench"))
from experiments import model, npb, report, running  # noqa: E402
from experiments.all import EXPERIMENTS  # noqa: E402
from side_by_side import libraries, network, programs  # noqa: E402

PANEL = model.Panel("t", "n", {"mean": "mean_us"}, "µs", where={"side": "both"})


def result(**series):
    """series=[(n, mean), …] of one round each, in order."""
    made = model.Result(EXPERIMENTS["E9"], 2)
    for label, points in series.items():
        rows = [{"n": n, "mean_us": mean, "side": "both"} for n, mean in points]
        made.add(label, 0, rows, own=label.startswith("headway"))
    return made


class Tables(unittest.TestCase):
    def test_a_panel_takes_only_rows_that_belong_to_it(self):
        r = result(headway=[(1, 5.0)])
        r.add("headway", 1, [{"n": 1, "mean_us": 99.0, "side": "sender"}], True)
        self.assertEqual(r.curves(PANEL), {"headway": {1: [5.0]}})

    def test_ours_comes_first_and_points_in_order_of_size(self):
        r = result(impi=[(16, 1.0), (2, 1.0)], headway=[(2, 2.0)])
        self.assertEqual(list(r.curves(PANEL)), ["headway", "impi"])
        self.assertEqual(r.xs(PANEL), [2, 16])

    def test_a_table_has_median_and_range(self):
        r = result(headway=[(2, 3.0), (2, 1.0), (2, 2.0)])
        lines = list(report.table(PANEL, r.curves(PANEL), r.xs(PANEL)))
        self.assertEqual(lines[1].split(), ["2", "2", "(1…3)"])

    def test_ours_is_compared_with_the_best_peer_of_each_point(self):
        r = result(headway=[(2, 3.0)], impi=[(2, 2.0)], mpich=[(2, 9.0)])
        lines = list(report.best_peer_lines(PANEL, r, r.curves(PANEL), r.xs(PANEL)))
        self.assertEqual(lines, ["  n 2: headway / impi = 1.500 (1.500 … 1.500)"])

    def test_the_verdict_on_what_was_not_measured_is_unknown(self):
        self.assertIsNone(model.at_most("c", [], 1).reached)
        self.assertIsNone(model.at_least("c", [], 1).reached)
        self.assertTrue(model.at_most("c", [1.0], 1).reached)
        self.assertFalse(model.at_least("c", [0.5], 1).reached)

    def test_noise_decides_neither_for_nor_against_a_bound(self):
        def reached(values):
            return model.surely_at_most("c", values, 1.0).reached

        around = [0.99, 0.98, 1.03, 1.01, 0.97, 1.02, 0.96, 1.04]
        self.assertIsNone(reached(around))
        self.assertIsNone(reached([value - 0.03 for value in around]))
        self.assertTrue(reached([value - 0.05 for value in around]))
        self.assertFalse(reached([value + 0.05 for value in around]))
        self.assertIsNone(reached(around[:3]))

    def test_what_is_not_decided_was_measured(self):
        self.assertFalse(model.surely_at_most("c", [], 1.0).measured)
        undecided = model.surely_at_most("c", [0.9, 1.1, 0.9, 1.1], 1.0)
        self.assertIsNone(undecided.reached)
        self.assertTrue(undecided.measured)

    def test_one_odd_round_of_many_does_not_widen_the_interval(self):
        self.assertEqual(model.interval([1.0] * 9 + [50.0]), (1.0, 1.0))

    def test_the_interval_holds_the_median_in_95_of_100_cases(self):
        for n in range(6, 60):
            low, high = model.interval(range(n))
            # As many of n values are below the true median as heads in n throws of a coin.
            cases = sum(math.comb(n, below) for below in range(low + 1, high + 1))
            self.assertGreaterEqual(cases / 2**n, 0.95, n)

    def test_what_is_the_same_has_1_in_its_interval(self):
        self.assertTrue(model.same_as("c", [0.9, 1.0, 1.05, 1.1, 0.95, 1.0]).reached)
        self.assertFalse(model.same_as("c", [1.2, 1.3, 1.2, 1.3, 1.25, 1.2]).reached)

    def test_ratios_are_of_runs_whose_cores_were_as_far_apart(self):
        ours = [model.Sample(n, cores) for n, cores in ((6, "near"), (6, "far"), (6, "moved"))]
        theirs = [model.Sample(n, cores) for n, cores in ((2, "near"), (3, "near"), (4, "moved"))]
        self.assertEqual(model.ratios(ours, theirs), [3])
        self.assertEqual(model.differences(ours, theirs, unit=10), [40])

    def test_without_a_probe_all_runs_are_compared(self):
        self.assertEqual(model.ratios([model.Sample(6)], [model.Sample(2)]), [3])

    def test_a_result_keeps_how_far_apart_the_cores_were_in_each_run(self):
        r = result()
        r.add("headway", 0, [{"n": 1, "mean_us": 6.0}, {"n": 2, "mean_us": 7.0}], True, "near")
        r.add("impi", 0, [{"n": 1, "mean_us": 2.0}], False, "far")
        self.assertEqual(r.distances, ["near", "far"])
        ours, theirs = (r.values(series, "mean_us", n=1) for series in ("headway", "impi"))
        self.assertEqual((ours, theirs), ([6.0], [2.0]))
        self.assertIsNone(r.ratio(ours, theirs))

    def test_a_verdict_against_peers_names_the_best_one(self):
        r = result(headway=[(2, 3.0)] * 5, impi=[(2, 2.0)] * 5, mpich=[(2, 9.0)] * 5)
        verdict = model.against_best_peer(r, "c", "mean_us", 1.0, judge=model.surely_at_most, n=2)
        self.assertEqual((verdict.reached, verdict.text.split()[-1]), (False, "impi"))


class Running(unittest.TestCase):
    def setUp(self):
        self.ours = libraries.ours("/p")
        self.peers = libraries.peer("openmpi", pathlib.Path("/q"))

    def labels(self, run):
        return [c.label for c in running.contenders_of(run, self.ours + self.peers,
                                                       network.SHARED_MEMORY)]  # fmt: skip

    def test_peers_make_only_runs_of_mpi_alone_and_ours_runs_at_its_defaults(self):
        self.assertEqual(self.labels(model.Run("n_load")), ["headway"])
        self.assertEqual(self.labels(model.Run("n_load", peers=True)),
                         ["headway", "openmpi", "openmpi:yield"])

    def test_settings_of_a_run_are_given_to_our_library_only(self):
        run = model.Run("pingpong", environment={"HEADWAY_PROGRESS": "idle"}, peers=True)
        jobs = [running.Job(run, c, network.SHARED_MEMORY, None)
                for c in (self.ours[0], self.peers[0])]
        given = [job.environment().get("HEADWAY_PROGRESS") for job in jobs]
        self.assertEqual(given, ["idle", None])

    def test_a_setting_that_the_build_lacks_is_named(self):
        run = model.Run("pingpong", environment={"HEADWAY_PROGRESS": "idle", "HEADWAY_NEW": "1"})
        self.assertEqual(running.unknown_setting(run, {"HEADWAY_PROGRESS"}), "HEADWAY_NEW")
        self.assertIsNone(running.unknown_setting(run, {"HEADWAY_PROGRESS", "HEADWAY_NEW"}))


class Npb(unittest.TestCase):
    OUTPUT = """ Time in seconds =                     0.02
 Mop/s total     =                   250.00
 Verification    =               SUCCESSFUL
"""

    def test_a_row_has_the_time_and_a_finer_one(self):
        self.assertEqual(npb.rows(self.OUTPUT), [{"seconds": 0.02, "us_per_operation": 0.004}])

    def test_a_result_that_is_not_verified_is_an_error(self):
        with self.assertRaises(programs.RunError):
            npb.rows(self.OUTPUT.replace("SUCCESSFUL", "UNSUCCESSFUL"))


class Every(unittest.TestCase):
    def test_experiment_has_runs_of_programs_that_exist(self):
        for experiment in EXPERIMENTS.values():
            for quick in (False, True):
                runs = list(experiment.runs(model.Scene(quick=quick)))
                self.assertTrue(runs, experiment.name)
                for run in runs:
                    if run.program.startswith(("built:", "npb:")):
                        continue
                    own = ROOT / "bench" / ("" if "/" in run.program else "mpi")
                    self.assertTrue((own / f"{run.program}.c").exists(), run.program)

    def test_experiment_names_its_source_and_has_a_panel(self):
        for name, experiment in EXPERIMENTS.items():
            self.assertRegex(name, r"^E\d+$")
            self.assertTrue(experiment.source and experiment.saw and experiment.panels, name)

    def test_claim_on_a_result_without_rows_is_unknown(self):
        for experiment in EXPERIMENTS.values():
            empty = model.Result(experiment, 1)
            for claim in experiment.claims:
                self.assertIsNone(claim(empty).reached, experiment.name)


if __name__ == "__main__":
    unittest.main()
