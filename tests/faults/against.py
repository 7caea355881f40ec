# SPDX-License-Identifier: MIT
"""The score of one judge beside that of another on the same recordings: written by `matrix score --save`, and
read by `matrix score --against`. Pure except for save() and read()."""
import json

import scorer
from tables import ERRORS, GOALS, number, share_text

SCHEMA = "chokepoint.matrix-score/1"
SAID = ("state", "subject", "host", "resource", "cause_kind", "confidence")


def case_of(run):
    """A case's answer, and whether it is right; None: not scored."""
    verdict = run["report"]["verdict"]
    right = scorer.is_right(run) if scorer.is_scored(run) else None
    return {**{key: verdict.get(key) for key in SAID}, "gain": scorer.gain(run), "truth": run["right"], "right": right,
            "cause_right": scorer.cause_is_right(run) if right is not None and run["right"] == "find" else None}


def score_of(runs, name):
    measures = scorer.measures(runs)
    return {"schema": SCHEMA, "name": name, "measures": {key: measures[key] for key, *_ in GOALS + ERRORS} | {"calibration_error": measures["calibration_error"]},
            "cases": {run["id"]: case_of(run) for run in runs}}


def save(score, path):
    with open(path, "w") as file:
        json.dump(score, file, indent=1)


def read(path):
    with open(path) as file:
        score = json.load(file)
    if score.get("schema") != SCHEMA:
        raise ValueError(f"{path} was not written by `matrix score --save`")
    return score


def answer_text(case):
    who = case["host"] or case["subject"] or ""
    gain = "" if case["gain"] is None else f", gain {100 * case['gain']:.0f} %"
    return " ".join(f"{case['state']} {who} {case['resource']} {case['cause_kind'] or ''}".split()) + f" at {case['confidence'] or 0:.2f}{gain}"


def right_text(case):
    return {True: "right", False: "wrong", None: "not scored"}[case["right"]]


def changed(old, new):
    """[(id, old, new)] of cases in both whose answer or cause changed between right and wrong; those that turned wrong come first."""
    both = [(name, old["cases"][name], case) for name, case in new["cases"].items() if name in old["cases"]]
    other = [row for row in both if any(row[1][key] != row[2][key] for key in ("right", "cause_right"))]
    return sorted(other, key=lambda row: (row[2]["right"] is not False, row[2]["cause_right"] is not False, row[0]))


def measure_text(measure):
    if measure is None or not isinstance(measure, dict):
        return number(measure, digits=3)
    return share_text(measure) if "share" in measure else f"median {number(measure['median'], digits=3)}, p90 {number(measure['p90'], digits=3)}, of {measure['n']}"


def lines_of(old, new):
    """Both columns of every measure, then each case whose rightness changed."""
    names = [(key, name) for key, name, *_ in GOALS + ERRORS] + [("calibration_error", "calibration error")]
    lines = [f"  {'':56s} {old['name']:40s} {new['name']}"]
    lines += [f"  {name[:56]:56s} {measure_text(old['measures'].get(key)):40s} {measure_text(new['measures'].get(key))}" for key, name in names]
    rows = changed(old, new)
    alone = len(set(old["cases"]) ^ set(new["cases"]))
    lines.append(f"  {len(rows)} cases are right in one and not in the other" + (f"; {alone} cases are in one alone" if alone else ""))
    for name, was, now in rows:
        part = "" if was["right"] != now["right"] else f", cause {'right' if now['cause_right'] else 'wrong'}"
        lines.append(f"  {name:40s} {right_text(was)} -> {right_text(now)}{part}: {answer_text(was)} -> {answer_text(now)}")
    return lines
