"""Shared by E19 and E20: the non-blocking allreduce, each kind of progression, two scenes."""

from .model import Panel, Run

SIZES = ("8", "1K", "16K", "256K", "1M", "4M", "16M")
MODES = {
    "manual": {"HEADWAY_PROGRESS": "off"},
    "polling threads": {"HEADWAY_PROGRESS": "idle"},
    "events": {"HEADWAY_PROGRESS": "event"},
    "events, real-time": {"HEADWAY_PROGRESS": "event", "HEADWAY_EVENT_CLASS": "fifo"},
    "auto": {"HEADWAY_PROGRESS": "auto"},
}
SOCKETS = "bare sockets"
BARE = {SOCKETS: {"HEADWAY_PROGRESS": "off"}}  # the measured part uses no library
MINUTES = 11  # 22 runs a round; at 1 Gbit/s each spends 5 s on 16 MB alone
WORDS = {"manual": ("--tests", "20"), SOCKETS: ("--sockets",)}  # tests within the computation
SHARED_MEMORY = "shared memory"
NETS = {SHARED_MEMORY: ("shm", None), "TCP at 1 Gbit/s": ("tcp", "1gbit")}
SCENES = {"both cores compute": "0", "one core spare": "1"}


def runs(scene, *extra):
    for net, (kind, rate) in NETS.items():
        sizes = ",".join(scene.few(SIZES[:-1] if kind == "shm" else SIZES, 3))
        modes = MODES | BARE if kind == "tcp" else MODES
        for cores, computing in SCENES.items():
            for mode, environment in modes.items():
                words = ("--pin", "--sizes", sizes, "--factor", "1", "--computing", computing,
                         "--seconds", str(scene.seconds / 2), *WORDS.get(mode, ()),
                         *extra)  # fmt: skip
                yield Run("nbc_work", words, mode, {"net": net, "cores": cores}, environment,
                          net=kind, rate=rate, peers=mode == "auto")  # fmt: skip


def panels(column, unit, title, **more):
    return tuple(
        Panel(f"{title}: {net}, {cores}", "bytes", {column: column}, unit, "vector",
              where={"net": net, "cores": cores}, log_x=True, bytes_x=True, **more)
        for net in NETS for cores in SCENES
    )  # fmt: skip
