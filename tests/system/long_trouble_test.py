"""Ten million random messages, with collective and one-sided operations, over two cables that are
pulled, slowed, silenced and put back all the time, and with them where both are out for a moment.

Needs root for network namespaces; says so where it is not.
"""

import os
import unittest

import cabled
from failover_test import ORACLE, random_trouble, run_in_trouble

# A sanitizer makes each message take several times as long.
MESSAGES = 1_000_000 if os.environ.get("HEADWAY_TEST_SANITIZE") else 10_000_000
IN_A_ROUND = 20_000
LINKS = "10gbit+6gbit"


class LongTrouble(unittest.TestCase):
    def test_everything_arrives_as_planned(self):
        trouble = random_trouble(11, (["hw0"], ["hw1"], ["hw0", "hw1"]), (0.5, 1))
        job = run_in_trouble(LINKS, trouble, ORACLE, "--messages", IN_A_ROUND, "--rounds",
                             MESSAGES // IN_A_ROUND, "--collectives", 60, "--one-sided", 200,
                             "--seed", 1, seconds=2800)  # fmt: skip
        self.assertEqual(job.code, 0, job.out + job.err)
        self.assertIn(f"{MESSAGES} messages", job.out)
        self.assertIn("is back", job.err)


if __name__ == "__main__":
    cabled.main(LINKS, ORACLE)
