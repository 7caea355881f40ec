#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""In the place of labelled_work.py where there is no PyTorch: waits, spins or starts processes that compute, and prints
the same lines. With a library that plays a recorded card (nvml_player.c), check.sh can be tried without one. PRETENDED_CUDA
names a libcuda of ours (libcuda.c): phases of the GPU then wait and copy by its calls."""
import argparse
import ctypes
import json
import os
import subprocess
import sys
import time

WAITS = ("idle", "input_sleep2")
LOADERS = ("input_cpu4",)
CUDA_CALLS = {"h2d": "cuMemcpyHtoDAsync_v2", "d2h": "cuMemcpyDtoHAsync_v2", "gemm": "cuCtxSynchronize", "dram": "cuCtxSynchronize", "train_gpu": "cuStreamSynchronize"}
CALL_NS = 20_000_000
SPIN = "import time\nend = time.time() + {}\nwhile time.time() < end: pass"


def driver_call(phase):
    """The call in which a phase spends its time; None: in none."""
    name = next((call for words, call in CUDA_CALLS.items() if phase.startswith(words)), None)
    if not name or "PRETENDED_CUDA" not in os.environ:
        return None
    cuda = ctypes.CDLL(os.environ["PRETENDED_CUDA"])
    cuda.cuPlant(0, ctypes.c_int64(CALL_NS))
    return getattr(cuda, name)


def work(phase, seconds):
    end = time.time() + seconds
    call = driver_call(phase)
    if phase in LOADERS:
        for child in [subprocess.Popen([sys.executable, "-c", SPIN.format(seconds)]) for _ in range(4)]:
            child.wait()
    while time.time() < end:
        if call:
            call()
        elif phase in WAITS:
            time.sleep(end - time.time() if end > time.time() else 0)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--phases", default="")
    parser.add_argument("--seconds", type=float, default=5)
    parser.add_argument("--gap", type=float, default=0)
    parser.add_argument("--out", default="/dev/stdout")
    parser.add_argument("--ask", action="store_true")
    parser.add_argument("--beside")
    asked = parser.parse_args()
    with open(asked.out, "w", encoding="utf-8") as out:
        driver_call("gemm")  # PyTorch, too, loads it before it works
        print(json.dumps({"event": "start", "device": "pretended"}), file=out, flush=True)
        for phase in (line.strip() for line in sys.stdin) if asked.ask else asked.phases.split(","):
            began = time.time()
            work(phase, asked.seconds)
            print(json.dumps({"phase": phase, "t0": began, "t1": time.time(), "iterations": 1}), file=out, flush=True)


main()
