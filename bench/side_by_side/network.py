"""Where the ranks of a run are: one machine with shared memory, or two ends of a network link.

A `Place` is what the launch of a library needs: a prefix for the command of each group of ranks,
and the interfaces that they may use. Places that change the machine are context managers, and undo
everything, also if the program is interrupted or terminated.
"""

import contextlib
import itertools
import os
import re
import signal
import subprocess
import tempfile
import time
from dataclasses import dataclass


@dataclass(frozen=True)
class Place:
    """`prefixes`: one for each group of ranks. `interfaces`: none for shared memory."""

    name: str
    prefixes: tuple = ((),)
    interfaces: tuple = ()

    @property
    def interface(self):
        """The first, for libraries that use only one."""
        return self.interfaces[0] if self.interfaces else None

    @property
    def networked(self):
        return self.interface is not None

    def groups(self, ranks):
        """(number of ranks, command prefix) for each group; earlier groups take the remainder."""
        share, rest = divmod(ranks, len(self.prefixes))
        counts = [share + (index < rest) for index in range(len(self.prefixes))]
        return [(count, list(prefix)) for count, prefix in zip(counts, self.prefixes) if count]


SHARED_MEMORY = Place("shared memory")
LOOPBACK = Place("loopback TCP, not shaped (two namespaces need root)", interfaces=("lo",))


def interface(link):
    """The name of a link's interface: equal at both ends, so that all ranks have one setting."""
    return f"hw{link}"


class NetworkError(Exception):
    pass


def run_ip(*words):
    done = subprocess.run(words, capture_output=True, text=True)
    if done.returncode:
        raise NetworkError(f"{' '.join(words)}: {done.stderr.strip()}")


def shape(namespace, device, rate, burst="256k"):
    """A token bucket: no more than `rate` on average.

    The burst must hold a whole segmentation-offload packet (64 KB) several times, or the bucket
    never fills and the rate is missed; 256 KB is 2 ms at 1 Gbit/s. 50 ms of queue lets a sender
    keep the link busy; further packets are dropped, as in a switch.
    """
    run_ip("tc", "-n", namespace, "qdisc", "add", "dev", device, "root", "tbf",
           "rate", rate, "burst", burst, "latency", "50ms")  # fmt: skip


FLOW = "/flow"  # ends a rate that each connection has for itself


def shape_flows(namespace, device, rate):
    """No connection gets more than `rate`, even if the others use less: as in a wide network in
    which each connection takes another path, or if a provider limits each connection.

    There is a class for each value of the low byte of the source port. Connections with equal bytes
    share a class: of four connections, two do so in one of twenty runs.
    """
    classes = range(256)
    table = f"filter add dev {device} parent 1: protocol ip prio 1"
    lines = [
        f"qdisc add dev {device} root handle 1: htb",
        f"{table} handle 2: u32 divisor 256",
        *(f"class add dev {device} parent 1: classid 1:{1 + n:x} htb rate {rate} burst 32k "
          f"cburst 32k quantum 60000" for n in classes),
        *(f"{table} u32 ht 2:{n:x}: match u8 0 0 flowid 1:{1 + n:x}" for n in classes),
        f"{table} u32 ht 800:: match ip protocol 6 0xff hashkey mask 0x00ff0000 at 20 link 2:",
    ]  # fmt: skip
    done = subprocess.run(["tc", "-n", namespace, "-batch", "-"], capture_output=True, text=True,
                          input="\n".join(lines) + "\n")  # fmt: skip
    if done.returncode:
        raise NetworkError(f"tc -batch, flows of {rate}: {done.stderr.strip()}")


def make_namespace(name):
    run_ip("ip", "netns", "add", name)
    # IPv4 only: an IPv6 address is tentative for a second, and libraries that pick it then fail.
    off = "echo 1 > /proc/sys/net/ipv6/conf/default/disable_ipv6"
    subprocess.run(["ip", "netns", "exec", name, "sh", "-c", off], capture_output=True)


def wait_for_carrier(name, device):
    for _ in range(100):
        done = subprocess.run(["ip", "-n", name, "link", "show", device],
                              capture_output=True, text=True)  # fmt: skip
        if "state UP" in done.stdout:
            return
        time.sleep(0.02)
    raise NetworkError(f"the link {device} of {name} does not come up")


def make_link(names, link, rate, exact):
    """`exact`: a small bucket and smaller packets, so that the rate, and not the bucket, determines
    the time of a message of some hundred KB."""
    first, second = names
    device = interface(link)
    run_ip("ip", "link", "add", device, "netns", first, "type", "veth",
           "peer", "name", device, "netns", second)  # fmt: skip
    for number, name in enumerate(names, 1):
        run_ip("ip", "-n", name, "address", "add", f"10.77.{link}.{number}/24", "dev", device)
        run_ip("ip", "-n", name, "link", "set", device, "up")
        flows = rate is not None and rate.endswith(FLOW)
        if rate is not None and (exact or flows):
            run_ip("ip", "-n", name, "link", "set", device, "gso_max_size", "16384")
        if flows:
            shape_flows(name, device, rate.removesuffix(FLOW))
        elif rate is not None:
            shape(name, device, rate, burst="64k" if exact else "256k")


def make_pair(names, rates):
    for name in names:
        make_namespace(name)
        run_ip("ip", "-n", name, "link", "set", "lo", "up")
    for link, rate in enumerate(rates):
        make_link(names, link, rate, exact=len(rates) > 1)
    for name in names:
        for link in range(len(rates)):
            wait_for_carrier(name, interface(link))


def remove(names):
    """Deletes the namespaces and with them the interfaces. Ignores those that do not exist."""
    for name in names:
        subprocess.run(["ip", "netns", "delete", name], capture_output=True)


@contextlib.contextmanager
def termination_as_exit():
    """SIGTERM and SIGHUP unwind the stack like an exception, so that `finally` blocks run."""

    def leave(number, _frame):
        raise SystemExit(128 + number)

    signals = (signal.SIGTERM, signal.SIGHUP)
    before = {number: signal.signal(number, leave) for number in signals}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def rate_text(rate):
    """`1gbit` as text: 1 Gbit/s."""
    if rate is None:
        return "not shaped"
    if "+" in rate:
        return " + ".join(rate_text(one) for one in rate.split("+"))
    if rate.endswith(FLOW):
        return f"{rate_text(rate.removesuffix(FLOW))} for each connection"
    found = re.fullmatch(r"(\d+)([kmg])bit", rate)
    return f"{found[1]} {found[2].upper()}bit/s" if found else rate


_numbers = itertools.count()  # an experiment has several places at a time, with different names


@contextlib.contextmanager
def two_namespaces(rate=None):
    """Two network namespaces joined by a veth pair, at most `rate` (as `1gbit`) in each direction.
    `1gbit+600mbit`: a pair for each rate. `250mbit/flow`: that rate for each connection.

    Errors: NetworkError with the command that failed, after everything was removed.
    """
    number = next(_numbers)
    names = [f"headway-{os.getpid()}-{number}{end}" for end in "ab"]
    with termination_as_exit():
        try:
            rates = rate.split("+") if rate else [None]
            make_pair(names, rates)
            prefixes = tuple(("ip", "netns", "exec", name) for name in names)
            text = f"TCP between two namespaces, {rate_text(rate)}"
            yield Place(text, prefixes, tuple(interface(i) for i in range(len(rates))))
        finally:
            remove(names)


@contextlib.contextmanager
def two_nodes(rate=None):
    """Two nodes that this machine imitates: two namespaces, each with a /dev/shm of its own, so
    that only ranks of the same one share memory. Only Headway regards them as nodes; other
    libraries compare the names of hosts. As `two_namespaces` otherwise.
    """
    with tempfile.TemporaryDirectory(dir="/dev/shm") as folder, two_namespaces(rate) as place:
        prefixes = []
        for number, prefix in enumerate(place.prefixes):
            own = os.path.join(folder, str(number))
            os.mkdir(own)
            script = 'mount --bind "$0" /dev/shm && exec "$@"'
            prefixes.append((*prefix, "unshare", "-m", "sh", "-c", script, own))
        yield Place(f"two nodes, {place.name}", tuple(prefixes))


@contextlib.contextmanager
def tcp_place(rate=None):
    """Two namespaces if the system allows it, else the loopback; the place's name says which."""
    with contextlib.ExitStack() as stack:
        try:
            place = stack.enter_context(two_namespaces(rate))
        except (NetworkError, FileNotFoundError):
            place = LOOPBACK
        yield place
