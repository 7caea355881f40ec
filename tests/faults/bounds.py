# SPDX-License-Identifier: MIT
"""Compares bounds with measurements: "it cannot take less" is a defect if a clean run took less. For every fault whose removal
can be asked for, the bound of that question is compared with the time of the clean twin, which is uncertain by `doubt`. A
bound knows nothing of faster cores: the CPU time of ranks that the fault did not touch shows whether the twins had them."""
import math

import recordings
import scorer
import truth
from stats import mean


def asked(runs):
    return [r for r in runs if r["right"] in ("find", "grey") and scorer.is_of_one(r) and r["slowdown"] and recordings.what_if_words(r)]


def bound_of(run, binaries):
    """(bound over measured time, measured time, whether it was predicted), or None without a bound."""
    whole, _ = recordings.ask(binaries, run, recordings.what_if_words(run))
    answer, measured = ((whole or {}).get("answers") or [{}])[0], (whole or {}).get("measured_s")
    bound = answer.get("bound_s")
    return None if bound is None or not measured else (bound / measured, measured, answer.get("predicted_s") is not None)


def computing_s(run, hosts):
    """CPU time of all ranks on these hosts, for the work of a clean run."""
    return sum(row.get("cpu_s") or 0 for row in run["report"].get("budget") or [] if row["host"] in hosts and row.get("phase") == "all") / run["scale"]


def slower_cores(run, runs):
    """How much longer ranks on hosts without the fault computed than in the clean runs; 1 if there are none."""
    hosts = {row["host"] for row in run["report"].get("budget") or []} - {label["host"] for label in run["labels"]}
    clean = [computing_s(r, hosts) for r in truth.nearest_clean(run, runs)]
    own = computing_s(run, hosts)
    return max(own / mean(clean), 1) if own > 0 and clean and min(clean) > 0 else 1


def clean_ratio(run, runs, measured_s):
    """The clean twin's time over the time of a stretch of this run, on cores as fast as this run's."""
    return truth.true_ratio(run, measured_s) * slower_cores(run, runs)


def beaten_by(run, bound, runs):
    """The share by which the clean twin is below the bound, minus the twin's doubt; 0 or less: it is not below."""
    return bound[0] / clean_ratio(run, runs, bound[1]) * math.exp(-run["doubt"]) - 1


def rows(runs, everything, binaries):
    """(run, bound or None, by how much it is beaten or None), the worst first."""
    found = asked(runs)
    bounds = recordings.on_all_cores(lambda run: bound_of(run, binaries), found)
    result = [(run, bound, beaten_by(run, bound, everything) if bound else None) for run, bound in zip(found, bounds)]
    return sorted(result, key=lambda row: (row[2] is None, -(row[2] or 0), row[0]["id"]))


def violations(found):
    return [row for row in found if row[2] is not None and row[2] > 0]


def line(run, bound, beaten):
    if bound is None:
        return f"  {run['id']:34s} no bound"
    return (f"  {run['id']:34s} at least {bound[0]:.3f} of the time{'' if bound[2] else ', no prediction'}, the clean twin {truth.true_ratio(run, bound[1]):.3f} "
            f"(in doubt by {100 * run['doubt']:.0f} %){f': beaten by {100 * beaten:.1f} %' if beaten > 0 else ''}")


def all_lines(found):
    given = [row for row in found if row[1]]
    return [f"bounds that a clean run beats: {len(violations(found))} of {len(given)} given, {len(found)} asked"] + [line(*row) for row in found]
