#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The part of check.sh that runs phases and prints a line each. Every failure is a line; none ends it."""
import argparse
import json
import os
import sqlite3
import statistics
import subprocess
import sys
import time
import traceback

HERE = os.path.dirname(os.path.abspath(__file__))
# The truth of each phase, in few words. The order is that of interest, should time run out.
TRUTH = {
    "idle": "nothing runs",
    "gemm_bf16": "GPU: tensor cores, power cap",
    "dram": "GPU: memory bandwidth",
    "h2d_pinned": "PCIe to the GPU",
    "h2d_pageable": "the host's copy into pinned memory",
    "train_gpu": "GPU: convolutions",
    "train_small": "one thread launches; the GPU waits",
    "input_cpu4": "four loader processes compute",
    "input_sleep2": "loaders wait for a slow store",
    "synceach": "one thread: kernel, wait, kernel, wait",
    "launch": "one thread launches tiny kernels",
    "input_cpu0": "the main thread does the loader's work",
    "optimizer_cpu": "half of the step on the host's cores",
    "contended": "another process on the GPU",
    "cpu_starved": "three hogs on the process's core",
    "gemm_fp32": "GPU: fp32 units",
    "gemm_fp64": "GPU: fp64 tensor cores, power cap",
    "d2h": "PCIe from the GPU",
    "train_log_each": "one thread launches, waits each step",
    "lenet": "one thread launches; the GPU waits",
    "input_fast8": "GPU: convolutions; loaders keep up",
    "memory_full": "GPU memory given back each step",
    "checkpoint": "GPU, and a disk each 40 steps",
}
SLOW_RATE = ("idle", "train_gpu")  # also at 1 Hz, for the cost of the agent
COLUMNS = ["busy_pct", "sm_pct", "tensor_pct", "fp32_pct", "dram_pct", "pcie_receive_bytes_per_s", "pcie_send_bytes_per_s", "watts", "sm_clock_hz", "power_cap_pct"]


def arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("out")
    parser.add_argument("bin")
    parser.add_argument("--phases", default=",".join(TRUTH))
    parser.add_argument("--seconds", type=float, default=5)
    parser.add_argument("--budget", type=float, default=290)
    parser.add_argument("--work", default=os.path.join(HERE, "labelled_work.py"))
    parser.add_argument("--no-wait-clocks", action="store_true")
    return parser.parse_args()


def call(command, path, limit):
    """Runs a command, its output in a file; its exit status, or -1 after `limit` seconds."""
    with open(path, "wb") as to:
        child = subprocess.Popen(command, stdout=to, stderr=subprocess.STDOUT, start_new_session=True)
        try:
            return child.wait(limit)
        except subprocess.TimeoutExpired:
            child.terminate()  # chokepoint ends its command and its agents
            try:
                child.wait(10)
            except subprocess.TimeoutExpired:
                child.kill()
                child.wait()
            return -1


def run_phase(o, phase, rate, limit):
    """Runs one phase under `chokepoint run`; the words of a failure, or None."""
    name = phase if rate == 10 else f"{phase}-at-{rate}Hz"
    work = os.path.join(o.out, name + ".jsonl")
    command = [os.path.join(o.bin, "chokepoint"), "run", "--db", os.path.join(o.out, "runs.db"), "-n", name, "--rate", str(rate)]
    command += [] if o.no_wait_clocks else ["--wait-clocks"]
    command += ["--", sys.executable, o.work, "--phases", phase, "--seconds", str(o.seconds), "--gap", "0", "--out", work]
    status = call(command, os.path.join(o.out, name + ".said"), limit)
    lines = [json.loads(line) for line in open(work, encoding="utf-8")] if os.path.exists(work) else []
    done = next((line for line in lines if line.get("phase") == phase), {})
    if status != 0:
        return name, done, f"chokepoint run ended with {status}, see {name}.said"
    if "error" in done or "t1" not in done:
        return name, done, "the phase failed: " + str(done.get("error", "it said nothing"))
    return name, done, None


def report_of(o, name):
    path = os.path.join(o.out, name + ".json")
    status = call([os.path.join(o.bin, "chokepoint"), "report", name, "--db", os.path.join(o.out, "runs.db"), "--format", "json", "-o", path], os.path.join(o.out, name + ".report-said"), 60)
    if status != 0:
        return {}
    return json.load(open(path, encoding="utf-8"))


def medians(o, name, done):
    """Medians of the GPU's columns while the phase ran, and CPU of the agent and of the GPU probe in ms a second."""
    with sqlite3.connect(f"file:{o.out}/runs.db?mode=ro", uri=True) as db:
        run, began = db.execute("SELECT run, started_wall_ns / 1e9 FROM run WHERE name = ? ORDER BY run DESC", (name,)).fetchone()
        window = (run, done["t0"] - began + .7, done["t1"] - began - .1)
        found = {}
        for column in COLUMNS:
            rows = db.execute(f"SELECT {column} FROM gpu_rate WHERE run = ? AND time_s BETWEEN ? AND ? AND {column} IS NOT NULL", window).fetchall()
            found[column] = statistics.median(row[0] for row in rows) if rows else None
        for probe in "agent", "gpu":
            rows = db.execute("SELECT avg(cpu_pct) FROM self_rate WHERE run = ? AND time_s BETWEEN ? AND ? AND probe = ?", window + (probe,)).fetchone()
            found[probe] = rows[0] * 10 if rows and rows[0] is not None else None
        return found


def text(value, scale=1.0, places=0):
    return "-" if value is None else f"{value / scale:.{places}f}"


def print_line(name, truth, report, found):
    verdict = report.get("verdict", {})
    print(f"{name}: truth: {truth}")
    print(f"    limit: {verdict.get('limit') or verdict.get('summary') or '-'}; state {verdict.get('state', '-')}, confidence {text(verdict.get('confidence'), 1, 2)}")
    print(f"    agent {text(found.get('agent'), 1, 2)} ms/s, of it GPU probe {text(found.get('gpu'), 1, 2)}; busy {text(found.get('busy_pct'))} SM {text(found.get('sm_pct'))} tensor {text(found.get('tensor_pct'))} "
          f"fp32 {text(found.get('fp32_pct'))} DRAM {text(found.get('dram_pct'))} %; PCIe to {text(found.get('pcie_receive_bytes_per_s'), 1e6)} from {text(found.get('pcie_send_bytes_per_s'), 1e6)} MB/s; "
          f"{text(found.get('watts'))} W {text(found.get('sm_clock_hz'), 1e6)} MHz, capped {text(found.get('power_cap_pct'))} %", flush=True)


def one(o, phase, rate, left):
    name, done, trouble = run_phase(o, phase, rate, left)
    if trouble:
        print(f"{name}: {trouble}", flush=True)
    if "t1" not in done:
        return None
    found = medians(o, name, done)
    print_line(name, TRUTH.get(phase, "?"), report_of(o, name), found)
    return found


def cost_line(words, all_found):
    for probe, what in ("agent", "the agent"), ("gpu", "its GPU probe"):
        values = [found[probe] for found in all_found if found and found.get(probe) is not None]
        if values:
            print(f"{words}: {what} used {statistics.median(values):.2f} ms of CPU a second (median of {len(values)} runs, at most {max(values):.2f})")


def main():
    o = arguments()
    began = time.monotonic()
    found, slow, longest = [], [], 15.0
    asked = [(phase, 10) for phase in o.phases.split(",")]
    asked[2:2] = [(phase, 1) for phase in SLOW_RATE if phase in o.phases.split(",")]
    for phase, rate in asked:
        left = o.budget - (time.monotonic() - began)
        if left < o.seconds + longest / 2:
            print(f"{phase}: left out, {left:.0f} s of {o.budget:.0f} are left")
            continue
        at = time.monotonic()
        try:
            (found if rate == 10 else slow).append(one(o, phase, rate, left))
        except Exception:  # the next phase may do better
            print(f"{phase}: the check itself failed: {traceback.format_exc()}", flush=True)
        longest = max(6.0, time.monotonic() - at - o.seconds)
    cost_line("10 Hz", found)
    cost_line("1 Hz", slow)
    print(f"all took {time.monotonic() - began:.0f} s")


main()
