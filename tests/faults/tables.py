# SPDX-License-Identifier: MIT
"""Measures, runs and rules as lines of text and tables of the page; a dash for unknown values."""
import cases
import misses
import scorer
import stats
import truth
import workloads as programs

GOALS = ( # measure, its name, goal, goal to reach beyond
    ("top1", "top-1: host and resource", "95 %", "98 %"),
    ("cause", "the same with cause", "90 %", "96 %"),
    ("top2", "among the first two", "", ""),
    ("precision", "precision", "97 %", "99 %"),
    ("recall", "recall", "97 %", "98 %"),
    ("false_alarms", "false alarms, clean and decoys", "1 %", "0"),
    ("false_alarms_alike", "the same, on cores that were alike (within 10 %)", "", ""),
    ("false_alarms_unlike", "the same, on cores that were not", "", ""),
    ("confidently_wrong", "wrongly blamed at a confidence of .8 or more", "", ""),
    ("slowed_but_balanced", "\"balanced\" of runs that were 1.2 times slower or more", "2 %", "0"),
    ("whatif_answered", "what-if questions (fault removed) answered, not refused", "", ""),
    ("cap_answered", "what-if questions (limit set) replayed, not refused", "", ""),
    ("start_given", "faults for part of the run: found, and a start named", "", ""),
    ("delay_named", "faults for part of the run: named by some iteration", "", ""),
    ("gain_given", "right verdicts with an estimate of the gain, not a bound alone", "", ""),
    ("excess_within_10", "excess time explained within 10 %", "", ""),
    ("excess_at_least_90", "excess time explained to 90 % at least", "90 %", ""),
    ("slowdown_within_doubt", "slowdown estimates no further off than their truth is in doubt by (perfect ones: nine of ten)", "", ""),
    ("whatif_within_doubt", "what-if answers (fault removed), the same", "", ""),
    ("closes_within_2", "budgets that add up within 2 %", "", ""),
)
ERRORS = (("slowdown_error", "slowdown estimate, relative error", "5 % worst"), ("whatif_error", "what-if (fault removed), relative error", "4 / 10 %"),
          ("cap_error", "what-if (clean run, limit set), relative error", "4 / 10 %"),
          ("twin_error", "the twins themselves: a clean run against its twin", ""), ("twin_error_as_measured", "the same, not corrected by the canary", ""),
          ("start_error_s", "start of a fault (F15), s off", ""), ("delay", "detection delay (F15), iterations", ""), ("closure_error_pct", "budget closure, % of wall time", "2"))
SIGNED = ("slowdown_error", "whatif_error", "cap_error")
PLAIN_UNITS = ("start_error_s", "closure_error_pct", "delay") # the others are shares


def share_text(s):
    if not s["n"]:
        return "-"
    return f"{100 * s['share']:.1f} % ({100 * s['low']:.1f} to {100 * s['high']:.1f}), {s['right']} of {s['n']}"


def number(value, scale=1, digits=1):
    return "-" if value is None else f"{value * scale:.{digits}f}"


def table(head, rows):
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return lines + ["| " + " | ".join(str(cell) for cell in row) + " |" for row in rows]


def measures_table(m):
    rows = [(name, share_text(m[key]), goal or "-", stretch or "-") for key, name, goal, stretch in GOALS]
    for key, name, goal in ERRORS:
        e, scale = m[key], 1 if key in PLAIN_UNITS else 100
        unit = "" if scale == 1 else " %"
        rows.append((name, f"median {number(e['median'], scale)}{unit}, p90 {number(e['p90'], scale)}{unit}, worst {number(e['worst'], scale)}{unit}, of {e['n']}"
                     + (f"; half are above {100 * e['bias']:+.1f} %" if key in SIGNED else "")
                     if e["n"] else "-", goal or "-", "-"))
    rows.append(("calibration error of the confidence", number(m["calibration_error"], digits=3), ".10", ".05"))
    return table(("measure", "measured", "goal", "stretch"), rows)


def group_table(groups):
    return table(("programs", "runs", "top-1", "with cause", "false alarms", "balanced though slower"),
                 [(group, m["runs"], *(share_text(m[key]) for key in ("top1", "cause", "false_alarms", "slowed_but_balanced"))) for group, m in groups.items()])


def class_table(classes):
    return table(("fault", "what", "runs", "to be found", "found: host, resource", "with cause", "first two", "balanced: kept quiet", "grey"),
                 [(f, cases.NAMES.get(f, ""), c["runs"], c["find"]["n"], c["find"]["right"], c["cause"]["right"], c["top2"]["right"],
                   f"{c['quiet']['right']} of {c['quiet']['n']}", c["grey"]) for f, c in classes.items()])


def share_short(s):
    return f"{s['right']} of {s['n']}"


def overhead_text(ratios):
    if not ratios:
        return "-"
    interval = stats.median_interval(ratios)
    return f"{100 * stats.median(ratios):+.1f} %" + (f" ({100 * interval[0]:+.1f} to {100 * interval[1]:+.1f})" if interval else "") + f", {len(ratios)}"


def spread_text(w):
    """Few clean runs say nothing, which must not look like a difference of 0."""
    return f"{100 * w['spread']:.1f} %" if w["clean"] >= truth.LEAST else "-"


def workload_table(workloads, overheads):
    return table(("program", "runs", "clean", "a clean run, s", "clean runs differ by", "found", "with cause", "kept quiet", "grey", "profiling costs"),
                 [(name, w["runs"], w["clean"], number(w["clean_s"], digits=2), spread_text(w), share_short(w["find"]), share_short(w["cause"]),
                   share_short(w["quiet"]), w["grey"], overhead_text(overheads.get(name))) for name, w in workloads.items()])


def confusion_table(confusion):
    columns = sorted({said for row in confusion.values() for said in row})
    rows = sorted(confusion, key=lambda k: scorer.fault_order(k[0]))
    return table(("fault (truth)", *columns), [(f"{f} ({truth})", *(confusion[f, truth].get(c, "") for c in columns)) for f, truth in rows])


def calibration_table(m):
    return table(("confidence", "said on average", "right", "runs"),
                 [(f"{low:.1f} to {high:.1f}", f"{mean:.2f}", f"{share:.2f}", n) for low, high, mean, share, n in m["calibration"]])


def misses_table(runs, why):
    return table(("run", "slower", "truth", "said", "why"),
                 [(r["id"], misses.slower_text(r), misses.truth_text(r), misses.said_text(r), why.get(r["id"], "not looked into yet"))
                  for r in scorer.misses(runs)])


# ---- rules, sources ----

def with_reports(runs, make):
    result = []
    for run in runs:
        report = make(run)
        if report is not None:
            result.append(dict(run, report=report))
    return result


RIVALS_HEAD = ("rule", "top-1", "the host alone", "precision", "false alarms")


def rival_row(name, runs):
    m = scorer.measures(runs)
    return name, share_text(m["top1"]), share_text(m["host"]), share_text(m["precision"]), share_text(m["false_alarms"])


def rivals_table(runs, verdict_name, reports):
    rows = [rival_row(verdict_name, runs)] + [rival_row(name, with_reports(runs, make)) for name, make in reports]
    return table(RIVALS_HEAD, rows)


def rank_periods(report):
    return {r["rank"]: r["median_s"] for r in (report.get("iterations") or {}).get("by_rank") or [] if r["median_s"]}


def period_errors(runs, reports):
    """Relative errors of the iteration time found without marks, for each rank that marks its own, and the number of
    ranks without one. Work between calls alone has no period in them: a rank that only serves others by calls is left
    out."""
    pairs = []
    for run, report in zip(runs, reports):
        if (run["report"]["iterations"] or {}).get("source") != "marker" or report is None:
            continue
        found = rank_periods(report)
        pairs += [found[rank] / true - 1 if rank in found else None for rank, true in rank_periods(run["report"]).items()
                  if rank not in programs.WORKLOADS[run["workload"]].silent]
    return dict(scorer.errors(pairs), tried=len(pairs))


def error_text(e):
    if not e["n"]:
        return f"none found of {e['tried']} ranks"
    return f"median {100 * e['median']:.1f} %, p90 {100 * e['p90']:.1f} %, worst {100 * e['worst']:.0f} %; found of {e['n']} of {e['tried']} ranks"
