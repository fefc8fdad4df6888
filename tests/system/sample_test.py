#!/usr/bin/env python3
"""`headway sample` measures every rail between two ranks and keeps what it found."""

import json
import os
import pathlib
import subprocess
import tempfile
import unittest
import xml.etree.ElementTree

import jobs

HEADWAY = jobs.BUILD + "/bin/headway"

# As the command does: Debian's own Python has Debian's matplotlib.
DRAWS = subprocess.run(["/usr/bin/python3", "-c", "import matplotlib"], capture_output=True,
                       check=False).returncode == 0  # fmt: skip


class Sample(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.environment = os.environ | {"HEADWAY_CACHE": str(self.folder / "cache")}

    def sample(self, *words, before=()):
        command = [*before, HEADWAY, "sample", "--quick", *words]
        return jobs.run(command, limit=100, env=self.environment)

    def kept(self):
        profiles = self.folder.glob("cache/profiles/*")
        return sorted(path.name for path in profiles if path.is_file())

    def test_measures_each_rail_at_powers_of_two_and_keeps_the_profiles(self):
        plot = ["--plot", self.folder / "rates.svg"] if DRAWS else []
        job = self.sample("--json", *plot)
        self.assertEqual(job.code, 0, job.err + job.out[:3000])
        rails = json.loads(job.out)["rails"]
        self.assertIn("shm", [rail["rail"] for rail in rails])
        for rail in rails:
            self.assertEqual([s["bytes"] for s in rail["samples"]], [2**i for i in range(27)])
            self.assertGreater(rail["samples"][0]["in_ns"], 0)
            self.assertGreater(rail["samples"][0]["packet_ns"], 0)
            streams = [] if rail["rail"] == "shm" else [1, 2, 4]
            self.assertEqual([s["connections"] for s in rail["streams_in"]], streams)
            self.assertEqual([s["connections"] for s in rail["streams_out"]], streams)
            self.assertIn(rail["connections"], streams or [1])
            self.assertTrue(pathlib.Path(rail["file"]).read_text().startswith("headway profile 2"))
        self.assertEqual(len(self.kept()), len(rails))
        self.assertNotEqual([rail["rail"] for rail in rails], ["shm"])
        if DRAWS:
            picture = xml.etree.ElementTree.parse(self.folder / "rates.svg")
            text = "".join(picture.getroot().itertext())
            for rail in rails:
                self.assertIn(rail["rail"], text)

    def test_says_it_in_a_table_under_a_launcher_too(self):
        job = self.sample("--rail", "shm", before=(jobs.MPIEXEC, "-n", "2"))
        self.assertEqual(job.code, 0, job.err + job.out[:3000])
        self.assertIn("latency", job.out)
        self.assertIn("64 B", job.out)
        self.assertEqual(len(self.kept()), 1)

    def test_with_forget_nothing_is_kept(self):
        self.assertEqual(self.sample("--rail", "shm", "--forget").code, 0)
        self.assertEqual(self.kept(), [])

    def test_a_rail_that_is_not_there_is_an_error_and_a_misspelt_variable_is_warned_of_once(self):
        self.environment["HEADWAY_SPIN_SU"] = "3"
        job = self.sample("--rail", "tcp:nothing*")
        self.assertEqual(job.code, 1)
        self.assertIn("no rail between the two ranks", job.out)
        self.assertEqual(job.err.count("did you mean HEADWAY_SPIN_US?"), 1, job.err)

    def test_more_than_two_ranks_are_refused(self):
        job = self.sample(before=(jobs.MPIEXEC, "-n", "3"))
        self.assertNotEqual(job.code, 0)
        self.assertIn("measures between two ranks, this job has 3", job.err)


if __name__ == "__main__":
    unittest.main()
