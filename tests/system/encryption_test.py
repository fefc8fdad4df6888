"""What an attacker between two processes sees of an encrypted connection, and what it achieves by
changing it: nothing. And two processes of which only one encrypts refuse each other, with a line
that says why. `tampering.c` is the attacker.
"""

import os
import pathlib
import tempfile
import unittest

from jobs import BUILD, MPIEXEC, run

LARGE = BUILD + "/bin/large_transfer"
ORACLE = BUILD + "/bin/oracle"
TAMPERING = BUILD + "/lib/libtampering.so"
SETTING = "HEADWAY_TCP_ENCRYPTION"


def environment(**more):
    env = {name: value for name, value in os.environ.items() if name[:8] != "HEADWAY_"}
    return env | {"HEADWAY_RAILS": "tcp:lo", **more}


def part_of_message(rank):
    """What `large_transfer` sends, from somewhere in the middle."""
    return bytes((at * 7 + at // 251 + 13 * rank) & 255 for at in range(1 << 20, (1 << 20) + 300))


class Encryption(unittest.TestCase):
    def attacked(self, *program, **more):
        command = [MPIEXEC, "--timeout", 100, "-n", 2, "env", "LD_PRELOAD=" + TAMPERING, *program]
        return run(command, limit=110, env=environment(**more))

    def seen(self, choice):
        """What goes over the network, and of how many ranks the message is in it."""
        with tempfile.TemporaryDirectory() as folder:
            job = self.attacked(LARGE, TAMPER_SEEN=folder, **{SETTING: choice})
            self.assertEqual(job.code, 0, job.err)
            wires = [file.read_bytes() for file in pathlib.Path(folder).iterdir()]
        for wire in wires:
            self.assertGreater(len(wire), 4 << 20, "both ranks send their message over TCP")
        return sum(part_of_message(rank) in wire for rank in (0, 1) for wire in wires)

    def test_no_message_is_seen_on_the_network(self):
        self.assertEqual(self.seen("on"), 0)

    def test_without_encryption_every_message_is_seen(self):
        self.assertEqual(self.seen("off"), 2)

    def test_what_is_changed_on_the_way_is_noticed_and_every_message_arrives_once(self):
        job = self.attacked(ORACLE, "--messages", 3000, "--seed", 5, TAMPER_EVERY="40",
                            **{SETTING: "on"})  # fmt: skip
        self.assertEqual(job.code, 0, job.out + job.err)
        self.assertIn("does not verify", job.err)
        self.assertLessEqual(job.err.count("does not verify"), 2, "a line a minute for each rank")
        self.assertIn("is back", job.err)

    def test_without_encryption_changed_messages_arrive(self):
        job = self.attacked(LARGE, 10, TAMPER_EVERY="4", **{SETTING: "off"})
        self.assertNotEqual(job.code, 0)

    def test_of_two_ranks_only_one_of_which_encrypts_each_says_so(self):
        for here, there in (("on", "off"), ("off", "on")):
            job = run([MPIEXEC, "--timeout", 50, "-n", 1, "-env", SETTING, here, LARGE,
                       ":", "-n", 1, "-env", SETTING, there, LARGE],
                      limit=60, env=environment())  # fmt: skip
            self.assertNotEqual(job.code, 0)
            self.assertNotIn("timeout", job.err)
            self.assertIn(f"no connection to peer 1: {SETTING} is {here} here and {there} there",
                          job.err)  # fmt: skip
            self.assertIn(f"no connection to peer 0: {SETTING} is {there} here and {here} there",
                          job.err)  # fmt: skip


if __name__ == "__main__":
    unittest.main(verbosity=2)
