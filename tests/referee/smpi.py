#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Asks another simulator the same questions: `chokepoint export --format smpi` makes time-independent traces and a platform
of a recording, which SimGrid's SMPI replays as it was, with links twice as fast, and with cores twice as fast. Prints its
answers beside those of `chokepoint whatif`.

usage: smpi.py DATABASE [RUN...] [--bin DIR] [--keep DIR]

RUN     a name from `chokepoint list`; default: all of the database. A run is left out, with the reason, where SMPI knows no
        such calls, or where its replay of the run as it was is more than a tenth off: then its answers say nothing.
Needs Debian's libsimgrid-dev."""
import argparse
import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile

FIT_MAX = 0.1             # of the measured time
QUESTIONS = (("link", "all=2x"), ("cpu", "all=2x"))
RATE = {"link": r'(:(?:in|out)" bandwidth=")([0-9.]+)', "cpu": r'( speed=")([0-9.]+)'} # of hosts; ways between them have a pace


def output(words):
    done = subprocess.run(words, capture_output=True, text=True, stdin=subprocess.DEVNULL)
    if done.returncode:
        raise ValueError((done.stderr.strip() or f"exit status {done.returncode}").splitlines()[-1])
    return done.stdout


def changed(platform, option, factor):
    """The platform with links or cores so much faster."""
    return re.sub(RATE[option], lambda rate: f"{rate[1]}{factor * float(rate[2]):.0f}", platform)


def simulated_s(folder, platform):
    with open(f"{folder}/asked.xml", "w") as file:
        file.write(platform)
    with open(f"{folder}/traces") as file:
        ranks = len(file.readlines())
    words = ["smpirun", "-np", str(ranks), "-platform", "asked.xml", "-hostfile", "hosts", "-replay", "traces"]
    done = subprocess.run(words, capture_output=True, text=True, stdin=subprocess.DEVNULL, cwd=folder, timeout=120)
    said = re.findall(r"Simulation time ([0-9.e+-]+)", done.stderr + done.stdout)
    if not said:
        raise ValueError("smpirun: " + ((done.stderr.strip().splitlines() or ["says nothing"])[-1])[-150:])
    return float(said[-1])


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
    output([program, "export", run, "--db", database, "--format", "smpi", "-o", folder])
    with open(f"{folder}/platform.xml") as file:
        platform = file.read()
    took_s = float(re.search(r"after MPI_Init the run took ([0-9.]+) s", platform).group(1))
    before = simulated_s(folder, platform)
    off = before / took_s - 1
    if abs(off) > FIT_MAX:
        raise ValueError(f"SMPI takes {before:.3g} s for the run as it was, which took {took_s:.3g} s")
    theirs = [simulated_s(folder, changed(platform, option, 2)) / before for option, _ in QUESTIONS]
    return [(f"--{option} {value}", their, own) for (option, value), their, own in zip(QUESTIONS, theirs, ours)], off


def main(words):
    root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter, usage=argparse.SUPPRESS)
    parser.add_argument("database")
    parser.add_argument("runs", nargs="*")
    parser.add_argument("--bin", default=os.environ.get("CHOKEPOINT_BIN", f"{root}/build/release/bin"))
    parser.add_argument("--keep", help="a folder for the traces and platforms of all runs")
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
                answers, off = compared(program, options.database, run, f"{folder}/{run}")
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
