# SPDX-License-Identifier: MIT
"""Verdicts on the programs of services.py: whether subject and resource are right, what was missed, which innocent host was
blamed. Pure except for main(). The truth is the injector's label and the program's own rate: a run's slowdown is its time
for a piece of work over the median of its program's clean runs."""
import os
import sys

import cases
import recordings
import scorer
from stats import median
from truth import MUST_S, per_work
from workloads import WORKLOADS


def set_slowdowns(runs):
    """Adds slowdown (None without a clean run) and right: "find", "clean", or "grey" if the fault cost too little."""
    for run in runs:
        clean = median([per_work(r) for r in runs if r["workload"] == run["workload"] and r["fault"] == "F0"])
        run["slowdown"] = per_work(run) / clean if clean else None
        run["right"] = "clean" if run["fault"] == "F0" else "find" if (run["slowdown"] or 0) >= MUST_S else "grey"


def subject_is_right(run):
    verdict = run["report"]["verdict"]
    return scorer.names_a_limit(verdict) and any(verdict.get("host") == label["host"] for label in run["labels"])


def resource_is_right(run):
    verdict = run["report"]["verdict"]
    return subject_is_right(run) and any(scorer.fits((verdict["host"], verdict.get("resource")), label) for label in run["labels"])


def is_missed(run):
    """No limit is named for a run that was slowed that much."""
    return (run["slowdown"] or 0) >= scorer.SLOWED and not scorer.names_a_limit(run["report"]["verdict"])


def blames_an_innocent(run):
    """A host is blamed that had no fault, and that is no natural limit of the program."""
    answer = scorer.blamed(run["report"]["verdict"])
    natural = WORKLOADS[run["workload"]].natural if run["workload"] in WORKLOADS else ()
    return answer is not None and answer not in natural and all(answer[0] != label["host"] for label in run["labels"])


def measures(runs):
    """The runs must have their slowdowns."""
    find = [r for r in runs if r["right"] == "find"]
    slow = [r for r in find if r["slowdown"] >= scorer.SLOWED]
    return {"runs": len(runs), "grey": sum(r["right"] == "grey" for r in runs),
            "subject": scorer.count(find, subject_is_right), "resource": scorer.count(find, resource_is_right),
            "missed": scorer.count(slow, is_missed), "innocent": scorer.count(runs, blames_an_innocent),
            "innocent_clean": scorer.count([r for r in runs if r["right"] == "clean"], blames_an_innocent)}


def rows(runs):
    """[(name, measures), ...]: each program, then each fault, then all."""
    parts = [(name, [r for r in runs if r["workload"] == name]) for name in sorted({r["workload"] for r in runs})]
    faults = sorted({r["fault"] for r in runs if r["fault"] != "F0"}, key=scorer.fault_order)
    parts += [(f"{fault} {cases.NAMES.get(fault, '')}", [r for r in runs if r["fault"] == fault]) for fault in faults]
    return [(name, measures(mine)) for name, mine in (*parts, ("all", runs))]


# ---- what is printed ----

def of(s):
    return f"{s['right']} of {s['n']}"


def lines(runs):
    head = f"{'':42s} {'runs':>4s} {'subject right':>14s} {'resource right':>15s} {'missed though ' + format(scorer.SLOWED, 'g'):>18s} {'innocent blamed':>16s} {'grey':>5s}"
    return [head] + [f"{name[:42]:42s} {m['runs']:4d} {of(m['subject']):>14s} {of(m['resource']):>15s} {of(m['missed']):>18s} "
                     f"{of(m['innocent']):>16s} {m['grey']:5d}" for name, m in rows(runs)]


def truth_text(run):
    return "; ".join(f"{label['host']} {'/'.join(label['resource'])} ({label['cause']}{', ' + label['process'] if label.get('process') else ''})"
                     for label in run["labels"]) or "nothing"


def said_text(run):
    v = run["report"]["verdict"]
    return " ".join(str(word) for word in (v["state"], v.get("subject"), v.get("host"), v.get("resource"), v.get("cause_kind")) if word)


def is_wrong(run):
    return (run["right"] == "find" and not resource_is_right(run)) or blames_an_innocent(run)


def miss_lines(runs):
    return [f"  {run['id']:34s} {run['slowdown'] or 0:5.2f} x  truth: {truth_text(run)}; said: {said_text(run)}" for run in runs if is_wrong(run)]


def main(options):
    runs, lost = recordings.load(options.results, ["service"], options.bin, lambda text: print(text, file=sys.stderr))
    if not runs:
        sys.exit(f"matrix: nothing in {options.results}; `matrix run --half service` first")
    set_slowdowns(runs)
    words = options.only.split(",")
    runs = [run for run in runs if any(word in run["id"] for word in words)]
    print("\n".join(lines(runs)))
    if options.misses:
        print("\n".join(miss_lines(runs)))
    if lost:
        print(f"left out, as their recordings cannot be reported: {', '.join(lost)}")
    return 0


def are_in(results):
    """Whether the folder's recordings are of services."""
    return os.path.isdir(results) and any(name.startswith("s-svc-") for name in os.listdir(results))
