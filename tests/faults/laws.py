#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Holds the laws of the verdict (law_checks.py) against recordings: each is reported, and the commands that its report
prints are run.

usage: laws.py RESULTS [--bin DIR] [--laws 1,2,...] [--only WORD,...] [--quiet]

RESULTS  a folder of recordings: those of the matrix (NAME/recording.db), and any other NAME.db.
Prints each violation by law and recording, then a line a law; exits with 1 where there is any, or a recording cannot be
reported."""
import argparse
import contextlib
import json
import os
import re
import shlex
import sqlite3
import subprocess
import sys

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
import bounds
import law_checks
import law_truth
import recordings
import scorer
import truth
from cases import PLAIN

LAWS = law_checks.LAWS | law_truth.LAWS
ADVISED = re.compile(r"`[^` ]*chokepoint whatif ([^`]*)`")
CAUSES = ("contention", "quota", "steal", "disk", "memory", "sleep")


# ---- programs ----

def output(words):
    """(output of a command, None) or (None, why it failed)."""
    done = subprocess.run(words, capture_output=True, text=True)
    return (done.stdout, None) if done.returncode == 0 else (None, done.stderr.strip() or f"exit status {done.returncode}")


def what_if(binaries, database, words, run="last"):
    """(answers, None) or (None, why there are none); each answer says what its share refers to."""
    text, trouble = output([f"{binaries}/chokepoint", "whatif", "--db", database, run, *words, "--format", "json"])
    if trouble:
        return None, trouble
    whole = json.loads(text)
    return [dict(answer, measured_s=whole["measured_s"], phase=whole["phase"]) for answer in whole["answers"]], None


def listing(binaries):
    """The JSON of `chokepoint rules`, or None."""
    text, _ = output([f"{binaries}/chokepoint", "rules", "--format", "json"])
    return json.loads(text) if text else None


def thresholds_of(rules):
    """{name: value} of the thresholds of all rules, and of those without a rule."""
    rows = [*(rules or {}).get("thresholds", []), *(row for rule in (rules or {}).get("rules", []) for row in rule.get("thresholds", []))]
    return {row["name"]: row["value"] for row in rows}


# ---- one recording ----

def advised_words(command):
    """The words of a printed command without its run, database and format; the recording's are put there."""
    words, kept = shlex.split(command), []
    while words:
        word = words.pop(0)
        if word in ("--db", "--format", "-o"):
            words = words[1:]
        elif not kept and not word.startswith("-"):
            continue
        else:
            kept.append(word)
    return kept


def advised_commands(verdict):
    return [words for line in verdict.get("next") or [] for words in ADVISED.findall(line if isinstance(line, str) else line.get("text", ""))]


def questions_of(report):
    """Questions of our own: each host twice as fast, each cause gone from all hosts, and each large part of the
    critical path gone."""
    hosts = sorted({row["host"] for row in law_checks.rows_of(report)})
    asked = [f"--cpu {host}=2x" for host in hosts] + [f"--without all:{cause}" for cause in CAUSES]
    for row in report.get("critical_path") or []:
        question = law_checks.path_question(row)[0] if row["host"] and row["share_pct"] >= law_checks.PATH_PCT else None
        asked += [question] if question and question not in asked else []
    return asked


ROWS = """FROM "{}" JOIN frame USING(frame) JOIN stream USING(stream) JOIN host USING(host)"""


def rows_in(db, table, columns, number, where=""):
    """Rows of a table that belong to a run; none where the recording lacks it, or a column."""
    try:
        return db.execute(f"SELECT {columns} {ROWS.format(table)} WHERE host.run = {number} {where}").fetchall()
    except sqlite3.OperationalError:
        return []


def content(database, number):
    """Facts that the recording itself tells, by their names in Facts."""
    with contextlib.closing(sqlite3.connect(f"file:{database}?mode=ro", uri=True)) as db:
        names = [row[0] for row in db.execute("SELECT name FROM table_info")]
        columns = [row[1] for row in db.execute("PRAGMA table_info(process)")]
        world = max((size or 0 for size, in rows_in(db, "mpi", "DISTINCT world_size", number)), default=0)
        seen = {rank for rank, in rows_in(db, "mpi", "DISTINCT rank", number)}
        return {"tables": {name for name in names if rows_in(db, name, "1", number, "LIMIT 1")},
                "held_back": {row[0] for row in rows_in(db, "qdisc", "host.name", number, "GROUP BY host.name HAVING sum(overlimits) > 0")},
                "absent_ranks": sorted(set(range(world)) - seen), "parents": not columns or "parent" in columns,
                "disk_counted": bool(rows_in(db, "process", "1", number, "AND block_io_ns > 0 LIMIT 1")),
                "ended": how_ended(db, number), "notes": notes_in(db, number)}


def how_ended(db, number):
    status, = db.execute("SELECT exit_status FROM run WHERE run = ?", (number,)).fetchone()
    kills = sum(row[0] or 0 for row in rows_in(db, "cgroup", "sum(oom_kills)", number))
    full = [row[0] for row in rows_in(db, "filesystem", "DISTINCT (SELECT name FROM instance WHERE instance.instance = filesystem.instance)", number,
                                      "AND available_bytes = 0 AND size_bytes > 0")]
    return {"exit_status": status, "oom_kills": kills, "full": full}


def notes_in(db, number):
    told = [text for text, in db.execute("SELECT text FROM run_note WHERE run = ?", (number,))]
    return told + [text for text, in rows_in(db, "note", "DISTINCT (SELECT name FROM instance WHERE instance.instance = note.instance)", number)]


def reports_of(binaries, database, number):
    """(report, formats whose second report differed)."""
    command = [f"{binaries}/chokepoint", "report", "--db", database, str(number), "--format"]
    first, second = ({form: output([*command, form]) for form in ("json", "text")} for _ in range(2))
    text, trouble = first["json"]
    if trouble:
        raise RuntimeError(trouble)
    return json.loads(text), [form for form in first if first[form] != second[form]]


def facts_of(name, database, number, binaries, thresholds):
    report, differing = reports_of(binaries, database, number)
    ask = lambda questions: what_if(binaries, database, [word for question in questions for word in question.split()], str(number))[0] or []
    advised = []
    for command in advised_commands(report["verdict"]):
        answers, trouble = what_if(binaries, database, advised_words(command), str(number))
        advised.append((f"chokepoint whatif {command}", answers[0] if answers else None, trouble))
    has_rows = law_checks.rows_of(report)
    asked = ask(questions_of(report)) if has_rows else []
    sweep = ask(law_truth.sweep_questions(report)) if has_rows and law_truth.is_asked(report["verdict"]) else []
    return law_checks.Facts(name, report, advised, asked, differing, thresholds=thresholds, sweep=sweep, **content(database, number))


# ---- all of them ----

def databases(results):
    """[(name, database, number of the run, its case or None)]; runs without profiling have no recording."""
    for name in sorted(os.listdir(results)):
        path = f"{results}/{name}/recording.db"
        if os.path.exists(path) and os.path.getsize(path):
            yield name, path, runs_in(path)[-1], read_case(f"{results}/{name}/case.json")
        elif name.endswith(".db"):
            numbers = runs_in(f"{results}/{name}")
            yield from ((f"{name.removesuffix('.db')}{f' {number}' if len(numbers) > 1 else ''}", f"{results}/{name}", number, None) for number in numbers)


def chosen(folders, runs="", every=1):
    """Each N-th recording of the folders whose name has one of the words."""
    words = [word for word in runs.split(",") if word]
    return [one for folder in folders for one in databases(folder) if not words or any(word in one[0] for word in words)][::every]


def runs_in(database):
    with contextlib.closing(sqlite3.connect(f"file:{database}?mode=ro", uri=True)) as db:
        return [number for number, in db.execute("SELECT run FROM run ORDER BY run")]


def read_case(path):
    if not os.path.exists(path):
        return None
    with open(path) as file:
        return json.load(file)


def gathered(one, binaries, thresholds, say=lambda text: None):
    """(facts or None, run or None, why it could not be reported)."""
    name, database, number, case = one
    say(name)
    try:
        facts = facts_of(name, database, number, binaries, thresholds)
    except (RuntimeError, ValueError, OSError) as error:
        return None, None, f"{name}: {error}"
    labelled = case and case["fault"] != PLAIN and os.path.exists(f"{os.path.dirname(database)}/label.json")
    return facts, recordings.as_run(os.path.dirname(database), case, facts.report) if labelled else None, None


def add_truth(pairs, binaries):
    """The time of the clean twin of each faulty run whose fault is a single scenario."""
    runs = [run for _, run in pairs if run]
    truth.set_truth(runs)
    for facts, run in pairs:
        words = recordings.what_if_words(run) if run and run["right"] == "find" and scorer.is_of_one(run) else None
        answers = what_if(binaries, f"{run['folder']}/recording.db", words)[0] if words else None
        if answers:
            facts.asked.append(answers[0])
            facts.fault_words = answers[0]["scenario"]
            facts.clean_ratio, facts.clean_doubt = bounds.clean_ratio(run, runs, answers[0]["measured_s"]), run["doubt"]


def violations(facts, laws):
    return [(law, facts.name, text) for law in laws for text in LAWS[law](facts)]


def check(results, binaries, laws=tuple(LAWS), only=(), say=lambda text: None):
    """([(law, name, fault)], number of recordings, unreportable ones, other checks left out)."""
    chosen = [one for one in databases(results) if not only or any(word in one[0] for word in only)]
    thresholds = thresholds_of(listing(binaries))
    found = recordings.on_all_cores(lambda one: gathered(one, binaries, thresholds, say), chosen)
    pairs = [(facts, run) for facts, run, _ in found if facts]
    add_truth(pairs, binaries)
    lost = [trouble for *_, trouble in found if trouble]
    notes = [f"law 9: `chokepoint rules` names no {name}" for name in law_checks.SURE if name not in thresholds]
    blind = sum(not facts.parents for facts, _ in pairs)
    if 8 in laws and blind:
        notes.append(f"law 8: launchers of {blind} recordings, whose agents kept no parents of processes")
    return [one for facts, _ in pairs for one in violations(facts, laws)], len(pairs), lost, notes


def lines_of(found, count, notes, laws, quiet=False):
    """Each violation, then a line for each law."""
    lines = [] if quiet else [f"  law {law}: {name}: {text}" for law, name, text in sorted(found)]
    for law in laws:
        broken = len({name for number, name, _ in found if number == law})
        lines.append(f"law {law:2d}: {'holds' if not broken else f'broken by {broken}'} of {count}: {LAWS[law].__doc__}")
    return lines + [f"not checked: {note}" for note in notes]


def main(words):
    root = os.path.dirname(os.path.dirname(HERE))
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter, usage=argparse.SUPPRESS)
    parser.add_argument("results")
    parser.add_argument("--bin", default=os.environ.get("CHOKEPOINT_BIN", f"{root}/build/release/bin"))
    parser.add_argument("--laws", default=",".join(map(str, LAWS)))
    parser.add_argument("--only", default="")
    parser.add_argument("--quiet", action="store_true", help="the line of each law alone")
    options = parser.parse_args(words)
    laws = [int(law) for law in options.laws.split(",")]
    only = options.only.split(",") if options.only else ()
    found, count, lost, notes = check(options.results, options.bin, laws, only, lambda name: print(name, file=sys.stderr, flush=True))
    print("\n".join(lines_of(found, count, lost + notes, laws, options.quiet)))
    if not count:
        print(f"laws: no recording in {options.results}", file=sys.stderr)
    return 1 if found or lost or not count else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
