# SPDX-License-Identifier: MIT
"""Whether verdicts are right and estimates near, run by run and in measures over many. Pure: no files, no programs.
The runs come from truth.set_truth(), which adds the truth."""
from stats import calibration_bins, calibration_error, fitted_map, median, quantile, wilson
from truth import as_measured, cores_alike, per_work, true_ratio, whole_s
from workloads import GROUPS, group_of

BLAMES = ("saturated", "suspected")
OF_A_HOST = ("host", "rank", "process") # subjects on one host; None: a report from before there were subjects
SLOWED = 1.2 # slowdown from which "balanced" is the worst miss


# ---- one answer ----

def names_a_limit(verdict):
    return verdict.get("state") in BLAMES


def is_of_a_host(verdict):
    return verdict.get("subject") in (*OF_A_HOST, None)


def blamed(verdict):
    """(host, resource), or None if no host is blamed."""
    return (verdict.get("host"), verdict.get("resource")) if names_a_limit(verdict) and is_of_a_host(verdict) else None


def wider_limit(verdict):
    """(subject, resource) of a limit that is not one host's (all hosts, the machine, a core, messages, outside), or
    None."""
    return (verdict["subject"], verdict.get("resource")) if names_a_limit(verdict) and not is_of_a_host(verdict) else None


def fits(answer, label):
    return answer is not None and answer[0] == label["host"] and answer[1] in label["resource"]


def is_top1(run):
    return any(fits(blamed(run["report"]["verdict"]), label) for label in run["labels"])


def host_is_right(run):
    answer = blamed(run["report"]["verdict"])
    return answer is not None and any(answer[0] == label["host"] for label in run["labels"])


def cause_is_right(run):
    verdict = run["report"]["verdict"]
    answer = blamed(verdict)
    for label in run["labels"]:
        if fits(answer, label) and verdict.get("cause_kind") == label["cause"]:
            pids = label["pid"] if isinstance(label["pid"], list) else [label["pid"]]
            return label["pid"] is None or (verdict.get("culprit") or {}).get("pid") in pids
    return False


def first_two(run):
    answers = [blamed(run["report"]["verdict"])]
    for row in run["report"].get("ranking", []):
        answer = (row["host"], row["resource"])
        if answer not in answers and row.get("state") in BLAMES + ("", None) and is_of_a_host(row):
            answers.append(answer)
    return [a for a in answers if a][:2]


def is_top2(run):
    """One label: it is among the first two answers; two labels: both are."""
    return all(any(fits(answer, label) for answer in first_two(run)) for label in run["labels"])


def is_scored(run):
    """Where hosts share cores, verdicts about the CPU are not judged on runs without a fault."""
    answer = blamed(run["report"]["verdict"])
    shared_cpu = not run["own_cores"] and run["right"] == "balanced" and answer and answer[1] in ("cpu", "imbalance")
    return run["right"] in ("find", "balanced") and not shared_cpu


def is_right(run):
    if run["right"] == "balanced":
        return blamed(run["report"]["verdict"]) is None
    return is_top1(run)


# ---- estimates ----

def gain(run):
    estimate = ((run["report"]["verdict"].get("gain_pct") or {}).get("estimate"))
    return None if estimate is None else estimate / 100


def whole_slowdown(run):
    """Slowdown of the whole run, including its start and end, to which a verdict's gain refers."""
    return whole_s(run) / run["whole_twin_s"]


def is_of_one(run):
    """The twin is without one thing only: a verdict's gain is of the one it names. A run with two faults has no twin that
    keeps one of them; and senders of foreign traffic take the cores as well, where the job's hosts have none of their
    own."""
    return run["fault"] != "F16" and (run["own_cores"] or run["fault"] != "F6")


def slowdown_estimate(run):
    g = gain(run)
    return None if g is None else 1 / max(1 - g, .01) # a gain of everything counts as a large error


def slowdown_error(run):
    estimate = slowdown_estimate(run)
    return None if estimate is None or not is_of_one(run) else estimate / whole_slowdown(run) - 1


def excess_s(run):
    return whole_s(run) - run["whole_twin_s"]


def excess_explained(run):
    """Seconds promised over those that the fault cost; None where the whole run took no longer than its twin, although
    the loop did."""
    g, excess = gain(run), excess_s(run)
    return None if g is None or excess <= 0 or not is_of_one(run) else g * whole_s(run) / excess


def what_if_error(run, ratio, measured_s):
    """The answered time over the clean twin's, minus 1."""
    return ratio / true_ratio(run, measured_s) - 1


def start_error_s(run):
    start = run["report"]["verdict"].get("start_s")
    truth = next((label["start_s"] for label in run["labels"] if label.get("start_s") is not None), None)
    return None if start is None or truth is None else abs(start - truth)


def closure_error(run):
    """The largest difference between the sum of terms and the wall time, in %, over the longer budget rows."""
    rows = [b for b in run["report"].get("budget", []) if (b.get("wall_s") or 0) >= 1 and b.get("closure_pct") is not None]
    return max((abs(b["closure_pct"] - 100) for b in rows), default=None)


# ---- measures ----

def share(right, n):
    low, high = wilson(right, n)
    return {"right": right, "n": n, "share": right / n if n else None, "low": low, "high": high}


def count(runs, what):
    return share(sum(bool(what(r)) for r in runs), len(runs))


def errors(values):
    """bias: half of the values lie above it."""
    known = [v for v in values if v is not None]
    values = [abs(v) for v in known]
    return {"n": len(values), "median": median(values), "p90": quantile(values, .9), "worst": max(values, default=None), "bias": median(known)}


def excess_measures(right):
    """The verdict's gain compared with the fault's cost, over rightly answered runs."""
    explained = [e for e in map(excess_explained, right) if e is not None]
    return {"slowdown_error": errors([slowdown_error(r) for r in right]), "slowdown_within_doubt": within_doubt(right, slowdown_error),
            "excess_within_10": count(explained, lambda e: abs(e - 1) <= .1),
            "excess_at_least_90": count(explained, lambda e: e >= .9)}


def twin_errors(runs):
    """How far clean runs are from their own twins: the error that a perfect prediction would show."""
    return errors([1 / r["slowdown"] - 1 for r in runs if r["fault"] == "F0" and not r["disturbed"] and r["slowdown"]])


def within_doubt(runs, error_of):
    """The share of errors no larger than the doubt of their truth. Nine of ten clean runs are within that doubt, so a
    perfect estimate is within it nine times of ten."""
    known = [r for r in runs if error_of(r) is not None and r["doubt"] > 0]
    return count(known, lambda r: abs(error_of(r)) <= r["doubt"])


def precision(find, balanced):
    blaming = [r for r in find + balanced if blamed(r["report"]["verdict"])]
    return count(blaming, lambda r: r["right"] == "find" and is_top1(r))


def confidence_pairs(runs):
    """The confidence of a verdict without blame counts as well: it claims that nobody is to blame; "insufficient"
    claims nothing."""
    return [(r["report"]["verdict"].get("confidence") or 0, is_right(r)) for r in runs if r["report"]["verdict"]["state"] != "insufficient"]


def measures(runs):
    """All measures that recordings can give. The runs must have their truth."""
    scored = [r for r in runs if is_scored(r)]
    find = [r for r in scored if r["right"] == "find"]
    balanced = [r for r in scored if r["right"] == "balanced"]
    windowed = [r for r in find if r["fault"] == "F15"]
    delayed = [r for r in windowed if r.get("delay", 0) != 0] # 0: named before the fault began
    pairs = confidence_pairs(scored)
    right = [r for r in find if is_top1(r)]
    return {
        "runs": len(runs), "scored": len(scored), "classes": len({r["fault"] for r in find}),
        "grey": sum(r["right"] == "grey" for r in runs), "disturbed": sum(r["right"] == "disturbed" for r in runs),
        "slowed_but_balanced": count([r for r in find if r["slowdown"] >= SLOWED], lambda r: r["report"]["verdict"]["state"] == "balanced"),
        "insufficient": sum(r["report"]["verdict"]["state"] == "insufficient" for r in scored),
        "top1": count(find, is_top1), "host": count(find, host_is_right), "cause": count(find, cause_is_right), "top2": count(find, is_top2),
        "precision": precision(find, balanced), "recall": count(find, is_top1),
        "false_alarms": count(balanced, lambda r: blamed(r["report"]["verdict"])),
        "false_alarms_alike": count([r for r in balanced if cores_alike(r)], lambda r: blamed(r["report"]["verdict"])),
        "false_alarms_unlike": count([r for r in balanced if cores_alike(r) is False], lambda r: blamed(r["report"]["verdict"])),
        "confidently_wrong": count(scored, lambda r: not is_right(r) and blamed(r["report"]["verdict"])
                                   and (r["report"]["verdict"].get("confidence") or 0) >= .8),
        "start_given": count([r for r in windowed if is_top1(r)], lambda r: start_error_s(r) is not None),
        "delay": errors([r["delay"] for r in delayed if r["delay"]]), "delay_named": count(delayed, lambda r: r["delay"]),
        "start_error_s": errors([start_error_s(r) for r in windowed]),
        **excess_measures(right),
        "twin_error": twin_errors(runs), "twin_error_as_measured": twin_errors(as_measured(runs)),
        "whatif_error": errors([r.get("whatif_error") for r in right]),
        "whatif_within_doubt": within_doubt(right, lambda r: r.get("whatif_error")),
        "cap_error": errors([r.get("cap_error") for r in find]),
        "cap_answered": count([r for r in find if r.get("cap_asked")], lambda r: r.get("cap_error") is not None),
        "gain_given": count(right, lambda r: gain(r) is not None),
        "whatif_answered": count([r for r in right if r.get("whatif_asked")], lambda r: r.get("whatif_error") is not None),
        "closure_error_pct": errors([closure_error(r) for r in runs]),
        "closes_within_2": count([r for r in runs if closure_error(r) is not None], lambda r: closure_error(r) <= 2),
        "calibration_error": calibration_error(pairs), "calibration": calibration_bins(pairs), "map": fitted_map(pairs),
    }


def summary(mine):
    """Measures of a part of the runs: number, top-1, cause, top-2, kept quiet, grey."""
    scored = [r for r in mine if is_scored(r)]
    find = [r for r in scored if r["right"] == "find"]
    return {"runs": len(mine), "find": count(find, is_top1), "cause": count(find, cause_is_right), "top2": count(find, is_top2),
            "quiet": count([r for r in scored if r["right"] == "balanced"], is_right), "grey": sum(r["right"] == "grey" for r in mine)}


def by_group(runs):
    """{group of programs: its measures}, without groups that have no run."""
    parts = {group: [r for r in runs if group_of(r["workload"]) == group] for group in GROUPS}
    return {group: measures(mine) for group, mine in parts.items() if mine}


def said_of_clean(runs):
    """{(subject, resource): n}: limits that are not one host's, named on runs without a fault. No false alarm: a
    program that computes all the time is limited by the CPU of all hosts."""
    counts = {}
    for run in runs:
        wider = wider_limit(run["report"]["verdict"])
        if run["right"] == "balanced" and wider:
            counts[wider] = counts.get(wider, 0) + 1
    return counts


def by_class(runs):
    return {fault: summary([r for r in runs if r["fault"] == fault]) for fault in sorted({r["fault"] for r in runs}, key=fault_order)}


def by_workload(runs):
    """The same for each program, with the seconds of a clean run and their spread."""
    result = {}
    for name in sorted({r["workload"] for r in runs}):
        mine = [r for r in runs if r["workload"] == name]
        clean = [r for r in mine if r["fault"] == "F0" and not r["disturbed"]]
        result[name] = dict(summary(mine), clean=len(clean), clean_s=median([per_work(r) for r in clean]), spread=max(r["spread"] for r in mine))
    return result


def fault_order(fault):
    digits = "".join(c for c in fault if c.isdigit())
    return fault[0] != "F", int(digits or 0), fault


def said(run):
    """The column of the confusion matrix: the answer, or "elsewhere" if the host is wrong."""
    answer, wider = blamed(run["report"]["verdict"]), wider_limit(run["report"]["verdict"])
    if wider:
        return f"{wider[1]} of {wider[0]}"
    if answer is None:
        return run["report"]["verdict"]["state"]
    elsewhere = run["right"] == "find" and not any(answer[0] == label["host"] for label in run["labels"])
    return answer[1] + (" elsewhere" if elsewhere else "")


def confusion(runs):
    """{(fault, right answer): {answer: n}} of the scored runs."""
    table = {}
    for run in runs:
        if is_scored(run):
            row = table.setdefault((run["fault"], run["right"]), {})
            row[said(run)] = row.get(said(run), 0) + 1
    return table


def misses(runs):
    return [r for r in runs if is_scored(r) and not is_right(r)]
