#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""clock_programs.py [--most N] BIN...: what the kernel's verifier looks at before the programs of wait clocks may run, in
instructions of all ways through each, and the CPU time of `run` with clocks and without. BIN: folders with `chokepoint`,
taken in turns; name one twice for an A/A row. Needs root, and Linux 5.16. With --most only the instructions: exit status 1 if
they are more than N, 77 if none can be counted."""
import ctypes
import glob
import os
import resource
import statistics
import struct
import subprocess
import sys
import tempfile
import time

SYS_BPF = {"x86_64": 321, "aarch64": 280}[os.uname().machine]
FD_BY_ID, INFO_BY_FD = 13, 15
NAMES = ("adopt_members", "on_switch", "on_waking", "on_fork", "on_exit", "on_call", "on_return", "on_data_ready",
         "on_receive", "on_send", "on_state")
ROUNDS = 7
libc = ctypes.CDLL(None, use_errno=True)


def bpf(command, attributes):
    buffer = ctypes.create_string_buffer(attributes, 128)
    result = libc.syscall(SYS_BPF, command, buffer, 128)
    return result, buffer.raw


def programs_of(pid):
    """Numbers of the programs that the process holds."""
    numbers = set()
    for path in glob.glob(f"/proc/{pid}/fdinfo/*"):
        try:
            with open(path, encoding="utf-8") as file:
                numbers |= {int(line.split()[1]) for line in file if line.startswith("prog_id:")}
        except OSError:
            pass
    return numbers


def descendants(pid):
    """The process, its children, theirs."""
    yield pid
    for path in glob.glob(f"/proc/{pid}/task/*/children"):
        try:
            with open(path, encoding="utf-8") as file:
                children = file.read().split()
        except OSError:
            continue
        for child in children:
            yield from descendants(int(child))


def instructions(number):
    """(name, verified instructions) of a program, by their offsets in struct bpf_prog_info."""
    fd, _ = bpf(FD_BY_ID, struct.pack("=I", number))
    if fd < 0:
        return "", 0
    info = ctypes.create_string_buffer(240)
    bpf(INFO_BY_FD, struct.pack("=IIQ", fd, 240, ctypes.addressof(info)))
    os.close(fd)
    return info.raw[64:80].split(b"\0")[0].decode(), struct.unpack_from("=I", info.raw, 216)[0]


def verified(folder, database):
    run = subprocess.Popen([f"{folder}/chokepoint", "run", "-q", "--no-report", "--wait-clocks", "--db", database, "sleep", "3"])
    found = {}
    while len(found) < len(NAMES) and run.poll() is None:
        time.sleep(.05)
        numbers = set().union(*(programs_of(pid) for pid in descendants(run.pid)))
        found = {name: n for name, n in map(instructions, numbers) if name in NAMES}
    run.wait()
    return found


def cpu_ms(folder, database, *options):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([f"{folder}/chokepoint", "run", "-q", "--no-report", "--db", database, *options, "true"], check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return 1e3 * (after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime)


def spread(values):
    return f"{statistics.median(values):.0f} ms ({min(values):.0f} to {max(values):.0f})"


most_allowed = int(sys.argv[2]) if sys.argv[1:2] == ["--most"] else 0
folders = sys.argv[3 if most_allowed else 1:] or [os.environ["CHOKEPOINT_BIN"]]
with tempfile.TemporaryDirectory() as work:
    for folder in folders:
        found = verified(folder, f"{work}/x.db")
        most = max(found, key=found.get, default="-")
        print(f"{folder}: {sum(found.values())} instructions in {len(found)} programs, {found.get(most, 0)} of them in {most}")
        if most_allowed:
            sys.exit(77 if not sum(found.values()) else sum(found.values()) > most_allowed)
    costs = [([], []) for _ in folders]
    for _ in range(ROUNDS):
        for (clocks, without), folder in zip(costs, folders):
            clocks.append(cpu_ms(folder, f"{work}/x.db", "--wait-clocks"))
            without.append(cpu_ms(folder, f"{work}/x.db", "--no-wait-clocks"))
    for (clocks, without), folder in zip(costs, folders):
        print(f"{folder}: CPU of `run true` {spread(clocks)}, without clocks {spread(without)}")
