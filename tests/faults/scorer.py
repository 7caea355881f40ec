# SPDX-License-Identifier: MIT
"""From runs with known answers and reports to measures. Pure: no files, no programs.

A *run* here is a dict: id, half, workload, fault, own_cores, others_cores, labels, loop_s and scale, started,
report (chokepoint.report/1); truth() adds slowdown and what the right answer is:
    find       the fault must be found: it made the run 8 % slower at least, and by more than clean runs differ
    grey       3 to 8 %, or within what clean runs of the program differ by: not scored
    balanced   nothing was done, or it cost less than 3 % (and surely less than 8 %)
"""
import math

from stats import calibration_bins, calibration_error, feeling, fitted_map, harmonic, median, quantile, slower_core, undisturbed, wilson

MUST_S, MAY_S = 1.08, 1.03
UNLIKE_CORES = 1.1 # slowest over fastest: from here on a rank on the slower one takes longer for the same work
BLAMES = ("saturated", "suspected")
LINK_FAULTS = ("F3", "F4", "F5")
AFTER_LOOP_S = .15 # from the end of a program's loop to that of the command, about
LEAST = 3 # clean runs from which a spread can be told
NEAR_S = 120 # a clean run that far away in time weighs half as much as one at the same time


# ---- truth ----

def per_work(run):
    return run["loop_s"] / run["scale"]


def whole_s(run):
    return run["report"].get("run", {}).get("duration_s") or run["loop_s"]


def nearest_clean(run, runs):
    """Clean runs of the same program, the nearest in time first; with a canary those of one with a canary."""
    clean = [r for r in runs if r["fault"] == "F0" and r["workload"] == run["workload"] and r["half"] == run["half"] and r is not run
             and not r.get("disturbed") and bool(core_ms(r)) == bool(core_ms(run))]
    return sorted(clean, key=lambda r: abs(r["started"] - run["started"]))


def nearness(run, other):
    return 1 / (1 + abs(other["started"] - run["started"]) / NEAR_S)


def beats_of(run):
    """{core: canary's times on it} of the cores that the program may run on: all, or the one it was pinned to."""
    cores = (run.get("canary") or {}).get("cores", {})
    return cores if run.get("pin") is None else {core: beats for core, beats in cores.items() if int(core) == run["pin"]}


def loop_beats(run):
    """The canary's times during the loop, on the slower core at each beat. The loop is the end of a run, but for what the
    command does after it."""
    period_ns, times = (run.get("canary") or {}).get("period_ns", 1), slower_core(beats_of(run))
    n = round(run["loop_s"] * 1e9 / period_ns)
    last = max(len(times) - round(AFTER_LOOP_S * 1e9 / period_ns), n)
    return times[max(last - n, 0):last]


def slowness(run):
    """How long the cores took for fixed work during the loop; 1 where that was not measured."""
    times = loop_beats(run)
    return harmonic(times[undisturbed(times[::2], times[1::2])] or [1])


def feels(clean):
    return feeling([(slowness(r), per_work(r)) for r in clean])


def at_speed(one, exponent, other):
    """What a run takes for its work on cores as fast as they were during the other run, s."""
    return per_work(one) * (slowness(other) / slowness(one)) ** exponent


def twin_s(run, runs):
    """What the same work takes without the fault: the geometric mean of all other clean runs of the program, on cores as fast
    as they were during this run, the nearer in time the heavier."""
    clean = nearest_clean(run, runs)
    weights, exponent = [nearness(run, r) for r in clean], feels(clean)
    return math.exp(sum(w * math.log(at_speed(r, exponent, run)) for w, r in zip(weights, clean)) / sum(weights)) if clean else None


def outside_s(run):
    """What the whole run takes beside the loop: start and end, which less work makes no shorter."""
    return whole_s(run) - run["loop_s"]


def whole_twin_s(run, runs):
    """What the whole of the run would have taken, for the same work: a verdict and a prediction speak of the whole."""
    return run["twin_s"] and run["twin_s"] * run["scale"] + median([outside_s(r) for r in nearest_clean(run, runs)])


def set_twin(run, runs):
    run["twin_s"], run["feels"] = twin_s(run, runs), feels(nearest_clean(run, runs))
    run["whole_twin_s"] = whole_twin_s(run, runs)
    run["slowdown"] = per_work(run) / run["twin_s"] if run["twin_s"] else None


def set_truth(runs, tolerate=.1):
    """Adds disturbed, twin_s, feels, whole_twin_s, slowdown, spread and right to each run."""
    for run in runs:
        run["disturbed"] = run.get("others_cores", 0) > tolerate + run.get("allowance", 0)
    for run in runs:
        set_twin(run, runs)
    for run in runs:
        run["spread"] = clean_spread(runs, run["half"], run["workload"])
        run["right"] = right_answer(run)


def clean_spread(runs, half, workload):
    """How far a clean run of the program is from its own twin in nine of ten: a fault that costs less than that may as
    well cost nothing, or more. Where there are too few to say, that of all programs; of few at all 0."""
    all_off = [(r["workload"], abs(r["slowdown"] - 1)) for r in runs if r["fault"] == "F0" and r["half"] == half and not r["disturbed"] and r["slowdown"]]
    own = [off for name, off in all_off if name == workload]
    off = own if len(own) >= LEAST else [off for _, off in all_off]
    return quantile(off, .9) if len(off) >= LEAST else 0


def right_answer(run):
    if run["disturbed"]:
        return "disturbed"
    if run["fault"] == "F0":
        return "balanced"
    if run["slowdown"] is None:
        return "no twin"
    if run["slowdown"] >= max(MUST_S, 1 + run["spread"]) and run["labels"]:
        return "find"
    return "balanced" if run["slowdown"] < MAY_S and (not run["labels"] or run["slowdown"] + run["spread"] < MUST_S) else "grey"


# ---- the cores beneath ----

def core_ms(run):
    """{core: CPU time of the canary's work on it, at its mean speed during the run}; {} where it was not measured."""
    return {core: harmonic(beats) for core, beats in beats_of(run).items() if beats}


def cores_alike(run):
    """Whether the canary took about as long on all cores of the bed; None: not known."""
    times = core_ms(run).values()
    return max(times) < UNLIKE_CORES * min(times) if len(times) > 1 else None


def twin_errors_as_measured(runs):
    """How far clean runs with a canary are from their twins, as if they had none."""
    blind = [dict(r, canary=None) for r in runs if r["fault"] == "F0" and not r["disturbed"] and core_ms(r)]
    return errors([twin_s(r, blind) / per_work(r) - 1 for r in blind if nearest_clean(r, blind)])


# ---- one answer ----

def blamed(verdict):
    """(host, resource), or None where nobody is blamed."""
    return (verdict.get("host"), verdict.get("resource")) if verdict.get("state") in BLAMES else None


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
        if answer not in answers and row.get("state") in BLAMES + ("", None):
            answers.append(answer)
    return [a for a in answers if a][:2]


def is_top2(run):
    """One label: among the first two; two labels: both."""
    return all(any(fits(answer, label) for answer in first_two(run)) for label in run["labels"])


def is_scored(run):
    """Where hosts share cores, no word about the CPU is judged on runs without a fault."""
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
    """Of the whole run, its start and end included: what a verdict's gain speaks of."""
    return whole_s(run) / run["whole_twin_s"]


def is_of_one(run):
    """The twin is without one thing only: a verdict's gain is of the one it names. Of two faults there is no twin with the
    other; and senders of foreign traffic take the cores as well, where the job's hosts have none of their own."""
    return run["fault"] != "F16" and (run["own_cores"] or run["fault"] != "F6")


def slowdown_estimate(run):
    g = gain(run)
    return None if g is None else 1 / max(1 - g, .01) # who promises all is wrong by much


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


def ratio_of(run, loop_s, beside_s, measured_s):
    """What a loop and what is beside it, of so many seconds, take of what a prediction on this run is about: the whole of
    it, or its main phase; a phase that is a part of the loop takes of its time what the loop takes of the loop's."""
    beside = max(measured_s - run["loop_s"], 0) / outside_s(run) if outside_s(run) > 0 else 0
    return (loop_s + min(beside, 1) * beside_s) / max(measured_s, run["loop_s"])


def true_ratio(run, measured_s):
    """The same of its clean twin."""
    loop_s = run["twin_s"] * run["scale"]
    return ratio_of(run, loop_s, run["whole_twin_s"] - loop_s, measured_s)


def capped_ratio(run, clean, measured_s):
    """The other way round: what a faulty run took for the same work, of that clean run, on cores as fast as they were in that;
    who is held up by a link does not feel its cores."""
    exponent = 0 if run["fault"] in LINK_FAULTS else run["feels"]
    return ratio_of(clean, at_speed(run, exponent, clean) * clean["scale"], outside_s(run), measured_s)


def what_if_error(run, ratio, measured_s):
    """The time a question is answered with over what the clean twin took, less 1."""
    return ratio / true_ratio(run, measured_s) - 1


def start_error_s(run):
    start = run["report"]["verdict"].get("start_s")
    truth = next((label["start_s"] for label in run["labels"] if label.get("start_s") is not None), None)
    return None if start is None or truth is None else abs(start - truth)


def closure_error(run):
    """Of the longest budget rows: how far the terms are from the wall time, %."""
    rows = [b for b in run["report"].get("budget", []) if (b.get("wall_s") or 0) >= 1 and b.get("closure_pct") is not None]
    return max((abs(b["closure_pct"] - 100) for b in rows), default=None)


# ---- overhead ----

def overheads(runs, plain, tolerate=.1):
    """workload: ratios less 1 of a profiled clean run to the one beside it that nobody profiled; None: all of them."""
    result = {None: []}
    for alone in plain:
        clean = nearest_clean(alone, runs)
        if clean and alone["others_cores"] <= tolerate + alone.get("allowance", 0):
            near = clean[0]
            for key in (None, alone["workload"]):
                result.setdefault(key, []).append(at_speed(near, feels(clean), alone) / per_work(alone) - 1)
    return result


# ---- measures ----

def share(right, n):
    low, high = wilson(right, n)
    return {"right": right, "n": n, "share": right / n if n else None, "low": low, "high": high}


def count(runs, what):
    return share(sum(bool(what(r)) for r in runs), len(runs))


def errors(values):
    """bias: half of them lie above it."""
    known = [v for v in values if v is not None]
    values = [abs(v) for v in known]
    return {"n": len(values), "median": median(values), "p90": quantile(values, .9), "worst": max(values, default=None), "bias": median(known)}


def excess_measures(right):
    """What the verdict's gain says of what the fault cost, of runs that were answered rightly."""
    explained = [e for e in map(excess_explained, right) if e is not None]
    return {"slowdown_error": errors([slowdown_error(r) for r in right]),
            "excess_within_10": count(explained, lambda e: abs(e - 1) <= .1),
            "excess_at_least_90": count(explained, lambda e: e >= .9)}


def twin_errors(runs):
    """How far clean runs are from their own twins: what a perfect prediction would be found to be off by."""
    return errors([1 / r["slowdown"] - 1 for r in runs if r["fault"] == "F0" and not r["disturbed"] and r["slowdown"]])


def precision(find, balanced):
    blaming = [r for r in find + balanced if blamed(r["report"]["verdict"])]
    return count(blaming, lambda r: r["right"] == "find" and is_top1(r))


def confidence_pairs(runs):
    """Whoever blames nobody is as sure as it says that nobody is to blame; "insufficient" claims nothing."""
    return [(r["report"]["verdict"].get("confidence") or 0, is_right(r)) for r in runs if r["report"]["verdict"]["state"] != "insufficient"]


def measures(runs):
    """All of evaluation's measures that recordings can give. Runs must have their truth."""
    scored = [r for r in runs if is_scored(r)]
    find = [r for r in scored if r["right"] == "find"]
    balanced = [r for r in scored if r["right"] == "balanced"]
    windowed = [r for r in find if r["fault"] == "F15"]
    delayed = [r for r in windowed if r.get("delay", 0) != 0] # 0: named before it began
    pairs = confidence_pairs(scored)
    right = [r for r in find if is_top1(r)]
    return {
        "runs": len(runs), "scored": len(scored), "classes": len({r["fault"] for r in find}),
        "grey": sum(r["right"] == "grey" for r in runs), "disturbed": sum(r["right"] == "disturbed" for r in runs),
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
        "twin_error": twin_errors(runs), "twin_error_as_measured": twin_errors_as_measured(runs),
        "whatif_error": errors([r.get("whatif_error") for r in right]),
        "cap_error": errors([r.get("cap_error") for r in find]),
        "cap_answered": count([r for r in find if r.get("cap_asked")], lambda r: r.get("cap_error") is not None),
        "gain_given": count(right, lambda r: gain(r) is not None),
        "whatif_answered": count([r for r in right if r.get("whatif_asked")], lambda r: r.get("whatif_error") is not None),
        "closure_error_pct": errors([closure_error(r) for r in runs]),
        "closes_within_2": count([r for r in runs if closure_error(r) is not None], lambda r: closure_error(r) <= 2),
        "calibration_error": calibration_error(pairs), "calibration": calibration_bins(pairs), "map": fitted_map(pairs),
    }


def summary(mine):
    """Measures of a part of the runs: how many, top-1, cause, top-2, kept quiet, grey."""
    scored = [r for r in mine if is_scored(r)]
    find = [r for r in scored if r["right"] == "find"]
    return {"runs": len(mine), "find": count(find, is_top1), "cause": count(find, cause_is_right), "top2": count(find, is_top2),
            "quiet": count([r for r in scored if r["right"] == "balanced"], is_right), "grey": sum(r["right"] == "grey" for r in mine)}


def by_class(runs):
    return {fault: summary([r for r in runs if r["fault"] == fault]) for fault in sorted({r["fault"] for r in runs}, key=fault_order)}


def by_workload(runs):
    """The same of each program, with the seconds of a clean run and their spread."""
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
    """The column of the confusion matrix: what was answered, and "elsewhere" where the host is a wrong one."""
    answer = blamed(run["report"]["verdict"])
    if answer is None:
        return run["report"]["verdict"]["state"]
    elsewhere = run["right"] == "find" and not any(answer[0] == label["host"] for label in run["labels"])
    return answer[1] + (" elsewhere" if elsewhere else "")


def confusion(runs):
    """{(fault, right answer): {said: n}} of the scored runs."""
    table = {}
    for run in runs:
        if is_scored(run):
            row = table.setdefault((run["fault"], run["right"]), {})
            row[said(run)] = row.get(said(run), 0) + 1
    return table


def misses(runs):
    return [r for r in runs if is_scored(r) and not is_right(r)]
