# SPDX-License-Identifier: MIT
"""The speed of cores while something runs on them, by fault-canary beside it."""
import contextlib
import json
import os
import subprocess

CORES_MAX = 64 # fault-canary's limit
END_S = 10 # seconds for its last beat, with plenty to spare


def cores_of(cpus):
    """The cores in a list like "0-3,6"."""
    ranges = [list(map(int, word.split("-"))) for word in cpus.split(",")]
    return {core for ends in ranges for core in range(ends[0], ends[-1] + 1)}


@contextlib.contextmanager
def beating(binaries, cpus):
    """CPU time of fixed work on each core of a list (None: of all) while the block runs, ms, in a dict that is filled at its
    end: {"start_ns": of the monotonic clock, "period_ns": n, "cores": {core: [x, ...]}, "caches": the same of a walk through them}."""
    cores = sorted(os.sched_getaffinity(0) if cpus is None else cores_of(cpus))
    process = subprocess.Popen([f"{binaries}/fault-canary", *map(str, cores[:CORES_MAX])],
                               stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    beats = {}
    try:
        yield beats
        out, trouble = process.communicate(timeout=END_S)
        if process.returncode:
            raise RuntimeError(f"fault-canary: {trouble.strip()}")
        beats.update(json.loads(out))
    finally:
        process.kill()
        process.wait()
