#!/usr/bin/env python3
"""The matrix of bench/compare: which runs belong together, ratios, what is next, the drawing."""

import contextlib
import json
import os
import pathlib
import sys
import tempfile
import unittest
import unittest.mock

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "bench"))
from side_by_side import (  # noqa: E402
    heat_map,
    libraries,
    matrix,
    network,
    programs,
    rounds,
    runs,
)

STREAMS = matrix.PARTS[0]


def run(contender, rows, number=1, probes=(30, 40), benchmark="pingpong", label="ping-pong",
        part="streams", title="a case", seconds=1.0):  # fmt: skip
    return {"part": part, "label": label, "case": title, "benchmark": benchmark, "round": number,
            "contender": contender, "own": contender == "headway", "when": "2026-01-02T03:04:05",
            "rows": rows, "cache_line_ns": list(probes), "seconds": seconds}  # fmt: skip


def only_cell(*records, part=STREAMS, group="near"):
    ((_, of),) = runs.cells(runs.Book(records), part, group).items()
    ((_, cell),) = of.items()
    return cell


class Groups(unittest.TestCase):
    def test_a_run_is_near_or_far_if_both_probes_beside_it_are(self):
        self.assertEqual(runs.distance((26, 79)), "near")
        self.assertEqual(runs.distance((80, 190)), "far")

    def test_a_run_during_which_the_cores_were_moved_belongs_to_no_group(self):
        self.assertEqual(runs.distance((30, 160)), runs.MOVED)
        self.assertEqual(runs.distance((160, 30)), runs.MOVED)

    def test_without_two_probes_the_distance_is_not_known(self):
        self.assertIsNone(runs.distance((30, None)))
        self.assertIsNone(runs.distance(()))

    def test_cells_hold_the_runs_of_their_group_alone(self):
        near = run("headway", [[8, 1.0]])
        far = run("headway", [[8, 3.0]], number=2, probes=(150, 150))
        moved = run("headway", [[8, 9.0]], number=3, probes=(30, 150))
        self.assertEqual(only_cell(near, far, moved).values["headway"], {1: 1.0})
        self.assertEqual(only_cell(near, far, moved, group="far").values["headway"], {2: 3.0})


class Ratios(unittest.TestCase):
    def test_a_ratio_is_formed_within_a_round(self):
        cell = only_cell(
            *(run("headway", [[8, value]], n) for n, value in ((1, 1.0), (2, 9.0), (3, 3.0))),
            *(run("impi", [[8, value]], n) for n, value in ((1, 2.0), (2, 9.0), (3, 2.0))),
        )
        self.assertEqual(cell.ratio(), 1.0)

    def test_the_best_peer_of_the_group_counts(self):
        cell = only_cell(run("headway", [[8, 2.0]]), run("impi", [[8, 4.0]]),
                         run("mpich", [[8, 1.0]]))  # fmt: skip
        self.assertEqual(cell.best_peer(), "mpich")
        self.assertEqual(cell.ratio(), 2.0)

    def test_there_is_no_ratio_where_a_peer_has_run_in_the_other_group_alone(self):
        two = (run("headway", [[8, 2.0]]), run("mpich", [[8, 100.0]]))
        self.assertEqual(only_cell(*two).ratio(), 0.02)
        self.assertIsNone(only_cell(*two, run("impi", [[8, 1.0]], probes=(150, 150))).ratio())
        self.assertEqual(only_cell(*two, run("impi", [])).ratio(), 0.02)  # it cannot run this

    def test_a_higher_rate_is_ahead(self):
        threads = next(part for part in matrix.PARTS if part.name == "threads")
        cell = only_cell(run("headway", [[2, 8.0]], benchmark="message_rate", part="threads"),
                         run("impi", [[2, 4.0]], benchmark="message_rate", part="threads"),
                         part=threads)  # fmt: skip
        self.assertEqual(cell.ratio(), 0.5)

    def test_medians_are_compared_where_no_round_has_both(self):
        cell = only_cell(run("headway", [[8, 3.0]], 1), run("impi", [[8, 2.0]], 2))
        self.assertEqual(cell.ratio(), 1.5)

    def test_without_a_peer_or_without_ours_there_is_no_ratio(self):
        self.assertIsNone(only_cell(run("headway", [[8, 3.0]])).ratio())
        self.assertIsNone(only_cell(run("impi", [[8, 3.0]])).ratio())

    def test_rows_of_an_operation_stand_together_by_number_of_ranks(self):
        part = next(part for part in matrix.PARTS if part.name == "blocking")
        records = [run("headway", [["bcast", n, 8, 1.0], ["scan", n, 8, 1.0]], label=f"{n} ranks",
                       benchmark="collectives", part="blocking", title=str(n))
                   for n in (16, 2, 4)]  # fmt: skip
        rows = list(runs.cells(runs.Book(records), part, "near"))
        self.assertEqual(rows, [(name, f"{n} ranks") for name in ("bcast", "scan")
                                for n in (2, 4, 16)])  # fmt: skip


    def test_rows_of_a_target_that_computes_say_so(self):
        part = next(part for part in matrix.PARTS if part.name == "one-sided")
        record = run("headway", [["put", 8, 0, 1.0], ["put", 8, 1, 2.0]], label="TCP",
                     benchmark="one_sided", part="one-sided")  # fmt: skip
        self.assertEqual(list(runs.cells(runs.Book([record]), part, "near")),
                         [("put", "target waits", "TCP"), ("put", "target computes", "TCP")])


class Accumulating(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = pathlib.Path(folder.name) / "runs.json"

    def test_a_file_grows_over_several_invocations(self):
        for number in (1, 2):
            runs.append(self.path, run("headway", [[8, 1.0]], number))
        book = runs.Book.read(self.path)
        self.assertEqual(book.rounds_of("a case"), 2)
        self.assertEqual(len(book.records), 2)

    def test_a_line_that_was_cut_off_is_left_out(self):
        runs.append(self.path, run("headway", [[8, 1.0]]))
        with self.path.open("a") as file:
            file.write(json.dumps(run("impi", [[8, 1.0]]))[:50])
        self.assertEqual(len(runs.Book.read(self.path).records), 1)

    def test_a_file_that_is_not_there_is_an_empty_book(self):
        self.assertEqual(runs.Book.read(self.path).records, [])

    def measurement(self):
        contenders = [*libraries.ours("/p"), *libraries.peer("impi", pathlib.Path("/p"))]
        return matrix.Measurement([STREAMS], contenders, pathlib.Path("/p"), self.path)

    def test_only_our_defaults_take_part(self):
        labels = [c.label for c in self.measurement().contenders if c.own]
        self.assertEqual(labels, ["headway"])

    def test_the_case_with_the_fewest_rounds_that_fits_is_next(self):
        first, second, third = (one.title for _, one in STREAMS.cases[:3])
        for title, seconds in ((first, 5.0), (first, 5.0), (second, 50.0)):
            runs.append(self.path, run("headway", [], title=title, seconds=seconds))
        self.assertEqual(self.measurement().next_case(100)[2].title, third)
        for _, one in STREAMS.cases[2:]:
            runs.append(self.path, run("headway", [], 7, title=one.title))
        self.assertEqual(self.measurement().next_case(100)[2].title, first)  # two runs, a round
        self.assertNotEqual(self.measurement().next_case(20)[2].title, second)
        self.assertIsNone(self.measurement().next_case(0.5))

    def test_each_run_is_written_with_the_probes_before_and_after_it(self):
        made = self.measurement()
        made.probe = "probe"
        with unittest.mock.patch.multiple(
            programs, probe_ns=unittest.mock.Mock(side_effect=[30, 31, 150, 151]),
            run_benchmark=unittest.mock.Mock(
                side_effect=[{(8,): (1.0, None)}, programs.RunError("exit code 1: why")]),
        ):  # fmt: skip
            made.one_round(*made.cases[0], float("inf"))
        one, two = runs.Book.read(self.path).records
        self.assertEqual([one["cache_line_ns"], two["cache_line_ns"]], [[30, 31], [150, 151]])
        self.assertEqual(one["rows"], [[8, 1.0]])
        self.assertEqual(two["failed"], "exit code 1: why")
        self.assertEqual(
            runs.Book.read(self.path).failures(),
            {(two["part"], two["label"], two["contender"]): "exit code 1: why"},
        )

    def test_a_case_over_tcp_runs_in_its_network(self):
        part = next(part for part in matrix.PARTS if part.name == "tcp-streams")
        made = matrix.Measurement([part], libraries.ours("/p"), pathlib.Path("/p"), self.path)
        made.probe = "probe"
        with unittest.mock.patch.multiple(
            programs, probe_ns=unittest.mock.Mock(return_value=30),
            run_benchmark=unittest.mock.Mock(return_value={(8,): (1.0, None)}),
        ), unittest.mock.patch.object(
            network, "tcp_place", return_value=contextlib.nullcontext(network.LOOPBACK)
        ):
            made.one_round_each()
            calls = programs.run_benchmark.call_args_list
        self.assertEqual(len(calls), len(part.cases))
        for call in calls:
            self.assertIs(call.args[4], network.LOOPBACK)
        titles = {record["case"] for record in runs.Book.read(self.path).records}
        self.assertEqual(titles, {matrix.title_of(one) for _, one in part.cases})

    def test_a_run_that_the_limit_of_this_invocation_ended_leaves_its_time_and_no_failure(self):
        made = self.measurement()
        made.probe = "probe"
        with unittest.mock.patch.multiple(
            programs, probe_ns=unittest.mock.Mock(return_value=30),
            run_benchmark=unittest.mock.Mock(side_effect=programs.RunError("no end after 6 s")),
        ):  # fmt: skip
            made.one_round(*made.cases[0], 0)
        book = runs.Book.read(self.path)
        self.assertEqual([one["rows"] for one in book.records], [[], []])
        self.assertEqual(book.failures(), {})


class Parts(unittest.TestCase):
    def test_every_case_is_of_a_benchmark_that_has_the_part_s_column(self):
        for part in matrix.PARTS:
            for _, one in part.cases:
                self.assertIn(part.column, programs.METRICS[one.benchmark].key)
                self.assertTrue((programs.SOURCES / f"{one.benchmark}.c").exists())

    def test_titles_are_the_names_under_which_rounds_are_counted_so_they_differ(self):
        titles = [matrix.title_of(one) for part in matrix.PARTS for _, one in part.cases]
        self.assertEqual(len(titles), len(set(titles)))

    def test_parts_are_chosen_by_name(self):
        self.assertEqual([p.name for p in matrix.parts_named(["types"])], ["types"])
        self.assertEqual(matrix.parts_named([]), list(matrix.PARTS))
        with self.assertRaisesRegex(ValueError, "no part 'typse'"):
            matrix.parts_named(["typse"])

    def test_blocks_of_all_ranks_stay_within_their_bound(self):
        for part in matrix.PARTS:
            for _, one in part.cases:
                if matrix.BLOCKS in one.arguments:
                    sizes = one.arguments[one.arguments.index("--sizes") + 1].split(",")
                    self.assertLessEqual(int(sizes[-1]) * one.ranks, matrix.BLOCKS_BYTES_MAX)


class HeatMap(unittest.TestCase):
    def setUp(self):
        rows = [[8, 1.0], [1024, 1.06], [4096, 30.0]]
        peers = [[8, 4.0], [1024, 1.0], [4096, 2.0]]
        self.book = runs.Book([run("headway", rows), run("impi", peers)])
        self.panels = heat_map.panels(self.book, matrix.PARTS, "near")

    def test_a_part_without_runs_has_no_panel(self):
        self.assertEqual([panel.part.name for panel in self.panels], ["streams"])

    def test_cells_that_are_behind_are_bold_in_the_table(self):
        self.assertIn("| | 8 B | 1 KB | 4 KB |", heat_map.markdown(self.panels))
        self.assertIn("| ping-pong | 0.25 | **1.06** | **15** |", heat_map.markdown(self.panels))

    def test_the_summary_counts_cells(self):
        self.assertEqual(
            heat_map.summary(self.panels), "1 of 3 cells within 1.05, 1 at 0.8 or less"
        )

    def test_colour_is_white_at_equality_and_full_at_four_times(self):
        self.assertEqual([heat_map.depth(r) for r in (0.25, 1, 4, 100, 0)], [-1, 0, 1, 1, -1])

    def test_the_picture_has_every_ratio_and_frames_the_cells_that_are_behind(self):
        try:
            import matplotlib  # noqa: F401
        except ImportError:
            self.skipTest("this python3 has no matplotlib (Debian: python3-matplotlib)")
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "map.svg"
            heat_map.draw(self.panels, path, "a title")
            text = path.read_text()
        for found in ("0.25", "1.06", "15", "a title", "ping-pong", STREAMS.title):
            self.assertIn(f">{found}<", text)
        for behind, column in ((False, 0), (True, 1), (True, 2)):
            self.assertEqual(f'id="behind-streams-{column}-0"' in text, behind)


class Cases(unittest.TestCase):
    def test_ranks_that_have_a_core_each_are_bound(self):
        cores = len(os.sched_getaffinity(0))
        self.assertIn("--pin", matrix.pinned(rounds.Case("pingpong", (), cores)).arguments)
        more = rounds.Case("pingpong", (), cores + 1)
        self.assertNotIn("--pin", matrix.pinned(more).arguments)


if __name__ == "__main__":
    unittest.main()
