#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""check_benches.py: a benchmark that docs/cost.md names, or that prints a goal, also prints an A/A row: its yardstick against
itself, or its subject against itself, in the same run. Without one nobody can tell a figure from what the machine does by itself.
WITHOUT lists those that need none, each with the reason. --list: which benchmarks there are, and what each has."""
import os
import re
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
COUNTED = "counts bytes, rows or instructions, which are the same in each run"
TRUTH = "holds what is said against a planted truth, in the same run"
FIXED = "its goal is a fixed time of many times what is measured, and no yardstick runs beside it"
RANGE = "prints the range of its runs"
WITHOUT = {
    "analysis_speed.sh": FIXED, "calls_alike.py": COUNTED, "collector_rate.c": RANGE, "iteration_period.sh": TRUTH,
    "live_cost.sh": FIXED, "observers_cost.py": RANGE, "page_size.sh": FIXED, "planted_causes.sh": TRUTH, "serve_cost.sh": FIXED,
    "sgd_sync_dense.sh": RANGE, "sgd_sync_sparse.sh": RANGE, "store_bytes.sh": COUNTED,
    "verdict_delay.sh": FIXED, "whatif_error.sh": TRUTH, "workers_error.sh": TRUTH,
}
GOAL = re.compile(r"(wanted:?|goal:?|\(at (?:least|most)|allowed:?) \(?(?:at (?:least|most) )?[\d%.]")
ROW = re.compile(r"A/A")


def benches():
    for name in sorted(os.listdir(f"{ROOT}/tests/bench")):
        if name.endswith((".sh", ".py", ".c")):
            with open(f"{ROOT}/tests/bench/{name}") as file:
                yield name, file.read()


def named(cost):
    """Names of files in tests/bench, of which programs are bench_NAME."""
    words = re.findall(r"tests/bench/([\w.]+)|`bench_(\w+)", cost)
    return {script or f"{program}.c" for script, program in words}


def main():
    with open(f"{ROOT}/docs/cost.md") as file:
        claimed = named(file.read())
    bad, needed = 0, set()
    for name, text in benches():
        must = name in claimed or GOAL.search(text) is not None
        has, reason = ROW.search(text) is not None, WITHOUT.get(name)
        if "--list" in sys.argv[1:]:
            print(f"{name:26s} {'A/A' if has else '-  '}  {reason or ('' if must else 'claims no figure')}")
        if must and not has and not reason:
            print(f"tests/bench/{name}: it prints a goal or a figure of docs/cost.md, and no A/A row")
            bad += 1
        if must and not has:
            needed.add(name)
    missing = claimed - {name for name, _ in benches()}
    for name in sorted(missing):
        print(f"docs/cost.md names tests/bench/{name}, which is not there")
    for name in sorted(WITHOUT.keys() - needed):
        print(f"check_benches.py: {name} needs no exception any more")
    bad += len(missing) + len(WITHOUT.keys() - needed)
    if not bad:
        print(f"each benchmark with a figure has an A/A row; {len(needed)} need none")
    return 1 if bad else 0


sys.exit(main())
