#!/usr/bin/env python3
"""Line coverage of the parsers of foreign bytes by their fuzz targets.

    tools/fuzz_coverage.py [SECONDS [TARGET…]]

Builds the preset `fuzz-coverage`, runs each target for SECONDS (30), and prints how many lines of
each parser were reached. What the targets find stays in build/fuzz-coverage/corpus: a second run
goes on from there. Needs llvm-cov-19 and llvm-profdata-19 (Debian package llvm-19).
"""

import json
import os
import pathlib
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUILD = ROOT / "build" / "fuzz-coverage"

# Sources that read bytes from outside, and the targets whose purpose they are. Those of `packets`
# and `messages` also send: lines that only the sender runs count as not reached.
PARSERS = {
    "bundle_fuzz": [
        "src/packets/bundle/bundle.cpp",
        "src/packets/bundle/frame_receiver.cpp",
        "src/packets/bundle/reorder_window.hpp",
        "src/packets/bundle/replay_ring.hpp",
        "src/packets/frames.hpp",
        "src/packets/peer_state.cpp",
        "src/packets/transfer/incoming_flows.cpp",
        "src/packets/transfer/outgoing_flows.cpp",
        "src/packets/transfer/pieces.cpp",
        "src/packets/transfer/rendezvous.cpp",
    ],
    "packet_fuzz": [
        "src/messages/arrivals.cpp",
        "src/messages/given_up.cpp",
        "src/messages/inquiries.cpp",
        "src/messages/notice.cpp",
        "src/messages/operation_log.cpp",
    ],
    "endpoint_packets_fuzz": ["src/endpoints/wire/arrivals.cpp"],
    "window_requests_fuzz": ["src/windows/wire.cpp"],
    "window_target_fuzz": ["src/windows/target.cpp"],
    "tcp_stream_fuzz": ["src/rails/tcp/input.cpp", "src/rails/tcp/wire.cpp"],
    "tcp_records_fuzz": ["src/rails/tcp/record.cpp", "src/rails/tcp/record_reader.cpp"],
    "tcp_handshake_fuzz": [
        "src/rails/tcp/address.cpp",
        "src/rails/tcp/handshake.cpp",
        "src/authentication/handshake.cpp",
    ],
    "rendezvous_handshake_fuzz": ["src/launch/rendezvous/rendezvous_handshake.cpp"],
    "shm_address_fuzz": ["src/rails/shm/host.cpp"],
    "shm_records_fuzz": ["src/rails/shm/incoming.cpp"],
    "pmi_line_fuzz": ["src/launch/pmi1/pmi_line.cpp", "src/launch/wire_text.cpp"],
    "pmi_server_fuzz": ["tools/mpiexec/pmi_server.cpp"],
    "process_record_fuzz": ["src/wireup/process_record.cpp"],
    "profile_fuzz": ["src/sampling/record.cpp"],
    "profile_names_fuzz": ["src/sampling/store.cpp"],
    "statistics_page_fuzz": ["src/watch/page.cpp", "src/watch/page_reader.cpp"],
}


def run(*command, **more):
    return subprocess.run([str(part) for part in command], check=True, cwd=ROOT, **more)


def fuzz(target, seconds):
    """Runs a target on what it has found so far; returns the raw profile that it writes."""
    found = BUILD / "corpus" / target
    given = ROOT / "tests" / "fuzz" / "corpus" / target
    profile = BUILD / (target + ".profraw")
    corpora = [found, given] if given.is_dir() else [found]
    environment = os.environ | {"LLVM_PROFILE_FILE": str(profile)}
    run(BUILD / "bin" / target, f"-max_total_time={seconds}", "-timeout=10", "-verbosity=0",
        *corpora, env=environment, stderr=subprocess.DEVNULL)  # fmt: skip
    return profile


def lines_of(targets, merged):
    """For each source: how many of its lines can be reached, and how many were."""
    objects = [part for target in targets[1:] for part in ("-object", BUILD / "bin" / target)]
    report = run("llvm-cov-19", "export", "-summary-only", f"-instr-profile={merged}",
                 BUILD / "bin" / targets[0], *objects, capture_output=True).stdout  # fmt: skip
    files = json.loads(report)["data"][0]["files"]
    return {os.path.relpath(f["filename"], ROOT): f["summary"]["lines"] for f in files}


def main(seconds="30", *chosen):
    for tool in ("llvm-cov-19", "llvm-profdata-19", "clang++-19"):
        if not shutil.which(tool):
            sys.exit(f"fuzz_coverage: skipped: there is no {tool} (Debian: llvm-19, clang-19)")
    targets = chosen or tuple(PARSERS)
    run("cmake", "--preset", "fuzz-coverage", "--log-level=WARNING")
    run("cmake", "--build", "--preset", "fuzz-coverage", "--target", *targets)
    merged = BUILD / "merged.profdata"
    profiles = [fuzz(target, seconds) for target in targets]
    run("llvm-profdata-19", "merge", "-sparse", *profiles, "-o", merged)
    lines = lines_of(targets, merged)
    reached = all_lines = 0
    print("lines  reached  source")
    for source in (source for target in targets for source in PARSERS[target]):
        if source not in lines:
            sys.exit(f"fuzz_coverage: no target reaches {source}: is it still there?")
        count, covered = lines[source]["count"], lines[source]["covered"]
        reached += covered
        all_lines += count
        print(f"{count:5}  {100 * covered / count:6.1f}%  {source}")
    print(f"{all_lines:5}  {100 * reached / all_lines:6.1f}%  all")


if __name__ == "__main__":
    main(*sys.argv[1:])
