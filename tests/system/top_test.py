#!/usr/bin/env python3
"""`headway top` on a terminal, which is tmux here, and where it has none.

The processes that it shows are `shown_rank`s, whose rates are known exactly. Other tests may run
beside this one, so that most cases name the processes.
"""

import json
import os
import pathlib
import pty
import re
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

import jobs

HEADWAY, RANK = jobs.BUILD + "/bin/headway", jobs.BUILD + "/bin/shown_rank"
LIMIT_S = 30  # that anything may take on a loaded machine

# The processes are P0, P1, … here. Two looks apart, `shown_rank` has these rates exactly.
SCREENS = {
    60: """\
 headway top: 2 jobs, 4 ranks                ? help  q quit
 JOB         RANKS    IN/s   OUT/s OVERLAP WAITING PROGRAM
   1             1 5.00 MB  500 kB    50 %    25 % a_tool_wi
   2        3 of 4 60.0 MB 6.00 MB    50 %    25 % heat

 JOB  RANK PROCESS    IN/s   OUT/s OVERLAP WAITING PROGRAM
   1     -      P3 5.00 MB  500 kB    50 %    25 % a_tool_wi
   2     0      P0 10.0 MB 1.00 MB    50 %    25 % heat
   2     1      P1 20.0 MB 2.00 MB    50 %    25 % heat
   2     2      P2 30.0 MB 3.00 MB    50 %    25 % heat

 1-4 of 4, by RANK""",
    80: """\
 headway top: 2 jobs, 4 ranks                                    ? help  q quit
 JOB         RANKS    IN/s   OUT/s OVERLAP WAITING PACKETS/s    TOTAL PROGRAM
   1             1 5.00 MB  500 kB    50 %    25 %    30.0 k  5.00 TB a_tool_wit
   2        3 of 4 60.0 MB 6.00 MB    50 %    25 %    90.0 k  15.0 TB heat

 JOB  RANK PROCESS    IN/s   OUT/s OVERLAP WAITING PACKETS/s    TOTAL PROGRAM
   1     -      P3 5.00 MB  500 kB    50 %    25 %    30.0 k  5.00 TB a_tool_wit
   2     0      P0 10.0 MB 1.00 MB    50 %    25 %    30.0 k  5.00 TB heat
   2     1      P1 20.0 MB 2.00 MB    50 %    25 %    30.0 k  5.00 TB heat
   2     2      P2 30.0 MB 3.00 MB    50 %    25 %    30.0 k  5.00 TB heat

 1-4 of 4, by RANK""",
    200: """\
 headway top: 2 jobs, 4 ranks                                                                  \
                                                                                          \
? help  q quit
 JOB         RANKS    IN/s   OUT/s OVERLAP WAITING PACKETS/s    TOTAL LIBRARY       AGE PROGRAM
   1             1 5.00 MB  500 kB    50 %    25 %    30.0 k  5.00 TB    10 %   1:02:03 \
a_tool_with_a_long_name
   2        3 of 4 60.0 MB 6.00 MB    50 %    25 %    90.0 k  15.0 TB    10 %   1:02:03 heat

 JOB  RANK PROCESS    IN/s   OUT/s OVERLAP WAITING PACKETS/s    TOTAL LIBRARY       AGE PROGRAM
   1     -      P3 5.00 MB  500 kB    50 %    25 %    30.0 k  5.00 TB    10 %   1:02:03 \
a_tool_with_a_long_name
   2     0      P0 10.0 MB 1.00 MB    50 %    25 %    30.0 k  5.00 TB    10 %   1:02:03 heat
   2     1      P1 20.0 MB 2.00 MB    50 %    25 %    30.0 k  5.00 TB    10 %   1:02:03 heat
   2     2      P2 30.0 MB 3.00 MB    50 %    25 %    30.0 k  5.00 TB    10 %   1:02:03 heat

 1-4 of 4, by RANK""",
}


def until(condition, what):
    """What `condition` returns as soon as that is true; `what()` says what is there instead."""
    end = time.monotonic() + LIMIT_S
    while time.monotonic() < end:
        found = condition()
        if found:
            return found
        time.sleep(0.05)
    raise AssertionError(what())


class Ranks(unittest.TestCase):
    """Starts and ends the processes to be shown."""

    def setUp(self):
        self.started = []
        self.addCleanup(self.end_all)

    def start(self, job, rank, size, program, megabytes):
        command = [RANK, job, *map(str, (rank, size)), program, str(megabytes)]
        process = subprocess.Popen(command, stdout=subprocess.PIPE)
        self.started.append(process)
        self.assertEqual(process.stdout.readline(), b"shown\n")
        return process

    def start_job(self, ranks, job="heat.1", program="heat"):
        return [self.start(job, rank, ranks + 1, program, 10 * rank + 10) for rank in range(ranks)]

    def end_all(self):
        for process in self.started:
            process.kill()
            process.wait()
            process.stdout.close()

    def pids(self):
        return [str(process.pid) for process in self.started]


class Terminal:
    """`headway top` in a terminal of its own."""

    def __init__(self, case, *words, width=80, height=12, term="tmux-256color"):
        folder = tempfile.TemporaryDirectory()
        case.addCleanup(folder.cleanup)
        self.socket = folder.name + "/tmux"
        self.known = case.pids()
        settings = folder.name + "/settings"
        pathlib.Path(settings).write_text("set -g status off\n"
                                          f"set -g default-terminal {term}\n", encoding="ascii")
        # tmux 3.3 itself does not always say with which status a program has ended.
        then = 'trap : INT; "$@"; echo "ended with $?"; exec sleep 1000'
        self.tmux("-f", settings, "new-session", "-d", "-x", str(width), "-y", str(height),
                  "sh", "-c", then, "sh", HEADWAY, "top", "--period", "0.2", *words)
        case.addCleanup(self.tmux, "kill-server")

    def tmux(self, *words):
        done = subprocess.run(["tmux", "-u", "-S", self.socket, *words], capture_output=True,
                              check=True, timeout=LIMIT_S, env=os.environ | {"LC_ALL": "C.UTF-8"})
        return done.stdout.decode()

    def press(self, *keys):
        self.tmux("send-keys", *keys)

    def resize(self, width, height=12):
        self.tmux("resize-window", "-x", str(width), "-y", str(height))

    def text(self, *options):
        """The screen; the numbers of processes are P0, P1, … of the same width."""
        screen = self.tmux("capture-pane", "-p", *options).rstrip("\n")
        for i, pid in enumerate(self.known):
            screen = re.sub(rf"\b{pid}\b", f"P{i}".rjust(len(pid)), screen)
        return "\n".join(line.rstrip() for line in screen.splitlines())

    def column(self, name="PROCESS"):
        """What the table of ranks has in this column, from top to bottom."""
        lines = self.text().splitlines()
        heads = [i for i, line in enumerate(lines) if " RANK " in line]
        if not heads or name not in lines[heads[0]]:
            return []
        end = lines[heads[0]].index(name) + len(name)
        return [line[:end].rsplit(maxsplit=1)[-1] for line in lines[heads[0] + 1:] if line[:end]
                and not re.match(r" \d+-\d+ of", line)]  # fmt: skip

    def wait_for(self, *pieces):
        return until(lambda: all(piece in self.text() for piece in pieces) and self.text(),
                     lambda: f"{pieces} in:\n{self.text()}")

    def wait_for_column(self, wanted, name="PROCESS"):
        until(lambda: self.column(name) == wanted, lambda: f"{wanted} in:\n{self.text()}")

    def status(self):
        """The exit status of `headway top`, once it has ended."""
        ended = until(lambda: re.search(r"^ended with (\d+)$", self.text(), re.M),
                      lambda: "runs: " + self.text())
        return int(ended[1])


class Screen(Ranks):
    def test_shows_jobs_first_and_what_fits_at_any_width(self):
        self.start_job(3)
        self.start("none", 0, 0, "a_tool_with_a_long_name", 5)
        terminal = Terminal(self, *self.pids(), width=60)
        for width in (60, 80, 200, 60):  # also when the terminal's size changes
            terminal.resize(width)
            until(lambda: terminal.text() == SCREENS[width],
                  lambda: f"at {width}:\n{terminal.text()}\nwanted:\n{SCREENS[width]}")

    def test_cuts_lines_where_there_are_less_than_60_columns(self):
        self.start_job(3)
        terminal = Terminal(self, *self.pids(), width=35, height=4)
        text = terminal.wait_for("headway top: 1 job,", "JOB")
        self.assertTrue(all(len(line) <= 35 for line in text.splitlines()), text)
        terminal.resize(1, 1)
        terminal.resize(60, 12)
        terminal.wait_for("1-3 of 3")

    def test_leaves_by_q_and_by_an_interrupt(self):
        self.start_job(1)
        for key in ("q", "C-c"):
            terminal = Terminal(self, *self.pids())
            terminal.wait_for("1-1 of 1")
            terminal.press(key)
            self.assertEqual(terminal.status(), 0)

    def test_explains_itself(self):
        self.start_job(1)
        terminal = Terminal(self, *self.pids(), width=60, height=30)
        terminal.wait_for("1-1 of 1")
        terminal.press("?")
        text = terminal.wait_for("sort by another column", "OVERLAP ", "AGE ", "; q goes back")
        self.assertLessEqual(max(map(len, text.splitlines())), 60)
        terminal.press("q")
        terminal.wait_for("1-1 of 1")

    def test_scrolls_ranks(self):
        self.start_job(20)
        terminal = Terminal(self, *self.pids(), height=12)  # six of ranks
        steps = (((), "1-6 of 20"), (["Down"] * 6, "2-7 of 20"), (["Up"] * 6, "1-6 of 20"),
                 (["PPage"], "1-6 of 20"), (["NPage"], "2-7 of 20"), (["End"], "15-20 of 20"),
                 (["Down"], "15-20 of 20"), (["Home"], "1-6 of 20"))  # fmt: skip
        for keys, foot in steps:
            terminal.press(*keys, "") if keys else None
            terminal.wait_for(f" {foot}, by RANK")
        terminal.wait_for_column([str(i) for i in range(6)], "RANK")

    def test_sorts_by_the_column_that_arrows_choose(self):
        self.start_job(3)
        terminal = Terminal(self, *self.pids())
        terminal.wait_for("10.0 MB", "20.0 MB", "30.0 MB")
        terminal.press("Right", "Right")
        terminal.wait_for("by IN/s")
        terminal.wait_for_column(["P2", "P1", "P0"])
        terminal.press("r")
        terminal.wait_for("by IN/s, reversed")
        terminal.wait_for_column(["P0", "P1", "P2"])
        terminal.press("Left", "r")
        terminal.wait_for("by PROCESS, reversed")
        wanted = sorted(range(3), key=lambda i: int(self.pids()[i]), reverse=True)
        terminal.wait_for_column([f"P{i}" for i in wanted])

    def test_opens_all_counters_of_a_rank(self):
        self.start_job(3)
        terminal = Terminal(self, *self.pids(), width=60, height=20)
        terminal.wait_for("1-3 of 3")
        terminal.press("Down", "Enter")
        text = terminal.wait_for("rank 1 of 4, heat (process ", "job heat.1\n", "rail shm",
                                 "bytes in", "point event", "busy")
        self.assertLessEqual(max(map(len, text.splitlines())), 60)
        terminal.press("q")
        terminal.wait_for("1-3 of 3")

    def test_shows_ranks_that_come_and_forgets_those_that_go(self):
        name = f"t{os.getpid()}"
        terminal = Terminal(self, width=200, height=200)  # of all processes
        terminal.wait_for("headway top: ")
        first = self.start("come.1", 0, 2, name, 10)
        terminal.wait_for(f" {first.pid} ", name)
        second = self.start("come.1", 1, 2, name, 20)
        terminal.wait_for(f" {second.pid} ", "30.0 MB")
        second.kill()
        until(lambda: f" {second.pid} " not in terminal.text(), terminal.text)
        terminal.wait_for(f" {first.pid} ")
        first.kill()
        until(lambda: name not in terminal.text(), terminal.text)
        terminal.wait_for("headway top: ")  # it goes on

    def test_ends_with_the_last_of_the_processes_that_are_named(self):
        first, second = self.start_job(2)
        terminal = Terminal(self, *self.pids())
        terminal.wait_for("1-2 of 2")
        first.kill()
        first.wait()
        terminal.wait_for("1-1 of 1", "by RANK; process ", ": No such file")
        second.kill()
        self.assertEqual(terminal.status(), 0)

    def test_has_colours_where_the_terminal_has_them(self):
        self.start_job(1)
        for term, coloured in (("tmux-256color", True), ("vt100", False)):
            terminal = Terminal(self, *self.pids(), term=term)
            terminal.wait_for("1-1 of 1")
            codes = re.findall(r"\x1b\[[\d;]*m", terminal.text("-e"))
            self.assertTrue(codes, term)  # at least bold or reversed
            found = any(re.search(r"[\[;][34][0-7][;m]", code) for code in codes)
            self.assertEqual(found, coloured)

    def test_says_when_a_terminal_cannot_show_a_screen(self):
        self.start_job(1)
        terminal = Terminal(self, *self.pids(), term="dumb")
        self.assertEqual(terminal.status(), 1)
        self.assertIn("cannot show a screen; --once", terminal.text())


class Foreign(Ranks):
    def test_text_gives_the_terminal_no_commands(self):
        self.start("\x1b]0;evil\x07", 0, 1, "\x1b]0;evil\x07\x9b2J\nx", 1)
        for keys in ("", "\r"):  # the ranks, and the counters of one
            shown = self.shown_on_terminal(keys)
            self.assertIn(b" ?]0;evil??" if not keys else b"job ?]0;evil?", shown)
            self.assertNotIn(b"\x1b]", shown)
            self.assertNotIn(b"\x07", shown)
            self.assertNotIn(b"\x9b", shown)

    def shown_on_terminal(self, keys):
        """All bytes that `headway top` writes to a terminal until it is ended."""
        process, terminal = pty.fork()
        if process == 0:
            os.environ["TERM"] = "linux"
            os.execv(HEADWAY, [HEADWAY, "top", "--period", "0.2", *self.pids()])
        shown = os.read(terminal, 4096)
        os.write(terminal, keys.encode())
        end = time.monotonic() + 2
        while time.monotonic() < end:
            shown += os.read(terminal, 65536) if self.readable(terminal) else b""
        os.kill(process, signal.SIGTERM)
        while True:
            try:
                more = os.read(terminal, 65536)
            except OSError:  # EIO: the other side is closed
                break
            if not more:
                break
            shown += more
        self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]), 0)
        os.close(terminal)
        return shown

    @staticmethod
    def readable(descriptor):
        return bool(select.select([descriptor], [], [], 0.1)[0])


class NoTerminal(Ranks):
    def top(self, *words, **options):
        return subprocess.Popen([HEADWAY, "top", "--period", "0.2", *words],
                                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, text=True, **options)

    def test_gives_a_line_of_json_for_each_process_again_and_again(self):
        self.start_job(2)
        with self.top(*self.pids()) as top:
            found = [json.loads(top.stdout.readline()) for _ in range(6)]
            self.assertEqual([one["rank"] for one in found], [0, 1] * 3)
            self.assertGreater(found[4]["age_ns"], found[0]["age_ns"])
            for process in self.started:
                process.kill()
            rest = top.stdout.read()
            self.assertEqual(top.wait(timeout=LIMIT_S), 0)
            for line in rest.splitlines():
                json.loads(line)

    def test_ends_when_its_reader_does(self):
        self.start_job(1)
        with self.top(*self.pids()) as top:
            top.stdout.readline()
            top.stdout.close()
            self.assertEqual(top.wait(timeout=LIMIT_S), -signal.SIGPIPE)

    def test_says_when_there_is_nothing_to_show(self):
        with self.top(str(os.getpid())) as top:
            self.assertEqual(top.wait(timeout=LIMIT_S), 1)
            self.assertEqual(top.stdout.read(), "")
            self.assertIn("shows no statistics", top.stderr.read())


if __name__ == "__main__":
    if not shutil.which("tmux"):
        jobs.skip("tmux is not installed")
    unittest.main(verbosity=2)
