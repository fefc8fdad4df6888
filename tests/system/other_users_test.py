"""Another local user tries what it can reach of a job: its shared memory, its processes and its
sockets. It gets nothing, and the job goes on. Needs root, to be another user."""

import glob
import os
import subprocess
import sys
import unittest

from jobs import BUILD, MPIEXEC, run, skip, start

LARGE = BUILD + "/bin/large_transfer"
LIMIT = 120
# The program checks each byte, which takes ten times as long with ThreadSanitizer.
TRANSFERS = 30 if "thread" in os.environ.get("HEADWAY_TEST_SANITIZE", "") else 300
NOBODY = 65534

# Runs as the other user: prints each attempt that succeeds.
ATTEMPTS = r"""
import glob, os, socket, sys
pids = sys.argv[1].split(",")
def attempt(name, call):
    try:
        call()
        print(name)
    except OSError:
        pass
for path in glob.glob("/dev/shm/*headway*"):
    attempt("read " + path, lambda: os.open(path, os.O_RDONLY))
    attempt("write " + path, lambda: os.open(path, os.O_RDWR))
    attempt("remove " + path, lambda: os.unlink(path))
    attempt("rename " + path, lambda: os.rename(path, path + "x"))
for pid in pids:
    attempt("signal " + pid, lambda: os.kill(int(pid), 0))
    for part in ("environ", "mem", "maps"):
        attempt("read " + part, lambda: open(f"/proc/{pid}/{part}", "rb").read(1))
    attempt("descriptors", lambda: os.listdir(f"/proc/{pid}/fd"))
for port in sys.argv[2].split(","):
    for bytes_ in 5 * [b"", b"\0" * 4096, os.urandom(4096)]:
        try:
            with socket.create_connection(("127.0.0.1", int(port)), timeout=1) as s:
                s.sendall(bytes_)
                s.settimeout(0.05)
                if len(s.recv(65536)) > 256:
                    print("an answer at port", port)
        except OSError:
            pass
"""


def processes_of(root):
    """A process and all below it."""
    found = [root]
    for pid in found:
        for path in glob.glob(f"/proc/{pid}/task/*/children"):
            with open(path, encoding="ascii") as children:
                found += [int(child) for child in children.read().split()]
    return found


def listening_ports(pids):
    """The TCP ports at which these processes listen."""
    inodes = set()
    for pid in pids:
        for path in glob.glob(f"/proc/{pid}/fd/*"):
            try:
                inodes.add(os.readlink(path))
            except OSError:
                pass
    ports = set()
    with open("/proc/net/tcp", encoding="ascii") as table:
        for line in list(table)[1:]:
            words = line.split()
            if words[3] == "0A" and f"socket:[{words[9]}]" in inodes:
                ports.add(int(words[1].split(":")[1], 16))
    return ports


def as_another_user(*command):
    return run(["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups", *command],
               limit=LIMIT)  # fmt: skip


class OtherUsers(unittest.TestCase):
    def attack(self, rails):
        env = {**os.environ, "HEADWAY_RAILS": rails}
        job = start([MPIEXEC, "--timeout", LIMIT, "-n", 2, LARGE, TRANSFERS], env=env)
        try:
            ports = set()
            while job.poll() is None and (not ports or len(processes_of(job.pid)) < 3):
                ports = listening_ports(processes_of(job.pid))
            pids = processes_of(job.pid)
            tried = as_another_user(sys.executable, "-c", ATTEMPTS, ",".join(map(str, pids)),
                                    ",".join(map(str, ports)))  # fmt: skip
            self.assertEqual((tried.code, tried.out), (0, ""), tried.err)
        finally:
            out, err = job.communicate(timeout=LIMIT + 20)
        self.assertEqual(job.returncode, 0, out + err)

    def test_a_job_on_shared_memory(self):
        self.attack("shm,tcp:lo")

    def test_a_job_on_tcp(self):
        self.attack("tcp:lo")


if __name__ == "__main__":
    if os.geteuid() != 0:
        skip("only root can be another user")
    if subprocess.run(["setpriv", "--version"], capture_output=True, check=False).returncode:
        skip("no setpriv here")
    unittest.main(verbosity=2)
