#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""run_ends.py [--report] [REPEATS]: the time that `chokepoint run` takes on two emulated hosts before its command begins and after
it has ended, beside the same command alone on such a host, in turn. Short recordings pay for that as much as for observing.
--report: includes the verdict at the end. $CHOKEPOINT_BIN: where the programs are."""
import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time

from two_hosts import HERE, HOSTS, QUIET, cores_awake
from bed import Bed, Unable # noqa: E402

BIN = os.path.abspath(os.environ.get("CHOKEPOINT_BIN", f"{HERE}/../../build/release/bin"))
COMMAND = "date +%s%N; sleep .3; date +%s%N"


def ends(words):
    """(ms before the command's first instruction, ms after its last)"""
    begin_ns = time.time_ns()
    done = subprocess.run([*words, "sh", "-c", COMMAND], stdin=subprocess.DEVNULL, capture_output=True, env=dict(os.environ, **QUIET))
    end_ns = time.time_ns()
    if done.returncode:
        sys.exit(f"run_ends.py: {done.stderr.decode(errors='replace')[-200:]!r}")
    first_ns, last_ns = map(int, done.stdout.split())
    return (first_ns - begin_ns) / 1e6, (end_ns - last_ns) / 1e6


def measure(repeats, report):
    """{"alone" or "watched": [ends]}"""
    found = {"alone": [], "watched": []}
    with cores_awake(), Bed(BIN, f"re{os.getpid() % 10000}", HOSTS, "0,1") as bed, tempfile.TemporaryDirectory() as work:
        with open(f"{work}/hosts", "w") as file:
            file.writelines(f"vm{host + 1} slots=1\n" for host in range(HOSTS))
        for turn in range(repeats):
            run = [f"{BIN}/chokepoint", "run", *([] if report else ["--no-report"]), "--quiet", "--db", f"{work}/db{turn}",
                   "--hosts", f"{work}/hosts", "--"]
            for name, words in (("alone", []), ("watched", run))[::1 if turn % 2 else -1]:
                found[name].append(ends(bed.words("vm1", *words)))
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--report", action="store_true")
    parser.add_argument("repeats", nargs="?", type=int, default=15)
    options = parser.parse_args()
    if options.repeats < 1:
        parser.error("at least one repeat")
    try:
        found = measure(options.repeats, options.report)
    except Unable as why:
        print(f"skipped: {why}")
        sys.exit(77)
    for which, text in enumerate(("before the command", "after the command")):
        alone, watched = (sorted(run[which] for run in found[name]) for name in ("alone", "watched"))
        print(f"{text:18s} {statistics.median(watched):.0f} ms ({watched[0]:.0f} to {watched[-1]:.0f}), "
              f"alone {statistics.median(alone):.0f} ms ({alone[0]:.0f} to {alone[-1]:.0f}), {len(watched)} pairs")


main()
