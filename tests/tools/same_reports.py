#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""same_reports.py OLD NEW FOLDER...: checks that two builds of chokepoint report the same of all recordings below the
folders. Writes the report of each run, as text and as JSON, with both programs, compares the bytes, and prints the first
lines that differ in each report, with counts at the end. Exit 1: some differ. `--old-in FOLDER` keeps OLD's reports there
for the next time."""
import argparse
import concurrent.futures
import difflib
import hashlib
import json
import os
import subprocess
import sys

FORMATS = "text", "json"


def databases_below(folders):
    return sorted(os.path.join(at, name) for folder in folders for at, _, names in os.walk(folder) for name in names if name.endswith(".db"))


def runs_of(program, database):
    said = subprocess.run([program, "list", "--db", database, "--format", "json"], capture_output=True, text=True, check=True)
    return [run["name"] for run in json.loads(said.stdout)["runs"]]


def report_of(program, database, run, form):
    # Reports print commands that begin with the program's name as it was called.
    environment = {**os.environ, "LC_ALL": "C.UTF-8", "COLUMNS": "120"}
    ended = subprocess.run([os.path.basename(program), "report", run, "--db", database, "--format", form], capture_output=True, env=environment,
                           executable=program, stdin=subprocess.DEVNULL)
    return b"exit %d\n" % ended.returncode + ended.stdout + ended.stderr


def kept_report(folder, program, *what):
    if not folder:
        return report_of(program, *what)
    path = os.path.join(folder, hashlib.sha256("\0".join(what).encode()).hexdigest())
    if not os.path.exists(path):
        with open(path + ".part", "wb") as file:
            file.write(report_of(program, *what))
        os.rename(path + ".part", path)
    with open(path, "rb") as file:
        return file.read()


def differences(old, new, lines):
    a, b = (text.decode(errors="replace").splitlines() for text in (old, new))
    changed = [line[:400] for line in difflib.unified_diff(a, b, n=0, lineterm="") if line[:3] not in ("---", "+++") and line[:2] != "@@"]
    return changed[:lines]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split(": ", 1)[1])
    parser.add_argument("old")
    parser.add_argument("new")
    parser.add_argument("folders", nargs="+")
    parser.add_argument("--old-in", metavar="FOLDER")
    parser.add_argument("--lines", type=int, default=6, help="that many of each report (6)")
    parser.add_argument("--every", type=int, default=1, help="take every n-th run only")
    options = parser.parse_args()
    if options.old_in:
        os.makedirs(options.old_in, exist_ok=True)
    whats = [(database, run) for database in databases_below(options.folders) for run in runs_of(options.new, database)][::options.every]
    whats = [(*what, form) for what in whats for form in FORMATS]

    def compare(what):
        old, new = kept_report(options.old_in, options.old, *what), report_of(options.new, *what)
        return what, [] if old == new else differences(old, new, options.lines)

    n_different = 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for what, changed in pool.map(compare, whats):
            n_different += bool(changed)
            if changed:
                print(*what, *changed, sep="\n  ")
    print(f"{len(whats)} reports of {len(whats) // len(FORMATS)} runs: {n_different} differ")
    return 1 if n_different or not whats else 0


if __name__ == "__main__":
    sys.exit(main())
