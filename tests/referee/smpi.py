#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Asks another simulator the same questions: the MPI calls of a recording become a time-independent trace, which SimGrid's
SMPI replays on a platform with the recorded links, as it was, with links twice as fast, and with cores twice as fast. Prints
its answers beside those of `chokepoint whatif`.

usage: smpi.py DATABASE [RUN...] [--bin DIR] [--keep DIR]

RUN     a name from `chokepoint list`; default: all of the database. A run is left out, with the reason, where SMPI knows no
        such calls, or where its replay of the run as it was is more than a tenth off: then its answers say nothing.
Needs Debian's libsimgrid-dev."""
import argparse
import collections
import csv
import io
import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile

PART, REQUEST = 4, 8      # flags of rows that are no calls of their own
BYTE = 6                  # a datatype of time-independent traces
FLOPS = 1e9               # of a core: a second of computing
NOMINAL = 1.25e9          # bytes/s of an interface that tells no speed
LATENCY_S = 15e-6         # of a link: half the way of a small message
EAGER = 65536             # OpenMPI's btl_tcp_eager_limit
UNKNOWN_MAX = 0.05        # of a rank's time in calls that are only waited through
FIT_MAX = 0.1             # of the measured time
QUESTIONS = (("link", "all=2x"), ("cpu", "all=2x"))


# ---- the recording ----

def output(words):
    done = subprocess.run(words, capture_output=True, text=True, stdin=subprocess.DEVNULL)
    if done.returncode:
        raise ValueError((done.stderr.strip() or f"exit status {done.returncode}").splitlines()[-1])
    return done.stdout


def table(program, database, run, name):
    try:
        return list(csv.DictReader(io.StringIO(output([program, "export", run, "--db", database, "--format", "csv", "--table", name]))))
    except ValueError:
        return []


def number(text, absent=0):
    return int(float(text)) if text not in ("", None) else absent


class Call:
    """A call with the rows that belong to it."""
    def __init__(self, row):
        self.name = row["function"].removeprefix("MPI_")
        self.begin, self.end = number(row["start_ns"]), number(row["start_ns"]) + number(row["duration_ns"])
        self.peer, self.tag, self.bytes = number(row["peer"], None), max(number(row["tag"]), 0), number(row["bytes"])
        self.gap_cpu = number(row["gap_cpu_ns"], None)
        self.part = self.request = None


def calls_of(rows):
    """[Call] of one rank, in order."""
    calls, parts, requests = [], {}, collections.defaultdict(list)
    for row in sorted(rows, key=lambda row: number(row["sequence"])):
        flags, call = number(row["flags"]), Call(row)
        if flags & PART:
            parts[call.name, call.begin] = call
        elif flags & REQUEST:
            requests[call.name, call.begin].append(call)
        else:
            calls.append(call)
    for call in calls:
        call.part = parts.get((call.name, call.begin))
        of_call = requests.get((call.name, call.begin))
        call.request = of_call.pop(0) if of_call else None
    return sorted(calls, key=lambda call: call.begin)


# ---- a trace ----

GROUPS = {"Barrier": "barrier", "Cart_create": "barrier", "Allreduce": "allreduce {n} 0 {t}", "Reduce": "reduce {n} 0 {root} {t}", "Bcast": "bcast {n} {root} {t}",
          "Alltoall": "alltoall {n} {n} {t} {t}", "Allgather": "allgather {n} {n} {t} {t}", "Gather": "gather {n} {n} {root} {t} {t}",
          "Scatter": "scatter {n} {n} {root} {t} {t}"}


def completed(call, pending):
    """The pending request that this wait completed: the one that ended last before the wait did."""
    ended = [one for one in pending if one.request and call.begin <= one.request.end <= call.end + 1000]
    same = [one for one in pending if one.peer == call.peer and one.tag == call.tag]
    return (ended or same or pending or [None])[0]


def action_of(rank, call, pending):
    """The words of a call, or None if SMPI knows no such call; keeps what is pending."""
    at = call.request or call
    if call.name in ("Send", "Ssend"):
        return f"send {call.peer} {call.tag} {call.bytes} {BYTE}"
    if call.name == "Recv":
        return f"recv {call.peer} {call.tag} {call.bytes} {BYTE}"
    if call.name == "Sendrecv" and call.part:
        return f"sendRecv {call.bytes} {call.peer} {call.part.bytes} {call.part.peer} {BYTE} {BYTE}"
    if call.name in ("Isend", "Irecv") and at.peer is not None:
        call.peer, call.tag = at.peer, at.tag
        pending.append(call)
        return f"{call.name.lower()} {at.peer} {at.tag} {at.bytes} {BYTE}"
    if call.name == "Wait":
        done = completed(call, pending)
        if not done:
            return ""
        pending.remove(done)
        ends = (rank, done.peer) if done.name == "Isend" else (done.peer, rank)
        return f"wait {ends[0]} {ends[1]} {done.tag}"
    if call.name == "Waitall":
        n, pending[:] = len(pending), []
        return f"waitall {n}" if n else ""
    if call.name in GROUPS:
        return GROUPS[call.name].format(n=call.bytes, t=BYTE, root=max(call.peer or 0, 0))
    return None


def trace_of(rank, calls):
    """([line], seconds of calls that SMPI does not know, by name)."""
    lines, unknown, pending, now = [f"{rank} init"], collections.Counter(), [], calls[0].begin
    for call in calls:
        gap = call.begin - now
        if gap > 0:
            cpu = gap if call.gap_cpu is None else min(call.gap_cpu, gap)
            lines += [f"{rank} compute {cpu / 1e9 * FLOPS:.0f}"] + ([f"{rank} sleep {(gap - cpu) / 1e9:.9f}"] if gap > cpu else [])
        now = max(now, call.end)
        if call.name in ("Init", "Init_thread", "Finalize"):
            continue
        action = action_of(rank, call, pending)
        if action is None:
            unknown[call.name] += (call.end - call.begin) / 1e9
            action = f"sleep {(call.end - call.begin) / 1e9:.9f}"
        lines += [f"{rank} {action}"] if action else []
    return lines + [f"{rank} finalize"], unknown


# ---- a platform ----

def links_of(qdiscs, interfaces, hosts):
    """{host: (bytes/s out, bytes/s in)}: what its queue is set to, else its interface's speed."""
    speed, rate = {}, {}
    for row in interfaces:
        if row["interface"] != "lo" and number(row.get("speed_bytes_per_s")):
            speed[row["host"]] = number(row["speed_bytes_per_s"])
    for row in qdiscs:
        if number(row.get("rate_bytes_per_s")):
            rate[row["host"]] = number(row["rate_bytes_per_s"])
    return {host: (rate.get(host, speed.get(host, NOMINAL)), speed.get(host, NOMINAL)) for host in hosts}


def platform_of(links, cores=1.0, network=1.0):
    lines = ["<?xml version='1.0'?>", '<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">', '<platform version="4.1">', '<zone id="run" routing="Full">']
    lines += [f'<host id="{host}" speed="{cores * FLOPS:.0f}f" core="64"/>' for host in links]
    for host, rates in links.items():
        lines += [f'<link id="{host}_{way}" bandwidth="{network * rate:.0f}Bps" latency="{LATENCY_S}s"/>' for way, rate in zip(("out", "in"), rates)]
    lines += [f'<route src="{a}" dst="{b}" symmetrical="NO"><link_ctn id="{a}_out"/><link_ctn id="{b}_in"/></route>' for a in links for b in links if a != b]
    return "\n".join(lines + ["</zone></platform>"]) + "\n"


def simulated_s(folder, platform, ranks):
    with open(f"{folder}/platform.xml", "w") as file:
        file.write(platform)
    words = ["smpirun", "-np", str(ranks), "-platform", f"{folder}/platform.xml", "-hostfile", f"{folder}/hosts", "-replay", f"{folder}/traces",
             f"--cfg=smpi/send-is-detached-thresh:{EAGER}", f"--cfg=smpi/async-small-thresh:{EAGER}", "--cfg=smpi/bw-factor:0:1", "--cfg=smpi/lat-factor:0:1",
             "--cfg=smpi/os:0:0:0", "--cfg=smpi/or:0:0:0", "--cfg=smpi/ois:0:0:0", "--cfg=network/TCP-gamma:0", "--cfg=smpi/display-timing:no"]
    done = subprocess.run(words, capture_output=True, text=True, stdin=subprocess.DEVNULL, cwd=folder, timeout=120)
    said = re.findall(r"Simulation time ([0-9.e+-]+)", done.stderr + done.stdout)
    if not said:
        raise ValueError("smpirun: " + ((done.stderr.strip().splitlines() or ["says nothing"])[-1])[-150:])
    return float(said[-1])


# ---- a run ----

def written(folder, program, database, run):
    """(links, ranks, seconds from the first call to the last) of a run whose traces are in the folder now."""
    by_rank, host_of = collections.defaultdict(list), {}
    for row in table(program, database, run, "call"):
        by_rank[number(row["rank"])].append(row)
        host_of[number(row["rank"])] = row["host"]
    if len(by_rank) < 2 or sorted(by_rank) != list(range(len(by_rank))):
        raise ValueError("not all ranks have calls")
    calls = {rank: calls_of(rows) for rank, rows in by_rank.items()}
    for rank, of_rank in calls.items():
        lines, unknown = trace_of(rank, of_rank)
        lived = (of_rank[-1].end - of_rank[0].begin) / 1e9
        if sum(unknown.values()) > UNKNOWN_MAX * lived:
            name, seconds = unknown.most_common(1)[0]
            raise ValueError(f"rank {rank} is for {100 * seconds / lived:.0f} % in MPI_{name}, which a trace does not have")
        with open(f"{folder}/rank{rank}", "w") as file:
            file.write("\n".join(lines) + "\n")
    with open(f"{folder}/traces", "w") as file:
        file.write("".join(f"{folder}/rank{rank}\n" for rank in sorted(calls)))
    with open(f"{folder}/hosts", "w") as file:
        file.write("".join(f"{host_of[rank]}\n" for rank in sorted(calls)))
    hosts = sorted(set(host_of.values()))
    span = max(c[-1].end for c in calls.values()) - min(c[0].end for c in calls.values())
    return links_of(table(program, database, run, "qdisc"), table(program, database, run, "net"), hosts), len(calls), span / 1e9


def own_answers(program, database, run):
    """Time with the change as a share of the measured time, by question."""
    words = [word for option, value in QUESTIONS for word in (f"--{option}", value)]
    said = json.loads(output([program, "whatif", run, "--db", database, *words, "--format", "json"]))
    if any(not one["replayed"] for one in said["answers"]):
        raise ValueError("whatif: " + next(one["refused"] for one in said["answers"] if not one["replayed"]))
    return [one["predicted_s"] / said["measured_s"] for one in said["answers"]]


def compared(program, database, run, folder):
    """[(question, SMPI's answer, ours)], and how far SMPI's replay of the run as it was is off."""
    ours = own_answers(program, database, run)
    links, ranks, span_s = written(folder, program, database, run)
    before = simulated_s(folder, platform_of(links), ranks)
    off = before / span_s - 1
    if abs(off) > FIT_MAX:
        raise ValueError(f"SMPI takes {before:.3g} s for the run as it was, which took {span_s:.3g} s")
    theirs = [simulated_s(folder, platform_of(links, network=2), ranks) / before, simulated_s(folder, platform_of(links, cores=2), ranks) / before]
    return [(f"--{option} {value}", their, own) for (option, value), their, own in zip(QUESTIONS, theirs, ours)], off


def main(words):
    root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter, usage=argparse.SUPPRESS)
    parser.add_argument("database")
    parser.add_argument("runs", nargs="*")
    parser.add_argument("--bin", default=os.environ.get("CHOKEPOINT_BIN", f"{root}/build/release/bin"))
    parser.add_argument("--keep", help="a folder for the traces and platforms of the last run")
    options = parser.parse_args(words)
    program = f"{options.bin}/chokepoint"
    if not shutil.which("smpirun"):
        print("skipped: no smpirun (apt-get install libsimgrid-dev)")
        return 77
    runs = options.runs or [run["name"] for run in json.loads(output([program, "list", "--db", options.database, "--format", "json"]))["runs"]]
    differences = []
    with tempfile.TemporaryDirectory() as folder:
        for run in runs:
            try:
                answers, off = compared(program, options.database, run, folder)
            except (ValueError, subprocess.TimeoutExpired) as error:
                print(f"{run}: left out: {error}", flush=True)
                continue
            for question, theirs, ours in answers:
                differences.append(abs(ours / theirs - 1))
                print(f"{run} {question}: SMPI {100 * (theirs - 1):+.1f} %, chokepoint {100 * (ours - 1):+.1f} %: times differ by "
                      f"{100 * (ours / theirs - 1):+.1f} % (as it was, SMPI {100 * off:+.1f} % off)", flush=True)
        if options.keep:
            shutil.copytree(folder, options.keep, dirs_exist_ok=True)
    if differences:
        ordered = sorted(differences)
        print(f"{len(ordered)} answers: median difference {100 * statistics.median(ordered):.1f} %, 90th percentile "
              f"{100 * ordered[int(0.9 * (len(ordered) - 1) + 0.5)]:.1f} %")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
