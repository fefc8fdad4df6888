#!/usr/bin/env python3
"""What bench/compare computes from given rounds: ratios, best peers, verdicts, launch commands."""

import pathlib
import subprocess
import sys
import unittest
import unittest.mock

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "bench"))
from side_by_side import figures, libraries, network, plots, programs, rounds  # noqa: E402


def result(benchmark="pingpong", **values):
    made = rounds.Result(rounds.Case(benchmark), "here")
    made.values = {label.replace("_", ":"): of for label, of in values.items()}
    made.ours = tuple(label for label in made.values if label.startswith("headway"))
    made.own = "headway"
    return made


class Looks(unittest.TestCase):
    def test_no_curve_has_no_look(self):
        self.assertEqual(plots.looks([], lambda label: True), {})

    def test_without_an_own_curve_none_has_the_own_look(self):
        self.assertEqual(list(plots.looks(["impi", "mpich"], lambda label: False)),
                         ["impi", "mpich"])  # fmt: skip


class Ratios(unittest.TestCase):
    def test_a_ratio_is_the_median_of_the_ratios_within_rounds(self):
        # The second round was slow for both: the ratio of the medians would be 1.5.
        r = result(headway={(8,): [1, 9, 3]}, impi={(8,): [2, 9, 2]})
        self.assertEqual(r.ratio("headway", "impi", (8,)), rounds.Spread(1.0, 0.5, 1.5))

    def test_the_best_peer_is_the_fastest_where_less_is_better(self):
        r = result(headway={(8,): [1]}, impi={(8,): [2]}, mpich={(8,): [5]})
        self.assertEqual(r.best_peer((8,)), "impi")

    def test_the_best_peer_is_the_highest_where_more_is_better(self):
        r = result("message_rate", headway={(2,): [1]}, impi={(2,): [2]}, mpich={(2,): [5]})
        self.assertEqual(r.best_peer((2,)), "mpich")

    def test_our_other_settings_are_not_peers(self):
        r = result(headway={(8,): [2]}, headway_off={(8,): [1]}, impi={(8,): [3]})
        self.assertEqual(r.best_peer((8,)), "impi")

    def test_a_named_peer_counts_with_all_its_settings(self):
        r = result(headway={(8,): [2]}, impi_async={(8,): [3]}, mpich={(8,): [1]})
        self.assertEqual(r.best_peer((8,), among=("impi",)), "impi:async")


class Command(unittest.TestCase):
    def test_a_misspelt_word_is_one_line_with_the_nearest(self):
        compare = pathlib.Path(__file__).resolve().parents[2] / "bench/compare"
        for words, expected in (
            ("pingpnog", "no benchmark or figure 'pingpnog': did you mean pingpong?"),
            ("figures:latencies", "did you mean figures:latency?"),
            ("martix", "did you mean matrix?"),
            ("pingpong --onyl x", "unknown option --onyl: did you mean --only?"),
            ("zzz", "no benchmark or figure 'zzz' (bench/compare --help)"),
            ("hello --net nodes --peer impi", "other libraries take both nodes for one"),
        ):
            with self.subTest(words=words):
                done = subprocess.run([compare, *words.split(), "--ours", "."], text=True,
                                      capture_output=True, timeout=60, check=False)  # fmt: skip
                self.assertEqual((done.returncode, done.stderr.count("\n")), (2, 1), done.stderr)
                self.assertIn(expected, done.stderr)

    def test_a_misspelt_peer_or_option_of_the_demo_is_one_line_with_the_nearest(self):
        root = pathlib.Path(__file__).resolve().parents[2]
        for words, expected in (
            ("bench/compare pingpong --peer mpihc", "no peer 'mpihc': did you mean mpich?"),
            ("bench/compare pingpong --peer zzz", "no peer 'zzz', only: mpich, openmpi, impi,"),
            ("scripts/demo --pear mpich", "unknown option --pear: did you mean --peer?"),
        ):
            with self.subTest(words=words):
                done = subprocess.run(words.split(), cwd=root, text=True, capture_output=True,
                                      timeout=60, check=False)  # fmt: skip
                self.assertIn(done.returncode, (1, 2))
                self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
                self.assertIn(expected, done.stderr)


class Verdicts(unittest.TestCase):
    def test_a_time_is_reached_at_the_bound_and_missed_above(self):
        r = result(headway={(8,): [1.05]}, impi={(8,): [1.0]})
        self.assertTrue(figures.against_best_peer((8,), 1.05)([r]).reached)
        self.assertFalse(figures.against_best_peer((8,), 1.04)([r]).reached)

    def test_a_rate_is_reached_at_the_bound_and_missed_below(self):
        r = result("message_rate", headway={(2,): [9]}, impi={(2,): [10]})
        self.assertTrue(figures.against_best_peer((2,), 0.9)([r]).reached)
        self.assertFalse(figures.against_best_peer((2,), 1.0)([r]).reached)

    def test_without_a_peer_the_verdict_is_unknown(self):
        r = result(headway={(8,): [1.05]})
        self.assertIsNone(figures.against_best_peer((8,), 1.0)([r]).reached)

    def test_progression_is_compared_with_itself_switched_off(self):
        r = result(headway={(8,): [1.04]}, headway_off={(8,): [1.0]})
        self.assertTrue(figures.against_setting((8,), "off", 1.05)([r]).reached)

    def test_threads_are_compared_with_fewer_threads_of_the_same_run(self):
        r = result("message_rate", headway={(1,): [10], (4,): [8]})
        self.assertFalse(figures.against_own_row((4,), (1,), 0.9)([r]).reached)

    def test_every_figure_names_benchmarks_that_exist(self):
        for figure in figures.FIGURES.values():
            for case in figure.cases:
                self.assertIn(case.benchmark, programs.METRICS)
                self.assertTrue((programs.SOURCES / f"{case.benchmark}.c").exists())


class Launching(unittest.TestCase):
    def setUp(self):
        self.pair = network.Place("pair", (("enter", "a"), ("enter", "b")), "hw0")

    def test_ranks_in_two_places_are_two_groups_of_one_job(self):
        library = libraries.Library("x", pathlib.Path("/p"))
        self.assertEqual(
            library.launch(["prog", "-v"], 3, self.pair),
            "/p/bin/mpiexec -n 2 enter a prog -v : -n 1 enter b prog -v".split(),
        )

    def test_one_place_is_one_group(self):
        library = libraries.Library("x", pathlib.Path("/p"))
        self.assertEqual(
            library.launch(["prog"], 4, network.SHARED_MEMORY), "/p/bin/mpiexec -n 4 prog".split()
        )

    def test_a_setting_runs_only_with_its_benchmarks_and_networks(self):
        thread = next(s for s in libraries.OPENMPI_SETTINGS if s.name == "thread")
        self.assertTrue(thread.serves("overlap", self.pair))
        self.assertFalse(thread.serves("overlap", network.SHARED_MEMORY))
        self.assertFalse(thread.serves("allreduce", self.pair))

    def test_some_settings_run_on_request_alone(self):
        report = next(s for s in libraries.HEADWAY_SETTINGS if s.name == "report")
        self.assertFalse(report.serves("pingpong", self.pair))
        self.assertTrue(report.serves("pingpong", self.pair, ("report",)))

    def test_the_callers_settings_of_a_library_are_removed_from_the_environment(self):
        contender = libraries.peer("mpich", pathlib.Path("/p"))[0]
        with unittest.mock.patch.dict("os.environ", {"MPIR_CVAR_NOLOCAL": "1", "LANG": "C"}):
            environment = contender.environment(network.SHARED_MEMORY)
        self.assertNotIn("MPIR_CVAR_NOLOCAL", environment)
        self.assertEqual(environment["LANG"], "C")

    def test_a_program_that_ends_without_a_result_is_an_error_with_its_output(self):
        contender = unittest.mock.Mock()
        contender.library.launch = lambda words, ranks, place: ["echo", "usage: pingpong"]
        contender.environment.return_value = None
        with self.assertRaisesRegex(programs.RunError, "without a result:\nusage: pingpong"):
            programs.run_benchmark("pingpong", "p", ["--help"], contender, None, 2, 10)

    def test_a_rate_is_written_with_its_unit(self):
        self.assertEqual(network.rate_text("1gbit"), "1 Gbit/s")
        self.assertEqual(network.rate_text(None), "not shaped")


if __name__ == "__main__":
    unittest.main()
