"""Profiles that transfers have updated are stored; an invalid one is reported and made again.

Two processes with two links between them, and a cache folder for each, as two hosts would have.
Needs root for network namespaces; says so where it is not.
"""

import os
import pathlib
import re
import socket
import tempfile
import time
import unittest

import cabled
from cabled import network
from jobs import BUILD, MPIEXEC, run

LARGE_TRANSFER = BUILD + "/bin/large_transfer"
LINKS = "200mbit+100mbit"
DAY_S = 86400


def with_sum(text):
    """The same with a right sum at its end."""
    text = text[: text.rindex("sum ")]
    value = 0xCBF29CE484222325
    for byte in text.encode():
        value = (value ^ byte) * 0x100000001B3 % 2**64
    return f"{text}sum {value:016x}\n"


def measured_at(text):
    return int(re.search(r"^measured (\d+)$", text, re.MULTILINE)[1])


class Profiles(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.place = self.enterContext(network.two_namespaces(LINKS))

    def job(self):
        """What it said. Every rail learns enough to be kept."""
        command = [MPIEXEC, "--timeout", "100"]
        for number, prefix in enumerate(self.place.prefixes):
            own = ["env", f"HEADWAY_CACHE={self.folder / str(number)}"]
            command += [":"] * number + ["-n", "1", *prefix, *own, LARGE_TRANSFER, "6"]
        done = run(command, limit=110, env={**os.environ, "HEADWAY_RAILS": "tcp:hw*"})
        self.assertEqual(done.code, 0, done.out + done.err)
        return done.err

    def kept(self, rank):
        return {path.name: path for path in self.folder.glob(f"{rank}/profiles/*")}

    def check_redone(self, spoil, why):
        """The profile of one rail at one end, made into what `spoil` returns, is said to be no good
        because of `why`, and is a good one again when the job has ended."""
        self.job()
        file = next(path for name, path in self.kept(1).items() if "hw1" in name)
        good = file.read_text()
        spoilt = spoil(good)
        file.write_text(spoilt)
        said = self.job()
        self.assertIn(f"profile {file} is not used: {why}", said)
        again = file.read_text()
        self.assertNotEqual(again, spoilt)
        self.assertEqual(again, with_sum(again))
        self.assertLess(abs(time.time() - measured_at(again)), DAY_S)
        self.assertNotIn("is not used", self.job())

    def test_are_kept_at_both_ends_by_host_pair_and_interface(self):
        self.job()
        host = socket.gethostname()
        for rank in (0, 1):
            files = self.kept(rank)
            self.assertEqual(len(files), 2, files)
            for interface in ("hw0", "hw1"):
                (text,) = (p.read_text() for n, p in files.items() if n.endswith(interface))
                self.assertIn(f"\nhere {host}\nthere {host}\nrail tcp:{interface}\n", text)
                self.assertIn("\nconnections 1\n", text)

    def test_a_damaged_one_is_said_and_redone(self):
        def damaged(text):
            return text.replace("piece", "price", 1)

        self.check_redone(damaged, "the sum over it is wrong")

    def test_half_of_one_is_said_and_redone(self):
        self.check_redone(lambda text: text[: len(text) // 2], "no sum at the end")

    def test_an_old_one_is_said_and_redone(self):
        def aged(text):
            day = measured_at(text) - 100 * DAY_S
            return with_sum(re.sub(r"measured \d+", f"measured {day}", text))

        self.check_redone(aged, "it is 100 days old")

    def test_one_of_other_hardware_is_said_and_redone(self):
        def other(text):
            return with_sum(re.sub(r"hardware .*", "hardware 9 Mbit/s, mtu 9", text))

        self.check_redone(other, "it is of 9 Mbit/s, mtu 9, the rail has ")

    def test_one_of_an_earlier_version_is_said_and_redone(self):
        def earlier(text):
            text = text.replace("profile 2", "profile 1").replace("connections 1\n", "")
            return with_sum(text)

        self.check_redone(earlier, "not a profile of this version")


if __name__ == "__main__":
    cabled.main(LINKS, LARGE_TRANSFER)
