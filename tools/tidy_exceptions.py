"""The files that may break a rule of tidy.py, and the reason of each."""

# The files that may read the environment, and the reason.
GETENV_ALLOWED = {
    "src/base/tunable.cpp": "the one place where HEADWAY_… settings are read",
    "src/sampling/tunables.cpp": "XDG_CACHE_HOME, HOME: the desktop's variables",
    "src/base/misspelt_settings.cpp": "names that are nearly those of settings",
    "src/base/once_a_job.cpp": "PMI_JOBID, the launcher's variable",
    "src/launch/": "PMI_…, SLURM_…: the launcher's variables, not settings of ours",
    "tools/mpiexec/": "the environment that it hands to the programs that it starts",
}

# The files that make settings from the environment. All other files get settings as values.
COMPOSITIONS = (
    "src/runtime/settings.cpp",
    "src/c_api/shared_runtime/shared_runtime.cpp",
    "src/mpi/environment/library.cpp",
    "src/c_api/progress/library.cpp",
)

# What may ask for the machine's time (src/base/clock.hpp), and the reason. All other files of src/
# use the clock that they were given.
MACHINE_TIME_ALLOWED = {
    "src/base/clock.hpp": "defines it",
    "src/c_api/": "a program's time limits",
    "src/mpi/": "the program's time, and records for reports",
    "src/report/": "records for reports",
    "src/launch/": "waits in the kernel for launchers and other processes",
    "src/messages/arrivals.cpp": "records for reports",
    "src/messages/rendezvous.cpp": "records for reports",
    "src/packets/strategies/loaded.cpp": "`now_ns` of a loaded strategy",
    "src/progress/core/engine_core.cpp": "meters",
    "src/progress/core/meter.": "meters",
    "src/progress/core/queue.cpp": "meters",
    "src/progress/waiting/waiting_sleep.cpp": "observed sleeps",
    "src/progress/background/kernel_sleeper.cpp": "waits in the kernel",
    "src/progress/os/placement.cpp": "compared with times of the kernel",
    "src/base/copy_for_reader.cpp": "the speed of copies",
    "src/base/copy_cost.hpp": "the speed of copies",
    "src/collectives/node_memory.cpp": "the speed of copies",
    "src/rails/shm/transfer_table.cpp": "the speed of copies",
    "src/sampling/plausibility.cpp": "the speed of copies",
    "src/rails/shm/shm_driver.cpp": "spins until other processes of the machine have read",
    "src/rails/tcp/tcp_driver.cpp": "waits in the kernel until all is sent",
    "src/rails/tcp/link_reader.cpp": "spins",
    "src/endpoints/delivery/delivery.cpp": "spins",
    "src/windows/control_line.hpp": "spins for other processes of the machine",
    "src/windows/slot_client.cpp": "spins for other processes of the machine",
}
