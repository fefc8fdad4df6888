"""The benchmarks of bench/mpi: compiled with each library's mpicc, run, and read back."""

import csv
import os
import pathlib
import signal
import subprocess
import tempfile
import threading
import time
from dataclasses import dataclass

SOURCES = pathlib.Path(__file__).resolve().parent.parent / "mpi"
SHARED = ("bench", "options", "table", "measure")
PARTS = {
    "hello": (),
    "cache_line": ("options", "table", "measure"),
    "mptcp": (*SHARED, "connection"),
    "nbc_work": (*SHARED, "sockets", "connection"),
    "one_sided": (*SHARED, "floors", "connection"),
}  # others take SHARED
FLAGS = ("-std=gnu11", "-O2", "-g", "-Wall", "-Wextra", "-pthread")


class RunError(Exception):
    pass


@dataclass(frozen=True)
class Metric:
    """What to compare of a benchmark's rows: `key` columns name a row, `value` is the figure.

    `also`: a column to print beside it, because the figure alone could mislead.
    """

    key: tuple
    value: str
    unit: str
    higher_is_better: bool = False
    also: str | None = None


# A slow transfer is easy to hide, so the transfer's own time is printed beside the ratio.
METRICS = {
    "pingpong": Metric(("bytes",), "median_us", "µs one way, median"),
    "overlap": Metric(("side", "bytes"), "ratio", "T(both)/max, 1 = all hidden",
                      also="comm_us"),
    "one_to_n": Metric(("threads",), "mean_us", "µs one way, mean"),
    "n_to_n": Metric(("threads",), "exchanges_per_s", "ping-pongs/s", True),
    "n_load": Metric(("threads",), "mean_us", "µs one way, mean"),
    "message_rate": Metric(("threads",), "million_per_s", "million messages/s", True),
    "matching": Metric(("case", "depth"), "median_ns", "ns a message, median"),
    "one_sided": Metric(("operation", "bytes", "computing"), "median_us",
                        "µs with its flush, median", also="p99_us"),
    "urgent": Metric(("priority", "bytes"), "small_us",
                     "µs for a small message and its answer behind others"),
    "contended_lock": Metric(("ranks",), "us_per_lock", "µs for one lock, of all ranks together",
                             also="slowest_share"),
    "target_load": Metric(("operation",), "slowed", "× the target's computation alone",
                          also="per_s"),
    "strided": Metric(("kind", "bytes"), "median_us", "µs one way by datatype, median",
                      also="by_hand_us"),
    # If ranks share a core, a call is short on some ranks and long on others, so rank 0's median is
    # not enough.
    "allreduce": Metric(("ranks", "bytes"), "mean_us", "µs, slowest rank's mean", also="median_us"),
    "collectives": Metric(("operation", "ranks", "bytes"), "median_us",
                          "µs on the slowest rank of each call, median"),
    "thread_collectives": Metric(("operation", "ranks", "threads", "bytes"), "mean_us",
                                 "µs, mean over the threads", also="slowest_us"),
    "neighbors": Metric(("ranks", "bytes"), "mean_us", "µs, slowest rank's mean", also="median_us"),
    "partitioned": Metric(("bytes",), "ratio", "end after the last partition / max(it, wire)",
                          also="tail_us"),
    "in_turns": Metric(("way", "bytes"), "ratio", "one way / as usual, median", also="median_us"),
    "files": Metric(("operation", "ranks", "bytes"), "median_us",
                    "µs on the slowest rank, median", also="mb_per_s"),
    "nbc_work": Metric(("bytes",), "overhead_us", "µs that the collective adds to the work"),
    "recv_cpu": Metric((), "processor_s", "processor s while blocked"),
    "hello": Metric((), "seconds", "s from start to end"),
}  # fmt: skip


def benchmarks():
    return sorted(METRICS)


def compile_benchmark(name, mpicc, environment, folder, links=()):
    """Returns the program's path; compiles it only if it is older than its sources.

    `name`: bench/mpi/NAME.c, or bench/FOLDER/NAME.c if it begins with a folder.
    """
    shared = [SOURCES / f"{part}.c" for part in PARTS.get(name, SHARED)]
    own = (SOURCES.parent if "/" in name else SOURCES) / f"{name}.c"
    program = folder / own.stem
    watched = [*SOURCES.iterdir(), *own.parent.iterdir(), pathlib.Path(mpicc)]
    newest = max(path.stat().st_mtime for path in watched)
    if program.exists() and program.stat().st_mtime >= newest:
        return program
    folder.mkdir(parents=True, exist_ok=True)
    command = [str(mpicc), *FLAGS, f"-I{SOURCES}", f"-I{SOURCES.parent}", str(own),
               *map(str, shared),
               "-o", str(program), *links, "-lm"]  # fmt: skip
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    if done.returncode:
        raise RunError(f"{' '.join(command)}\n{done.stderr.strip()}")
    return program


def end_group(process):
    """Ends the session that `process` leads, so that a launcher that hangs leaves no ranks."""
    for number, grace_s in ((signal.SIGTERM, 2), (signal.SIGKILL, 2)):
        try:
            os.killpg(process.pid, number)
            process.wait(grace_s)
        except (ProcessLookupError, subprocess.TimeoutExpired):
            pass


class Deadline:
    """Ends the session of `process` after `seconds`, unless the `with` block ends before."""

    def __init__(self, process, seconds):
        self.passed = False
        self.process = process
        self.timer = threading.Timer(seconds, self.expire)

    def expire(self):
        self.passed = True
        end_group(self.process)

    def __enter__(self):
        self.timer.start()
        return self

    def __exit__(self, *_):
        self.timer.cancel()


def run_command(command, environment, timeout_s):
    """Runs a command: (seconds, its output). Errors: RunError with the last lines of output."""
    start = time.monotonic()
    process = subprocess.Popen(
        command,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        start_new_session=True,
    )
    try:
        output, _ = process.communicate(timeout=timeout_s)
    except subprocess.TimeoutExpired:
        raise RunError(f"no end after {timeout_s} s") from None
    finally:
        if process.poll() is None:
            end_group(process)
    if process.returncode:
        lines = [line for line in output.splitlines() if line.strip()]
        raise RunError(f"exit code {process.returncode}: " + " / ".join(lines[-3:]))
    return time.monotonic() - start, output


def read_table(path):
    """The rows of a CSV file that a benchmark has written, {column: number or text}; without the
    columns that are empty."""
    with open(path, newline="", encoding="utf-8") as file:
        return [{name: plain(text) for name, text in row.items() if text}
                for row in csv.DictReader(file)]  # fmt: skip


def plain(text):
    try:
        number = float(text)
    except ValueError:
        return text
    return int(number) if number.is_integer() else number


def read_rows(benchmark, path):
    """{key: (value, also)} of such a file; a key is a tuple of columns."""
    metric = METRICS[benchmark]
    return {
        tuple(row[name] for name in metric.key): (row[metric.value], row.get(metric.also))
        for row in read_table(path)
    }


def run_benchmark(benchmark, program, arguments, contender, place, ranks, timeout_s):
    """One run: {key: (value, also)}."""
    library, environment = contender.library, contender.environment(place)
    with tempfile.TemporaryDirectory(prefix="headway-bench-") as folder:
        result = pathlib.Path(folder) / "result.csv"
        words = [str(program), *arguments]
        if benchmark != "hello":
            words += ["--csv", str(result)]
        command = library.launch(words, ranks, place)
        seconds, output = run_command(command, environment, timeout_s)
        if benchmark == "hello":
            return {(): (seconds, None)}
        if not result.exists():  # after --help, for instance
            raise RunError(f"it ended without a result:\n{output.rstrip()}")
        return read_rows(benchmark, result)


def probe_ns(program):
    """One-way time of a cache line between the first two cores; None if there is one core."""
    with tempfile.TemporaryDirectory(prefix="headway-bench-") as folder:
        result = pathlib.Path(folder) / "result.csv"
        try:
            run_command([str(program), "--csv", str(result)], None, 30)
        except RunError:
            return None
        return read_table(result)[0]["median_ns"]
