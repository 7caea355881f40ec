#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Holds the law of what-if against stored recordings: a resource made slower never makes a run faster, half and double
speed answer on both sides of 0, and a factor in between lies between. Asks `chokepoint whatif` for each resource of each
host at several factors.

usage: whatif_laws.py FOLDER... [--bin DIR] [--every N] [--only WORD,...] [--verbose]

FOLDER  has recordings anywhere below it (*.db), each with one run or several.
--every N  takes every n-th run only.
Prints each violation, then how many questions were answered and by what; exits with 1 where there is a violation, or where
nothing was asked."""
import argparse
import collections
import json
import os
import subprocess
import sys

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
import recordings

FACTORS = (0.25, 0.5, 0.7, 1, 1.4, 2, 1000)
WORDS_MAX = 64  # questions that one command takes
EXACT = 0.005   # of the measured time: two answers that differ by less are alike
CLEAR = 0.03    # of the measured time: half speed must cost something where double speed gains so much
COMPUTES = 0.2  # of the critical path
TOLD = ("replayed", "counted")

Answer = collections.namedtuple("Answer", "seconds how refused")  # seconds None: refused
Subject = collections.namedtuple("Subject", "name asked answers flows")  # asked: [(factor, words)]; answers: {factor: Answer}


# ---- the questions ----

def subjects_of(hosts, ranks):
    """[(name, [(factor, words)])]: each resource of each host and of all, as factors on its speed."""
    found = []
    for option in ("cpu", "link", "disk"):
        for host in [*hosts, "all"]:
            found.append((f"{option} {host}", [(f, (f"--{option}", f"{host}={f}x")) for f in FACTORS]))
    for rank in ranks:
        found.append((f"rank {rank}", [(f, ("--rank", f"{rank}={f}x")) for f in FACTORS]))
    found.append(("latency", [(f, ("--latency", f"{1 / f:.6g}x")) for f in FACTORS]))
    return found


# ---- the law, without files and programs ----

def faults_of(name, measured_s, answers):
    """The violations of one resource: answers is {factor on its speed: Answer}."""
    known = sorted((factor, a.seconds) for factor, a in answers.items() if a.seconds is not None)
    near = EXACT * measured_s
    for factor, seconds in known:
        if factor < 1 and seconds < measured_s - near:
            yield f"{name} at {factor:g}x is faster: {seconds:.4g} of {measured_s:.4g} s"
        if factor > 1 and seconds > measured_s + near:
            yield f"{name} at {factor:g}x is slower: {seconds:.4g} of {measured_s:.4g} s"
        if factor == 1 and abs(seconds - measured_s) > near:
            yield f"{name} unchanged takes {seconds:.4g} of {measured_s:.4g} s"
    for (slower, longer), (faster, shorter) in zip(known, known[1:]):
        if shorter > longer + near:
            yield f"{name} at {faster:g}x takes {shorter:.4g} s, at {slower:g}x {longer:.4g} s"
    half, double = (answers.get(factor) for factor in (0.5, 2))
    if half and double and half.seconds is not None and double.seconds is not None:
        gained, lost = measured_s - double.seconds, half.seconds - measured_s
        if gained > CLEAR * measured_s and lost <= near:
            yield f"{name} at 2x gains {gained:.3g} s of {measured_s:.4g} s, at 0.5x it costs {lost:.3g} s"


def slow_core_faults(name, measured_s, computing, answer, factor):
    """Slower cores cost something where a good part of the critical path computes."""
    if answer.seconds is not None and computing >= COMPUTES and answer.seconds < measured_s * (1 + EXACT):
        yield f"{name} at {factor:g}x takes {answer.seconds:.4g} of {measured_s:.4g} s, of which {100 * computing:.0f} % are computing"


def low_link_faults(name, measured_s, flowing_mbit, rate_mbit, answer):
    """A link that may carry less than flowed must slow the run."""
    if answer.seconds is not None and flowing_mbit > 1.25 * rate_mbit and answer.seconds < (1 + EXACT) * measured_s:
        yield f"{name} at {rate_mbit:.3g} Mbit/s, where {flowing_mbit:.3g} flowed, takes {answer.seconds:.4g} of {measured_s:.4g} s"


# ---- asking ----

def output(words):
    done = subprocess.run(words, capture_output=True, text=True, stdin=subprocess.DEVNULL)
    return done.stdout if done.returncode == 0 else None, done.stderr.strip() or f"exit status {done.returncode}"


def ask(program, database, run, questions):
    """(phase, its measured s, [Answer] in the order of the questions), or (None, None, why not)."""
    answers, phase, measured_s = [], None, None
    for first in range(0, len(questions), WORDS_MAX):
        words = [word for question in questions[first:first + WORDS_MAX] for word in question]
        text, trouble = output([program, "whatif", "--db", database, run, *words, "--format", "json"])
        if text is None:
            return None, None, trouble
        said = json.loads(text)
        phase, measured_s = said["phase"], said["measured_s"]
        answers += [Answer(one["predicted_s"], next((how for how in TOLD if one[how]), None), one["refused"]) for one in said["answers"]]
    return phase, measured_s, answers


def facts_of(program, database, run):
    """({host: Mbit/s that the job's connections carried on average, the busier way}, ranks, {phase: share of its critical
    path that computes}), or None and why."""
    text, trouble = output([program, "report", "--db", database, run, "--format", "json"])
    if text is None:
        return None, trouble, None
    report = json.loads(text)
    computing = collections.defaultdict(float)
    for row in report["critical_path"]:
        computing[row["phase"]] += row["share_pct"] / 100 if row["term"] == "cpu" else 0
    ways = {(row["host"], way): 0.0 for row in report["resources"] for way in ("from", "to")}
    for pair in report["pairs"]:
        for way in ("from", "to"):
            if (pair[way], way) in ways and pair["from"] != pair["to"]:
                ways[pair[way], way] += 8 * (pair["mean_mb_s"] or 0)
    flows = {host: max(ways[host, "from"], ways[host, "to"]) for host, _ in ways}
    return flows, sorted({row["rank"] for row in report["budget"] if row["rank"] is not None}), computing


def judged(program, database, run):
    """([violation], Counter of answers), or (None, why not)."""
    flows, ranks, computing = facts_of(program, database, run)
    if flows is None:
        return None, ranks
    subjects = subjects_of(sorted(flows), ranks)
    low = [(host, flow, max(flow / 4, 0.001)) for host, flow in sorted(flows.items()) if flow > 0.1]
    questions = [words for _, asked in subjects for _, words in asked]
    questions += [("--link", f"{host}={rate:.6f}mbit") for host, _, rate in low]
    phase, measured_s, answers = ask(program, database, run, questions)
    if measured_s is None:
        return None, answers
    found, counts, rest = [], collections.Counter(), iter(answers)
    for name, asked in subjects:
        said = {factor: next(rest) for factor, _ in asked}
        found += faults_of(name, measured_s, said)
        if name == "cpu all":
            found += slow_core_faults(name, measured_s, computing[phase], said[0.25], 0.25)
        counts.update((name.split()[0], "slower" if factor < 1 else "faster", a.how or "refused") for factor, a in said.items() if factor != 1)
    for host, flow, rate in low:
        answer = next(rest)
        found += low_link_faults(f"link {host}", measured_s, flow, rate, answer)
        counts["link", "lowered below what flowed", answer.how or "refused"] += 1
    return found, counts


# ---- all of them ----

def runs_below(program, folders):
    """[(database, run)]"""
    found = []
    for folder in folders:
        for at, _, names in sorted(os.walk(folder)):
            for name in sorted(name for name in names if name.endswith(".db")):
                text, _ = output([program, "list", "--db", f"{at}/{name}", "--format", "json"])
                found += [(f"{at}/{name}", run["name"]) for run in json.loads(text)["runs"]] if text else []
    return found


def lines_of(counts):
    """A line a kind of resource and direction: the shares of answers."""
    kinds = sorted({(resource, way) for resource, way, _ in counts})
    for resource, way in kinds:
        parts = {how: counts[resource, way, how] for how in (*TOLD, "refused")}
        all_of = sum(parts.values())
        yield f"{resource} {way}: {all_of} asked, " + ", ".join(f"{100 * n / all_of:.0f} % {how}" for how, n in parts.items())


def main(words):
    root = os.path.dirname(os.path.dirname(HERE))
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter, usage=argparse.SUPPRESS)
    parser.add_argument("folders", nargs="+")
    parser.add_argument("--bin", default=os.environ.get("CHOKEPOINT_BIN", f"{root}/build/release/bin"))
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--only", default="")
    parser.add_argument("--verbose", action="store_true", help="each run when it is done")
    options = parser.parse_args(words)
    program = f"{options.bin}/chokepoint"
    runs = runs_below(program, options.folders)[::options.every]
    runs = [one for one in runs if not options.only or any(word in " ".join(one) for word in options.only.split(","))]
    counts, broken, unread = collections.Counter(), 0, 0

    def one(which):
        found, counted = judged(program, *which)
        if options.verbose:
            print(*which, "unread" if found is None else len(found), file=sys.stderr, flush=True)
        return which, found, counted

    for (database, run), found, counted in recordings.on_all_cores(one, runs):
        if found is None:
            unread += 1
            print(f"{database} {run}: not read: {counted}")
            continue
        counts.update(counted)
        broken += bool(found)
        for text in found:
            print(f"{database} {run}: {text}")
    print("\n".join(lines_of(counts)))
    print(f"{len(runs)} runs, {unread} not read: the law is broken by {broken}")
    return 1 if broken or not counts else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
