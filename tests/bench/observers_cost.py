#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""observers_cost.py [--program softmax|sync] [--before BIN] [--rounds N] [SECONDS]: the share of a core that agents and the collector
take while two emulated hosts train, as the kernel's own clock of each thread tells it (schedstat), and how often they take the core
from the program. With --before those of another build take turns with these: the gain of a change, which single runs hide behind
what else the machine does. $CHOKEPOINT_BIN: where the programs are."""
import argparse
import os
import statistics
import sys
import tempfile
import time

from two_hosts import HERE, HOSTS, PROGRAMS, training
from bed import Unable # noqa: E402

BIN = os.path.abspath(os.environ.get("CHOKEPOINT_BIN", f"{HERE}/../../build/release/bin"))
SHOWN = (("agent", "agent, a host", HOSTS), ("collector", "collector", 1))


def used(watch):
    """{thread: (what it is of, ns on a core, times it got one)}"""
    found = {}
    for pid, kind in watch.items():
        for thread in os.listdir(f"/proc/{pid}/task"):
            try:
                with open(f"/proc/{pid}/task/{thread}/schedstat") as file:
                    on_core_ns, _, times = map(int, file.read().split())
            except (FileNotFoundError, ProcessLookupError):
                continue # the thread has just ended
            found[thread] = (kind, on_core_ns, times)
    return found


def measure(binaries, name, seconds):
    """{kind: (share of a core, times a second that it got one)}"""
    with tempfile.TemporaryDirectory() as work, training(binaries, name, 2 * seconds + 5, work) as (process, watch):
        before, begin = used(watch), time.monotonic_ns()
        time.sleep(seconds)
        if process.poll() is not None:
            sys.exit("observers_cost.py: the training ended before the second reading: give it fewer seconds")
        after, took_ns = used(watch), time.monotonic_ns() - begin
    sums = {kind: [0, 0] for kind, _, _ in SHOWN}
    for thread, (kind, on_core_ns, times) in after.items():
        _, had_ns, had_times = before.get(thread, (kind, 0, 0))
        sums[kind][0] += (on_core_ns - had_ns) / took_ns
        sums[kind][1] += (times - had_times) / (took_ns / 1e9)
    return {kind: (sums[kind][0] / hosts, sums[kind][1] / hosts) for kind, _, hosts in SHOWN}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--program", choices=PROGRAMS, default="softmax")
    parser.add_argument("--before", metavar="BIN")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("seconds", nargs="?", type=int, default=10)
    options = parser.parse_args()
    builds = {"before": os.path.abspath(options.before)} if options.before else {}
    builds["now"] = BIN
    figures = {build: [] for build in builds}
    try:
        for turn in range(options.rounds):
            for build in list(builds)[::1 if turn % 2 else -1]:
                figures[build].append(measure(builds[build], options.program, options.seconds))
    except Unable as why:
        print(f"skipped: {why}")
        sys.exit(77)
    for kind, title, _ in SHOWN:
        for build, runs in figures.items():
            shares = [100 * run[kind][0] for run in runs]
            times = statistics.median(run[kind][1] for run in runs)
            print(f"{title:14s} {build:6s} {statistics.median(shares):.3f} % of a core ({min(shares):.3f} to {max(shares):.3f}, "
                  f"{len(runs)} runs), on it {times:.0f} times a second")


main()
