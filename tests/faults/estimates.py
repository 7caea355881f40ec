# SPDX-License-Identifier: MIT
"""Every question whose answer is held against a measured time, in a line: what was predicted beside what was true, or why
nothing was; the worst first."""
import scorer


def percent(share):
    return "-" if share is None else f"{100 * share:+.1f} %"


def answer_text(answer):
    """Of (ratio, why not)."""
    ratio, refused = answer or (None, "not asked")
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


def slowdown_lines(runs):
    rows = [(scorer.slowdown_error(r), r) for r in runs if scorer.is_scored(r) and r["right"] == "find" and scorer.is_top1(r)]
    rows.sort(key=lambda row: (-badness(row[0]), row[1]["id"]))
    return [f"slowdown by the gain of the verdict, {len(rows)} right:"] + [
        f"  {r['id']:34s} {percent(error):>9s}  true {r['slowdown']:.2f} (clean runs differ by {100 * r['spread']:.0f} %), said {scorer.slowdown_estimate(r) or 0:.2f}; "
        f"gain {gain_text(r)}, explains {percent(scorer.excess_explained(r))} of {r['loop_s'] * (1 - 1 / r['slowdown']):.2f} s"
        for error, r in rows]


def all_lines(runs):
    return (question_lines("what if the fault were gone", runs, "whatif_answer", "whatif_error", lambda r: 1 / r["slowdown"])
            + question_lines("what if the clean run had the limit", runs, "cap_answer", "cap_error", lambda r: r["slowdown"])
            + slowdown_lines(runs))
