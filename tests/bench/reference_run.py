#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""One run for docs/reference.md: what a published report shows of a run and no table of a sweep has.

    tests/bench/reference_run.py CHOKEPOINT DATABASE RUN DIRECTORY

Writes Markdown to standard output: verdict (V1), alerts (A1), iterations by rank (F3), series of each host (F2), what its
hosts were measured to carry (M1). The pictures go into DIRECTORY, and are linked to as if the page lay beside it.
"""
import json
import os
import re
import subprocess
import sys

PICTURES = {  # the names that `chokepoint report --plot` gives them
    "network": "network of each host",
    "cpu": "CPU of each host",
    "cores": "busy share of each core of each host",
    "pairs": "bytes from host to host",
    "iterations": "duration of each iteration, by rank",
}
SERIES = ("network", "cpu", "cores", "pairs")
MEASURED = {
    "net_egress": "link, to all others", "net_ingress": "link, from all others", "net_pair": "link, one TCP stream to a host",
    "net_rtt": "round trip between two hosts", "mpi_latency": "MPI message, one way", "mpi_bandwidth": "MPI messages",
    "disk_read": "disk, reading", "disk_write": "disk, writing", "memory_copy": "memory, copied", "cpu_core": "one core",
}


def report(program, database, run, form):
    words = [program, "report", run, "--db", database, "--format", form]
    return subprocess.run(words, check=True, capture_output=True, text=True).stdout


def escaped(text):
    return re.sub(r"([\\`*_|<>~])", r"\\\1", str(text))


def table(titles, rows):
    print("| " + " | ".join(titles) + " |\n|" + "---|" * len(titles))
    for row in rows:
        print("| " + " | ".join(escaped(cell) for cell in row) + " |")
    print()


def show_picture(program, database, run, directory, name):
    path = f"{run.split('/')[0]}-run-{name}.svg"
    subprocess.run([program, "report", run, "--db", database, "--plot", name, "-o", os.path.join(directory, path)], check=True,
                   stdout=subprocess.DEVNULL)
    print(f"![{PICTURES[name]}]({os.path.basename(directory)}/{path})\n")


def span(ceilings, unit):
    low, high = (f"{f(c['value'] for c in ceilings):.4g}" for f in (min, max))
    return f"{low} {unit}" if low == high else f"{low} to {high} {unit}"


def show_measured(ceilings):
    kinds = {}
    for ceiling in ceilings:
        kinds.setdefault(ceiling["metric"], []).append(ceiling)
    table(("what", "of how many", "ours", "how"),
          [(MEASURED[kind], len(of), span(of, of[0]["unit"]), of[0]["how"]) for kind, of in kinds.items() if kind in MEASURED])


def clock(seconds):
    return f"{int(seconds) // 3600}:{int(seconds) // 60 % 60:02d}:{int(seconds) % 60:02d}"


def main():
    program, database, run, directory = sys.argv[1:]
    told = json.loads(report(program, database, run, "json"))
    verdict = told["verdict"]
    print(f"## One run: `{told['run']['name']}`\n")
    print("### The verdict (V1)\n")
    print("Theirs, argued from tables by hand (R1): sync is limited by the network of vm1, whose average is below the cap because "
          "of the straggler; async is limited by the network of vm1 (288 MB/s are 2.3 Gbit/s of 2.5). Ours names host, resource "
          "and gain, says how sure it is, and what was ruled out.\n")
    print(f"{verdict['state']}, confidence {verdict['confidence']:.2f}: {escaped(verdict['summary'])}\n")
    for title in ("evidence", "against", "ruled_out", "next"):
        for line in verdict[title]:
            print(f"- {title.replace('_', ' ')}: {escaped(line.replace(database, os.path.basename(database)))}")
    print("\n### Alerts (A1)\n")
    print("Theirs: \"2019-10-11 19:51:40 (0:00:04) CRITICAL on CPU\\_SYSTEM (90.6)\" (R2, glances on one host). "
          "Ours is of all hosts, and of the network, too, where a link's rate is known; times are from the begin of the run.\n")
    table(("begins", "lasts", "level", "host", "resource", "peak"),
          [(clock(a["start_s"]), clock(a["duration_s"]), a["level"].upper(), a["host"], a["resource"],
            f"{a['peak']:.1f} {a['unit']}") for a in told["alerts"]])
    print("### Iterations by rank (F3)\n")
    print("Theirs: the slowest worker sets the time of an iteration; vm1 took 1 to 1.5 s, the others 3 to 3.5 s (R1, async). "
          "Ours are of R4's program, whose server is no worker: all workers use the same link alike.\n")
    table(("rank", "host", "iterations", "median (s)", "95 % (s)"),
          [(r["rank"], r["host"], r["count"], f"{r['median_s']:.3f}", f"{r['p95_s']:.3f}") for r in told["iterations"]["by_rank"]])
    show_picture(program, database, run, directory, "iterations")
    print("### Series of each host (F2)\n")
    print("Theirs: screens of iftop, dstat and glances, watched while the program ran: a full core hides in the average of all, "
          "a burst in an average of 30 s (R1). Ours are samples of a tenth of a second; the page of a run "
          "(`chokepoint report -o run.html`) has memory, disk, pressure and the cores of all hosts as well.\n")
    for name in SERIES:
        show_picture(program, database, run, directory, name)
    print("### Capacity of these hosts (M1)\n")
    print("Theirs: 1.8 Gbit/s (225 MB/s) between two hosts, 2.63 Gbit/s the most ever seen, a round trip of about 1 ms (R1); 100 to 200 us "
          "a message with gRPC, 1 to 3 us with MPI (R5). Ours is measured by `chokepoint calibrate --quick`: links are set to "
          "theirs' rate, and the hosts are one machine, so round trips are shorter.\n")
    show_measured(told["ceilings"])


if __name__ == "__main__":
    main()
