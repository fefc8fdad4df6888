"""Runs an experiment: every run once a round, in turns, ours and the peers', with the probe."""

import contextlib
import functools
import json
import os
import pathlib
import subprocess
import tempfile
from dataclasses import dataclass

from side_by_side import libraries, network, programs, rounds, runs

from . import npb
from .model import OWN, Result, Run

NOT_UNDERSTOOD = "is not understood"  # printed by our library for a value that it then ignores


AS_ORDINARY_USER = ("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups",
                    "--bounding-set=-all", "--inh-caps=-all")  # fmt: skip


@dataclass(frozen=True)
class Job:
    """One run with one library."""

    run: Run
    contender: libraries.Contender
    place: network.Place
    program: pathlib.Path

    @property
    def own(self):
        return self.contender.own

    @property
    def is_npb(self):
        return self.run.program.startswith(npb.PREFIX)

    @property
    def series(self):
        return series_of(self.run, self.contender)

    @property
    def label(self):
        return label_of(self.series, self.run)

    def environment(self):
        return self.contender.environment(self.place) | (self.run.environment if self.own else {})

    def rows(self):
        """The rows of one start. Errors: programs.RunError."""
        with tempfile.TemporaryDirectory(prefix="headway-bench-") as folder:
            result = pathlib.Path(folder) / "result.csv"
            words = [str(self.program), *self.run.arguments]
            words += [] if self.is_npb else ["--csv", str(result)]
            if self.run.ranks:
                words = self.contender.library.launch(words, self.run.ranks, self.place)
            if self.run.ordinary and os.geteuid() == 0:
                os.chmod(folder, 0o777)  # for the result
                words = [*AS_ORDINARY_USER, *words]
            output = programs.run_command(words, self.environment(), self.run.timeout_s)[1]
            warning = next((line for line in output.splitlines() if NOT_UNDERSTOOD in line), None)
            if self.own and warning:
                raise programs.RunError(warning)
            if self.is_npb:
                rows = npb.rows(output)
            else:
                rows = programs.read_table(result)
        return [row | self.run.tags for row in rows]

    def run_first(self):
        """Runs the command `first` of the run. Errors: programs.RunError."""
        library = self.contender.library
        words = [str(library.root / "bin/headway"), *self.run.first]
        words = library.launch(words, self.run.ranks, self.place)
        programs.run_command(words, self.environment(), self.run.timeout_s)


def series_of(run, contender):
    if contender.own:
        return run.series or OWN
    return " ".join(filter(None, (contender.label, run.series)))


def label_of(series, run):
    """The series and the tags, which distinguish the runs of an experiment."""
    return " ".join([series, *(f"{name}={value}" for name, value in run.tags.items())])


def contenders_of(run, contenders, place):
    """Those that make the run: ours at its defaults, because a run has its own settings, and each
    peer with each setting that suits the benchmark."""
    for contender in contenders:
        if contender.own:
            if not contender.setting.name:
                yield contender
        elif run.peers and contender.setting.serves(run.name, place):
            yield contender


def program_of(run, contender, place, folder):
    """The path of the run's program, compiled if necessary. Errors: programs.RunError."""
    library = contender.library
    if run.program.startswith("built:"):
        built = library.root / "bench" / run.program.removeprefix("built:")
        if not built.exists():
            raise programs.RunError(f"needs {built}: run it from a build folder's bin/headway")
        return built
    if run.program.startswith(npb.PREFIX):
        return npb.build(run, library, contender.environment(place), library.programs(folder))
    return programs.compile_benchmark(
        run.program, library.mpicc, contender.environment(place), library.programs(folder),
        run.links,
    )  # fmt: skip


def unknown_setting(run, tunables):
    """A setting of the run that this build lacks, without which the result would be wrong."""
    return next((name for name in run.environment if name not in tunables), None)


def own_tunables(contenders):
    """The names of all settings of our library, from its `headway info`."""
    root = next(c.library.root for c in contenders if c.own)
    done = subprocess.run([root / "bin/headway", "info", "--json"], capture_output=True, timeout=60)
    return {tunable["name"] for tunable in json.loads(done.stdout)["tunables"]}


def prepare(wanted, contenders, places, folder, result):
    """The jobs of a round. Runs that cannot be compiled are in result.failed."""
    jobs = []
    tunables = own_tunables(contenders)
    for run in wanted:
        unknown = unknown_setting(run, tunables)
        if unknown:
            result.failed[label_of(run.series or OWN, run)] = f"this build has no setting {unknown}"
            continue
        place = places[run.net, run.rate]
        for contender in contenders_of(run, contenders, place):
            try:
                program = program_of(run, contender, place, folder)
            except programs.RunError as fault:
                result.failed[label_of(series_of(run, contender), run)] = str(fault)
                continue
            job = Job(run, contender, place, program)
            try:
                if run.first and job.own:
                    job.run_first()
            except programs.RunError as fault:
                result.failed[job.label] = str(fault)
            jobs.append(job)
    return jobs


def one_job(job, number, result, probe):
    """`probe()`: the time of a cache line now. The rows keep how far apart the cores were."""
    before_ns = probe()
    try:
        rows = job.rows()
        result.add(job.series, number, rows, job.own, runs.distance([before_ns, probe()]))
    except programs.RunError as fault:
        result.failed[job.label] = str(fault)


def probe_program(folder):
    try:
        return programs.compile_benchmark(
            "cache_line", rounds.compiler_of_system(), None, folder / "programs"
        )
    except programs.RunError:
        return None  # the probe only accompanies the figures, which are then shown without it


def probe_ns(program, result):
    """The time of a cache line between the cores, which `result` keeps; None without a probe."""
    nanoseconds = programs.probe_ns(program) if program else None
    result.probes_ns += [] if nanoseconds is None else [nanoseconds]
    return nanoseconds


def run_experiment(experiment, scene, contenders, folder, count):
    """`count` rounds of it. `folder`: where compiled programs go."""
    result = Result(experiment, count)
    wanted = list(experiment.runs(scene))
    with contextlib.ExitStack() as stack:
        places = {}
        for key in dict.fromkeys((run.net, run.rate) for run in wanted):
            case = rounds.Case("", net=key[0], rate=key[1])
            places[key] = stack.enter_context(rounds.place_of(case))
        result.places = [place.name for place in places.values()]
        jobs = prepare(wanted, contenders, places, folder, result)
        probe = functools.partial(probe_ns, probe_program(folder), result)
        for number in range(count):
            turn = number * len(jobs) // count
            for index, job in enumerate(jobs[turn:] + jobs[:turn], 1):
                turn_name = f"{experiment.name} round {number + 1}/{count}, {index}/{len(jobs)}"
                rounds.show_status(f"{turn_name}: {job.label} …")
                if job.label not in result.failed:
                    one_job(job, number, result, probe)
        rounds.show_status("")
    return result

