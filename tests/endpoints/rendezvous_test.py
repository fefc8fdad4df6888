#!/usr/bin/env python3
"""Programs that are started separately meet and are one job.

    rendezvous_test.py MPIEXEC MESSAGES DEATH
"""

import os
import pathlib
import socket
import subprocess
import sys
import tempfile

MPIEXEC, MESSAGES, DEATH = sys.argv[1:]
SECRET = "a secret of these two"


def meeting(**more):
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{probe.getsockname()[1]}"
    return {"HEADWAY_RENDEZVOUS": address, "HEADWAY_RENDEZVOUS_SECRET": SECRET, **more}


def start(command, settings):
    return subprocess.Popen(command, env={**os.environ, **settings}, text=True,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def end(process, expected=0):
    out, error = process.communicate(timeout=60)
    if expected is not None and process.returncode != expected:
        sys.exit(f"{process.args}: exit status {process.returncode}\n{out}{error}")
    return out + error


def two_processes_talk(**more):
    settings = meeting(**more)
    for one in [start([MESSAGES], settings), start([MESSAGES], settings)]:
        end(one)


def two_jobs_of_two_processes_talk():
    settings = meeting(HEADWAY_RENDEZVOUS_PROCESSES="4")
    command = [MPIEXEC, "-n", "2", "--timeout", "50", MESSAGES]
    for one in [start(command, settings), start(command, settings)]:
        end(one)


def a_file_says_where_and_what():
    settings = meeting()
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "meeting"
        path.touch(mode=0o600)
        path.write_text(f"address {settings['HEADWAY_RENDEZVOUS']}\nsecret {SECRET}\n",
                        encoding="utf-8")
        for one in [start([MESSAGES], {"HEADWAY_RENDEZVOUS": str(path)}) for _ in range(2)]:
            end(one)


def a_wrong_secret_is_one_clear_line_and_the_right_one_is_still_welcome():
    settings = meeting()
    host = start([MESSAGES], settings)
    with socket.socket() as probe:  # the host listens before another secret comes
        port = int(settings["HEADWAY_RENDEZVOUS"].split(":")[1])
        while probe.connect_ex(("127.0.0.1", port)) != 0:
            pass
    said = end(start([MESSAGES], {**settings, "HEADWAY_RENDEZVOUS_SECRET": "x" * 20}), None)
    assert said.count("\n") == 1 and "has another secret" in said, said
    end(start([MESSAGES], settings))
    said = end(host)
    assert said.count("does not know the secret of the rendezvous") == 1, said


def the_death_of_one_is_an_error_for_the_senders_of_the_others(**more):
    settings = meeting(HEADWAY_RENDEZVOUS_PROCESSES="3", **more)
    said = [end(one, None) for one in [start([DEATH], settings) for _ in range(3)]]
    assert sum("the others go on" in text for text in said) == 2, said


two_processes_talk()
two_processes_talk(HEADWAY_RAILS="self,tcp")
two_jobs_of_two_processes_talk()
a_file_says_where_and_what()
a_wrong_secret_is_one_clear_line_and_the_right_one_is_still_welcome()
the_death_of_one_is_an_error_for_the_senders_of_the_others()
the_death_of_one_is_an_error_for_the_senders_of_the_others(HEADWAY_RAILS="self,tcp")
