"""The kernel refuses one call after the other, at the start and while messages are under way: the
job goes on by another way, or ends with a line that says what was refused. It neither waits for
ever nor crashes. Each call of each function is refused alone, and all from the first and from the
middle one on; `refusing.c` does it."""

import errno
import os
import tempfile
import unittest

from jobs import BUILD, MPIEXEC, run

LARGE = BUILD + "/bin/large_transfer"
REFUSING = BUILD + "/lib/librefusing.so"
LIMIT = 40  # seconds after which a job counts as waiting for ever
CALLS_MAX = 12  # of a function that are refused alone

# Descriptors may become free again: a rank that can accept no caller says so, and tries again.
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
    def job(self, rails, rank, plan, **more):
        env = {name: value for name, value in os.environ.items()
               if not name.startswith("HEADWAY_")}  # fmt: skip
        env |= {"HEADWAY_RAILS": rails, "REFUSE": plan, "REFUSE_RANK": str(rank), **more}
        return run([MPIEXEC, "--timeout", LIMIT, "-n", 2, "env", "LD_PRELOAD=" + REFUSING, LARGE],
                   limit=LIMIT + 20, env=env)  # fmt: skip

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
            onward = {-1, -(calls // 2 + 1)} if calls and function not in PASSING else set()
            for number in (*alone, *onward):
                with self.subTest(rails=rails, rank=rank, function=function, number=number):
                    job = self.job(rails, rank, f"{function}:{number}:{error}")
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


if __name__ == "__main__":
    unittest.main(verbosity=2)
