#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""How often verdicts of a confidence are right: the table of analysis/verdict/verdict_calibration.c, fitted anew.

usage: calibration.py RESULTS...

Reads the reports kept in folders of results (`matrix score` makes them anew), takes what they computed before the table,
and fits log odds of being right = A + B x log odds of the confidence as computed: two numbers, drawn to "as computed"
by a prior, so that no few runs bend it, and never falling. Prints the table, and the calibration error of each folder
by a fit on the others alone.

Rules were mended by looking at the runs it is fitted on, and more answers are wrong on unseen runs: so every answer
counts as wrong by SURPRISE, about the difference of the blind scores.
"""
import math
import os
import re
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
sys.dont_write_bytecode = True
import recordings
import scorer
import truth
from stats import calibration_error

TABLE = f"{os.path.dirname(os.path.dirname(HERE))}/analysis/verdict/verdict_calibration.c"
MOST = .98 # CONFIDENCE_MAX
POINTS = (.6, .7, .8, .9, .95, 1) # below them there were no runs: a line down to 0
SURPRISE = .015
A_WIDTH, B_WIDTH = 1, .2 # standard deviations of the priors around 0 and 1


def table_now():
    with open(TABLE) as file:
        rows = re.search(r"table\[\] = \{(.*?)\};", file.read(), re.S).group(1)
    return [(float(x), MOST if y.startswith("V") else float(y)) for x, y in re.findall(r"\{([\d.]+), ([\w.]+)\}", rows)]


def between(points, x):
    """Linear between points; beyond the ends, their values."""
    for (x0, y0), (x1, y1) in zip(points, points[1:]):
        if x <= x1:
            return y0 + (y1 - y0) * (max(x, x0) - x0) / (x1 - x0)
    return points[-1][1]


def log_odds(p):
    p = min(max(p, .02), .995)
    return math.log(p / (1 - p))


def fit(pairs):
    """(A, B) of the greatest posterior by Newton's method, starting from "as computed"."""
    a, b = 0., 1.
    for _ in range(50):
        ga, gb, haa, hab, hbb = -a / A_WIDTH**2, -(b - 1) / B_WIDTH**2, 1 / A_WIDTH**2, 0, 1 / B_WIDTH**2
        for confidence, right in pairs:
            x = log_odds(confidence)
            p = 1 / (1 + math.exp(-a - b * x))
            error, weight = (1 - SURPRISE if right else 0) - p, p * (1 - p)
            ga, gb = ga + error, gb + error * x
            haa, hab, hbb = haa + weight, hab + weight * x, hbb + weight * x * x
        determinant = haa * hbb - hab * hab
        a, b = a + (hbb * ga - hab * gb) / determinant, b + (haa * gb - hab * ga) / determinant
    return a, max(b, 0)


def table_of(a, b):
    return [(0, 0)] + [(x, min(MOST, 1 / (1 + math.exp(-a - b * log_odds(x))))) for x in POINTS]


def is_by_calls(run):
    """Others are capped, or report a share that was counted."""
    return any(row.get("source") == "events" for row in run["report"].get("budget") or [])


def answers(folder, table):
    """(confidence as computed, what the table's answer was multiplied by, right, whether the table made it) of each run that
    is scored."""
    runs, _ = recordings.load(folder, ("tuning", "scored"), None)
    truth.set_truth(runs)
    found = []
    for run in runs:
        verdict = run["report"]["verdict"]
        if scorer.is_scored(run) and verdict["state"] != "insufficient":
            said = verdict.get("confidence") or 0
            computed = verdict.get("confidence_computed")
            by_table = bool(computed) and is_by_calls(run)
            found.append((computed, said / between(table, computed), scorer.is_right(run), True) if by_table
                         else (said, 1, scorer.is_right(run), False))
    return found


def error_with(found, table):
    return calibration_error([(between(table, x) * rest if by_table else x, right) for x, rest, right, by_table in found])


def fitted_table(sets):
    return table_of(*fit([(x, right) for found in sets for x, _, right, by_table in found if by_table]))


def main(folders):
    if not folders or folders[0].startswith("-"):
        print(__doc__.strip())
        return 0 if folders in (["-h"], ["--help"]) else 2
    sets = [answers(folder, table_now()) for folder in folders]
    if not any(by_table for found in sets for *_, by_table in found):
        print("calibration: no scored runs with reports there", file=sys.stderr)
        return 1
    for i, folder in enumerate(folders):
        others = sets[:i] + sets[i + 1:]
        held_out = error_with(sets[i], fitted_table(others)) if any(others) else float("nan")
        wrong = sum(not right for _, _, right, _ in sets[i])
        print(f"{folder}: {len(sets[i])} answers, {wrong} wrong; calibration error as computed "
              f"{error_with(sets[i], [(0, 0), (1, 1)]):.3f}, now {error_with(sets[i], table_now()):.3f}, by a fit on the others {held_out:.3f}")
    print(", ".join(f"{{{x:g}, {y:.3f}}}" for x, y in fitted_table(sets)))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
