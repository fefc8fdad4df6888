"""The kernel refuses one call after the other, at the start and while messages are under way: the
job goes on by another way, or ends with a line that says what was refused. It neither waits for
ever nor crashes. Calls of each function are refused alone, and all from the first and from the
middle one on; `refusing.c` does it. Which calls, a seed chooses, which is printed; .ci/nightly
refuses each. `refusal_sweep.py` has the call sites."""

import errno
import os
import random
import tempfile
import time
import unittest

from jobs import BUILD, MPIEXEC, WHOLE, run

LARGE = BUILD + "/bin/large_transfer"
ORACLE = BUILD + "/bin/oracle"
UNEXPECTED = BUILD + "/bin/unexpected"
REFUSING = BUILD + "/lib/librefusing.so"
LIMIT = 40  # seconds after which a job counts as waiting for ever
CALLS_MAX = 12  # of a function that are refused alone
CALLS_CHOSEN = CALLS_MAX if WHOLE else 3
SEED = int(os.environ.get("REFUSED_SEED", time.time()))

# Descriptors may become free again: a rank that can accept no caller says so, and tries again; see
# `test_a_rank_that_never_accepts_a_caller`.
PASSING = {"accept4"}

REFUSALS = {
    "mmap": errno.ENOMEM,
    "ftruncate": errno.ENOSPC,
    "fallocate": errno.ENOSPC,
    "posix_fallocate": errno.ENOSPC,
    "flock": errno.ENOLCK,
    "socket": errno.EMFILE,
    "bind": errno.EADDRINUSE,
    "listen": errno.ENOBUFS,
    "accept4": errno.EMFILE,
    "connect": errno.EADDRNOTAVAIL,
    "getsockname": errno.ENOBUFS,
    "setsockopt": errno.ENOBUFS,
    "epoll_create1": errno.EMFILE,
    "epoll_ctl": errno.ENOSPC,
    "eventfd": errno.EMFILE,
    "timerfd_create": errno.EMFILE,
    "sched_getaffinity": errno.EPERM,
    "sched_setaffinity": errno.EPERM,
    "pthread_create": errno.EAGAIN,
    "process_vm_readv": errno.EPERM,
    "process_vm_writev": errno.EPERM,
    "open": errno.EMFILE,
}


class Refused(unittest.TestCase):
    def setUp(self):
        self.chance = random.Random(SEED)

    def job(self, rails, rank, plan, *program, ranks=2, **more):
        env = {name: value for name, value in os.environ.items()
               if not name.startswith("HEADWAY_")}  # fmt: skip
        env |= {"HEADWAY_RAILS": rails, "REFUSE": plan, "REFUSE_RANK": str(rank), **more}
        program = program or (LARGE,)
        return run([MPIEXEC, "--timeout", LIMIT, "-n", ranks, "env", "LD_PRELOAD=" + REFUSING,
                    *program], limit=LIMIT + 20, env=env)  # fmt: skip

    def calls(self, rails, rank, function):
        with tempfile.TemporaryDirectory() as folder:
            count = folder + "/count"
            job = self.job(rails, rank, f"{function}:0:0", REFUSE_COUNT=count)
            self.assertEqual(job.code, 0, job.err)
            return os.path.getsize(count) if os.path.exists(count) else 0

    def refuse_each(self, rails, rank):
        self.assertGreater(self.calls(rails, rank, "mmap"), 0, "nothing can be refused")
        for function, error in REFUSALS.items():
            calls = self.calls(rails, rank, function)
            alone = range(1, min(calls, CALLS_MAX) + 1)
            alone = self.chance.sample(alone, min(len(alone), CALLS_CHOSEN))
            onward = {-1, -(calls // 2 + 1)} if calls and function not in PASSING else set()
            for number in (*alone, *onward):
                with self.subTest(rails=rails, rank=rank, function=function, number=number):
                    self.check_end(self.job(rails, rank, f"{function}:{number}:{error}"))

    def check_end(self, job):
        """It has ended by itself: well, or with a line that says why."""
        self.assertNotIn("timeout", job.err)
        self.assertNotIn("ran longer", job.err)
        self.assertNotIn("was killed by SIG", job.err)
        if job.code != 0:
            self.assertRegex(job.err, r"headway: rank \d+: ")

    def test_shared_memory(self):
        self.refuse_each("shm,tcp:lo", 0)

    def test_tcp_that_calls(self):
        self.refuse_each("tcp:lo", 0)

    def test_tcp_that_is_called(self):
        self.refuse_each("tcp:lo", 1)

    # The segment of the peer, in contrast to the own one.
    PEER_SEGMENT = [
        ("open", errno.EMFILE, {"REFUSE_PATH": "/dev/shm/headway-"}),
        ("mmap", errno.ENOMEM, {}),
        ("fallocate", errno.ENOSPC, {}),
    ]

    def test_a_peer_whose_shared_memory_is_refused_is_reached_over_the_next_rail(self):
        for function, error, more in self.PEER_SEGMENT:
            for rank in (0, 1):
                fallen_back = 0
                # A rank looks at the segments of all jobs on the node before its own.
                for number in range(1, 100):
                    if number > CALLS_MAX and fallen_back > 0:
                        break
                    with self.subTest(rank=rank, function=function, number=number):
                        job = self.job("shm,tcp:lo", rank, f"{function}:{number}:{error}", LARGE, 4,
                                       **more)  # fmt: skip
                        self.check_end(job)
                        if "is reached over tcp" in job.err:
                            fallen_back += 1
                            self.assertEqual(job.code, 0, job.err)
                self.assertGreater(fallen_back, 0, function)

    def test_random_traffic_where_one_rank_can_attach_to_no_other(self):
        for number in (2, 3, 4):
            with self.subTest(number=number):
                job = self.job("shm,tcp:lo", 1, f"open:-{number}:{errno.EMFILE}", ORACLE,
                               "--messages", 1000, ranks=3,
                               REFUSE_PATH="/dev/shm/headway-")  # fmt: skip
                self.check_end(job)
                if "is reached over tcp" in job.err:
                    self.assertEqual(job.code, 0, job.err)

    def test_a_rank_that_never_accepts_a_caller(self):
        for rank in (0, 1):
            with self.subTest(rank=rank):
                job = self.job("tcp:lo", rank, f"accept4:-1:{errno.EMFILE}",
                               HEADWAY_TCP_CONNECT_MS="3000")  # fmt: skip
                self.check_end(job)

    def test_an_unexpected_message_without_memory_ends_the_job_with_a_line(self):
        for rails in ("shm,tcp:lo", "tcp:lo"):
            self.assertEqual(self.job(rails, 1, "malloc:0:0", UNEXPECTED).code, 0)
            said = 0  # the start-up allocates blocks of that size, too
            for number in range(1, CALLS_MAX + 1):
                with self.subTest(rails=rails, number=number):
                    job = self.job(rails, 1, f"malloc:{number}:{errno.ENOMEM}", UNEXPECTED,
                                   REFUSE_BYTES="2052")  # fmt: skip
                    self.check_end(job)
                    said += "no memory to keep a message" in job.err
            self.assertGreater(said, 0, rails)


if __name__ == "__main__":
    print(f"the same calls again: REFUSED_SEED={SEED}")
    unittest.main(verbosity=2)
