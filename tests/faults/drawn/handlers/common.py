# SPDX-License-Identifier: MIT
"""The handler of a drawn service: some computing, and a question to its downstream; more of either where a fault
says so. Variables: BASE_MS and HANDLER_MS of computing, DOWN (address of the downstream), HOT (1: the question is asked
under a lock of all workers, which is a file)."""
import fcntl
import os
import time
import urllib.request

BASE_MS, HANDLER_MS = (float(os.environ.get(name, 0)) for name in ("BASE_MS", "HANDLER_MS"))
DOWN, HOT = os.environ.get("DOWN"), os.environ.get("HOT")


def compute(ms):
    end = time.thread_time_ns() + int(ms * 1e6)
    while time.thread_time_ns() < end:
        pass


def ask():
    with urllib.request.urlopen(f"http://{DOWN}/") as answer:
        return len(answer.read())


def handle():
    compute(BASE_MS + HANDLER_MS)
    if DOWN and HOT:
        with open(HOT, "w") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            ask()
    elif DOWN:
        ask()
