# SPDX-License-Identifier: MIT
"""Laws 12 to 15 of the verdict: nothing is denied that another source knows, what ended the run comes first, idle is no
riddle, advice knows what was done. Pure, as law_checks.py is. (Law 11 is of the what-if engine alone.)"""
import re

from law_checks import LEAST_GAIN_PCT, rows_of, share_pct, working_rows

SWEPT = ("contention", "quota", "steal", "disk", "memory", "sleep", "stop", "files")
IDLE_PCT = 97 # of its time a job is asleep, or waits for somebody outside, that nobody asks anything of
OF_MPI = re.compile(r"\branks?\b|\bMPI|\bOMP_|\bmpi(?:run|exec)\b")


# ---- 12: nothing is denied that another source knows ----

def is_asked(verdict):
    """Whether the verdict says that no single thing limits the run. One that only lacks time, and says what the run looks
    like so far, denies nothing."""
    leans = verdict["state"] == "insufficient" and (verdict.get("gain_pct") or {}).get("estimate") is not None
    return not leans and verdict["state"] in ("balanced", "insufficient") or verdict.get("cause_kind") == "compute-bound"


def sweep_questions(report):
    """Every resource of every host, a thousand times as fast or never waited for."""
    hosts = sorted({row["host"] for row in rows_of(report)})
    words = [f"--link {host}=1000x" for host in hosts] + [f"--without {host}:{cause}" for host in hosts for cause in SWEPT]
    return words + ([f"--cpu {host}=1000x" for host in hosts] if report["verdict"].get("cause_kind") != "compute-bound" else [])


def law_12(facts):
    """Before balanced, compute-bound or not known is said, no resource of any host would be worth more than 5 %."""
    verdict = facts.verdict
    if not is_asked(verdict) or is_idle(facts):
        return
    named = f"{'compute-bound' if verdict['state'] == 'saturated' else verdict['state']} {verdict['confidence']:.2f}"
    answers = [answer for answer in facts.sweep if answer["predicted_s"] is not None and answer["gain_pct"]["low"] > 0]
    for kind in ("--cpu", "--link", "--without"):
        best = max((a for a in answers if a["scenario"].startswith(kind)), key=lambda a: a["gain_pct"]["estimate"], default=None)
        if best and best["gain_pct"]["estimate"] > LEAST_GAIN_PCT:
            gain = best["gain_pct"]
            yield f"{named}, though {best['scenario']} would bring {gain['estimate']:.0f} % ({gain['low']:.0f} to {gain['high']:.0f})"
    refused = [a for a in facts.sweep if a["predicted_s"] is None and not a["scenario"].startswith("--cpu")]
    most = max(refused, key=lambda a: a.get("gain_max_pct") or 0, default=None)
    if most and (most.get("gain_max_pct") or 0) > LEAST_GAIN_PCT:
        yield f"{named}, though {most['scenario']} is refused and may bring up to {most['gain_max_pct']:.0f} %"


# ---- 13: what ended it is said first ----

def endings(ended):
    """[(what the recording tells of the end, what the first line must match)]"""
    result, status = [], ended.get("exit_status") or 0
    if ended.get("oom_kills"):
        result.append((f"{ended['oom_kills']} processes killed for want of memory", r"memory"))
    elif 128 < status < 160:
        result.append((f"ended by signal {status - 128}", r"signal|kill|crash|SIG|segmentation"))
    elif status == 127:
        result.append(("a program that was not found", r"not found|no such|missing|no program"))
    for mount in ended.get("full") or ():
        result.append((f"{mount} full", r"full|no space|room"))
    return result if status else []


def law_13(facts):
    """The first line of a run that failed says what ended it."""
    said = facts.verdict.get("limit") or facts.verdict["summary"]
    for what, pattern in endings(facts.ended):
        if not re.search(pattern, said, re.IGNORECASE):
            yield f"{what} is recorded, and the first line is: {said.split('. ')[0][:100]}"


# ---- 14: idle is no riddle ----

def is_idle(facts):
    """All processes of the job sleep all the time: they wait for a timer, a client, a person."""
    rows = working_rows(facts.report)
    waits = ("idle", "peer_wait") if "mpi" not in facts.tables else ("idle",)
    return bool(rows) and min(share_pct([row], *waits) for row in rows) >= IDLE_PCT and max(share_pct([row], "idle") for row in rows) >= IDLE_PCT


def law_14(facts):
    """A job of which nothing is asked waits for nothing on these hosts: it is asleep."""
    said = facts.verdict.get("limit") or facts.verdict["summary"]
    if is_idle(facts) and (said.startswith("not known") or not re.search("asleep|sleeps|slept|idle|nothing was asked", said, re.IGNORECASE)):
        yield f"all its processes sleep, and it says: {said[:100]}"


# ---- 15: advice knows what was done ----

def advice_of(verdict):
    lines = [line if isinstance(line, str) else line.get("text", "") for line in verdict.get("next") or []]
    return list(dict.fromkeys(([verdict["do"]] if verdict.get("do") else []) + lines))


def law_15(facts):
    """Nothing is advised that is on already, was refused, or is of another field."""
    report, tables = facts.report, facts.tables
    has_ranks = "mpi" in tables or any(row["rank"] is not None for row in rows_of(report))
    for line in advice_of(facts.verdict):
        words = re.sub(r"`[^`]*`", "", line)
        if "--wait-clocks" in line and "wait" in tables:
            yield f"they were on: {line}"
        elif "--wait-clocks" in line and any("wait clocks" in note for note in facts.notes):
            yield f"they were refused: {line}"
        if "task_delayacct" in line and ("wait" in tables or facts.disk_counted):
            yield f"waits for disks are known: {line}"
        if "calibrate" in line and report.get("ceilings"):
            yield f"the hosts are calibrated: {line}"
        if "mark iterations" in line and "mark" in tables and report.get("iterations"):
            yield f"iterations are marked: {line}"
        if not has_ranks and OF_MPI.search(words):
            yield f"it is no MPI program: {line}"


LAWS = {12: law_12, 13: law_13, 14: law_14, 15: law_15}
