# SPDX-License-Identifier: MIT
"""What the runner has kept, reported anew with the programs at hand, and copies of recordings from which
tables have been taken away."""
import datetime
import json
import os
import shutil
import sqlite3
import subprocess
import tempfile

from runner import report_of

NO_SHIM = ["DELETE FROM call", "DELETE FROM mpi", "DELETE FROM mpi_function"]
NO_MARKS = ["DELETE FROM mark"]
ABLATIONS = {
    "no shim": NO_SHIM,
    "no TCP_INFO": ["DELETE FROM connection"],
    "no delay accounting": ["UPDATE rank SET block_io_ns = NULL", "UPDATE process SET block_io_ns = NULL"],
    "no marks": NO_MARKS,
    "no marks, no shim": NO_MARKS + NO_SHIM,
}


def cases_kept(results, halves):
    for name in sorted(os.listdir(results)) if os.path.isdir(results) else []:
        path = f"{results}/{name}/case.json"
        if os.path.exists(path):
            with open(path) as file:
                case = json.load(file)
            if case["half"] in halves:
                yield f"{results}/{name}", case


def load(results, halves, binaries, say=lambda text: None):
    """All runs kept, with their labels and a report made now; without a program, the report of then."""
    runs = []
    for folder, case in cases_kept(results, halves):
        with open(f"{folder}/label.json") as file:
            labels = json.load(file)
        if binaries:
            report = report_of(binaries, f"{folder}/recording.db")
            with open(f"{folder}/report.json", "w") as file:
                json.dump(report, file, indent=1)
        else:
            with open(f"{folder}/report.json") as file:
                report = json.load(file)
        run = dict(case, folder=folder, labels=labels, report=report)
        set_starts(run)
        runs.append(run)
        if len(runs) % 50 == 0:
            say(f"{len(runs)} reports")
    return sorted(runs, key=lambda r: r["started"])


def started_at(report):
    return datetime.datetime.fromisoformat(report["run"]["started_at"].replace("Z", "+00:00")).timestamp()


def set_starts(run):
    """label.start_s, seconds since the command started, where the fault held for a part of the run."""
    for label in run["labels"]:
        if label["start"] is not None:
            label["start_s"] = label["start"] - started_at(run["report"])
        elif run["window"] and label["rank"] is not None:
            label["start_s"] = planted_start_s(run, label["rank"])


def planted_start_s(run, rank):
    """When that rank began the first iteration of the window, by its own marks (their clock is the host's, as is ours)."""
    with sqlite3.connect(f"file:{run['folder']}/recording.db?mode=ro", uri=True) as db:
        rows = db.execute("SELECT start_ns FROM mark WHERE kind = 3 AND rank = ? ORDER BY start_ns", (rank,)).fetchall()
        origin = db.execute("SELECT started_mono_ns FROM run").fetchone()
    first = int(len(rows) * run["window"][0])
    if not rows or origin is None or first >= len(rows):
        return None
    return (rows[first][0] - origin[0]) * 1e-9


def ablated(run, binaries, statements):
    """The report of a copy of the recording after these statements; None where the copy cannot be reported."""
    with tempfile.TemporaryDirectory() as folder:
        path = f"{folder}/recording.db"
        shutil.copy(f"{run['folder']}/recording.db", path)
        with sqlite3.connect(path) as db:
            names = {row[0] for row in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
            for statement in [*statements, "DELETE FROM budget"]:
                words = statement.split()
                if words[1 if words[0] == "UPDATE" else 2] in names:
                    db.execute(statement)
        db.close()
        try:
            return report_of(binaries, path)
        except (RuntimeError, ValueError):
            return None


def what_if(run, binaries):
    """Predicted run time without the fault over what the clean twin took, less 1; None without a prediction."""
    words = what_if_words(run)
    if not words or not run.get("slowdown"):
        return None
    done = subprocess.run([f"{binaries}/chokepoint", "whatif", "--db", f"{run['folder']}/recording.db", "last", *words, "--format", "json"],
                          capture_output=True, text=True)
    if done.returncode:
        return None
    whole = json.loads(done.stdout)
    predicted, measured = (whole.get("answers") or [{}])[0].get("predicted_s"), whole.get("measured_s")
    return None if predicted is None or not measured else predicted / measured * run["slowdown"] - 1


def what_if_words(run):
    """The scenario in which this run's fault is gone."""
    if run["fault"] == "F16" or not run["labels"]:
        return None
    host, rank = run["labels"][0]["host"], run["labels"][0]["rank"]
    return {"F1": ["--without", f"{host}:contention"], "F2": ["--without", f"{host}:quota"],
            "F3": ["--link", f"{host}:egress=100x"], "F4": ["--link", f"{host}:ingress=100x"], "F5": ["--link", f"{host}=100x"],
            "F6": ["--link", f"{host}:egress=100x"], "F7": ["--without", f"{host}:disk"], "F8": ["--without", f"{host}:disk"],
            "F9": ["--without", f"{host}:memory"], "F11": ["--without-straggler", str(rank)], "F12": ["--without", f"{host}:sleep"]}.get(run["inner"])
