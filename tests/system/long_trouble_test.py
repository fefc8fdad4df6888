"""Ten million random messages, with collective and one-sided operations, over two cables that are
pulled, slowed, silenced and put back all the time, and with them where both are out for a moment.

Needs root for network namespaces; says so where it is not.
"""

import os
import random
import threading
import unittest

import cabled
from cabled import network
from failover_test import MPIEXEC, ORACLE, Cables, environment
from jobs import run

# A sanitizer makes each message take several times as long.
MESSAGES = 1_000_000 if os.environ.get("HEADWAY_TEST_SANITIZE") else 10_000_000
IN_A_ROUND = 20_000
LIMIT = 2800  # seconds


class LongTrouble(unittest.TestCase):
    def test_everything_arrives_as_planned(self):
        with network.two_namespaces("10gbit+6gbit") as place:
            cables = Cables(list(place.prefixes[0]))
            over = threading.Event()

            def trouble():
                dice = random.Random(11)
                while not over.wait(0.5 + dice.random()):
                    some = dice.choice((["hw0"], ["hw1"], ["hw0", "hw1"]))
                    for device in some:
                        dice.choice((cables.pull, cables.slow, cables.silence))(device)
                    over.wait(0.5 * dice.random())
                    for device in some:
                        cables.put_back(device)

            worker = threading.Thread(target=trouble)
            worker.start()
            words = [ORACLE, "--messages", IN_A_ROUND, "--rounds", MESSAGES // IN_A_ROUND,
                     "--collectives", 60, "--one-sided", 200, "--seed", 1]  # fmt: skip
            first, second = place.prefixes
            try:
                job = run([MPIEXEC, "--timeout", LIMIT, "-n", "1", *first, *words, ":", "-n", "1",
                           *second, *words], limit=LIMIT + 20, env=environment())  # fmt: skip
            finally:
                over.set()
                worker.join()
        self.assertEqual(job.code, 0, job.out + job.err)
        self.assertIn(f"{MESSAGES} messages", job.out)
        self.assertIn("is back", job.err)


if __name__ == "__main__":
    cabled.main("10gbit+6gbit", ORACLE)
