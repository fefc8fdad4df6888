#!/usr/bin/env python3
"""HEADWAY_REPORT and `headway report`: a job whose waits are known, and the page about it."""

import html
import html.parser
import json
import os
import pathlib
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import unittest

BUILD, WAITS = map(pathlib.Path, (sys.argv.pop(1), sys.argv.pop(1)))
SLEEP = 0.3  # seconds, as in waits.c
# The other rank may begin to wait a little after the barrier that both leave together.
LEAST = 0.8 * SLEEP
# A wait is no longer than the call that the program measures, but for the reading of clocks.
CLOCK = 0.001


def environment(**variables):
    kept = {name: value for name, value in os.environ.items() if not name.startswith("HEADWAY_")}
    return kept | variables


def launch(words, **variables):
    return subprocess.run([BUILD / "bin/mpiexec", *words], env=environment(**variables),
                          capture_output=True, text=True, timeout=120)  # fmt: skip


def headway(*words):
    return subprocess.run([BUILD / "bin/headway", "report", *map(str, words)], env=environment(),
                          capture_output=True, text=True, timeout=60)  # fmt: skip


def data_of(page):
    found = re.search(r'id="data">(.*?)</script>', page, re.S)
    return json.loads(found.group(1))


def cells_of(row):
    return re.findall(r"<td[^>]*>([^<]*)", row)


def plain(text):
    """A text of the page as a terminal shows it."""
    return " ".join(html.unescape(text).replace("µs", "us").replace("≤", "<=").split())


def words_of(row):
    """The cells of a table's row that have words, of the page or of the text."""
    if row.startswith("<tr>"):
        found = re.findall(r"<t[dh][^>]*>(.*?)</t[dh]>", row)
        return [plain(cell) for cell in found if cell and "class=\"bar\"" not in cell]
    return [cell for cell in re.split(r"\s{2,}", row.strip()) if cell.strip("#")]


def time_text(seconds):
    """As the page shows a time between a millisecond and a second."""
    return f"{seconds * 1e3:.2f} ms"


class Report(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.path = self.folder / "report.html"

    def run_job(self, *words, path=None, **variables):
        """(data of the page, {word: seconds} that the program measured)"""
        path = path or self.path
        done = launch(["-n", "2", WAITS, *words], HEADWAY_REPORT=str(path), **variables)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stderr, "")
        said = dict(line.split() for line in done.stdout.splitlines())
        return data_of(path.read_text("utf-8")), {word: float(s) for word, s in said.items()}

    def made_by_script(self):
        """What the page's script adds to it."""
        stub = """
const fs = require("fs"), text = fs.readFileSync(process.argv[1], "utf8");
let made = "";
const json = id => text.match(new RegExp(`id="${id}">([^]*?)</script>`))[1];
global.document = {getElementById: id => id == "page"
  ? {insertAdjacentHTML: (where, html) => { made += html; }} : {textContent: json(id)}};
eval(text.match(/<script>([^]*?)<\\/script>/)[1]);
console.log(made);
"""
        done = subprocess.run(["node", "-e", stub, str(self.path)], capture_output=True,
                              text=True, timeout=60)  # fmt: skip
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def waits(self, data, waiting, awaited):
        found = [w for w in data["waits"] if (w["waiting"], w["awaited"]) == (waiting, awaited)]
        self.assertEqual(len(found), 1, data["waits"])
        return found[0]

    def overlap_of(self, data, function):
        found = [c["overlap"] for c in data["calls"] if c["function"] == function]
        self.assertEqual(len(found), 1)
        return found[0]

    def check_between(self, value, least, most):
        self.assertGreaterEqual(value, least)
        self.assertLessEqual(value, most)


class Waits(Report):
    def test_a_late_sender_is_waited_for_as_long_as_it_slept(self):
        for how in ("late_sender", "late_large_sender", "several"):
            with self.subTest(how):
                data, said = self.run_job(how)
                wait = self.waits(data, 1, 0)
                self.check_between(wait["late_sender_s"], LEAST, said["waited"] + CLOCK)
                self.assertEqual(wait["late_receivers"], 0)
                self.assertIn("Rank 1 waited", data["advice"][0])
                self.assertIn("sent them late", data["advice"][0])

    def test_a_late_sender_over_tcp_is_one_too(self):
        data, said = self.run_job("late_large_sender", HEADWAY_RAILS="tcp:lo")
        self.check_between(self.waits(data, 1, 0)["late_sender_s"], LEAST, said["waited"] + CLOCK)

    @unittest.skipIf(os.environ.get("HEADWAY_TEST_SANITIZE"),
                     "a wait of 20 us is brief where each look takes ten times as long")
    def test_a_sender_that_is_often_a_little_late_is_waited_for_as_often(self):
        data, said = self.run_job("a_little_late")
        # Waits of less than two microseconds are left out, and when this rank lacked a processor.
        self.check_between(self.waits(data, 1, 0)["late_sender_s"], 0.7 * said["waited"],
                           said["waited"] + CLOCK)  # fmt: skip

    def test_the_time_of_calls_that_are_not_timed_each_is_estimated(self):
        # A few hundred calls stand for forty thousand: one that is interrupted moves the estimate
        # of its run by more than a quarter. Over several runs, the median shows a bias alone.
        of_calls, of_undisturbed = [], []
        for _ in range(9):
            data, said = self.run_job("many")
            functions = {f["function"]: f for f in data["functions"]}
            self.assertEqual([functions[name]["calls"] for name in ("MPI_Send", "MPI_Recv")],
                             [40000, 40000])  # fmt: skip
            mean = (functions["MPI_Send"]["seconds"]["sum"]
                    + functions["MPI_Recv"]["seconds"]["sum"]) / 2  # fmt: skip
            of_calls.append(mean / said["calls"])
            of_undisturbed.append(mean / said["undisturbed"])
        # What the loop takes besides is in no call; nor, on a busy machine, is most of the time
        # that a rank is without a processor.
        self.assertGreaterEqual(statistics.median(of_undisturbed), 0.4)
        self.assertLessEqual(statistics.median(of_calls), 1.15)

    def test_a_late_receiver_is_waited_for_as_long_as_it_slept(self):
        data, said = self.run_job("late_receiver")
        wait = self.waits(data, 0, 1)
        self.check_between(wait["late_receiver_s"], LEAST, said["waited"] + CLOCK)
        self.assertEqual(wait["late_receivers"], 1)
        self.assertEqual([w for w in data["waits"] if w["late_sender_s"] > LEAST], [])
        self.assertIn("posted the receives", data["advice"][0])

    def test_a_late_receiver_that_does_not_block_is_waited_for_as_long(self):
        for size in (256 << 10, 1 << 20):
            for _ in range(4):  # whether the receive is complete before its wait depends on chance
                with self.subTest(size):
                    data, said = self.run_job("late_irecv", str(size))
                    late = self.waits(data, 0, 1)["late_receiver_s"]
                    self.check_between(late, LEAST, said["waited"] + CLOCK)
                    partner = self.overlap_of(data, "MPI_Isend")["for_partner_ns"] * 1e-9
                    self.check_between(partner, LEAST, late + CLOCK)
                    self.assertIn("posted the receives", data["advice"][0])

    def test_collective_operations_wait_for_who_comes_last_or_for_the_root(self):
        data, said = self.run_job("collectives")
        both = said["barrier"] + said["reduce"]
        at_others = 0.1  # in the barriers before and after either may come a little later
        self.check_between(self.waits(data, 0, 1)["collective_s"], 2 * LEAST, both + at_others)
        self.check_between(self.waits(data, 1, 0)["collective_s"], LEAST,
                           said["bcast"] + at_others)  # fmt: skip
        self.assertEqual(data["collectives"]["compared"], data["collectives"]["calls"])
        self.assertIn("In collective operations", data["advice"][0])
        self.assertIn("for rank 1", data["advice"][0])

    def test_time_by_function_and_call_site_counts_every_call(self):
        data, _ = self.run_job("exchange")
        functions = {f["function"]: f for f in data["functions"]}
        for name in ("MPI_Send", "MPI_Recv"):
            self.assertEqual(functions[name]["calls"], 2000)
            self.assertEqual(functions[name]["messages"], 2000)
            self.assertEqual(functions[name]["bytes"], 16000)
        self.assertEqual(functions["MPI_Comm_rank"]["calls"], 2)
        sites = [c for c in data["calls"] if c["function"] == "MPI_Send"]
        self.assertEqual(sorted(c["calls"] for c in sites), [1000, 1000])
        for site in sites:
            self.assertIn("exchange_some", site["place"])
        self.assertEqual(data["sizes"], [{"below": 16, "messages": 2000, "bytes": 16000}])
        self.assertEqual(sorted((t["from"], t["to"], t["messages"]) for t in data["traffic"]),
                         [(0, 1, 1000), (1, 0, 1000)])  # fmt: skip

    def test_the_time_of_all_calls_is_no_longer_than_the_job(self):
        for how in ("exchange", "late_sender", "collectives"):
            data, _ = self.run_job(how)
            self.assertGreater(data["mpi_seconds"]["sum"], 0)
            self.assertLessEqual(data["mpi_seconds"]["max"], data["seconds"] * 1.05)

    def test_an_operation_that_was_complete_before_its_wait_is_hidden(self):
        data, _ = self.run_job("early")
        one = self.overlap_of(data, "MPI_Irecv")
        self.assertEqual((one["operations"], one["timed"]), (1, 1))
        waited = one["waited_ns"] * 1e-9
        hidden, spare = one["hidden_ns"] * 1e-9, one["spare_ns"] * 1e-9
        # Complete or not, what was under way and what was left over is the sleep.
        self.check_between(hidden + spare, LEAST, data["seconds"])
        self.assertLess(waited, 0.5 * SLEEP)
        self.assertLessEqual(one["possible_ns"], one["waited_ns"])

    def test_operations_that_wait_for_a_late_partner_wait_for_nothing_else(self):
        data, said = self.run_job("several")
        one = [c for c in data["calls"] if c["function"] == "MPI_Irecv"]
        waited = sum(c["overlap"]["waited_ns"] for c in one) * 1e-9
        partner = sum(c["overlap"]["for_partner_ns"] for c in one) * 1e-9
        self.assertEqual(sum(c["overlap"]["operations"] for c in one), 2)
        # Both wait at the same time, which counts once; neither is hidden.
        self.check_between(waited, LEAST, said["waited"] + CLOCK)
        self.check_between(partner, LEAST, waited)
        under_way = sum(c["overlap"]["under_way_ns"] for c in one) * 1e-9
        self.check_between(under_way, 2 * LEAST, 2 * said["waited"] + CLOCK)
        self.assertLess(sum(c["overlap"]["hidden_ns"] for c in one) * 1e-9, 0.1 * under_way)

    def test_operations_are_waited_for_no_longer_than_the_calls_that_wait(self):
        data, said = self.run_job("late_exchange")
        functions = {f["function"]: f["seconds"] for f in data["functions"]}
        waited, partner = (data["overlap"][name] * 1e-9 for name in
                           ("waited_ns", "for_partner_ns"))  # fmt: skip
        self.check_between(waited, LEAST, functions["MPI_Waitall"]["sum"])
        self.check_between(partner, LEAST, waited)
        self.check_between(functions["MPI_Waitall"]["max"], LEAST, said["waited"] + CLOCK)
        self.assertIn("Rank 0 waited", data["advice"][0])


class Page(Report):
    def test_names_each_rank_with_host_threads_and_places(self):
        data, _ = self.run_job("exchange")
        self.assertEqual([r["rank"] for r in data["ranks"]], [0, 1])
        for rank in data["ranks"]:
            self.assertTrue(rank["host"] and rank["processors"])
            self.assertTrue(rank["program"].endswith(WAITS.name))
            self.assertIn("hw-event", [t["name"] for t in rank["threads"]])
        self.assertEqual(len(data["advice"]), 3)

    def test_is_whole_html_that_asks_for_nothing_else(self):
        self.run_job("late_sender")
        text = self.path.read_text("utf-8")
        open_ones = []

        class Check(html.parser.HTMLParser):
            def handle_starttag(self, tag, attrs):
                for name, value in attrs:
                    if name in ("src", "href"):
                        raise AssertionError(f"the page loads {value}")
                if tag not in ("meta", ):
                    open_ones.append(tag)

            def handle_endtag(self, tag):
                assert open_ones.pop() == tag

        Check().feed(text)
        self.assertEqual(open_ones, [])
        self.assertNotIn("http", text.split("<script>")[1])
        self.assertLess(len(text), 200_000)

    @unittest.skipUnless(shutil.which("node"), "needs node")
    def test_runs_its_script_without_error(self):
        for how in ("late_sender", "collectives", "early", "none"):
            self.run_job(how)
            made = self.made_by_script()
            for word in ("Advice", "Time by function", "Which rank waits for which", "Ranks",
                         "hw-event"):  # fmt: skip
                self.assertIn(word, made)
            self.assertNotIn("undefined", made)
            self.assertNotIn("NaN", made)

    @unittest.skipUnless(shutil.which("node"), "needs node")
    def test_labels_rows_and_columns_of_its_heat_maps_with_ranks(self):
        for ranks, labels in ((2, "01"), (4, "0123")):
            with self.subTest(ranks):
                done = launch(["-n", str(ranks), WAITS, "collectives"],
                              HEADWAY_REPORT=str(self.path))  # fmt: skip
                self.assertEqual(done.returncode, 0, done.stderr)
                drawn = re.findall(r"<svg.*?</svg>", self.made_by_script())
                self.assertTrue(drawn)
                for map_ in drawn:
                    found = re.findall(r'text-anchor="(\w+)">(\d+)<', map_)
                    of = {side: "".join(text for where, text in found if where == side)
                          for side in ("end", "middle")}  # fmt: skip
                    # Of those that end at the left of the map, the first is that of the scale.
                    self.assertEqual(of, {"end": "0" + labels, "middle": labels})
                    self.assertIn("waited for rank", map_)

    @unittest.skipUnless(shutil.which("chromium"), "needs chromium (scripts/install-deps --all)")
    def test_shows_its_numbers_in_a_browser_and_fits_narrow_and_wide_windows(self):
        data, said = self.run_job("late_sender")
        wait = self.waits(data, 1, 0)
        self.check_between(wait["late_sender_s"], LEAST, said["waited"] + CLOCK)
        rows = [cells_of(row) for row in re.findall(r"<tr>.*?</tr>", self.shown_in_browser(1600))]
        self.assertIn(["1", "0", time_text(wait["late_sender_s"])], [row[:3] for row in rows])
        for function in data["functions"]:
            found = [row for row in rows if row and row[0] == function["function"]]
            self.assertEqual(found[0][1], str(function["calls"]), found)
        for width in (800, 1600):
            needed = re.search(r"needs (\d+) pixels", self.shown_in_browser(width))
            self.assertLessEqual(int(needed[1]), width)

    def shown_in_browser(self, width):
        """The page's elements after its script has run; the last one says how wide it is."""
        page = self.folder / "shown.html"
        measure = ("<script>document.body.append(`needs ${document.documentElement.scrollWidth} "
                   "pixels`)</script>")
        page.write_text(self.path.read_text("utf-8") + measure, "utf-8")
        done = subprocess.run(
            ["chromium", "--headless", "--no-sandbox", "--disable-gpu", "--dump-dom",
             f"--user-data-dir={self.folder}/browser", f"--window-size={width},1000",
             page.as_uri()], capture_output=True, text=True, timeout=120)  # fmt: skip
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def test_that_is_not_asked_for_is_not_written(self):
        done = launch(["-n", "2", "-wdir", self.folder, WAITS, "exchange"])
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))
        self.assertEqual(list(self.folder.iterdir()), [])

    def test_is_written_by_the_option_of_mpiexec_too(self):
        done = launch(["--report", self.path, "-n", "2", WAITS, "exchange"])
        self.assertEqual(done.stderr, "")
        self.assertEqual(data_of(self.path.read_text("utf-8"))["size"], 2)

    def test_that_cannot_be_written_is_said_in_one_line(self):
        done = launch(["-n", "2", WAITS], HEADWAY_REPORT="/nowhere/report.html")
        self.assertEqual(done.returncode, 0)
        self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
        self.assertIn("no report: open /nowhere/report.html: No such file", done.stderr)

    def test_of_a_job_that_aborts_has_what_the_rank_recorded_and_why(self):
        done = launch(["-n", "2", WAITS, "abort"], HEADWAY_REPORT=str(self.path))
        self.assertEqual(done.returncode, 3)
        data = data_of(self.path.read_text("utf-8"))
        self.assertIn("MPI_Abort", data["ended_early"])
        self.assertEqual(data["missing"], [0])
        self.assertIn("MPI_Barrier", [f["function"] for f in data["functions"]])


class Summary(Report):
    def test_of_a_job_has_functions_and_counters_with_the_ranks_of_their_extremes(self):
        done = launch(["-n", "2", WAITS, "late_sender"], HEADWAY_STATS="3")
        self.assertEqual(done.returncode, 0, done.stderr)
        said = done.stderr.splitlines()
        self.assertEqual([line for line in said if line.startswith("headway: ")], said[:1])
        self.assertRegex(said[0], r"^headway: 2 ranks, .* % of their time$")
        rows = {line.split()[0]: line.split() for line in said[1:] if line.split()}
        # MPI_Recv of rank 1 alone: "MPI_Recv 1 0.00 us 0 150.00 ms 300.00 ms 1"
        self.assertEqual(rows["MPI_Recv"][1:5], ["1", "0.00", "us", "0"])
        self.assertEqual(rows["MPI_Recv"][-1], "1")
        self.assertEqual(rows["MPI_Recv"][-2], "ms")
        self.check_between(float(rows["MPI_Recv"][-3]), 1000 * LEAST, 5000)
        self.assertIn("rail.shm.bytes_out", rows)
        self.assertEqual([name for name in rows if name.startswith("job.")], [])  # no counter
        self.assertFalse(self.path.exists())

    def test_goes_with_a_page(self):
        done = launch(["-n", "2", WAITS, "exchange"], HEADWAY_STATS="3",
                      HEADWAY_REPORT=str(self.path))  # fmt: skip
        self.assertIn("MPI_Send", done.stderr)
        self.assertEqual(data_of(self.path.read_text("utf-8"))["size"], 2)


class Command(Report):
    @unittest.skipUnless(shutil.which("node"), "needs node")
    def test_text_rounds_half_up_as_the_page_does(self):
        self.run_job("none")
        page = self.path.read_text("utf-8")
        page, changed = re.subn(r'("longest_s":)[^,]*', r"\g<1>0.000003125", page)
        self.assertGreater(changed, 0)
        self.path.write_text(page, "utf-8")
        self.assertIn("3.13 µs", self.made_by_script())
        self.assertIn("3.13 us", headway("--text", self.path).stdout)

    @unittest.skipUnless(shutil.which("node"), "needs node")
    def test_text_says_the_same_as_the_page(self):
        for how in ("late_exchange", "collectives", "none"):
            with self.subTest(how):
                self.run_job(how)
                done = headway("--text", self.path)
                self.assertEqual(done.returncode, 0, done.stderr)
                page = self.made_by_script()
                said = [words_of(line) for line in done.stdout.splitlines()]
                for row in re.findall(r"<tr>.*?</tr>", page):
                    self.assertIn(words_of(row), said)
                whole = " ".join(done.stdout.split())
                for title in re.findall(r"<h2>(.*?)</h2>", page):
                    self.assertIn(title + ":" if title != "Advice" else "1. ", whole)
                for text in re.findall(r"<(?:p|li)\b[^>]*>(.*?)</(?:p|li)>", page):
                    self.assertIn(plain(text), whole)

    def test_text_has_traffic_threads_and_all_columns(self):
        self.run_job("late_exchange")
        said = headway("--text", self.path).stdout
        for words in ("Traffic between ranks:", "messages", "under way", "done before", "hw-event",
                      "exchange_late"):  # fmt: skip
            self.assertIn(words, said)

    def test_says_of_which_calls_it_counts_waits(self):
        data, _ = self.run_job("collectives")
        of = {c["function"]: c for c in data["calls"]}
        self.assertNotIn("waited", of["MPI_Reduce"])
        self.assertEqual(data_of(self.path.read_text("utf-8"))["headway_report"], 2)
        data, _ = self.run_job("late_sender")
        of = {c["function"]: c for c in data["calls"]}
        self.assertEqual(of["MPI_Recv"]["waited"], 1)

    def test_compares_two_runs(self):
        self.run_job("late_sender")
        other = self.folder / "other.html"
        self.run_job("none", path=other)
        done = headway(self.path, other)
        self.assertEqual(done.returncode, 0, done.stderr)
        rows = {line[: line.find("  ")]: line.split() for line in done.stdout.splitlines()}
        self.assertIn("MPI_Recv", rows)
        self.assertEqual(rows["late senders"][-1], "%")
        self.assertTrue(rows["late senders"][-2].startswith("-"), done.stdout)

    def test_data_can_be_had_alone(self):
        data, _ = self.run_job("none")
        self.assertEqual(json.loads(headway("--json", self.path).stdout), data)

    def test_says_what_is_no_report(self):
        self.path.write_text("<html></html>", encoding="utf-8")
        done = headway(self.path)
        self.assertEqual(done.returncode, 1)
        self.assertIn("not a report", done.stderr)
        self.assertIn("No such file", headway(self.folder / "none").stderr)


if __name__ == "__main__":
    unittest.main(verbosity=2)
