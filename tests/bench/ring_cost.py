#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""ring_cost.py [--processes N] [--busy N] [--windows N] [SECONDS]: CPU time of an agent with a ring, as a whole: supervisor, sampler, packing and all
system calls of theirs (schedstat of each thread), beside `sadc -S ALL 1` where it is installed and beside an agent of a run without its push. The
host has N processes (500), of which --busy (64) work for a moment each second and the others sleep. All run at once and are read at the same instants;
windows are a minute each, so that each has a file of the ring. Medians with 95 % bootstrap intervals; a second agent with a ring is the A/A row.
Wanted: at most .19 % of 64 cores, 121.6 ms a second. Work of the kernel in other tasks (writing pages out, records of ended processes) is not in this
figure; the bytes written are shown."""
import argparse
import contextlib
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
sys.dont_write_bytecode = True
import agent_beside # noqa: E402

WANTED_MS = .0019 * 64 * 1e3


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--processes", type=int, default=500)
    parser.add_argument("--busy", type=int, default=64)
    parser.add_argument("--windows", type=int, default=5)
    parser.add_argument("seconds", nargs="?", type=int, default=60)
    options = parser.parse_args()
    random.seed(1)
    with tempfile.TemporaryDirectory() as work, contextlib.ExitStack() as stack:
        bench = agent_beside.Bench(work, stack)
        bench.crowd(f"{options.busy},0")
        for _ in range(options.processes - options.busy):
            bench.start(None, ["sleep", "86400"])
        for name in "ring", "ring again":
            bench.start(name, [f"{agent_beside.BIN}/chokepoint-agent", "--ring", f"{work}/{name.replace(' ', '-')}"], stderr=subprocess.DEVNULL)
        bench.start("run's agent", [f"{agent_beside.BIN}/chokepoint-agent", "--no-push", "--rate", "1", "--spool", f"{work}/spool"],
                    stderr=subprocess.DEVNULL)
        if agent_beside.SADC:
            bench.start("sadc", [agent_beside.SADC, "-S", "ALL", "1", f"{work}/sa"])
        time.sleep(agent_beside.SETTLE_S)
        figures = {name: [] for name in bench.observers}
        for _ in range(options.windows):
            before = {name: agent_beside.used_ns(process.pid) for name, process in bench.observers.items()}
            began = time.monotonic()
            time.sleep(options.seconds)
            took = time.monotonic() - began
            for name, process in bench.observers.items():
                figures[name].append((agent_beside.used_ns(process.pid) - before[name]) / took / 1e6)
        print(f"{options.processes} processes, {options.busy} of them busy; {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}")
        for name, values in figures.items():
            low, high = agent_beside.interval(values)
            share = f", {statistics.median(values) / WANTED_MS:.2f} of the wanted {WANTED_MS:.1f} ms/s" if name.startswith("ring") else ""
            print(f"  {name:12s} {statistics.median(values):7.2f} ms/s ({low:.2f} to {high:.2f}){share}")
        pairs = [again / first for again, first in zip(figures["ring again"], figures["ring"])]
        print(f"  A/A          {statistics.median(pairs):7.2f} ({agent_beside.interval(pairs)[0]:.2f} to {agent_beside.interval(pairs)[1]:.2f})")
        size = sum(entry.stat().st_size for entry in os.scandir(f"{work}/ring") if entry.name.endswith(".ring"))
        spent = agent_beside.SETTLE_S + options.windows * options.seconds
        print(f"  the ring: {size / spent:.0f} bytes a second, {size / spent * 86400 / 2**20:.0f} MiB a day")


if __name__ == "__main__":
    main()
