#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""CPU time that recording kernels on request (run --gpu-kernels) takes from a program of 25,000 kernels and 12,500 copies a
second: this library's part, by schedstat of a program that does nothing else, beside the same program without it. CUPTI is
played (tests/gpu/cupti_player.c): what the real one adds to each launch is measured on a card alone, by tests/gpu/check.sh.

usage: gpu_kernels_cost.py BUILD [ROUNDS]   BUILD: build/release
"""
import os
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import time

BURST_S, EVERY_S = .5, 20 # agent/kernels/kernels.c


def cpu_s(pid):
    total = 0
    for task in os.listdir(f"/proc/{pid}/task"):
        with open(f"/proc/{pid}/task/{task}/schedstat") as file:
            total += int(file.read().split()[0])
    return total / 1e9


def burst(build, library):
    """CPU time of a program until its first burst is written, or as long without the library, in s."""
    stem = tempfile.mkdtemp() + "/marks"
    directory = f"{stem}.{socket.gethostname()}"
    os.mkdir(directory, 0o700)
    environ = {**os.environ, "CHOKEPOINT_MARKS": stem, "CUPTI_PLAY": "many"}
    environ.pop("CUDA_INJECTION64_PATH", None)
    if library:
        environ["CUDA_INJECTION64_PATH"] = library
    program = subprocess.Popen([f"{build}/bin/injected", f"{build}/tests/cupti/libcudart.so.12"], stdin=subprocess.PIPE, env=environ)
    path, until = f"{directory}/{program.pid}.kernels", time.monotonic() + (30 if library else 2)
    while time.monotonic() < until:
        time.sleep(.05)
        if library and os.path.exists(path):
            with open(path, "rb") as file:
                if int.from_bytes(file.read(40)[24:32], "little"):
                    break
    spent = cpu_s(program.pid)
    program.communicate()
    shutil.rmtree(os.path.dirname(stem))
    return spent


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    build, rounds = sys.argv[1], int(sys.argv[2]) if len(sys.argv) == 3 else 7
    library = os.path.abspath(f"{build}/bin/libchokepoint-mpi.so")
    plain, again, watched = ([burst(build, which) for _ in range(rounds)] for which in (None, None, library))
    base = statistics.median(plain)
    for what, spent in (("with the library", watched), ("A/A: without it, again", again)):
        more = sorted(value - base for value in spent)
        middle = statistics.median(more)
        print(f"{what}: {1e3 * middle:.2f} ms of CPU a burst ({1e3 * more[0]:.2f} to {1e3 * more[-1]:.2f}), {middle / BURST_S * 100:.2f} % of a core while"
              f" it lasts, {middle / EVERY_S * 100:.3f} % on the whole; wanted: 2 % with what CUPTI adds")


main()
