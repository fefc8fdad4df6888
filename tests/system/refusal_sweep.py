"""Refuses the system calls that Headway makes, one by one: each call site with each errno that the
manual page of the call names. Each time the job ends by itself, either well, with every value
right, or with a line that says why; it leaves nothing behind in shared memory.

    refusal_sweep.py BUILD                  as many as half a minute allows, by a printed seed
    refusal_sweep.py BUILD --whole          all, as in .ci/nightly: about ten minutes on two cores
    refusal_sweep.py BUILD --only TEXT      those whose description contains the text

A call site is a system call with the three innermost return addresses in the library, or in
mpiexec. What is called before these run, by the loader for one, does not count. From each site the
first call is refused with each errno, and the last one with the first errno; in one of the places
where the site is met, which the seed chooses. `refusing_tracer.cpp` refuses, `refusals.py` has the
errnos, `refusable.c` is the program."""

import argparse
import collections
import concurrent.futures
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time

import refusals
from jobs import BUILD, MPIEXEC, WHOLE, run, skip

TRACER = BUILD + "/bin/refusing_tracer"
PROGRAM = BUILD + "/bin/refusable"
LIBRARY = BUILD + "/lib/libmpi_abi.so.1"
LIMIT = 30  # seconds after which a job counts as waiting for ever
COUNTS = 2  # runs in which the call sites are collected
TRIES = 4  # of a refusal whose call site is not reached each time

# The deadlines of a job that has lost something.
DEADLINES = {"HEADWAY_TCP_CONNECT_MS": "3000", "HEADWAY_START_TIMEOUT": "8"}
WATCHED = {"HEADWAY_REPORT": "{}/report", "HEADWAY_TRACE": "{}/trace"}

Place = collections.namedtuple("Place", "name rails traced more options")
PLACES = [
    Place("shared memory, rank 0", "shm,tcp:lo", 0, {}, ()),
    Place("shared memory, rank 1", "shm,tcp:lo", 1, {}, ()),
    Place("tcp, rank 0", "tcp:lo", 0, {}, ()),
    Place("tcp, rank 1", "tcp:lo", 1, {}, ()),
    Place("watched, rank 0", "shm,tcp:lo", 0, WATCHED, ()),
    Place("mpiexec", "shm,tcp:lo", None, {}, ("-l",)),
]
Case = collections.namedtuple("Case", "place call site number error frames")
Outcome = collections.namedtuple("Outcome", "case kind text seconds")
Job = collections.namedtuple("Job", "code out err seconds")

NAMES = refusals.names()


class Folder:
    """A folder for all that one job writes, in memory as /dev/shm is."""

    def __enter__(self):
        self.path = tempfile.mkdtemp(prefix="refusal-", dir="/dev/shm")
        for name in ("shm", "user"):
            os.mkdir(f"{self.path}/{name}")
        return self

    def __exit__(self, *_):
        shutil.rmtree(self.path)

    def leftovers(self):
        return os.listdir(self.path + "/shm")

    def recorded(self):
        """Of each line of the record: call, second argument, site, functions outside, addresses."""
        if not os.path.exists(self.path + "/record"):
            return
        with open(self.path + "/record", encoding="ascii") as file:
            for line in file:
                call, second, site, outside, *frames = line.split()
                yield int(call), int(second, 16), site, int(outside), tuple(frames[:3])


def run_job(place, folder, refusal=""):
    """The job, with a record of its calls in the folder."""
    env = {name: value for name, value in os.environ.items() if not name.startswith("HEADWAY_")}
    env |= DEADLINES | {"HEADWAY_RAILS": place.rails, "HEADWAY_SHM_DIR": folder.path + "/shm",
                        "HOME": folder.path + "/user", "XDG_CACHE_HOME": folder.path + "/user"}
    env |= {name: value.format(folder.path) for name, value in place.more.items()}
    record = folder.path + "/record" + refusal
    mpiexec = [MPIEXEC, "--timeout", LIMIT, *place.options]
    if place.traced is None:
        command = [TRACER, "/bin/mpiexec", record, *mpiexec, "-n", 2, PROGRAM]
    else:
        ranks = [[PROGRAM], [PROGRAM]]
        ranks[place.traced] = [TRACER, "/libmpi_abi.so.1", record, PROGRAM]
        command = [*mpiexec, "-n", 1, *ranks[0], ":", "-n", 1, *ranks[1]]
    try:
        return run(command, limit=LIMIT + 10, env=env, errors="backslashreplace")
    except subprocess.TimeoutExpired as late:  # mpiexec itself
        return Job(124, "", f"mpiexec ran longer than {late.timeout} s\n", late.timeout)


def cases_of(place):
    """All that can be refused at this place."""
    calls = {}
    for _ in range(COUNTS):
        with Folder() as folder:
            job = run_job(place, folder)
            assert job.code == 0, job.err
            here = collections.Counter()
            for call, second, site, outside, frames in folder.recorded():
                if refusals.is_refusable(NAMES[call], second, outside):
                    here[call, site, frames] += 1
            calls |= here
    assert calls, "nothing can be refused"
    for (call, site, frames), number in calls.items():
        errors = refusals.errnos(NAMES[call])
        for error in errors:
            yield Case(place, call, site, 1, error, frames)
        if number > 1 and errors:
            yield Case(place, call, site, number, errors[0], frames)


def described(case):
    """For a reader: the place, the call, its errno, and where in the source it is."""
    program = MPIEXEC if case.place.traced is None else LIBRARY
    addresses = [f"{int(one, 16) - 1:x}" for one in case.frames]  # the call, not the return
    found = subprocess.run(["addr2line", "-e", program, *addresses], text=True, capture_output=True,
                           check=True).stdout  # fmt: skip
    lines = [re.sub(r".*/(src|tools)/|.*/include/|\s.*", "", line) for line in found.splitlines()]
    return (f"{case.place.name}: {NAMES[case.call]} {refusals.NAME_OF[case.error]}, "
            f"call {case.number} of {' < '.join(lines)}")  # fmt: skip


OWN_LINE = re.compile(r"^(?:headway|mpiexec|\d+: headway)\b.*", re.MULTILINE)


def kind_of(job, error, folder):
    """How the job ended; in capitals if it must not end so."""
    own = "\n".join(OWN_LINE.findall(job.err))
    if "ran longer" in job.err:
        return "HANG"
    if "killed by SIG" in job.err or "terminate called" in job.err or job.code < 0:
        return "KILLED"
    if "are wrong" in job.err or job.code == 3:
        return "WRONG"
    if folder.leftovers():
        return "LEFT BEHIND"
    if job.code == 0:
        return "right, with a line" if own else "right"
    lost = error in refusals.LOST and re.search(r"\b(gone|lost|hung up)\b", own)
    # A thread is not made because of EAGAIN, whatever the reason was; for want of room in memory
    # the line has numbers.
    named = re.search(r"cannot be made|where \d+ KiB are free", own)
    if os.strerror(error) in own or lost or named:
        return "a line"
    return "UNCLEAR"


def outcome(case):
    for _ in range(TRIES):
        with Folder() as folder:
            job = run_job(case.place, folder,
                          f"@{case.call}:{case.site}:{case.number}:{case.error}")  # fmt: skip
            if any(folder.recorded()):
                return Outcome(case, kind_of(job, case.error, folder), job.err, job.seconds)
    return Outcome(case, "not reached", "", 0)


def table(counts):
    """A line for each system call: how often each kind of end was met."""
    kinds = sorted({kind for _, kind in counts}, key=lambda kind: (kind.isupper(), kind))
    calls = sorted({call for call, _ in counts})
    print("system call           " + "".join(f"{kind:>20}" for kind in kinds))
    for call in [*calls, "all"]:
        sums = [sum(n for (at, k), n in counts.items() if k == kind and call in (at, "all"))
                for kind in kinds]  # fmt: skip
        print(f"{call:22}" + "".join(f"{number:20}" for number in sums))


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--whole", action="store_true")
    options.add_argument("--only", metavar="TEXT")
    options.add_argument("--seconds", type=float, default=30)
    options.add_argument("--seed", type=int, default=int(time.time()))
    options.add_argument("--at-once", type=int, default=2)
    given = options.parse_args()
    chance = random.Random(given.seed)
    tried = subprocess.run([TRACER, "/true", "/dev/null", "true"], capture_output=True, text=True,
                           check=False)  # fmt: skip
    if tried.returncode:
        skip(tried.stderr.strip())
    everywhere = [case for place in PLACES for case in cases_of(place)]
    chance.shuffle(everywhere)
    cases = list({(case.call, case.site, case.number > 1, case.error): case
                  for case in everywhere}.values())  # fmt: skip
    if given.only:
        cases = [case for case in cases if given.only in described(case)]
    chance.shuffle(cases)
    print(f"{len(cases)} refusals, seed {given.seed}", flush=True)
    end = time.monotonic() + given.seconds
    all_of_them = given.whole or given.only or WHOLE
    counts = collections.Counter()
    with concurrent.futures.ThreadPoolExecutor(given.at_once) as workers:
        for found in workers.map(
            lambda case: outcome(case) if all_of_them or time.monotonic() < end else None, cases
        ):
            if not found:
                continue
            counts[NAMES[found.case.call], found.kind] += 1
            if found.kind.isupper():
                print(f"{found.kind} after {found.seconds:.1f} s: {described(found.case)}\n  "
                      + "\n  ".join(found.text.splitlines()), flush=True)  # fmt: skip
    table(counts)
    return any(kind.isupper() for _, kind in counts)


if __name__ == "__main__":
    sys.exit(main())
