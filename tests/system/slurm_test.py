#!/usr/bin/env python3
"""Our ranks under `srun --mpi=pmi2` and `--mpi=pmix`, on a Slurm cluster of four nodes that lives
for this test. All nodes are daemons on this machine.

Needs root and the packages slurmd, slurmctld, slurm-client and munge; skipped where they are not.
"""

import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
import unittest

import jobs
from jobs import BUILD, MPIEXEC, PEER, run, skip, wait_until

MPI_PROGRAM = BUILD + "/bin/mpi_communicators"
WITH_PMIX = jobs.uses_pmix()
NO_PMIX = "this build has no PMIx: libpmix-dev is missing"
TOOLS = ("munged", "slurmctld", "slurmd", "srun")

CONF = """
ClusterName=headway
SlurmUser=root
SlurmctldHost={host}
SlurmctldPort={ports[0]}
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
CredType=cred/munge
ProctrackType=proctrack/pgid
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SwitchType=switch/none
MpiDefault=none
ReturnToService=2
SchedulerType=sched/builtin
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool.%n
TmpFS={folder}/tmp.%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.%n.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.%n.log
{nodes}
PartitionName=p Nodes=ALL Default=YES State=UP OverSubscribe=FORCE:8
"""


NODE = ("NodeName={name} NodeHostname={host} NodeAddr=127.0.0.1 Port={port} CPUs={cpus} "
        "State=UNKNOWN")
NODES = ["n1", "n2", "n3", "n4"]


def free_ports(count):
    sockets = [socket.socket() for _ in range(count)]
    for one in sockets:
        one.bind(("127.0.0.1", 0))
    ports = [one.getsockname()[1] for one in sockets]
    for one in sockets:
        one.close()
    return ports


class Cluster:
    """munged, slurmctld and slurmd with everything they write in a folder of their own."""

    def __init__(self):
        self.folder = tempfile.mkdtemp(prefix="headway-slurm-")
        self.daemons = []
        os.chmod(self.folder, 0o755)
        for name in ("state", *(kind + node for node in NODES for kind in ("spool.", "tmp."))):
            os.mkdir(f"{self.folder}/{name}")
        host, (control, *ports) = socket.gethostname(), free_ports(1 + len(NODES))
        nodes = [NODE.format(name=name, host=host, port=port, cpus=os.cpu_count())
                 for name, port in zip(NODES, ports)]
        conf = CONF.format(host=host, ports=[control], folder=self.folder, nodes="\n".join(nodes))
        self.conf = self.folder + "/slurm.conf"
        with open(self.conf, "w", encoding="ascii") as file:
            file.write(conf)
        self.environment = {**os.environ, "SLURM_CONF": self.conf}

    def start(self):
        """None, or why the cluster did not come up."""
        key, wire = self.folder + "/munge.key", self.folder + "/munge.socket"
        with open(key, "wb") as file:
            file.write(os.urandom(128))
        os.chmod(key, 0o600)
        files = [f"--{what}-file={self.folder}/munge.{what}" for what in ("key", "pid", "log",
                                                                          "seed")]
        self.daemon(["munged", "--foreground", "--force", "--num-threads=2", "--socket=" + wire,
                     *files])
        if not wait_until(lambda: os.path.exists(wire), 10):
            return "munged did not start"
        self.daemon(["slurmctld", "-D", "-f", self.conf])
        for node in NODES:
            self.daemon(["slurmd", "-D", "-N", node, "-f", self.conf], node)
        return None if wait_until(self.idle, 30) else "slurmd did not report to slurmctld"

    def daemon(self, command, name=""):
        with open(f"{self.folder}/{command[0]}{name}.out", "wb") as out:
            self.daemons.append(subprocess.Popen(command, stdout=out, stderr=out,
                                                 env=self.environment, start_new_session=True))

    def idle(self):
        time.sleep(0.2)
        said = run(["sinfo", "-h", "-o", "%T %D"], env=self.environment)
        return said.out.strip() == f"idle {len(NODES)}"

    def stop(self):
        for daemon in reversed(self.daemons):
            daemon.send_signal(signal.SIGTERM)
            try:
                daemon.wait(10)
            except subprocess.TimeoutExpired:
                daemon.kill()
                daemon.wait()
        shutil.rmtree(self.folder, ignore_errors=True)


class UnderSrun(unittest.TestCase):
    def srun(self, *words):
        return run(["srun", "--overcommit", "--mem=0", *words], env=CLUSTER.environment, limit=40)

    def check(self, job, launcher, ranks):
        self.assertEqual(job.code, 0, job.err)
        self.assertEqual(jobs.ranks_seen(job), list(range(ranks)))
        self.assertEqual(len(jobs.jobs_seen(job)), 1)
        self.assertEqual(job.out.count("launcher " + launcher), ranks)

    def test_ranks_find_each_other_through_pmi2(self):
        self.check(self.srun("--mpi=pmi2", "-N", 1, "-n", 4, PEER, "big", 5000), "pmi-1", 4)

    def test_ranks_on_four_nodes_find_each_other_through_pmi2(self):
        self.check(self.srun("--mpi=pmi2", "-N", 4, "-n", 8, PEER, "exchange"), "pmi-1", 8)

    @unittest.skipUnless(WITH_PMIX, NO_PMIX)
    def test_ranks_find_each_other_through_pmix(self):
        job = self.srun("--mpi=pmix", "-N", 1, "-n", 4, PEER, "big", 5000)
        self.check(job, "pmix", 4)
        self.assertLessEqual(jobs.look_ups(job), 2 * 4)

    @unittest.skipUnless(WITH_PMIX, NO_PMIX)
    def test_ranks_on_four_nodes_find_each_other_through_pmix(self):
        self.check(self.srun("--mpi=pmix", "-N", 4, "-n", 8, PEER, "exchange"), "pmix", 8)

    @unittest.skipUnless(WITH_PMIX, NO_PMIX)
    def test_an_abort_ends_a_pmix_step(self):
        job = self.srun("--mpi=pmix", "-N", 2, "-n", 2, PEER, "exchange", "abort", 7, "sleep", 30)
        self.assertNotEqual(job.code, 0)
        self.assertLess(job.seconds, 25)

    @unittest.skipUnless(WITH_PMIX, NO_PMIX)
    @unittest.skipUnless(os.path.exists(MPI_PROGRAM), MPI_PROGRAM + " is not built")
    def test_mpi_programs_run_on_four_nodes(self):
        job = self.srun("--mpi=pmix", "-N", 4, "-n", 4, MPI_PROGRAM)
        self.assertEqual(job.code, 0, job.out + job.err)

    def test_without_mpi_support_each_rank_is_alone_and_says_so(self):
        job = self.srun("--mpi=none", "-N", 1, "-n", 2, PEER, "exchange")
        self.assertEqual(job.code, 0, job.err)
        self.assertEqual(jobs.ranks_seen(job), [0, 0])
        self.assertEqual(job.err.count("Slurm's srun"), 2)

    def test_an_abort_ends_the_step(self):
        job = self.srun("--mpi=pmi2", "-n", 2, PEER, "exchange", "abort", 7, "sleep", 30)
        self.assertNotEqual(job.code, 0)
        self.assertLess(job.seconds, 25)

    def test_our_mpiexec_works_inside_a_step(self):
        job = self.srun("--mpi=pmi2", "-N", 1, "-n", 1, MPIEXEC, "-n", 3, PEER, "exchange")
        self.assertEqual(job.code, 0, job.err)
        self.assertEqual(jobs.ranks_seen(job), [0, 1, 2])
        self.assertIn("launcher headway", job.out)


if __name__ == "__main__":
    MISSING = [tool for tool in TOOLS
               if not shutil.which(tool, path=os.environ["PATH"] + ":/usr/sbin:/sbin")]
    if MISSING or os.geteuid() != 0:
        skip("a Slurm cluster needs root and slurmd, slurmctld, slurm-client, munge; missing: "
             + (", ".join(MISSING) or "root"))
    os.environ["PATH"] += ":/usr/sbin:/sbin"
    CLUSTER = Cluster()
    try:
        TROUBLE = CLUSTER.start()
        if TROUBLE:
            skip(TROUBLE)
        unittest.main(verbosity=2)
    finally:
        CLUSTER.stop()
