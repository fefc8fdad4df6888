"""Jobs that the machine gives too little of something: shared memory, descriptors, file size. Each
ends well by another way, or says in one line what is missing; none waits for ever."""

import os
import subprocess
import unittest

from jobs import BUILD, MPIEXEC, run, skip

LARGE = BUILD + "/bin/large_transfer"
ORACLE = BUILD + "/bin/oracle"
ENDPOINTS = BUILD + "/bin/endpoint_messages"
LIMIT = 60  # seconds after which a job counts as waiting for ever


def own_memory(size, *command):
    """The command with a /dev/shm of its own, of this size."""
    space = ["unshare", "-m"] if os.geteuid() == 0 else ["unshare", "-rm"]
    script = f'mount -t tmpfs -o size={size} none /dev/shm && exec "$@"'
    return [*space, "sh", "-c", script, "sh", *command]


def limited(limit, *command):
    """The command in a shell's `ulimit`, such as "-n 20"."""
    return ["sh", "-c", f'ulimit {limit} && exec "$@"', "sh", *command]


def environment(**more):
    all_ = {name: value for name, value in os.environ.items() if not name.startswith("HEADWAY_")}
    return {**all_, **{name: value for name, value in os.environ.items()
                       if name.startswith("HEADWAY_TEST")}, **more}  # fmt: skip


class SharedMemory(unittest.TestCase):
    def job(self, size, ranks, *program, **more):
        command = own_memory(size, MPIEXEC, "--timeout", LIMIT, "-n", ranks, *program)
        job = run(command, limit=LIMIT + 30, env=environment(**more))
        self.assertNotIn("timeout", job.err)
        return job

    def goes_on(self, size, ranks, *program):
        job = self.job(size, ranks, *program)
        self.assertEqual(job.code, 0, job.err)
        return job

    def test_none_for_a_single_process_leaves_the_network(self):
        job = self.goes_on("4k", 2, LARGE)
        self.assertIn("rail shm is left out: shm: a process needs", job.err)

    def test_64_KiB_are_too_little_for_two_processes(self):
        job = self.goes_on("64k", 2, LARGE, 4)
        self.assertIn("HEADWAY_SHM_PIECES", job.err)
        self.assertIn("KiB are free", job.err)

    def test_600_KiB_hold_two_processes_with_fewer_buffers(self):
        job = self.goes_on("600k", 2, LARGE, 4)
        self.assertNotIn("left out", job.err)

    def test_some_processes_have_shared_memory_and_others_the_network(self):
        job = self.goes_on("2m", 6, ORACLE, "--messages", 600)
        self.assertIn("left out", job.err)
        self.assertLess(job.err.count("left out"), 6)

    def test_every_amount_ends_well(self):
        for size in (0, 8, 16, 40, 100, 150, 200, 300, 450, 700, 1000, 1500):
            with self.subTest(KiB=size):
                self.goes_on(f"{size}k" if size else "1", 3, ORACLE, "--messages", 300)

    def test_without_another_rail_a_line_says_what_is_missing(self):
        job = self.job("64k", 2, LARGE, HEADWAY_RAILS="shm")
        self.assertNotEqual(job.code, 0)
        self.assertRegex(job.err, r"a process needs \d+ KiB of /dev/shm, where \d+ KiB are free")
        self.assertIn("HEADWAY_SHM_RING", job.err)


class Descriptors(unittest.TestCase):
    def job(self, ranks, limit, *program):
        """Each rank may have so many, and cannot ask for more."""
        job = run([MPIEXEC, "--timeout", LIMIT, "-n", ranks, *limited(f"-n {limit}", *program)],
                  limit=LIMIT + 30, env=environment())  # fmt: skip
        self.assertNotIn("timeout", job.err)
        return job

    def test_peers_of_the_node_cost_none(self):
        for limit in (40, 70):
            with self.subTest(limit=limit):
                job = self.job(20, limit, ORACLE, "--messages", 200, "--threads", 1)
                self.assertEqual(job.code, 0, job.err)

    def test_too_few_end_well_or_in_a_line_that_says_so(self):
        for limit in (*range(6, 30, 3), 30):
            with self.subTest(limit=limit):
                job = self.job(2, limit, LARGE)
                if job.code != 0:
                    self.assertRegex(job.err, "headway.*Too many open files|error while loading")

    def test_the_soft_limit_is_raised(self):
        job = run([MPIEXEC, "--timeout", LIMIT, "-n", 2, *limited("-S -n 20", LARGE)],
                  limit=LIMIT, env=environment())  # fmt: skip
        self.assertEqual(job.code, 0, job.err)


class FileSize(unittest.TestCase):
    def goes_on_over_the_network(self, *command):
        job = run(command, limit=LIMIT + 30, env=environment())
        self.assertEqual(job.code, 0, job.err)
        self.assertRegex(job.err, "rail shm is left out: .*File too large")

    def test_no_memory_is_shared_where_files_may_not_be_so_large(self):
        start = MPIEXEC, "--timeout", LIMIT, "-n", 2
        for program in ((LARGE,), (ORACLE, "--messages", 300, "--one-sided", 20)):
            for blocks in (0, 1, 100):
                with self.subTest(program=os.path.basename(program[0]), blocks=blocks):
                    self.goes_on_over_the_network(*start, *limited(f"-f {blocks}", *program))
                    self.goes_on_over_the_network(*limited(f"-f {blocks}", *start, *program))

    def test_end_points_that_get_no_memory_say_why(self):
        job = run([MPIEXEC, "--timeout", LIMIT, "-n", 2, *limited("-f 1", ENDPOINTS)],
                  limit=LIMIT + 30, env=environment())  # fmt: skip
        self.assertNotEqual(job.code, 0)
        self.assertRegex(job.err, "end-points have no buffers: .*File too large")


if __name__ == "__main__":
    try:
        done = subprocess.run(own_memory("64k", "true"), capture_output=True, check=False)
    except OSError:
        skip("no unshare here")
    if done.returncode:
        skip("no mount namespaces here")
    unittest.main(verbosity=2)
