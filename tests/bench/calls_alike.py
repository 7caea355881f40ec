#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""calls_alike.py DATABASE...: of the single MPI calls of recordings, by program (the fault matrix names the folders of its recordings
after them), how many are short (below 20 us), like the call of the same thread before (function, communicator, peer, tag, bytes), and
both short and alike. These last are all that a shim could fold into runs without a pattern of several calls: no more than that share of
the events could be saved."""
import json
import os
import subprocess
import sys

SHORT_NS = 20000
COUNT = f"""WITH thread_call AS (SELECT i.host, i.name, rank, thread, comm, peer, tag, bytes, duration_ns, start_ns FROM call JOIN instance i USING (instance)),
    pair AS (SELECT duration_ns < {SHORT_NS} AS short, lag(duration_ns) OVER calls < {SHORT_NS} AS short_before,
        name = lag(name) OVER calls AND comm IS lag(comm) OVER calls AND peer IS lag(peer) OVER calls AND tag IS lag(tag) OVER calls
            AND bytes IS lag(bytes) OVER calls AS alike
        FROM thread_call WINDOW calls AS (PARTITION BY host, rank, thread ORDER BY start_ns))
    SELECT count(*), total(short), total(alike), total(alike AND short AND short_before) FROM pair"""


def ask(path, sql):
    """The first row of the answer. Single calls are packed: the extension shows them as rows."""
    extension = os.path.join(os.environ.get("CHOKEPOINT_BIN", "build/release/bin"), "libchokepoint-sql.so")
    said = subprocess.run(["sqlite3", "-readonly", "-json", "-cmd", f".load {os.path.abspath(extension)}", path, sql],
                          check=True, capture_output=True).stdout
    return tuple(json.loads(said)[0].values())


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    programs = {}
    for path in sys.argv[1:]:
        try:
            counts = ask(path, COUNT)
            program = os.path.basename(ask(path, "SELECT command FROM run ORDER BY run DESC LIMIT 1")[0].split()[0])
        except (subprocess.CalledProcessError, ValueError, IndexError) as error:
            print(f"calls_alike.py: {path}: {error}", file=sys.stderr)
            continue
        folder = os.path.basename(os.path.dirname(os.path.abspath(path))).split("-")
        sums = programs.setdefault(folder[1] if len(folder) > 1 else program, [0, 0, 0, 0])
        for i, count in enumerate(counts):
            sums[i] += count
    print("| program | calls | short | like the one before | both |\n|---|--:|--:|--:|--:|")
    for program, (calls, *shares) in sorted(programs.items()):
        if calls:
            print(f"| {program} | {calls:.0f} | " + " | ".join(f"{100 * share / calls:.1f} %" for share in shares) + " |")


main()
