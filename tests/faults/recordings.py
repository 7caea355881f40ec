# SPDX-License-Identifier: MIT
"""Reports kept recordings anew with the given programs, and makes copies of recordings without some tables, or without
everything after a moment."""
import concurrent.futures
import contextlib
import datetime
import json
import os
import shutil
import sqlite3
import subprocess
import tempfile

import copies
import scorer
import truth
from bed import burst_bytes
from cases import PLAIN
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


def on_all_cores(function, items):
    """[function(item), ...] in order; the work is done in started programs."""
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        return list(pool.map(function, items))


def plain_runs(results, halves):
    return [case for _, case in cases_kept(results, halves) if case["fault"] == PLAIN]


def load(results, halves, binaries, say=lambda text: None):
    """All profiled runs kept, with their labels and a report made now; without programs, the report of then. Also the ids
    of those whose recording cannot be reported."""
    kept = [(folder, case) for folder, case in cases_kept(results, halves) if case["fault"] != PLAIN]
    say(f"{len(kept)} reports")
    runs, lost = [], []
    for (_, case), run in zip(kept, on_all_cores(lambda one: loaded(*one, binaries, say), kept)):
        (runs if run else lost).append(run or case["id"])
    return sorted(runs, key=lambda r: r["started"]), lost


def loaded(folder, case, binaries, say):
    try:
        return load_one(folder, case, binaries)
    except (RuntimeError, ValueError, OSError) as error:
        say(f"{case['id']}: {error}")
        return None


def load_one(folder, case, binaries):
    if binaries:
        report = report_of(binaries, f"{folder}/recording.db")
        with open(f"{folder}/report.json.new", "w") as file:
            json.dump(report, file, indent=1)
        os.rename(f"{folder}/report.json.new", f"{folder}/report.json")
    else:
        with open(f"{folder}/report.json") as file:
            report = json.load(file)
    return as_run(folder, case, report)


def as_run(folder, case, report):
    with open(f"{folder}/label.json") as file:
        run = dict(case, folder=folder, labels=json.load(file), report=report)
    if case["fault"] == "F0":
        run["once_s"] = truth.once_s([begin for begin, _ in iterations_s(run, 0)])
    set_starts(run)
    return run


def started_at(report):
    return datetime.datetime.fromisoformat(report["run"]["started_at"].replace("Z", "+00:00")).timestamp()


def set_starts(run):
    """label.start_s: seconds since the command's start, if the fault lasted for a part of the run."""
    for label in run["labels"]:
        if label["start"] is not None:
            label["start_s"] = label["start"] - started_at(run["report"])
        elif run["window"] and label["rank"] is not None:
            label["start_s"] = planted_start_s(run, label["rank"])


def iterations_s(run, rank):
    """(begin, end) of each iteration of a rank by its own marks, s since the command started. All emulated hosts have
    one clock, this machine's. [] where it marked none."""
    with contextlib.closing(sqlite3.connect(f"file:{run['folder']}/recording.db?mode=ro", uri=True)) as db:
        if not db.execute("SELECT 1 FROM table_info WHERE name = 'mark'").fetchone():
            return []
        rows = db.execute("SELECT start_ns, duration_ns FROM mark WHERE kind = 2 AND rank = ? ORDER BY start_ns", (rank,)).fetchall()
        origin = db.execute("SELECT started_mono_ns FROM run").fetchone()[0]
    return [((start - origin) * 1e-9, (start + duration - origin) * 1e-9) for start, duration in rows]


def planted_start_s(run, rank):
    """When that rank began the window's first iteration."""
    iterations = iterations_s(run, rank)
    first = int(len(iterations) * run["window"][0])
    return iterations[first][0] if first < len(iterations) else None


# ---- copies with less in them ----

def altered(run, binaries, change):
    """The report of a copy of the recording after change(its database), or None if the copy cannot be reported."""
    with tempfile.TemporaryDirectory() as folder:
        path = f"{folder}/recording.db"
        shutil.copy(f"{run['folder']}/recording.db", path)
        copies.unpack_blocks(path, binaries)
        with contextlib.closing(sqlite3.connect(path)) as db, db:
            change(db)
            db.execute("DELETE FROM budget")
        try:
            return report_of(binaries, path)
        except (RuntimeError, ValueError):
            return None


def ablated(run, binaries, statements):
    def change(db):
        names = {row[0] for row in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
        for statement in statements:
            words = statement.split()
            if words[1 if words[0] == "UPDATE" else 2] in names:
                db.execute(statement)
    return altered(run, binaries, change)


def cut(run, binaries, until_s):
    """The report as if the command had ended then."""
    return altered(run, binaries, lambda db: remove_after(db, until_s))


def remove_after(db, until_s):
    """Removes samples, calls and marks later than that many seconds after the start; a phase under way ends there."""
    origin, = db.execute("SELECT started_mono_ns FROM run").fetchone()
    until = origin + int(until_s * 1e9)
    kinds = dict(db.execute("SELECT name, kind FROM table_info"))
    late = f"SELECT frame FROM frame JOIN stream USING(stream) WHERE period_ns <> 0 AND mono_ns > {until}"
    for name in [name for name, kind in kinds.items() if kind == "samples"]:
        db.execute(f'DELETE FROM "{name}" WHERE frame IN ({late})')
    db.execute(f"DELETE FROM frame WHERE frame IN ({late})")
    for name, whole in (("mark", "kind <> 1"), ("call", "1")):
        if name in kinds:
            db.execute(f"DELETE FROM {name} WHERE start_ns > {until} OR ({whole} AND start_ns + duration_ns > {until})")
    if "mark" in kinds:
        db.execute(f"UPDATE mark SET duration_ns = {until} - start_ns WHERE start_ns + duration_ns > {until}")
    db.execute(f"UPDATE stream SET last_mono_ns = min(last_mono_ns, {until}), "
               "frames = (SELECT count(*) FROM frame WHERE frame.stream = stream.stream)")
    db.execute(f"UPDATE run SET ended_wall_ns = ended_wall_ns - ended_mono_ns + {until}, ended_mono_ns = {until} WHERE ended_mono_ns > {until}")


# ---- how soon a fault is seen ----

def names_it(report, labels):
    """Named by the verdict, or as a straggler on that host. None: the recording is too short to report."""
    if report is None:
        return False
    hosts = {label["host"] for label in labels}
    by_verdict = any(scorer.fits(scorer.blamed(report["verdict"]), label) for label in labels)
    return by_verdict or any(s["host"] in hosts for s in report.get("stragglers") or [])


def delay(run, binaries):
    """Iterations of the rank it hit, from the one in which a fault for part of the run began to the first after which a
    report of all recorded until then names it: 1 is at once. None: not by the end; 0: before it began, so not for its own sake.
    Doubling, then halving: a name once given is taken to stay."""
    start_s = next((label["start_s"] for label in run["labels"] if label.get("start_s") is not None), None)
    ends = [end for _, end in iterations_s(run, run["rank"])]
    before = sum(end <= start_s for end in ends) if start_s is not None else len(ends)
    named = lambda k: names_it(cut(run, binaries, ends[before + k - 1]), run["labels"])
    if before and before < len(ends) and named(0):
        return 0
    return first_true(named, len(ends) - before)


def first_true(holds, n):
    """The smallest k in 1..n for which it holds; None if it does not hold for n or any power of two before."""
    low, high = 0, 1
    while n > 0 and not holds(high):
        if high == n:
            return None
        low, high = high, min(2 * high, n)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(middle) else (middle, high)
    return high if n > 0 else None


# ---- what if ----

def ask(binaries, run, words):
    """The JSON of `chokepoint whatif`, and its error output."""
    done = subprocess.run([f"{binaries}/chokepoint", "whatif", "--db", f"{run['folder']}/recording.db", "last", *words, "--format", "json"],
                          capture_output=True, text=True)
    return json.loads(done.stdout) if done.returncode == 0 else None, done.stderr.strip()


def predicted(binaries, run, words):
    """(predicted over measured time of a run's main phase, None, that time in s), or (None, why the question is refused, None)."""
    whole, complaint = ask(binaries, run, words)
    if whole is None:
        return None, complaint, None
    answer, measured = (whole.get("answers") or [{}])[0], whole.get("measured_s")
    seconds = answer.get("predicted_s")
    return (None, answer.get("refused"), None) if seconds is None or not measured else (seconds / measured, None, measured)


def what_if(run, binaries):
    """The run without its fault: what is predicted over what the clean twin took of the same, less 1 (None without a
    prediction), and the answer."""
    words = what_if_words(run)
    if not words or not run.get("slowdown"):
        return None, None
    answer = predicted(binaries, run, words)
    return None if answer[0] is None else scorer.what_if_error(run, answer[0], answer[2]), answer


def what_if_capped(run, runs, binaries):
    """The other way round: the clean run nearest in time with this run's limit: what is predicted over what was measured,
    less 1, and the answer with the true ratio beside it."""
    words, clean = cap_words(run), truth.nearest_clean(run, runs)
    ratio, refused, measured_s = predicted(binaries, clean[0], words) if words and clean else (None, "no clean run", None)
    if ratio is None:
        return None, (None, refused, None, run["slowdown"])
    true = truth.capped_ratio(run, clean[0], measured_s)
    return ratio / true - 1, (ratio, None, measured_s, true)


def cap_words(run):
    """The scenario that sets the limit of this fault."""
    host = run["labels"][0]["host"] if run["labels"] else None
    if run["fault"] == "F2":
        return ["--quota", f"{host}={run['amount']}%"]
    if run["fault"] not in ("F3", "F4", "F5") or not run.get("mbit"):
        return None
    side = {"send": "egress", "receive": "ingress"}
    limits = {side[d]: f"{int(mbit * 1000)}kbit,{burst_bytes(mbit)}B" for d, mbit in run["mbit"].items()}
    return [word for direction, limit in limits.items() for word in ("--link", f"{host}:{direction}={limit}")] + ["--together"]


def what_if_words(run):
    """The scenario in which this run's fault is gone. The clean run has not the excess work of a skew; `--without-straggler` shares
    it out among the ranks. So a rank with so many times the work is asked for as one whose host computes as many times as fast;
    where it has that only for a part of the run, no scenario says so."""
    if run["fault"] == "F16" or not run["labels"] or (run["fault"] == "F15" and run["inner"] == "F11"):
        return None
    host = run["labels"][0]["host"]
    without_mpi = all(b.get("rank") is None for b in run["report"].get("budget") or [])
    skew = ["--without-straggler", host] if without_mpi else ["--cpu", f"{host}={run['amount']}x"]
    return {"F1": ["--without", f"{host}:contention"], "F2": ["--without", f"{host}:quota"],
            "F3": ["--link", f"{host}:egress=100x"], "F4": ["--link", f"{host}:ingress=100x"], "F5": ["--link", f"{host}=100x"],
            "F6": ["--link", f"{host}:egress=100x"], "F7": ["--without", f"{host}:disk"], "F8": ["--without", f"{host}:disk"],
            "F9": ["--without", f"{host}:memory"], "F11": skew, "F12": ["--without", f"{host}:sleep"]}.get(run["inner"])
