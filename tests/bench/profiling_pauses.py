#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""profiling_pauses.py [--program softmax|sync] [SECONDS]: the cost of recording a training of two emulated hosts with a
core each. All processes of `chokepoint run` on these hosts (agents, collector) are stopped and continued within one
run, a second each in the order on, off, off, on; the ratio of the times of iterations in such four is one pair, over
that of the canary's beats in them: a core of a virtual machine changes its pace by a third within seconds, which would
pass for a cost. The MPI shim and the marks stay on (shim_cost.sh, bench_mark_cost); a program that marks more than 4000
things a second loses some while nobody reads and cannot be taken. Goal: at most 1 %. $CHOKEPOINT_BIN: where the
programs are."""
import argparse
import bisect
import os
import random
import signal
import sqlite3
import statistics
import sys
import tempfile
import time

from two_hosts import HERE, PROGRAMS, training
import canary # noqa: E402
from bed import Unable # noqa: E402
from stats import feelings, harmonic, mean, slower_core, undisturbed # noqa: E402

BIN = os.path.abspath(os.environ.get("CHOKEPOINT_BIN", f"{HERE}/../../build/release/bin"))
WINDOW_S, SETTLE_NS = 1, 150_000_000 # a continued process makes up for its pause at once, which is left out
WATCHED = (0, 1, 1, 0) # 1: stopped
ITERATION = 2 # a mark's kind
SECONDS_MAX = 600


def signal_all(pids, number):
    for pid in pids:
        try:
            os.kill(pid, number)
        except ProcessLookupError:
            pass


def take_turns(process, pids):
    """[(stopped, from, to)] in ns of the monotonic clock, until the program ends."""
    windows = []
    try:
        while process.poll() is None:
            stopped = WATCHED[len(windows) % 4]
            signal_all(pids, signal.SIGSTOP if stopped else signal.SIGCONT)
            begin = time.monotonic_ns() + SETTLE_NS
            time.sleep(WINDOW_S)
            windows.append((stopped, begin, time.monotonic_ns()))
    finally:
        signal_all(pids, signal.SIGCONT)
    return windows[:-1]


def record(name, seconds, work):
    """(windows, the canary's beats)"""
    with canary.beating(BIN, "0,1") as beats:
        with training(BIN, name, seconds, work) as (process, watch):
            windows = take_turns(process, watch)
    return windows, beats


def iteration_ns(starts, begin, end):
    """Mean of the iterations within the window; None: fewer than three."""
    first, last = bisect.bisect_left(starts, begin), bisect.bisect_left(starts, end) - 1
    return (starts[last] - starts[first]) / (last - first) if last - first >= 3 else None


def beats_in(beats, begin, end):
    """Numbers of the beats in a window."""
    return range(*((at - beats["start_ns"]) // beats["period_ns"] for at in (begin, end)))


def slownesses(windows, beats):
    """(time of the canary's sums, of its walk through caches) in each window, on the slower core at each beat; of the beats that
    no sample of an agent falls on."""
    sums, walks = (slower_core(beats[what]) for what in ("cores", "caches"))
    watched = [n for stopped, begin, end in windows if not stopped for n in beats_in(beats, begin, end) if n < len(sums)]
    halves = ([sums[n] for n in watched if n % 2 == half] for half in (0, 1))
    counted = set(range(len(sums))[undisturbed(*halves)])
    inside = ([n for n in beats_in(beats, begin, end) if n in counted] for _, begin, end in windows)
    return [(harmonic([sums[n] for n in own]), mean([walks[n] for n in own])) for own in inside]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--program", choices=PROGRAMS, default="softmax")
    parser.add_argument("seconds", nargs="?", type=int, default=60)
    options = parser.parse_args()
    if options.seconds > SECONDS_MAX:
        parser.error(f"at most {SECONDS_MAX} seconds: the canary beats no longer")
    with tempfile.TemporaryDirectory() as work:
        try:
            windows, beats = record(options.program, options.seconds, work)
        except Unable as why:
            print(f"skipped: {why}")
            sys.exit(77)
        database = sqlite3.connect(f"{work}/db")
        starts = sorted(row[0] for row in database.execute('SELECT start_ns FROM mark WHERE kind = ? AND "rank" = 0', (ITERATION,)))
    times = [(stopped, iteration_ns(starts, begin, end), slow) for (stopped, begin, end), slow in zip(windows, slownesses(windows, beats))]
    felt = feelings([(*slow, ns) for stopped, ns, slow in times if ns and stopped])
    fours = [[ns and ns / slow[0] ** felt[0] / slow[1] ** felt[1] for _, ns, slow in times[i:i + 4]] for i in range(0, len(times) - 3, 4)]
    ratios = [(a + d) / (b + c) for a, b, c, d in (four for four in fours if None not in four)]
    if len(ratios) < 5:
        sys.exit(f"profiling_pauses.py: {len(ratios)} pairs are too few: give it more seconds")
    random.seed(1)
    alike = [value / other for four in fours if None not in four for value, other in ((four[0], four[3]), (four[1], four[2]))]
    alikes = sorted(statistics.median(random.choices(alike, k=len(alike))) for _ in range(2000))
    medians = sorted(statistics.median(random.choices(ratios, k=len(ratios))) for _ in range(2000))
    on, off = (statistics.median(ns for s, ns, _ in times if s == stopped and ns) / 1e6 for stopped in (0, 1))
    print(f"{options.program}: an iteration takes {on:.2f} ms watched, {off:.2f} ms while all that watches stands still")
    print(f"watching adds {100 * (statistics.median(ratios) - 1):+.2f} % (95 % interval {100 * (medians[50] - 1):+.2f} to "
          f"{100 * (medians[1950] - 1):+.2f}), {len(ratios)} pairs within one run, "
          f"corrected by the canary (exponents {felt[0]:.2f} of cores, {felt[1]:.2f} of caches; goal: at most 1 %)")
    print(f"A/A: windows of the same kind against each other {100 * (statistics.median(alike) - 1):+.2f} % "
          f"({100 * (alikes[50] - 1):+.2f} to {100 * (alikes[1950] - 1):+.2f})")


main()
