#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""roles_error.py [REPEATS]: CPU time and memory of each rank in a report's table of ranks, and in its table of processes (one sample
a second), over the kernel's accounting of the same process after its end (wait4 of its parent): medians and extremes of the ratio
over all ranks of short runs on this machine. $CHOKEPOINT_BIN: where the programs are."""
import json
import os
import statistics
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
BIN = os.path.abspath(os.environ.get("CHOKEPOINT_BIN", f"{HERE}/../../build/release/bin"))
REPEATS = int(sys.argv[1]) if len(sys.argv) > 1 else 5
RANKS = 3
ACCOUNTED = """
import json, os, resource, subprocess, sys
before = resource.getrusage(resource.RUSAGE_CHILDREN)  # of a script that became this python
status = subprocess.run(sys.argv[1:]).returncode
use = resource.getrusage(resource.RUSAGE_CHILDREN)
with open("use." + os.environ["OMPI_COMM_WORLD_RANK"], "w") as file:
    json.dump([use.ru_utime + use.ru_stime - before.ru_utime - before.ru_stime, use.ru_maxrss * 1024 / 1e9], file)
sys.exit(status)
"""


def run(*words):
    done = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True)
    if done.returncode:
        sys.exit(f"roles_error.py: {' '.join(words)}: {done.stderr.decode(errors='replace')[-300:]}")
    return done.stdout


def ratios(report, rank):
    """{what: ratio} of one rank of a run"""
    with open(f"use.{rank}") as file:
        cpu_s, memory_gb = json.load(file)
    role = next(r for r in report["roles"] if r["rank"] == rank)
    found = {"CPU, ranks": role["cpu_s"] / cpu_s, "memory, ranks": role["peak_memory_gb"] / memory_gb}
    for process in report["processes"]:
        if process["rank"] == rank and process["process"].startswith("chokepoint-sgd"):
            seen_s = (process["cpu_pct"] or 0) / 100 * report["run"]["duration_s"]
            found.update({"CPU, processes": seen_s / cpu_s, "memory, processes": (process["rss_gb"] or 0) / memory_gb})
    return found


def main():
    found = {}
    with tempfile.TemporaryDirectory() as work:
        os.chdir(work)
        run(f"{BIN}/chokepoint-data", "generate", "digits", "--out", "digits", "--train", "12000", "--test", "2000", "--quiet")
        for _ in range(REPEATS):
            run(f"{BIN}/chokepoint", "run", "--no-report", "--quiet", "--db", "db", "--", "mpirun", "--oversubscribe", "-np", str(RANKS),
                "python3", "-c", ACCOUNTED, f"{BIN}/chokepoint-sgd", "--model", "softmax", "--mode", "async", "--data", "digits",
                "--batch", "200", "--rate", "0.5", "--epochs", "10", "--quiet")
            report = json.loads(run(f"{BIN}/chokepoint", "report", "--db", "db", "--format", "json"))
            for rank in range(RANKS):
                for what, ratio in ratios(report, rank).items():
                    found.setdefault(what, []).append(ratio)
    print(f"over what the kernel accounts, {REPEATS} runs of {RANKS} ranks: median (lowest to highest)")
    for what in sorted(found):
        print(f"{what:18} {statistics.median(found[what]):.3f} ({min(found[what]):.3f} to {max(found[what]):.3f}) of {len(found[what])}")


if __name__ == "__main__":
    main()
