#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The short form of the matrix; see short.sh. It asks for less than the matrix measures: on a shared machine of two
cores a clean run need not be clean, so a blame counts against the verdict only if it is confident and nothing
outside slowed the program on that host."""
import os
import signal
import sys
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import cases
import laws
import runner
import scorer
import whatif_laws
from bed import Unable

BUDGET_S = 330 # after this only what would fail the test is tried again,
NO_MORE_S = 900 # and after this nothing: ctest would kill it at 1200 s, and leave the hosts
CONFIDENT = .8
CLEAR = 3 # at least this many of the five clear faults
HELD = (3, 7, 10) # laws of the verdict that every run must keep; violations of the others are only reported
SAME = "hosts,order,names,helpers,idle-host" # changes that keep the truth, and every verdict
EVERY = 3 # of the recordings, on which they are tried
PLAN = (("sync", "F1", 2), ("sync", "F2", 30), ("sync", "F11", 2), ("sync", "F12", 30), ("sync", "D3", 100), ("sync-net", "F3", 50))


def plan():
    result, seen = [], set()
    for workload, fault, magnitude in PLAN:
        if workload not in seen:
            result.append(cases.clean_case("scored", workload, 0))
            seen.add(workload)
        case = cases.case_of("scored", workload, fault, magnitude, 1)
        result.append(dict(case, scale=case["scale"] * .7))
    return [dict(case, scale=case["scale"] * .7) if case["fault"] == "F0" else case for case in result]


AGAIN = ("wrong", "failed", "missed") # the worst first


def better(one, other):
    return max(one, other, key=lambda result: AGAIN.index(result) if result in AGAIN else len(AGAIN))


def judge(run):
    """"found", "missed", "quiet", or "wrong": a confident blame of an innocent host."""
    verdict = run["report"]["verdict"]
    answer = scorer.blamed(verdict)
    if run["labels"] and scorer.is_top1(run):
        return "found"
    if answer and verdict["state"] == "saturated" and verdict["confidence"] >= CONFIDENT and not excused(run, answer):
        return "wrong"
    return "missed" if run["labels"] else "quiet"


def excused(run, answer):
    """Naming the CPU may be right if other programs used it, or if hosts share cores."""
    return answer[1] in ("cpu", "imbalance") and (run["others_cores"] > .1 or not run["own_cores"])


def attempt(matrix, case):
    report, kept = matrix.measure(case)
    with open(f"{matrix.folder(case)}/label.json") as file:
        run = dict(kept, report=report, labels=runner.json.load(file))
    result = judge(run)
    verdict = report["verdict"]
    print(f"{case['id']:28s} loop {kept['loop_s']:5.2f} s, others {kept['others_cores']:.2f}: {result:7s} {runner.short(report)}", flush=True)
    if result in ("wrong", "missed"):
        print(f"    {verdict['summary']}", flush=True)
    return result


def tried(matrix, case):
    """A failed run (a host that did not answer in time on a busy machine) has no answer yet."""
    try:
        return attempt(matrix, case)
    except (RuntimeError, OSError, ValueError, runner.subprocess.SubprocessError) as error:
        print(f"{case['id']}: {error}", flush=True)
        return "failed"


def count_found(said):
    return sum(result == "found" for result in said.values())


def must_be_better(said, case):
    """Whether the test would fail because of it."""
    return said[case["id"]] != "missed" or count_found(said) < CLEAR


def is_tried_again(said, case, took_s):
    return said[case["id"]] in AGAIN and took_s < (NO_MORE_S if must_be_better(said, case) else BUDGET_S)


def broken_laws(binaries, results):
    """Violations of laws that must hold, in the recordings just made."""
    found, count, lost, notes = laws.check(results, binaries)
    print("\n".join(laws.lines_of(found, count, lost + notes, laws.LAWS)), flush=True)
    return sorted({law for law, *_ in found if law in HELD})


def verdicts_stay(binaries, results):
    """Whether verdicts hold on changed copies of some of the recordings."""
    here = os.path.dirname(os.path.abspath(__file__))
    words = [f"{here}/metamorphic", results, "--program", f"{binaries}/chokepoint", "--only", SAME, "--every", str(EVERY), "--all"]
    return runner.subprocess.run([sys.executable, *words]).returncode == 0


def main(binaries, results):
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    os.makedirs(results)
    matrix = runner.Matrix(binaries, results)
    began, said = time.time(), {}
    with runner.delay_accounting(), runner.cores_awake():
        for case in plan():
            try:
                said[case["id"]] = tried(matrix, case)
            except Unable as error:
                print(f"skipped: {error}")
                return 77
        for case in plan():
            if is_tried_again(said, case, time.time() - began):
                print("once more:")
                said[case["id"]] = better(said[case["id"]], tried(matrix, case))
    failed = [name for name, result in said.items() if result == "failed"]
    wrong = [name for name, result in said.items() if result == "wrong"]
    found = count_found(said)
    faults = sum(case["fault"][0] == "F" and case["fault"] != "F0" for case in plan())
    print(f"{found} of {faults} faults found, {len(wrong)} answers confidently wrong, {time.time() - began:.0f} s")
    for names, what in ((failed, "did not run"), (wrong, "confidently wrong")):
        if names:
            print(f"FAILED: {what}: {', '.join(names)}")
            return 1
    if found < CLEAR:
        print(f"FAILED: fewer than {CLEAR} clear faults found")
        return 1
    broken = broken_laws(binaries, results)
    if broken:
        print(f"FAILED: broken: {', '.join(f'law {law}' for law in broken)}")
        return 1
    if not verdicts_stay(binaries, results):
        print("FAILED: a change that keeps the truth makes another verdict")
        return 1
    if whatif_laws.main([results, "--bin", binaries, "--every", "2"]):
        print("FAILED: broken: the law of what-if")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
