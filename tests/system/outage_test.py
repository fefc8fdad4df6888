"""Every cable between two processes is out for longer than ten seconds, or every connection is
reset, while random traffic runs: the job waits, says so, and goes on; every message arrives once.

Needs root for network namespaces; says so where it is not.
"""

import os
import subprocess
import time
import unittest

import cabled
from cabled import network
from failover_test import ORACLE, command, environment, run_in_trouble
from jobs import BUILD, run

OUTAGE = 13  # seconds: a line comes after ten


class Outage(unittest.TestCase):
    def traffic(self, links, trouble, messages, **more):
        job = run_in_trouble(links, trouble, ORACLE, "--messages", messages, "--seed", 5, **more)
        self.assertEqual(job.code, 0, job.out + job.err)
        return job

    def pull_all(self, *devices):
        def trouble(cables, over):
            cables.await_traffic(devices[0], over)
            for device in devices:
                cables.pull(device)
            over.wait(OUTAGE)
            self.assertFalse(over.is_set(), "the job has ended while no cable was in")
            for device in devices:
                cables.put_back(device)

        return trouble

    def test_the_only_cable_is_out_and_put_back(self):
        job = self.traffic("1gbit", self.pull_all("hw0"), 12000)
        self.assertRegex(job.err, r"the machine of peer \d does not answer, for 1\d s")
        self.assertIn("answers again", job.err)

    def test_both_cables_are_out_and_put_back(self):
        self.traffic("1gbit+600mbit", self.pull_all("hw0", "hw1"), 12000)

    def reset_all(self, cables):
        """Returns whether there was a connection to reset."""
        done = subprocess.run(["ip", "netns", "exec", cables.space, "ss", "-K", "state",
                               "established"], capture_output=True, text=True,
                              check=False)  # fmt: skip
        return len(done.stdout.splitlines()) > 1

    def reset_again_and_again(self, *words):
        resets = []

        def trouble(cables, over):
            cables.await_traffic("hw0", over)
            while not over.wait(0.1):
                resets.append(self.reset_all(cables))

        job = run_in_trouble("1gbit", trouble, *words)
        self.assertEqual(job.code, 0, job.out + job.err)
        if not any(resets):
            self.skipTest("this kernel does not let ss reset connections")
        self.assertIn("was lost and is back", job.err)

    def test_the_only_connection_is_reset_again_and_again(self):
        self.reset_again_and_again(ORACLE, "--messages", 40000, "--seed", 5)

    @unittest.skipIf(os.environ.get("HEADWAY_TEST_SANITIZE"), "the program is not built there")
    def test_the_only_connection_of_end_points_is_reset_again_and_again(self):
        self.reset_again_and_again(BUILD + "/bin/endpoint_soak")

    def test_the_only_connection_is_reset_while_its_cable_is_out(self):
        resets = []

        def trouble(cables, over):
            cables.await_traffic("hw0", over)
            cables.pull("hw0")
            resets.append(self.reset_all(cables))
            over.wait(2)
            self.assertFalse(over.is_set(), "the job has ended while no cable was in")
            cables.put_back("hw0")

        job = self.traffic("1gbit", trouble, 40000)
        if not any(resets):
            self.skipTest("this kernel does not let ss reset connections")
        self.assertIn("was lost and is back", job.err)

    def test_a_process_that_dies_ends_the_job_at_once_also_where_an_outage_is_waited_for(self):
        with network.two_namespaces("1gbit") as place:
            first, second = place.prefixes
            began = time.monotonic()
            killed = [*second, "timeout", "-s", "KILL", "2"]
            job = run(command((first, killed), ORACLE, "--messages", 400000), limit=60,
                      env=environment())  # fmt: skip
            self.assertNotEqual(job.code, 0)
            self.assertLess(time.monotonic() - began, 30, job.err)


if __name__ == "__main__":
    cabled.main("1gbit", ORACLE)
