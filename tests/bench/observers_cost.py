#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""observers_cost.py [--program softmax|sync] [--before BIN] [--rounds N] [SECONDS]: the share of a core that agents and the
collector use while two emulated hosts train, by the kernel's clock of each thread (schedstat), and how often they take the core
from the program; then each probe's part of the agent's share, from the recording itself (table self). With --before another
build's take turns with these: that shows the gain of a change, which single runs hide behind the machine's other load.
$CHOKEPOINT_BIN: where the programs are."""
import argparse
import os
import sqlite3
import statistics
import sys
import tempfile
import time

from two_hosts import HERE, HOSTS, PROGRAMS, training
from bed import Unable # noqa: E402

BIN = os.path.abspath(os.environ.get("CHOKEPOINT_BIN", f"{HERE}/../../build/release/bin"))
SHOWN = (("agent", "agent, a host", HOSTS), ("collector", "collector", 1))


def used(watch):
    """{thread: (its program, ns on a core, how often it got one)}"""
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


def probes(database):
    """{probe: (share of a core on a host, us for a sample)}; "agent" is a whole agent, including its threads that push and answer"""
    rows = sqlite3.connect(database).execute("""SELECT name, sum(cpu_ns), sum(interval_ns), sum(samples) FROM self
        JOIN instance ON instance.instance = self.instance WHERE cpu_ns > 0 AND interval_ns > 0 GROUP BY name""")
    return {name: (cpu_ns / interval_ns, cpu_ns / 1e3 / samples if samples else 0) for name, cpu_ns, interval_ns, samples in rows}


def measure(binaries, name, seconds):
    """({kind: (share of a core, how often per second it got one)}, probes)"""
    with tempfile.TemporaryDirectory() as work:
        with training(binaries, name, 2 * seconds + 5, work) as (process, watch):
            before, begin = used(watch), time.monotonic_ns()
            time.sleep(seconds)
            if process.poll() is not None:
                sys.exit("observers_cost.py: the training ended before the second reading: give it fewer seconds")
            after, took_ns = used(watch), time.monotonic_ns() - begin
        by_probe = probes(f"{work}/db")
    sums = {kind: [0, 0] for kind, _, _ in SHOWN}
    for thread, (kind, on_core_ns, times) in after.items():
        _, had_ns, had_times = before.get(thread, (kind, 0, 0))
        sums[kind][0] += (on_core_ns - had_ns) / took_ns
        sums[kind][1] += (times - had_times) / (took_ns / 1e9)
    return {kind: (sums[kind][0] / hosts, sums[kind][1] / hosts) for kind, _, hosts in SHOWN}, by_probe


def show_probes(figures):
    """A line for each probe, the most expensive of the last build first."""
    middle = {build: {name: [statistics.median(run[name][i] for _, run in runs if name in run) for i in (0, 1)]
                      for name in set().union(*(run for _, run in runs))} for build, runs in figures.items()}
    last = list(figures)[-1]
    for name in sorted(middle[last], key=lambda name: -middle[last][name][0]):
        print(f"  {name:14s} " + "; ".join(f"{build} {100 * by[name][0]:.4f} % of a core, {by[name][1]:.1f} us a sample"
                                         for build, by in middle.items() if name in by))


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
            shares = [100 * run[kind][0] for run, _ in runs]
            times = statistics.median(run[kind][1] for run, _ in runs)
            print(f"{title:14s} {build:6s} {statistics.median(shares):.3f} % of a core ({min(shares):.3f} to {max(shares):.3f}, "
                  f"{len(runs)} runs), on it {times:.0f} times a second")
    show_probes(figures)


main()
