#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The part of check.sh that runs phases and prints a line each. Every failure is a line; none ends it."""
import argparse
import json
import os
import signal
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


# Also as a whole program under `chokepoint run`, import of PyTorch included.
WHOLE = "train_gpu,input_cpu4,train_small,h2d_pageable,gemm_bf16"
SETTLE_S = 1.2  # the agent looks each second for libraries whose calls it clocks
HOGS_CORE = "3"  # labelled_work.py keeps to it in cpu_starved


def arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("out")
    parser.add_argument("bin")
    parser.add_argument("--phases", default=",".join(TRUTH), help="under `chokepoint attach` to one program, which takes them one after the other")
    parser.add_argument("--whole", default=WHOLE, help="under `chokepoint run`, a program each")
    parser.add_argument("--seconds", type=float, default=5)
    parser.add_argument("--budget", type=float, default=290)
    parser.add_argument("--work", default=os.path.join(HERE, "labelled_work.py"))
    parser.add_argument("--no-wait-clocks", action="store_true")
    return parser.parse_args()


def end(child):
    child.terminate()
    try:
        child.wait(10)
    except subprocess.TimeoutExpired:
        child.kill()
        child.wait()


def chokepoint(o, verb, name, rate, *words):
    """The command line that records."""
    command = [os.path.join(o.bin, "chokepoint"), verb, "--db", os.path.join(o.out, "runs.db"), "-n", name, "--rate", str(rate)]
    return command + ([] if o.no_wait_clocks else ["--wait-clocks"]) + list(words)


def begin(command, path, **more):
    with open(path, "wb") as to:
        return subprocess.Popen(command, stdout=to, stderr=subprocess.STDOUT, start_new_session=True, **more)


def call(command, path, limit):
    """Runs a command, its output in a file; its exit status, or -1 after `limit` seconds."""
    child = begin(command, path)
    try:
        return child.wait(limit)
    except subprocess.TimeoutExpired:
        end(child)  # chokepoint ends its command and its agents
        return -1


class Worker:
    """One program that takes phases from us and answers with a line each."""

    def __init__(self, o, name, *words):
        self.path = os.path.join(o.out, name + ".jsonl")
        command = [sys.executable, o.work, "--seconds", str(o.seconds), "--gap", "0", "--out", self.path, "--beside", "outside", *words]
        self.child = begin(command, os.path.join(o.out, name + ".said"), stdin=subprocess.PIPE)

    def lines(self):
        """The whole lines so far."""
        try:
            text = open(self.path, encoding="utf-8").read()
        except FileNotFoundError:
            return []
        return [json.loads(line) for line in text[: text.rfind("\n") + 1].splitlines()]

    def wait_for(self, n, limit):
        """Its n-th line from 0, or {} after `limit` seconds or its end."""
        until = time.monotonic() + limit
        while time.monotonic() < until:
            found = self.lines()
            if len(found) > n:
                return found[n]
            if self.child.poll() is not None:
                return {}
            time.sleep(.02)
        return {}

    def ask(self, phase):
        self.child.stdin.write(phase.encode() + b"\n")
        self.child.stdin.flush()


def wait_for_words(path, words, limit):
    until = time.monotonic() + limit
    while time.monotonic() < until:
        if words in open(path, "rb").read():
            return True
        time.sleep(.02)
    return False


def start_beside(o, phase):
    """Programs outside the job, which a phase is about."""
    if phase == "contended":
        other = Worker(o, "beside", "--phases", "gemm_bf16", "--seconds", "120")
        other.wait_for(0, 60)
        return [other.child]
    if phase == "cpu_starved":
        return [subprocess.Popen(["taskset", "-c", HOGS_CORE, sys.executable, "-c", "while 1: pass"]) for _ in range(3)]
    return []


def attach_phase(o, worker, phase, rate, limit):
    """Runs one phase of the worker under `chokepoint attach`: (name, its line, words of a failure or None)."""
    name = phase if rate == 10 else f"{phase}-at-{rate}Hz"
    said = os.path.join(o.out, name + ".said")
    n = len(worker.lines())
    beside = start_beside(o, phase)
    recorder = begin(chokepoint(o, "attach", name, rate, "--job", f"pid={worker.child.pid}"), said)
    try:
        ready = wait_for_words(said, b"recording", 20)
        time.sleep(0 if o.no_wait_clocks else SETTLE_S)
        worker.ask(phase)
        done = worker.wait_for(n, limit)
        recorder.send_signal(signal.SIGINT)
        status = recorder.wait(30)
    except (OSError, subprocess.TimeoutExpired) as trouble:
        return name, {}, repr(trouble)
    finally:
        for child in [*beside, recorder]:
            if child.poll() is None:
                end(child)
    if not ready or status != 0:
        return name, done, f"chokepoint attach {'ended with ' + str(status) if ready else 'did not start'}, see {name}.said"
    return name, done, None if "t1" in done and "error" not in done else "the phase failed: " + str(done.get("error", "it said nothing"))


def run_phase(o, phase, rate, limit):
    """Runs one phase as a program under `chokepoint run`; returns as attach_phase."""
    name = f"{phase}-whole"
    work = os.path.join(o.out, name + ".jsonl")
    command = chokepoint(o, "run", name, rate, "--", sys.executable, o.work, "--phases", phase, "--seconds", str(o.seconds), "--gap", "0", "--out", work)
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


def means(o, name, done):
    """Means of the GPU's columns while the phase ran, and CPU of the agent and of the GPU probe in ms a second."""
    with sqlite3.connect(f"file:{o.out}/runs.db?mode=ro", uri=True) as db:
        run, began = db.execute("SELECT run, started_wall_ns / 1e9 FROM run WHERE name = ? ORDER BY run DESC", (name,)).fetchone()
        window = (run, done["t0"] - began + .7, done["t1"] - began - .1)
        found = {}
        for column in COLUMNS:
            found[column], = db.execute(f"SELECT sum({column} * interval_s) / sum(interval_s) FROM gpu_rate WHERE run = ? AND time_s BETWEEN ? AND ? "
                                        f"AND {column} IS NOT NULL", window).fetchone()
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


def show(o, phase, name, done, trouble):
    if trouble:
        print(f"{name}: {trouble}", flush=True)
    if "t1" not in done:
        return None
    found = means(o, name, done)
    print_line(name, TRUTH.get(phase, "?"), report_of(o, name), found)
    return found


def cost_line(words, all_found):
    for probe, what in ("agent", "the agent"), ("gpu", "its GPU probe"):
        values = [found[probe] for found in all_found if found and found.get(probe) is not None]
        if values:
            print(f"{words}: {what} used {statistics.median(values):.2f} ms of CPU a second (median of {len(values)} runs, at most {max(values):.2f})")


def named(text):
    return [name for name in text.split(",") if name]


def main():
    o = arguments()
    # A shell that runs this in the background ignores interrupts, and children would inherit that.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    began = time.monotonic()
    phases, found, longest = named(o.phases), {1: [], 10: []}, 10.0
    worker = Worker(o, "worker", "--ask")
    print("the work:", json.dumps(worker.wait_for(0, 120)), flush=True)
    asked = [(phase, 10, "attach") for phase in phases]
    asked[2:2] = [(phase, 1, "attach") for phase in SLOW_RATE if phase in phases]
    asked += [(phase, 10, "run") for phase in named(o.whole)]
    for phase, rate, verb in asked:
        at = time.monotonic()
        left = o.budget - (at - began)
        if left < o.seconds + (longest if verb == "run" else 3):
            print(f"{phase} ({verb}): left out, {left:.0f} s of {o.budget:.0f} are left")
            continue
        try:
            if verb == "run":
                if worker.child.poll() is None:
                    end(worker.child)
                result = run_phase(o, phase, rate, left)
                longest = time.monotonic() - at - o.seconds
            else:
                result = attach_phase(o, worker, phase, rate, left)
            found[rate].append(show(o, phase, *result))
        except Exception:  # the next phase may do better
            print(f"{phase}: the check itself failed: {traceback.format_exc()}", flush=True)
    if worker.child.poll() is None:
        end(worker.child)
    cost_line("10 Hz", found[10])
    cost_line("1 Hz", found[1])
    print(f"all took {time.monotonic() - began:.0f} s")


main()
