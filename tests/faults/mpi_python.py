# SPDX-License-Identifier: MIT
"""Common parts of the matrix's MPI programs in Python: plants of the command line, and the time of their loop.

    PROGRAM ITERATIONS [--plant skew:RANK:FACTOR | sleep:RANK:MS | apply:MS]...
"""
import sys
import time


def arguments():
    """(iterations, plants)"""
    plants = [word for before, word in zip(sys.argv, sys.argv[1:]) if before == "--plant"]
    if len(sys.argv) != 2 + 2 * len(plants):
        sys.exit(f"usage: {sys.argv[0]} ITERATIONS [--plant KIND[:RANK]:AMOUNT]...")
    return int(sys.argv[1]), plants


def planted(plants, kind, rank, default):
    for word in plants:
        name, *at, amount = word.split(":")
        if name == kind and int(at[0] if at else 0) == rank:
            return float(amount)
    return default


def compute_ms(milliseconds):
    """Computes for that much time of the core."""
    end = time.thread_time() + milliseconds / 1000
    while time.thread_time() < end:
        sum(range(1000))


def timed(comm_barrier, rank, iterations, step):
    """Runs step() that often; rank 0 prints the time of the loop."""
    comm_barrier()
    begin = time.monotonic()
    for _ in range(iterations):
        step()
    comm_barrier()
    if rank == 0:
        print(f"loop {time.monotonic() - begin:.6f}", flush=True)
