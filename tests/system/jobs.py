"""What the system tests of launching share: where things are, and a job that was run."""

import os
import subprocess
import sys
import time

BUILD = os.path.abspath(sys.argv.pop(1))
MPIEXEC = BUILD + "/bin/mpiexec"
WHOLE = "HEADWAY_TEST_WHOLE" in os.environ  # as in tests/length.hpp
PEER = BUILD + "/bin/launch_peer"


def skip(reason):
    """Ends the whole test: CTest shows it as skipped, and this line says why."""
    print("SKIPPED:", reason)
    sys.exit(77)


def uses_pmix():
    """Whether the build has PMIx, as CMake found it."""
    with open(BUILD + "/CMakeCache.txt", encoding="utf-8") as cache:
        return "pmix_FOUND:INTERNAL=1\n" in cache


def install_wheel(name, version, program, *others):
    """Installs a wheel of PyPI, with others, in a folder of the build, once. That folder, which has
    bin/PROGRAM then; ends the whole test as skipped where it cannot be had."""
    folder = f"{BUILD}/peers/{name}-{version}"
    if not os.path.exists(f"{folder}/bin/{program}"):
        subprocess.run([sys.executable, "-m", "venv", folder], check=True)
        done = subprocess.run([folder + "/bin/pip", "install", "--quiet", f"{name}=={version}",
                               *others], capture_output=True, text=True, timeout=200, check=False)
        if done.returncode:
            last_line = done.stderr.strip().splitlines()[-1]
            skip(f"{name} {version} from PyPI cannot be had here: {last_line}")
    return folder


def start(command, **options):
    options.setdefault("stdin", subprocess.DEVNULL)
    return subprocess.Popen([str(word) for word in command], stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, text=True, **options)


def run(command, limit=60, text_in=None, **options):
    """The finished job: .code, .out, .err, .seconds."""
    if text_in is not None:
        options["stdin"] = subprocess.PIPE
    begin = time.monotonic()
    job = start(command, **options)
    try:
        job.out, job.err = job.communicate(text_in, timeout=limit)
    finally:
        if job.poll() is None:
            job.kill()
    job.seconds = time.monotonic() - begin
    job.code = job.returncode
    return job


def wait_until(condition, limit=20):
    end = time.monotonic() + limit
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(0.01)
    return False


def state_of(pid):
    """The kernel's letter for the state of a process; "X" if there is none."""
    try:
        with open(f"/proc/{pid}/stat", encoding="ascii") as file:
            return file.read().rsplit(")", 1)[1].split()[0]
    except OSError:
        return "X"


def ranks_seen(job):
    """The ranks that reported an exchange in which every value was right."""
    lines = [line for line in job.out.splitlines() if line.endswith("wrong 0")]
    return sorted(int(line.split()[line.split().index("rank") + 1]) for line in lines)


def check_exchange(test, job, ranks, launcher):
    """All ranks found each other through this launcher, as one job and with few look-ups."""
    test.assertEqual(job.code, 0, job.err)
    test.assertEqual(ranks_seen(job), list(range(ranks)))
    test.assertEqual(len(jobs_seen(job)), 1)
    test.assertEqual(job.out.count("launcher " + launcher), ranks)
    test.assertLessEqual(look_ups(job), 2 * ranks, job.out + job.err)


def jobs_seen(job):
    """Names and secrets of the jobs that the ranks found themselves in."""
    return {line.split(" job ")[1] for line in job.out.splitlines() if " job " in line}


def look_ups(job):
    """How many values all ranks together asked the launcher for."""
    lines = [line.split() for line in job.out.splitlines() if " look-ups " in line]
    return sum(int(words[words.index("look-ups") + 1]) for words in lines)
