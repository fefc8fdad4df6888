"""Two processes with two cables between them, which are pulled, silenced, slowed and put back while
random traffic runs: every message arrives once, whole and in order, and the job goes on.

Needs root for network namespaces; says so where it is not.
"""

import json
import os
import random
import subprocess
import threading
import unittest

import cabled
from cabled import network
from jobs import BUILD, MPIEXEC, run

ORACLE = BUILD + "/bin/oracle"
# With a sanitizer each message takes several times as long, so half of them are enough.
SHARE = 2 if os.environ.get("HEADWAY_TEST_SANITIZE") else 1


def ip(*words):
    subprocess.run(["ip", *words], capture_output=True, check=False)


class Cables:
    """The ends of both cables in one of the namespaces: what can be done to them."""

    def __init__(self, prefix):
        self.space = prefix[prefix.index("exec") + 1]

    def await_traffic(self, device, over, wanted=1 << 20):
        """Until the job has sent something there: a busy machine starts it late. Far from all that
        it will send, so that it is still under way when the trouble comes."""
        sent = 0
        while sent < wanted and not over.wait(0.05):
            shown = subprocess.run(["ip", "-n", self.space, "-s", "-j", "link", "show", device],
                                   capture_output=True, text=True, check=False)  # fmt: skip
            sent = json.loads(shown.stdout or "[{}]")[0].get("stats64", {}).get("tx", {}).get(
                "bytes", 0)  # fmt: skip

    def pull(self, device):
        ip("-n", self.space, "link", "set", device, "down")

    def put_back(self, device):
        ip("-n", self.space, "link", "set", device, "up")
        subprocess.run(["tc", "-n", self.space, "qdisc", "del", "dev", device, "root"],
                       capture_output=True, check=False)  # fmt: skip

    def slow(self, device):
        subprocess.run(["tc", "-n", self.space, "qdisc", "replace", "dev", device, "root", "tbf",
                        "rate", "20mbit", "burst", "64k", "latency", "50ms"],
                       capture_output=True, check=False)  # fmt: skip

    def silence(self, device):
        """What is sent disappears without an error."""
        subprocess.run(["tc", "-n", self.space, "qdisc", "del", "dev", device, "root"],
                       capture_output=True, check=False)  # fmt: skip
        subprocess.run(["tc", "-n", self.space, "qdisc", "add", "dev", device, "root",
                        "pfifo", "limit", "0"], capture_output=True, check=False)  # fmt: skip


def environment(**more):
    """`None`: not set."""
    all_ = {**os.environ, "HEADWAY_RAILS": "tcp:hw*", **more}
    return {name: value for name, value in all_.items() if value is not None}


def bundle_rows(text):
    """What HEADWAY_STATS says of rails that carry together: a dictionary for each row."""
    rows, heads = [], None
    for line in text.splitlines():
        cells = [line[:24].strip()]
        cells += [line[at : at + 14].strip() for at in range(24, len(line), 14)]
        if line.startswith("bundle "):
            heads = cells
        elif not line:
            heads = None
        elif heads:
            rows.append(dict(zip(heads, cells)))
    return rows


def command(prefixes, *words, seconds=100):
    first, second = prefixes
    return [MPIEXEC, "--timeout", seconds, "-n", "1", *first, *words, ":", "-n", "1", *second,
            *words]  # fmt: skip


def run_in_trouble(links, trouble, *words, seconds=100, **more):
    """Runs the words as two ranks while `trouble(cables, over)` does what it does until `over` is
    set."""
    with network.two_namespaces(links) as place:
        cables = Cables(list(place.prefixes[0]))
        over = threading.Event()
        worker = threading.Thread(target=trouble, args=(cables, over))
        worker.start()
        try:
            return run(command(place.prefixes, *words, seconds=seconds), limit=seconds + 10,
                       env=environment(**more))  # fmt: skip
        finally:
            over.set()
            worker.join()


def random_trouble(seed, choices, calm):
    """A trouble of one of the choices of cables at a time. `calm`: the seconds before the next one,
    at least, and how many more by chance."""

    def trouble(cables, over):
        dice = random.Random(seed)
        least, more = calm
        while not over.wait(least + more * dice.random()):
            devices = dice.choice(choices)
            for device in devices:
                dice.choice((cables.pull, cables.slow, cables.silence))(device)
            over.wait(0.5 * dice.random())
            for device in devices:
                cables.put_back(device)

    return trouble


class Failover(unittest.TestCase):
    def traffic(self, trouble, messages=6000, prefix=(), **more):
        job = run_in_trouble("1gbit+600mbit", trouble, *prefix, ORACLE, "--messages",
                             messages // SHARE, "--seed", 5, **more)  # fmt: skip
        self.assertEqual(job.code, 0, job.out + job.err)
        return job

    def test_traffic_over_two_sound_cables(self):
        job = self.traffic(lambda cables, over: None)
        self.assertNotIn("is lost", job.err)

    def test_a_pulled_cable_is_noticed_and_taken_back(self):
        def trouble(cables, over):
            # More than connections and the start need, while the ranks still make their plan.
            cables.await_traffic("hw0", over, wanted=1 << 20)
            cables.pull("hw0")
            over.wait(1.0)
            cables.put_back("hw0")

        # The traffic must still last when the cable is back, also where each message is slow.
        job = self.traffic(trouble, messages=40000, HEADWAY_STATS="1")
        self.assertIn("is lost", job.err)
        self.assertIn("is back", job.err)
        rows = bundle_rows(job.err)
        self.assertEqual([row["bundle"] for row in rows], ["tcp:hw0", "tcp:hw1"] * 2, job.err)
        for row in rows:
            if row["frames"] != "0":  # a cable may carry nothing but parts of large messages
                self.assertGreaterEqual(float(row["per frame"]), 1, row)
        pulled = [row for row in rows if row["bundle"] == "tcp:hw0"]
        self.assertTrue(all(int(row["losses"]) >= 1 and int(row["returns"]) >= 1
                            for row in pulled), job.err)  # fmt: skip

    def test_without_a_word_of_configuration_both_cables_carry_and_one_may_go(self):
        # Two hosts would not have a /dev/shm in common either.
        alone = ["sh", "-c", 'mount -t tmpfs none /dev/shm && exec "$@"', "sh"]
        unset = {name: None for name in os.environ if name.startswith("HEADWAY_")}

        def trouble(cables, over):
            cables.await_traffic("hw1", over)
            cables.pull("hw1")

        job = self.traffic(trouble, messages=40000, prefix=alone, **unset, HEADWAY_RAILS=None,
                           HEADWAY_STATS="1")  # fmt: skip
        self.assertEqual([row["bundle"] for row in bundle_rows(job.err)],
                         ["tcp:hw0", "tcp:hw1"] * 2, job.err)  # fmt: skip
        for rank in (0, 1):  # a rail is missed only if the peer owes an answer on it
            self.assertIn(f"rail tcp:hw1 to peer {rank} is lost", job.err)

    def test_a_silent_cable_is_noticed(self):
        def trouble(cables, over):
            cables.await_traffic("hw1", over)
            cables.silence("hw1")
            over.wait(1.5)
            cables.put_back("hw1")

        job = self.traffic(trouble, messages=40000)
        self.assertIn("is lost: silent while another rail answers", job.err)

    def mute_from_the_start(self, end):
        """What this end sends over hw1 never arrives; the other direction works."""
        with network.two_namespaces("1gbit+600mbit") as place:
            Cables(list(place.prefixes[end])).silence("hw1")
            job = run(command(place.prefixes, ORACLE, "--messages", 60000 // SHARE, "--seed", 5),
                      limit=110, env=environment())  # fmt: skip
        self.assertEqual(job.code, 0, job.out + job.err)
        lines = [line for line in job.err.splitlines() if "is left out" in line]
        said = "rail tcp:hw1 to peer {} is left out"
        self.assertEqual([sum(said.format(rank) in line for line in lines) for rank in (0, 1)],
                         [1, 1], job.err)  # fmt: skip
        self.assertNotIn("is lost", job.err)

    def test_a_rail_that_is_deaf_from_here_carries_nothing_and_is_said_once(self):
        self.mute_from_the_start(0)

    def test_a_rail_that_is_deaf_from_there_carries_nothing_and_is_said_once(self):
        self.mute_from_the_start(1)

    def test_random_trouble(self):
        self.traffic(random_trouble(7, (["hw0"], ["hw1"]), (0.2, 0.3)), messages=30000)


if __name__ == "__main__":
    cabled.main("1gbit+600mbit", ORACLE)
