# SPDX-License-Identifier: MIT
"""Every question whose answer is compared with a measured time, in one line: the prediction beside the truth, or why there
is none; the worst first."""
import scorer
import truth


def percent(share):
    return "-" if share is None else f"{100 * share:+.1f} %"


def answer_text(answer):
    """Text of an answer (ratio, why not, ...)."""
    ratio, refused = (answer or (None, "not asked"))[:2]
    return f"{ratio:.3f} of the time" if ratio is not None else f"refused: {refused}"


def badness(error):
    return -1 if error is None else abs(error)


def question_lines(name, runs, answer_key, error_key, true_ratio):
    asked = sorted((r for r in runs if r.get(answer_key)), key=lambda r: (-badness(r.get(error_key)), r["id"]))
    return [f"{name}, {len(asked)} asked:"] + [
        f"  {r['id']:34s} {percent(r.get(error_key)):>9s}  true {true_ratio(r):.3f}, predicted {answer_text(r[answer_key])}"
        f"{'' if scorer.is_top1(r) else '; not blamed'}" for r in asked]


def gain_text(run):
    gain = run["report"]["verdict"].get("gain_pct") or {}
    bounds = " to ".join("?" if gain.get(k) is None else f"{gain[k]:.0f}" for k in ("low", "high"))
    return f"{gain['estimate']:.0f} % ({bounds})" if gain.get("estimate") is not None else f"a bound only ({bounds} %)"


def found(runs):
    """Rightly blamed, and with a twin that lacks only that fault."""
    return [r for r in runs if scorer.is_scored(r) and r["right"] == "find" and scorer.is_top1(r) and scorer.is_of_one(r)]


def slowdown_lines(runs):
    rows = [(scorer.slowdown_error(r), r) for r in runs]
    rows.sort(key=lambda row: (-badness(row[0]), row[1]["id"]))
    return [f"slowdown by the gain of the verdict, {len(rows)} right:"] + [
        f"  {r['id']:34s} {percent(error):>9s}  true {scorer.whole_slowdown(r):.2f} (in doubt by {100 * r['doubt']:.0f} %), said {scorer.slowdown_estimate(r) or 0:.2f}; "
        f"gain {gain_text(r)}, explains {percent(scorer.excess_explained(r))} of {scorer.excess_s(r):.2f} s"
        for error, r in rows]


def gone_ratio(run):
    """The clean twin's share of the time that was asked about; of the whole run if there is no answer."""
    answer = run["whatif_answer"]
    return truth.true_ratio(run, answer[2] if len(answer) > 2 and answer[2] else truth.whole_s(run))


def class_lines(runs, error_of):
    """Errors of runs by program and fault, the best first: they show in which direction a class errs."""
    rows, lines = {}, []
    for run in runs:
        rows.setdefault((run["workload"], run["fault"]), []).append(error_of(run))
    for (workload, fault), errors in rows.items():
        known = sorted(e for e in errors if e is not None)
        lines.append((scorer.median([abs(e) for e in known]) if known else 99,
                      f"  {workload:12s} {fault:4s} {len(known)} of {len(errors)} answered: {' '.join(percent(e) for e in known)}"))
    return ["the same by program and fault, of those blamed rightly:"] + [line for _, line in sorted(lines)]


def all_lines(runs):
    asked = [r for r in runs if r.get("whatif_answer") and scorer.is_top1(r)]
    return (question_lines("what if the fault were gone", runs, "whatif_answer", "whatif_error", gone_ratio) + class_lines(asked, lambda r: r["whatif_error"])
            + question_lines("what if the clean run had the limit", runs, "cap_answer", "cap_error", lambda r: r["cap_answer"][3])
            + slowdown_lines(found(runs)) + class_lines(found(runs), scorer.slowdown_error))
