#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Wait clocks held against the shim, on MPI programs that both have recorded at once: how long each rank waited.

usage: clocks_against_shim.py [--seconds S] [--only NAME;...] [--bin DIR]

Two ranks of tests/mpi/planted_causes on this machine, recorded once with the shim and --wait-clocks, and once with clocks
alone. For each rank: s that it waited inside MPI by the shim (its budget's waits for peers and transfers), s that it was
blocked by the clocks of its process, and their ratio; then the subject of the verdict with the shim and without it.

A rank of OpenMPI or MPICH that waits spins: to the kernel it runs, with mpi_yield_when_idle as well, where it goes to the
end of the queue and is ready at once. The time on and for a core stands beside, so that the ratio is read for what it
is: near 0 where ranks spin, near 1 where they block. The programs with naps between their polls are those that block."""
import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
# name: options of mpirun, planted fault (an iteration computes for 20 ms)
PROGRAMS = {
    "skew": ([], ["--skew", "2"]),
    "skew, yielding": (["--mca", "mpi_yield_when_idle", "1"], ["--skew", "2"]),
    "sleep": ([], ["--sleep", "20"]),
    "stop": ([], ["--stop", "20"]),
    "polls with naps": ([], ["--send", "4000000", "--nap", "5"]),
}
COMPUTE_MS = 20
BLOCKED = ("socket_receive", "socket_send", "poll", "futex", "pipe", "unix", "timer", "child", "kernel", "other")


def record(options, work, name, shim, command):
    path = f"{work}/{name}.db"
    words = [f"{options.bin}/chokepoint", "run", "--db", path, "--wait-clocks", "--no-report", *([] if shim else ["--no-shim"]), *command]
    done = subprocess.run(words, capture_output=True, text=True, timeout=120, cwd=work)
    if done.returncode:
        raise RuntimeError(f"{' '.join(words)}: exits with {done.returncode}: {done.stderr.strip()[-300:]}")
    report = subprocess.run([f"{options.bin}/chokepoint", "report", "--db", path, "--format", "json"], capture_output=True, text=True, timeout=60)
    return path, json.loads(report.stdout)


def clocks_of(options, path):
    """{pid: {"blocked": s, "on": s, "for": s}} by the clocks of whole processes; None: nothing was clocked."""
    import sqlite3
    with sqlite3.connect(f"file:{path}?mode=ro", uri=True) as base:
        blocked = " + ".join(f"process_{name}_ns" for name in BLOCKED)
        rows = base.execute(f"SELECT pid, sum({blocked}), sum(process_run_ns), sum(process_runnable_ns) FROM wait WHERE pid > 0 GROUP BY pid").fetchall()
    return {pid: {"blocked": (b or 0) / 1e9, "on": (r or 0) / 1e9, "for": (q or 0) / 1e9} for pid, b, r, q in rows} or None


def waited_s(row):
    return sum(row.get(f"{term}_s") or 0 for term in ("peer_wait", "transfer", "mpi_overhead", "mpi_unsplit"))


def subject(report):
    verdict = report["verdict"]
    return " ".join(str(word) for word in (verdict["state"], verdict.get("subject"), verdict.get("host"), verdict.get("resource")) if word)


def one(options, work, name):
    extra, planted = PROGRAMS[name]
    # an iteration with its fault takes about twice its computing time
    rounds = max(10, round(options.seconds * 1000 / (2 * COMPUTE_MS)))
    command = ["mpirun", "--oversubscribe", *extra, "-x", "EXPECT", "-np", "2", f"{options.bin}/planted_causes", str(rounds), "--compute", str(COMPUTE_MS), *planted]
    key = name.replace(" ", "").replace(",", "-")
    path, with_shim = record(options, work, key, True, command)
    _, without = record(options, work, f"{key}-alone", False, command)
    clocks = clocks_of(options, path)
    rows = [row for row in with_shim["budget"] if row["phase"] == "all" and row["rank"] is not None]
    for row in sorted(rows, key=lambda row: row["rank"]):
        clock = (clocks or {}).get(int(row["process"].rsplit("[", 1)[1].rstrip("]")))
        by_shim = waited_s(row)
        told = (f"clocks {clock['blocked']:6.2f} s blocked, ratio {clock['blocked'] / by_shim if by_shim else float('nan'):5.2f}; "
                f"{clock['on']:6.2f} s on and {clock['for']:5.2f} s for a core") if clock else "not clocked"
        print(f"{name:18s} rank {row['rank']}: shim {by_shim:6.2f} s waited of {row['wall_s']:6.2f}, {told}")
    same = subject(with_shim).split()[1:] == subject(without).split()[1:]
    print(f"{name:18s} with the shim: {subject(with_shim)}; without: {subject(without)}{'' if same else '   DIFFERS'}", flush=True)
    return same


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter, usage=argparse.SUPPRESS)
    parser.add_argument("--seconds", type=float, default=6)
    parser.add_argument("--only", default="")
    parser.add_argument("--bin", default=os.environ.get("CHOKEPOINT_BIN", f"{ROOT}/build/release/bin"))
    options = parser.parse_args()
    if not shutil.which("mpirun") or os.geteuid() != 0:
        print("skipped: needs mpirun, and root for wait clocks")
        return 77
    os.environ.update({"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"})
    names = [name for name in PROGRAMS if not options.only or name in options.only.split(";")]
    if not names:
        sys.exit(f"clocks_against_shim: --only takes names of: {'; '.join(PROGRAMS)}")
    with tempfile.TemporaryDirectory() as work:
        os.environ["EXPECT"] = f"{work}/expect"
        same = [one(options, work, name) for name in names]
    print(f"same subject in {sum(same)} of {len(same)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
