#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""core_speed_follows.py RESULTS: how well the agents' calibration loop (table self, probe core) tells how much slower one core was
than another, beside the whole cost of sampling; the yardstick is the canary that ran beside each of these recordings of two hosts
(`tests/faults/matrix run --results RESULTS --only softmax`)."""
import glob
import json
import math
import sqlite3
import statistics
import sys

MIDDLES = (("core", statistics.mean), ("agent", statistics.median)) # as in the analysis (core_speed.c)
MOST = .98 # of a core's canary rounds: the few longest were interrupted


def canary_ms(rounds):
    return statistics.mean(sorted(rounds)[:max(1, int(MOST * len(rounds)))])


def log_ratios(folder):
    """vm1's CPU time over vm2's, as logarithms: (canary, the agents' calibration loop, their samples); None: the hosts have no cores
    of their own."""
    with open(f"{folder}/case.json") as file:
        cores = (json.load(file).get("canary") or {}).get("cores", {})
    with sqlite3.connect(f"file:{folder}/recording.db?mode=ro", uri=True) as db:
        took = lambda probe, host: [t for t, in db.execute(
            "SELECT cpu_pct / samples_per_s FROM self_rate WHERE probe = ? AND host = ? AND samples_per_s > 0", (probe, host))]
        pairs = [(middle, took(probe, "vm1"), took(probe, "vm2")) for probe, middle in MIDDLES]
    if set(cores) != {"0", "1"} or not all(a and b for _, a, b in pairs):
        return None
    return [math.log(canary_ms(cores["0"]) / canary_ms(cores["1"]))] + [math.log(middle(a) / middle(b)) for middle, a, b in pairs]


def main():
    if len(sys.argv) != 2:
        sys.exit("usage: core_speed_follows.py RESULTS")
    folders = sorted(path[:-len("/recording.db")] for path in glob.glob(f"{sys.argv[1]}/*/recording.db"))
    rows = [row for row in map(log_ratios, folders) if row]
    if len(rows) < 3:
        sys.exit(f"core_speed_follows.py: {len(rows)} such recordings in {sys.argv[1]}, three are needed")
    canary, *told = zip(*rows)
    print(f"{len(rows)} recordings; by the canary one core took {math.exp(max(map(abs, canary))):.2f} times as long as the other at most")
    for (name, _), ratios in zip(MIDDLES, told):
        off = math.sqrt(statistics.mean((a - b) ** 2 for a, b in zip(canary, ratios)))
        slope = statistics.linear_regression(canary, ratios).slope
        print(f"{name:6s} correlation {statistics.correlation(canary, ratios):.2f}, {100 * off:.1f} % off (rms), moves {slope:.2f} times as much")


if __name__ == "__main__":
    main()
