"""Between near processes no connection is paced, between far ones the kernel's congestion control
is used. The far ones are in two network namespaces, with two TUN devices between which this test
carries each packet 2 ms later.

Needs root, and a kernel whose default congestion control paces (BBR); says so where it is not.
"""

import contextlib
import fcntl
import os
import re
import selectors
import struct
import subprocess
import threading
import time
import unittest

import cabled
from cabled import network
from failover_test import ORACLE, command, environment
from jobs import skip, start, wait_until

DELAY = 0.002  # seconds, each way
DEVICE = "hw0"
TUNSETIFF = 0x400454CA
IFF_TUN, IFF_NO_PI = 0x0001, 0x1000


def kernels_choice():
    with open("/proc/sys/net/ipv4/tcp_congestion_control", encoding="ascii") as file:
        return file.read().strip()


def tun(name):
    """A TUN device of this namespace: what is written to it has arrived, what is read was sent."""
    fd = os.open("/dev/net/tun", os.O_RDWR | os.O_CLOEXEC)
    fcntl.ioctl(fd, TUNSETIFF, struct.pack("16sH22x", name.encode(), IFF_TUN | IFF_NO_PI))
    return fd


class DelayLine(threading.Thread):
    """Carries packets between two descriptors, each DELAY later, in order."""

    def __init__(self, ends):
        super().__init__()
        self.ends = ends
        self.over = threading.Event()

    def run(self):
        other = dict(zip(self.ends, reversed(self.ends)))
        under_way = []  # (when it arrives, where, packet)
        with selectors.DefaultSelector() as ready:
            for fd in self.ends:
                ready.register(fd, selectors.EVENT_READ)
            while not self.over.is_set():
                for key, _ in ready.select(DELAY / 4):
                    packet = os.read(key.fd, 65536)
                    under_way.append((time.monotonic() + DELAY, other[key.fd], packet))
                while under_way and under_way[0][0] <= time.monotonic():
                    _, to, packet = under_way.pop(0)
                    os.write(to, packet)


@contextlib.contextmanager
def far_namespaces():
    """The prefixes of commands in two namespaces with a delay line between them."""
    names = [f"headway-{os.getpid()}-far-{end}" for end in "ab"]
    ends = []
    line = None
    try:
        for number, name in enumerate(names, 1):
            network.make_namespace(name)
            device = f"hwfar{number}"
            ends.append(tun(device))
            network.run_ip("ip", "link", "set", device, "netns", name, "name", DEVICE)
            address = f"10.78.0.{number}/24"
            network.run_ip("ip", "-n", name, "address", "add", address, "dev", DEVICE)
            network.run_ip("ip", "-n", name, "link", "set", DEVICE, "up")
            network.run_ip("ip", "-n", name, "link", "set", "lo", "up")
        line = DelayLine(ends)
        line.start()
        yield [["ip", "netns", "exec", name] for name in names]
    finally:
        if line:
            line.over.set()
            line.join()
        for fd in ends:
            os.close(fd)
        network.remove(names)


def algorithms(prefix):
    """Those of the connections of the rail in a namespace."""
    shown = subprocess.run([*prefix, "ss", "-tinH", "state", "established", "src", "10.0.0.0/8"],
                           capture_output=True, text=True, check=True).stdout  # fmt: skip
    return set(re.findall(r"\b(bbr\d?|reno|cubic)\b", shown))


class Pacing(unittest.TestCase):
    def choice(self, prefixes, **more):
        """What the connections between two ranks use, at both ends."""
        words = command(prefixes, ORACLE, "--messages", 1000000, "--seed", 5)
        job = start(words, env=environment(**more))
        try:
            found = []

            def seen():
                found[:] = [algorithms(prefix) for prefix in prefixes]
                return all(found) and self.has_carried(prefixes[0])

            self.assertTrue(wait_until(seen), "there was no traffic")
            return found
        finally:
            job.terminate()
            job.communicate(timeout=20)

    def has_carried(self, prefix):
        """More than connections and their handshakes need."""
        shown = subprocess.run([*prefix, "cat", f"/sys/class/net/{DEVICE}/statistics/tx_bytes"],
                               capture_output=True, text=True, check=True)  # fmt: skip
        return int(shown.stdout) > 64 * 1024

    def test_near_connections_are_not_paced(self):
        with network.two_namespaces() as place:
            self.assertEqual(self.choice(place.prefixes), [{"reno"}] * 2)

    def test_far_connections_are_as_the_kernel_chooses(self):
        with far_namespaces() as prefixes:
            self.assertEqual(self.choice(prefixes), [{kernels_choice()}] * 2)

    def test_the_user_can_leave_the_choice_to_the_kernel(self):
        with network.two_namespaces() as place:
            found = self.choice(place.prefixes, HEADWAY_TCP_PACING="kernel")
            self.assertEqual(found, [{kernels_choice()}] * 2)


if __name__ == "__main__":
    if not kernels_choice().startswith("bbr"):
        skip(f"this kernel's default congestion control, {kernels_choice()}, does not pace")
    if not os.path.exists("/dev/net/tun"):
        skip("this kernel has no TUN devices")
    cabled.main(None, ORACLE)
