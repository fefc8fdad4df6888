#!/usr/bin/env python3
"""mpiexec as a user meets it. A test's name is the promise that it keeps.

    mpiexec_test.py BUILD_FOLDER [test…]
"""

import glob
import os
import pty
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

import jobs
from jobs import MPIEXEC, PEER, state_of, wait_until


# The command then starts, and its child finds out that there is no program.
HIDES_FAILED_STARTS = "thread" in os.environ.get("HEADWAY_TEST_SANITIZE", "")
# Seconds. The ranks of these tests would sleep for 30, and a loaded machine is slow.
PATIENCE = 15


def start(*words, **options):
    return jobs.start([MPIEXEC, *words], **options)


def run(*words, **options):
    return jobs.run([MPIEXEC, *words], **options)


def alive(pid):
    return state_of(pid) not in "ZX"


def can_make_namespaces():
    if not shutil.which("ip") or os.geteuid() != 0:
        return False
    name = f"headway-{os.getpid()}-probe"
    made = subprocess.run(["ip", "netns", "add", name], capture_output=True,
                          check=False).returncode == 0
    if made:
        subprocess.run(["ip", "netns", "del", name], check=True)
    return made


class Output(unittest.TestCase):
    def test_labels_whole_lines_with_their_rank(self):
        script = "for i in $(seq 200); do echo line $i of $PMI_RANK; done; printf end"
        job = run("-n", 4, "--label", "sh", "-c", script)
        self.assertEqual(job.code, 0)
        for rank in range(4):
            mine = [l for l in job.out.splitlines() if l.startswith(f"{rank}: ")]
            self.assertEqual(mine, [f"{rank}: line {i} of {rank}" for i in range(1, 201)]
                             + [f"{rank}: end"])
        self.assertEqual(len(job.out.splitlines()), 4 * 201)

    def test_labels_standard_error_on_standard_error(self):
        job = run("-n", 2, "--label", "sh", "-c", "echo out; echo err >&2")
        self.assertEqual(sorted(job.out.splitlines()), ["0: out", "1: out"])
        self.assertEqual(sorted(job.err.splitlines()), ["0: err", "1: err"])

    def test_keeps_the_order_of_both_streams_when_they_go_to_one_place(self):
        script = "for i in 1 2 3 4 5; do echo o$i; echo e$i >&2; done"
        done = subprocess.run([MPIEXEC, "--label", "sh", "-c", script], stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              check=True)
        expected = [f"0: {stream}{i}" for i in range(1, 6) for stream in "oe"]
        self.assertEqual(done.stdout.splitlines(), expected)

    def test_loses_nothing_of_much_output_with_and_without_labels(self):
        script = "yes 0123456789abcdef | head -c 8000000; echo; exit 0"
        for label in ([], ["--label"]):
            job = run("-n", 3, *label, "sh", "-c", script)
            self.assertEqual(job.code, 0)
            body = len(job.out) - (3 * job.out.count("\n") if label else 0)
            self.assertEqual(body, 3 * 8000001)

    def test_prints_what_a_rank_wrote_before_it_was_killed(self):
        job = run("-n", 1, "--label", "sh", "-c", "seq 20000; kill -9 $$")
        self.assertEqual(job.out.splitlines()[-1], "0: 20000")
        self.assertEqual(job.code, 137)

    def test_does_not_wait_for_what_a_rank_left_behind(self):
        job = run("-n", 2, "--label", "sh", "-c", "sleep 100 & echo $!")
        self.assertLess(job.seconds, PATIENCE)
        for line in job.out.splitlines():
            self.assertTrue(wait_until(lambda: not alive(line.split()[1])))

    def test_a_reader_that_goes_away_ends_the_job(self):
        job = start("-n", 2, "--label", "yes")
        job.stdout.read(1000)
        job.stdout.close()
        self.assertEqual(job.wait(20), 128 + signal.SIGPIPE)
        job.stderr.close()


    def test_goes_to_a_file_for_each_rank(self):
        script = "echo out of $PMI_RANK; echo err >&2"
        with tempfile.TemporaryDirectory() as folder:
            job = run("-n", 11, "--output-filename", folder + "/new/log", "sh", "-c", script)
            self.assertEqual((job.code, job.out, job.err), (0, "", ""))
            self.assertEqual(sorted(os.listdir(folder + "/new")),
                             [f"log.{rank:02}" for rank in range(11)])
            with open(folder + "/new/log.07", encoding="ascii") as file:
                self.assertEqual(file.read(), "out of 7\nerr\n")
            job = run("-n", 2, "-l", "-errfile-pattern", folder + "/e%r", "sh", "-c", script)
            self.assertEqual(sorted(job.out.splitlines()), ["0: out of 0", "1: out of 1"])
            with open(folder + "/e1", encoding="ascii") as file:
                self.assertEqual(file.read(), "err\n")

    def test_a_file_that_cannot_be_made_is_one_line(self):
        job = run("-n", 2, "--output-filename", "/proc/no/log", "true")
        self.assertEqual((job.code, job.err.count("\n")), (1, 1), job.err)

    def test_labels_are_coloured_in_a_terminal_alone(self):
        for variable, value, coloured in (("TERM", "xterm", True), ("TERM", "dumb", False),
                                          ("NO_COLOR", "1", False)):
            with self.subTest(variable=variable, value=value):
                seen = on_terminal({variable: value}, "-n", "2", "-l", "echo", "x")
                self.assertEqual(b"\033[32m1:\033[0m x" in seen, coloured, seen)
                self.assertEqual(b"1: x" in seen, not coloured, seen)


def on_terminal(variables, *words):
    """What mpiexec writes to a terminal."""
    pid, terminal = pty.fork()
    if pid == 0:
        kept = {k: v for k, v in os.environ.items() if k not in ("TERM", "NO_COLOR")}
        os.execve(MPIEXEC, [MPIEXEC, *words], kept | {"TERM": "xterm"} | variables)
    seen = b""
    try:
        while part := os.read(terminal, 1000):
            seen += part
    except OSError:  # the terminal's other side is closed
        pass
    os.waitpid(pid, 0)
    os.close(terminal)
    return seen


class Input(unittest.TestCase):
    COUNT = "printf '%s %s\\n' $PMI_RANK $(wc -c)"

    def test_goes_to_rank_0_and_the_others_find_the_end(self):
        job = run("-n", 3, "sh", "-c", self.COUNT, text_in="x" * 300000)
        self.assertEqual(sorted(job.out.splitlines()), ["0 300000", "1 0", "2 0"])

    def test_may_be_a_file(self):
        with tempfile.TemporaryFile() as file:
            file.write(b"y" * 5000)
            file.seek(0)
            job = run("-n", 2, "sh", "-c", self.COUNT, stdin=file)
        self.assertEqual(sorted(job.out.splitlines()), ["0 5000", "1 0"])

    def test_goes_to_the_ranks_that_are_named(self):
        for ranks, bytes_of in (("all", (9, 9, 9)), ("none", (0, 0, 0)), ("1", (0, 9, 0)),
                                ("0,2", (9, 0, 9))):
            job = run("-n", 3, "-stdin", ranks, "sh", "-c", self.COUNT, text_in="123456789")
            self.assertEqual(sorted(job.out.splitlines()),
                             [f"{rank} {count}" for rank, count in enumerate(bytes_of)], ranks)

    def test_much_of_it_goes_whole_to_all_ranks(self):
        job = run("-n", 3, "-stdin", "all", "sh", "-c", self.COUNT, text_in="x" * 3000000)
        self.assertEqual(sorted(job.out.splitlines()), [f"{r} 3000000" for r in range(3)])

    def test_a_rank_that_does_not_read_it_may_end_and_so_may_the_job(self):
        job = run("-n", 2, "-stdin", "all", "sh", "-c",
                  "[ $PMI_RANK = 0 ] && exit; wc -c", text_in="x" * 1000000)
        self.assertEqual((job.code, job.out), (0, "1000000\n"))
        job = run("-n", 2, "-stdin", "all", "sleep", 0.2, text_in="x" * 1000000)
        self.assertEqual(job.code, 0)

    def test_may_be_closed(self):
        done = subprocess.run(["sh", "-c", 'exec "$0" -n 2 cat <&-', MPIEXEC], timeout=20,
                              capture_output=True, check=False)
        self.assertEqual((done.returncode, done.stdout), (0, b""))

    def test_may_be_a_terminal(self):
        pid, terminal = pty.fork()
        if pid == 0:
            os.environ["NO_COLOR"] = "1"
            os.execv(MPIEXEC, [MPIEXEC, "-n", "2", "--label", "cat"])
        os.write(terminal, b"hello\n")
        seen = b""
        while b"0: hello" not in seen:
            seen += os.read(terminal, 1000)
        os.write(terminal, b"\x04")  # the end of input
        self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), 0)
        os.close(terminal)


class Start(unittest.TestCase):
    def test_gives_each_rank_its_place(self):
        job = run("-n", 8, PEER, "exchange")
        self.assertEqual(job.code, 0, job.err)
        self.assertEqual(jobs.ranks_seen(job), list(range(8)))
        self.assertEqual(len(jobs.jobs_seen(job)), 1)
        self.assertEqual(job.out.count("launcher headway"), 8)

    def test_runs_several_programs_as_one_job(self):
        job = run("-n", 2, PEER, "exchange", ":", "-n", 1, "--env", "A=b c", "sh", "-c",
                  f"echo $A; exec {PEER} exchange")
        self.assertEqual(job.code, 0, job.err)
        self.assertIn("b c", job.out)
        for rank, app in ((0, 0), (1, 0), (2, 1)):
            self.assertIn(f"rank {rank} of 3 app {app} ", job.out)

    def test_sets_environment_and_directory(self):
        job = run("-n", 1, "-env", "A", "1", "--genv", "B=2", "--wdir", "/", "sh", "-c",
                  "echo $A $B $PWD $MPI_LOCALNRANKS $MPI_LOCALRANKID")
        self.assertEqual(job.out, "1 2 / 1 0\n")

    def test_programs_of_a_script_run_one_after_the_other(self):
        job = run("-n", 3, "sh", "-c", f"{PEER} exchange && {PEER} exchange")
        self.assertEqual((job.code, job.out.count("wrong 0")), (0, 6), job.err)

    def test_n_ranks_look_up_at_most_2n_values_in_all(self):
        job = run("-n", 16, PEER, "exchange")
        self.assertEqual(job.code, 0, job.err)
        self.assertLessEqual(jobs.look_ups(job), 2 * 16)

    def test_a_program_that_a_rank_starts_is_alone_and_says_so(self):
        job = run("-n", 2, sys.executable, "-c",
                  f"import subprocess; subprocess.run(['{PEER}', 'exchange'], close_fds=True)")
        self.assertEqual(job.out.count("rank 0 of 1 "), 2)
        self.assertEqual(job.err.count("running as a single process"), 2)

    def test_carries_large_values_among_many_ranks(self):
        job = run("-n", 64, PEER, "big", 20000)
        self.assertEqual(job.code, 0, job.err)
        self.assertEqual(job.out.count("wrong 0"), 64)

    def test_starts_hundreds_of_ranks_with_few_descriptors(self):
        job = run("-n", 300, "--label", "sh", "-c", "ulimit -n", limit=100,
                  preexec_fn=lambda: limit_descriptors(128))
        self.assertEqual(job.code, 0, job.err)
        self.assertEqual({l.split()[1] for l in job.out.splitlines()}, {"128"})
        self.assertEqual(len(job.out.splitlines()), 300)

    @unittest.skipIf(HIDES_FAILED_STARTS, "ThreadSanitizer turns vfork into fork")
    def test_a_program_in_this_folder_is_found(self):
        with tempfile.TemporaryDirectory() as folder:
            with open(folder + "/headway-only-here", "w", encoding="ascii") as file:
                file.write("echo here\n")
            os.chmod(folder + "/headway-only-here", 0o755)
            for words in ((), ("--wdir", folder)):
                job = run(*words, "headway-only-here", cwd=folder if not words else "/")
                self.assertEqual((job.code, job.out), (0, "here\n"), job.err)
        self.assertIn("./headway-only-here", run("headway-only-here").err)

    def test_says_what_it_starts(self):
        self.assertRegex(run("-v", "true").err, r"rank 0 is process \d+, .*/true\n")

    @unittest.skipUnless(shutil.which("gdb"), "gdb is not here")
    @unittest.skipIf(os.environ.get("HEADWAY_TEST_SANITIZE"), "gdb runs no sanitizer's program")
    def test_a_debugger_runs_on_the_ranks_that_are_named(self):
        job = run("-n", 2, "--gdb=1", "sh", "-c", "true", text_in="print 6*7\nquit\n")
        self.assertEqual((job.code, job.out.count("$1 = 42")), (0, 1), job.err)
        job = run("-n", 2, "-gdb", PEER, "exchange", text_in="print 6*7\nrun\nquit\n")
        self.assertEqual(job.code, 0, job.err)
        self.assertEqual(job.out.count("wrong 0"), 2, job.out + job.err)
        for rank in range(2):
            self.assertRegex(job.out, rf"{rank}: .*\$1 = 42")

    def test_wrong_command_lines_are_one_line_and_exit_2(self):
        for words in (["--foo", "true"], ["-n", "x", "true"], ["-n", 2], [], ["--env", "A", "true"],
                      ["--lable", "true"], ["--timeout", "-1", "true"]):
            job = run(*words)
            self.assertEqual((job.code, job.err.count("\n"), job.out), (2, 1, ""), words)

    def test_missing_programs_are_one_line_and_a_shells_code(self):
        for words, code in ((["headway-no-such"], 127), (["./headway-no-such"], 127),
                            (["/etc/passwd"], 126), (["--wdir", "/nowhere", "true"], 126),
                            (["-n", 2, "true", ":", "headway-no-such"], 127)):
            job = run(*words)
            self.assertEqual((job.code, job.err.count("\n"), job.out), (code, 1, ""), words)

    def test_says_version_and_help(self):
        self.assertRegex(run("--version").out, r"^mpiexec \(Headway\) \d+\.\d+")
        self.assertIn("--keep-going", run("--help").out)

    @unittest.skipIf(HIDES_FAILED_STARTS, "ThreadSanitizer turns vfork into fork")
    def test_a_program_without_a_first_line_is_a_shell_script(self):
        with tempfile.TemporaryDirectory() as folder:
            with open(folder + "/script", "w", encoding="ascii") as file:
                file.write("echo from $0 $1\n")
            os.chmod(folder + "/script", 0o755)
            job = run("--wdir", folder, "./script", "x")
        self.assertEqual(job.code, 0, job.err)
        self.assertIn("/script x", job.out)


def limit_descriptors(count):
    resource.setrlimit(resource.RLIMIT_NOFILE, (count, resource.getrlimit(
        resource.RLIMIT_NOFILE)[1]))


class End(unittest.TestCase):
    def assert_one_line(self, job, *words):
        self.assertEqual(job.err.count("\n"), 1, job.err)
        for word in words:
            self.assertIn(word, job.err)

    def test_returns_the_code_of_the_first_rank_that_fails(self):
        job = run("-n", 3, "sh", "-c", "[ $PMI_RANK = 1 ] && exit 5; sleep 30; exit 6")
        self.assertEqual(job.code, 5)
        self.assertLess(job.seconds, PATIENCE)
        self.assert_one_line(job, "rank 1", "(sh", "exit code 5")

    def test_a_killed_rank_ends_the_others_within_a_second(self):
        job = run("-n", 4, PEER, "exchange", "kill-rank", 2, "sleep", 30)
        self.assertEqual(job.code, 128 + 9)
        self.assertLess(job.seconds, PATIENCE)
        self.assert_one_line(job, "rank 2", PEER, "SIGKILL")

    def test_ranks_that_ignore_SIGTERM_end_too(self):
        job = run("-n", 2, "sh", "-c",
                  "[ $PMI_RANK = 0 ] && sleep 0.3 && exit 3; trap '' TERM; sleep 30 & wait; wait")
        self.assertEqual(job.code, 3)
        self.assertLess(job.seconds, PATIENCE)

    def test_a_line_that_all_ranks_would_print_is_printed_once(self):
        job = run("-n", 4, "--genv", "HEADWAY_LOG=loud", PEER, "exchange")
        self.assertEqual(job.code, 0, job.err)
        self.assert_one_line(job, "HEADWAY_LOG=loud is not understood")
        self.assertEqual(glob.glob("/dev/shm/headway-*-said-*"), [])

    def test_leaving_before_finalize_counts_as_dying(self):
        job = run("-n", 2, PEER, "leave", "sleep", 30)
        self.assertEqual(job.code, 1)
        self.assert_one_line(job, "rank 1", "before MPI_Finalize")

    def test_an_abort_ends_the_job_with_its_code_and_reason(self):
        job = run("-n", 2, PEER, "abort", 7, "sleep", 30)
        self.assertEqual(job.code, 7)
        self.assertLess(job.seconds, PATIENCE)
        self.assert_one_line(job, "rank 1", "code 7", "because I was told to")

    def test_a_rank_that_dies_before_it_joins_does_not_leave_the_others_waiting(self):
        job = run("-n", 3, "sh", "-c", f"[ $PMI_RANK = 1 ] && exit 0; exec {PEER} exchange")
        self.assertNotEqual(job.code, 0)
        self.assertLess(job.seconds, PATIENCE)
        self.assertIn("rank 1 has published nothing", job.err)

    def test_a_start_that_takes_too_long_names_the_late_ranks(self):
        job = run("-n", 3, "--genv", "HEADWAY_START_TIMEOUT=1", "sh", "-c",
                  f"[ $PMI_RANK = 1 ] && exec sleep 30; exec {PEER} exchange")
        self.assertNotEqual(job.code, 0)
        self.assertIn("not there yet: rank 1\n", job.err)

    def test_a_timeout_ends_the_job_with_124(self):
        job = run("-n", 3, "--timeout", 0.5, "sh", "-c", "sleep 30")
        self.assertEqual(job.code, 124)
        self.assertLess(job.seconds, PATIENCE)
        self.assert_one_line(job, "0.5 s")

    def test_keep_going_lets_survivors_end_by_themselves(self):
        job = run("-n", 3, "--keep-going", PEER, "exchange", "kill-rank", 1)
        self.assertEqual(job.code, 128 + 9)
        self.assert_one_line(job, "rank 1", "SIGKILL")
        job = run("-n", 3, "--keep-going", "sh", "-c",
                  "[ $PMI_RANK = 1 ] && kill -9 $$; sleep 1; echo done")
        self.assertEqual(job.out, "done\ndone\n")

    def test_nothing_is_left_behind(self):
        script = "touch /dev/shm/headway-$PMI_JOBID-$PMI_RANK; sleep 100 & echo $! $PMI_JOBID; "
        for end, code in (("exit 0", 0), ("kill -9 $$", 137)):
            job = run("-n", 2, "sh", "-c", script + end)
            self.assertEqual(job.code, code)
            for pid, name in (line.split() for line in job.out.splitlines()):
                self.assertEqual(glob.glob(f"/dev/shm/headway-{name}-*"), [])
                self.assertTrue(wait_until(lambda: not alive(pid)))

    def test_nothing_is_left_behind_in_the_folder_that_ranks_share(self):
        with tempfile.TemporaryDirectory() as folder:
            job = run("-n", 2, "-genv", "HEADWAY_SHM_DIR", folder, "sh", "-c",
                      "touch $HEADWAY_SHM_DIR/headway-$PMI_JOBID-$PMI_RANK")
            self.assertEqual(job.code, 0, job.err)
            self.assertEqual(os.listdir(folder), [])

    def test_nothing_is_left_behind_when_mpiexec_itself_is_killed(self):
        job = start("-n", 2, "sh", "-c", "touch /dev/shm/headway-$PMI_JOBID-$PMI_RANK; "
                    "sleep 100 & echo $! $$ $PMI_JOBID; wait")
        words = [job.stdout.readline().split() for _ in range(2)]
        job.kill()
        job.communicate()
        for child, rank, name in words:
            self.assertTrue(wait_until(lambda: not alive(child) and not alive(rank)))
            self.assertTrue(wait_until(lambda: not glob.glob(f"/dev/shm/headway-{name}-*")))


class Signals(unittest.TestCase):
    TRAP = ("trap 'echo {0} $PMI_RANK; exit 0' {0}; echo ready; "
            "while :; do sleep 0.05; done")

    def start_ready(self, script, ranks=2):
        job = start("-n", ranks, "sh", "-c", script)
        for _ in range(ranks):
            self.assertEqual(job.stdout.readline(), "ready\n")
        return job

    def test_go_to_every_rank(self):
        for name in ("INT", "TERM", "HUP", "QUIT", "USR1", "USR2"):
            job = self.start_ready(self.TRAP.format(name))
            job.send_signal(getattr(signal, "SIG" + name))
            out, err = job.communicate(timeout=20)
            self.assertEqual(sorted(out.split("\n")), ["", f"{name} 0", f"{name} 1"], name)
            self.assertEqual(job.returncode, 0, name)
            self.assertNotIn("mpiexec", err)  # the shell may say that its child was ended

    def test_end_ranks_that_do_not_handle_them_with_one_line(self):
        for number in (signal.SIGINT, signal.SIGTERM):
            job = self.start_ready("echo ready; sleep 30")
            job.send_signal(number)
            _, err = job.communicate(timeout=20)
            self.assertEqual(job.returncode, 128 + number)
            self.assertEqual(err.count("\n"), 1, err)
            self.assertIn(signal.Signals(number).name, err)

    def test_a_second_interrupt_kills(self):
        job = self.start_ready("trap '' INT; echo ready; sleep 30 & wait; sleep 30")
        job.send_signal(signal.SIGINT)
        time.sleep(0.3)
        self.assertIsNone(job.poll())
        job.send_signal(signal.SIGINT)
        job.communicate(timeout=10)
        self.assertEqual(job.returncode, 137)

    def test_stop_and_continue_the_whole_job(self):
        job = self.start_ready("echo ready; while :; do echo $$ > /dev/null; done", 1)
        with open(f"/proc/{job.pid}/task/{job.pid}/children", encoding="ascii") as file:
            everybody = file.read().split() + [str(job.pid)]
        job.send_signal(signal.SIGTSTP)
        self.assertTrue(wait_until(lambda: [state_of(p) for p in everybody].count("T") >= 2))
        job.send_signal(signal.SIGCONT)
        self.assertTrue(wait_until(lambda: "T" not in [state_of(p) for p in everybody]))
        job.send_signal(signal.SIGTERM)
        job.communicate(timeout=10)


@unittest.skipUnless(can_make_namespaces(), "network namespaces cannot be made here")
class RanksInNetworkNamespaces(unittest.TestCase):
    NAMES = (f"headway-{os.getpid()}-a", f"headway-{os.getpid()}-b")

    def setUp(self):
        for name in self.NAMES:
            subprocess.run(["ip", "netns", "add", name], check=True)

    def tearDown(self):
        for name in self.NAMES:
            subprocess.run(["ip", "netns", "del", name], check=True)

    def test_are_one_job_through_ip_netns_exec(self):
        enter = [["ip", "netns", "exec", name] for name in self.NAMES]
        job = run("-n", 1, *enter[0], PEER, "exchange", ":", "-n", 2, *enter[1], PEER, "exchange")
        self.assertEqual(job.code, 0, job.err)
        self.assertEqual(jobs.ranks_seen(job), [0, 1, 2])
        self.assertEqual(len(jobs.jobs_seen(job)), 1)


if __name__ == "__main__":
    unittest.main(verbosity=2)
