#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""mpi_full_node.py [--before BIN] [--pairs N] [--seconds S] [PATTERN...]: the cost of recording for a round of small MPI calls when
each core of the node has a rank and the agent runs beside them: ping-pong, all-reduce and a stencil, in pairs of runs without and
with `chokepoint run`, in alternating order. Prints what a round costs more (median of pairs, 95 % bootstrap interval): by the median
over blocks of 2000 rounds, which hides those in which the agent has a core, by the mean over the whole run, which does not, and by the
CPU time of the ranks; then the agent's time for an event, and how many runs lost events. As a control (A/A), one run without
recording is also compared with the next. mpiP, measured by hand, adds 1586 ns to a round of ping-pong.
$CHOKEPOINT_BIN: where the programs are."""
import argparse
import os
import random
import sqlite3
import statistics
import subprocess
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
BIN = os.path.abspath(os.environ.get("CHOKEPOINT_BIN", f"{HERE}/../../build/release/bin"))
PATTERNS = ("pingpong", "allreduce", "stencil")
ROOT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}


def program(pattern, seconds):
    return ["mpirun", "-np", str(os.cpu_count()), "--bind-to", "core", f"{BIN}/bench_mpi_rounds", pattern, str(seconds)]


def run(words):
    done = subprocess.run(words, env=dict(os.environ, **ROOT), check=True, capture_output=True, text=True)
    wall, mean, cpu, calls = next(line for line in done.stdout.splitlines() if len(line.split()) == 4).split()
    return float(wall), float(mean), float(cpu), int(calls)


def recorded(binaries, pattern, seconds):
    """(the program's figures, the agent's CPU ns for an event, share of events lost)"""
    with tempfile.TemporaryDirectory() as work:
        figures = run([f"{binaries}/chokepoint", "run", "--no-report", "--quiet", "--db", f"{work}/db", "--", *program(pattern, seconds)])
        ask = sqlite3.connect(f"{work}/db").execute
        took = ask("SELECT sum(cpu_ns) FROM self JOIN instance USING (instance) WHERE name = 'agent'").fetchone()[0]
        events, lost = ask("SELECT sum(events), sum(lost_events) FROM mpi").fetchone()
    return figures, (took or 0) / max(events or 0, 1), (lost or 0) / max(events or 0, 1)


def interval(values):
    draws = sorted(statistics.median(random.choices(values, k=len(values))) for _ in range(2000))
    return f"{statistics.median(values):+8.0f} ns ({draws[50]:+.0f} to {draws[1950]:+.0f})"


def show(name, before, after):
    """A line: how much more each of the three figures of `after` is than in the run before it."""
    more = [interval([b[i] - a[i] for a, b in zip(before, after)]) for i in range(3)]
    print(f"  {name:18s} blocks {more[0]}   whole run {more[1]}   CPU {more[2]}")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--before", metavar="BIN")
    parser.add_argument("--pairs", type=int, default=7)
    parser.add_argument("--seconds", type=float, default=2)
    parser.add_argument("patterns", nargs="*", metavar="PATTERN")
    options = parser.parse_args()
    random.seed(1)
    builds = {"before": os.path.abspath(options.before)} if options.before else {}
    builds["now"] = BIN
    print(f"{os.cpu_count()} cores, a rank on each; load {os.getloadavg()[0]:.1f}")
    for pattern in options.patterns or PATTERNS:
        alone, with_agent = [], {name: [] for name in builds}
        for turn in range(options.pairs):
            steps = [lambda: alone.append(run(program(pattern, options.seconds)))]
            steps += [lambda name=name: with_agent[name].append(recorded(builds[name], pattern, options.seconds)) for name in builds]
            for step in steps[::1 if turn % 2 else -1]:
                step()
        print(f"{pattern}: {alone[0][3]} calls of a rank in {statistics.median(a[0] for a in alone):.0f} ns, "
              f"{statistics.median(a[1] for a in alone):.0f} ns in the mean of a run")
        show("A/A: alone again", alone, alone[1:])
        for name, runs in with_agent.items():
            show(f"recorded, {name}", alone, [r[0] for r in runs])
            losers = [r[2] for r in runs if r[2]]
            print(f"  {'':18s} agent {statistics.median(r[1] for r in runs):.0f} ns an event; {len(losers)} of {len(runs)} runs lost events"
                  + (f", {100 * max(losers):.2f} % at most" if losers else ""))


main()
