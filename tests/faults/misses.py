# SPDX-License-Identifier: MIT
"""A wrong answer in a few lines: the fault, the answer and its evidence, and where the time went; enough to write
its reason into misses.txt. And those reasons."""
import os

TERMS = ("cpu", "runqueue", "quota", "steal", "disk", "memory", "stopped", "idle", "peer_wait", "transfer", "file", "mpi_overhead", "mpi_unsplit")
RANKED = 4 # lines of the ranking


def truth_text(run):
    if run["right"] == "balanced":
        return "balanced"
    return " and ".join(f"{l['host']} {'/'.join(l['resource'])} ({l['cause']})" for l in run["labels"])


def said_text(run):
    v = run["report"]["verdict"]
    return f"{v['state']} {v['host'] or ''} {v['resource']} ({v.get('cause_kind') or v.get('cause') or ''}) at {v.get('confidence') or 0:.2f}"


def slower_text(run):
    return "no twin" if run["slowdown"] is None else f"{run['slowdown']:.2f}x"


def percent(value):
    return "?" if value is None else f"{value:.0f} %"


def lines_of(run):
    """The miss itself, then the relevant parts of the report."""
    report, v = run["report"], run["report"]["verdict"]
    gain = v.get("gain_pct") or {}
    lines = [f"MISS {run['id']}  {slower_text(run)} (in doubt by {100 * run['doubt']:.0f} %)  truth: {truth_text(run)}; said: {said_text(run)}",
             f"    gain {percent(gain.get('estimate'))} ({percent(gain.get('low'))} to {percent(gain.get('high'))}); {v.get('summary', '')}"]
    lines += [f"    for: {text}" for text in (v.get("evidence") or [])[:3]] + [f"    against: {text}" for text in (v.get("against") or [])[:2]]
    lines += ranking_lines(report) + budget_lines(report)
    lines += [f"    straggler {s['host']} rank {s['rank']}: {s['kind']} {s['slowdown']:.2f}x, {s.get('cause')}" for s in (report.get("stragglers") or [])[:2]]
    return lines + [f"    note: {text}" for text in (report.get("quality") or {}).get("notes", [])[:3]]


def all_lines(runs, why, halves):
    """Every miss, whether its reason is written down, and reasons of runs (of these halves) that are no longer misses."""
    lines = []
    for run in runs:
        lines += lines_of(run) + [f"    why: {why.get(run['id'], 'not in misses.txt yet')}"]
    stale = sorted(name for name in why if name[0] in halves and name not in {run["id"] for run in runs})
    return lines + [f"misses.txt has {name}, which is no miss of these runs" for name in stale]


def ranking_lines(report):
    return [f"    ranked {r['host']} {r['resource']} ({r.get('cause_kind') or ''}): {r.get('state') or 'not said'}, blocked {percent(r.get('blocked_pct'))}, "
            f"gain {percent(r.get('gain_pct'))}" for r in (report.get("ranking") or [])[:RANKED]]


def budget_lines(report):
    """The longest row of each rank: its terms of at least 2 % of the wall time."""
    longest = {}
    for row in report.get("budget") or []:
        if (row.get("wall_s") or 0) > longest.get((row["host"], row["rank"]), {"wall_s": 0})["wall_s"]:
            longest[row["host"], row["rank"]] = row
    return [f"    {host} rank {rank} ({row.get('phase')}, {row['wall_s']:.1f} s): "
            + ", ".join(f"{term} {percent(100 * row[term + '_s'] / row['wall_s'])}" for term in TERMS if (row.get(term + "_s") or 0) >= .02 * row["wall_s"])
            for (host, rank), row in sorted(longest.items(), key=str)]


def reasons(path):
    """case id -> reason, from the file written by hand: ID<tab>text."""
    result = {}
    if os.path.exists(path):
        with open(path) as file:
            for line in file:
                if line.strip() and line[0] != "#" and "\t" in line:
                    name, text = line.rstrip("\n").split("\t", 1)
                    result[name] = text.strip()
    return result
