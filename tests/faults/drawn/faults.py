# SPDX-License-Identifier: MIT
"""Faults and decoys in the words of a draw, and how each is planted. `read` makes (kind, amount) of a phrase; `planted` is a
context manager around the run. Their words for truth.jsonl are KIND:HOST[:AMOUNT], which stranger_scores.py understands.

A case is a dict: bin (folder of programs), scratch (a folder), stranger (a host outside the job), seen_by (in the environment of the
job's processes), and where it matters disk (bed.Disk of the host), uses (anonymous bytes that the host uses when clean), cpu (its core)."""
import contextlib
import os
import re
import signal
import subprocess
import sys
import tempfile
import threading

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
import injectors
from bed import CONTROL, Disk, Unable, run_tool, write

LINK_MBIT, USUAL_MBIT = 200, 1800
# A host with a core that nobody uses, on a machine of two: both hosts may use both cores, and the ranks are pinned to the first.
SPARE = {"cpus": "0-1", "pin": 0, "spare": 1}


# ---- helpers ----

@contextlib.contextmanager
def ended(bed, *processes):
    try:
        yield
    finally:
        for process in processes:
            bed.end(process)


def started(bed, words, ready=None):
    """Starts words of bed.words(); waits for a line that begins with `ready`."""
    process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.PIPE, text=True)
    bed.helpers.append(process)
    if ready and not process.stdout.readline().startswith(ready):
        raise RuntimeError(f"{' '.join(words)}: {process.stderr.read().strip()}")
    return process


def trouble(bed, host, before, *words):
    return started(bed, bed.words(host, *before, f"{bed.bin}/fault-trouble", *map(str, words)), "ready")


def python(bed, host, text, *words):
    return started(bed, bed.words(host, "/usr/bin/python3", "-S", "-c", text, *map(str, words)), "ready")


# ---- CPU ----

def hog(case, bed, host, amount):
    return ended(bed, bed.helper(host, "cpu", amount))


def duty(case, bed, host, amount):
    """amount: % of the time"""
    return ended(bed, bed.helper(host, "part", int(amount)))


def neighbour_group(bed, make):
    """Directories of a group beside the testbed, as heavy on one core as the testbed is there."""
    for path, name, weight in ((f"{CONTROL}/cpu/{bed.name}-outside", "cpu.shares", 131072), (f"{CONTROL}/{bed.name}-outside", "cpu.weight", 5000)):
        if os.path.isdir(os.path.dirname(path)) and os.path.exists(os.path.join(os.path.dirname(path), f"{bed.name}-testbed", name)):
            if make:
                os.makedirs(path, exist_ok=True)
                write(f"{path}/{name}", weight)
            return path
    raise Unable("no cgroup of CPU beside the testbed")


@contextlib.contextmanager
def outside_hog(case, bed, host, amount):
    """A hog on the host's core that no group of the testbed knows: a neighbour of the same weight."""
    group = neighbour_group(bed, make=True)
    process = subprocess.Popen(["sh", "-c", f'echo $$ > {group}/cgroup.procs; exec taskset -c {case["cpu"]} "$0" cpu 1', f"{bed.bin}/fault-trouble"],
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True)
    bed.helpers.append(process)
    try:
        if not process.stdout.readline().startswith("ready"):
            raise RuntimeError(f"hog outside: {process.stderr.read().strip()}")
        yield
    finally:
        bed.end(process)
        os.rmdir(group)


@contextlib.contextmanager
def quota(case, bed, host, amount):
    """amount: % of a core"""
    bed.set_quota(host, float(amount) / 100)
    try:
        yield
    finally:
        bed.set_quota(host, None)


# ---- network ----

@contextlib.contextmanager
def shaped(bed, host, **rates):
    """send=, receive=: Mbit/s"""
    for direction, mbit in rates.items():
        bed.shape(host, direction, mbit)
    try:
        yield
    finally:
        for direction in rates:
            bed.shape(host, direction, None)


def sends_at(case, bed, host, amount):
    return shaped(bed, host, send=float(amount))


def receives_at(case, bed, host, amount):
    return shaped(bed, host, receive=float(amount))


def both_ways(case, bed, host, amount):
    return shaped(bed, host, send=float(amount), receive=float(amount))


@contextlib.contextmanager
def socket_buffer(bed, host, name, size):
    """The largest and the first size of buffers of the host's TCP sockets, bytes."""
    path = f"/proc/sys/net/ipv4/tcp_{name}"
    words = lambda values: ["ip", "netns", "exec", f"{bed.name}-{host}", "sh", "-c", f"echo {values} > {path}"]
    before = run_tool(["ip", "netns", "exec", f"{bed.name}-{host}", "cat", path]).strip()
    run_tool(words(f"{min(4096, size)} {size} {size}"))
    try:
        yield
    finally:
        run_tool(words(before))


def receive_buffer(case, bed, host, amount):
    return socket_buffer(bed, host, "rmem", int(amount))


def send_buffer(case, bed, host, amount):
    return socket_buffer(bed, host, "wmem", int(amount))


@contextlib.contextmanager
def flow(bed, sender, receiver, megabytes):
    """A stranger's connection of that many MB/s."""
    sink = bed.helper(receiver, "sink", 7001)
    with ended(bed, bed.helper(sender, "send", bed.address(receiver), 7001, int(megabytes)), sink):
        yield


@contextlib.contextmanager
def foreign_traffic(case, bed, host, amount):
    """The host's link is one of 200 Mbit/s; a stranger's connection out of it takes that share of it, %."""
    with shaped(bed, host, send=LINK_MBIT, receive=LINK_MBIT), flow(bed, host, case["stranger"], LINK_MBIT / 8 * float(amount) / 100):
        yield


# ---- processes, memory, disks ----

@contextlib.contextmanager
def stops(case, bed, host, amount):
    """amount: "STOPPED/TURN" in s: in each turn the host's ranks are stopped for the first of the two"""
    stopped, turn = map(float, amount.split("/"))
    over = threading.Event()
    thread = threading.Thread(target=stop_in_turns, args=(bed, host, case["seen_by"], stopped, turn, over), daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def stop_in_turns(bed, host, seen_by, stopped, turn, over):
    while not over.wait(turn - stopped):
        pids = list(injectors.ranks_on(bed, host, seen_by))
        signalled(pids, signal.SIGSTOP)
        over.wait(stopped)
        signalled(pids, signal.SIGCONT)


def signalled(pids, number):
    for pid in pids:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, number)


@contextlib.contextmanager
def swap_file(folder, megabytes=2048):
    """Memory that is taken away has to go somewhere, or the job is killed."""
    if len(open("/proc/swaps").readlines()) > 1:
        yield
        return
    handle, path = tempfile.mkstemp(prefix="swap-", dir=folder)
    try:
        os.posix_fallocate(handle, 0, megabytes << 20)
        try:
            run_tool(["mkswap", path])
            run_tool(["swapon", path])
        except RuntimeError as error:
            raise Unable(f"no swap: {error}") from error
        try:
            yield
        finally:
            run_tool(["swapoff", path])
    finally:
        os.close(handle)
        os.unlink(path)


@contextlib.contextmanager
def memory_limit(case, bed, host, amount):
    """amount: bytes"""
    with swap_file(case["scratch"]):
        bed.set_memory(host, int(amount))
        try:
            yield
        finally:
            bed.set_memory(host, None)


@contextlib.contextmanager
def write_throttle(bed, host, disk, old, new, limit):
    """Version 1 of cgroups knows nobody who wrote into the page cache: the device, which only this host uses, is throttled for
    the kernel's own writing, too."""
    group, v2 = bed.group("blkio", host)
    paths = [f"{group}/io.max"] if v2 else [f"{group}/blkio.throttle.{old}", f"{CONTROL}/blkio/blkio.throttle.{old}"]
    word = lambda value: f"{disk.device} " + (f"{new}={value or 'max'}" if v2 else str(value))
    try:
        for path in paths:
            write(path, word(int(limit)))
    except OSError as error:
        raise Unable(f"no throttle of writes: {error}") from error
    try:
        yield
    finally:
        for path in paths:
            write(path, word(0))


def writes_at(case, bed, host, amount):
    """amount: MB/s"""
    return write_throttle(bed, host, case["disk"], "write_bps_device", "wbps", float(amount) * 1e6)


def writes_per_s(case, bed, host, amount):
    return write_throttle(bed, host, case["disk"], "write_iops_device", "wiops", float(amount))


# ---- the program's own: its catalogue has the words ----

def more_work(case, bed, host, amount):
    return contextlib.nullcontext()


# ---- decoys ----

def idle_hog(case, bed, host, amount):
    return ended(bed, trouble(bed, host, ("chrt", "-i", "0"), "cpu", 1))


def spare_hog(case, bed, host, amount):
    return ended(bed, bed.helper(host, "cpu", 1, cpu=case["spare"]))


UDP = """
import socket, sys, time
to, rate, block = (sys.argv[1], 7002), float(sys.argv[2]) * 1e6, bytes(56000)
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.setsockopt(socket.IPPROTO_UDP, 103, 8000) # UDP_SEGMENT: datagrams of that size
print("ready", flush=True)
begin, sent = time.monotonic(), 0
while True:
    while sent < rate * (time.monotonic() - begin):
        s.sendto(block, to)
        sent += len(block)
    time.sleep(.005)
"""
SINK = """
import socket
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.bind(("", 7002))
s.setsockopt(socket.IPPROTO_UDP, 104, 1) # UDP_GRO: many of them at once
print("ready", flush=True)
block = bytearray(65536)
while True:
    s.recv_into(block)
"""


def udp_elsewhere(case, bed, host, amount):
    """amount: MB/s between the last two hosts, neither of which is of the job"""
    sender, receiver = f"vm{bed.hosts - 1}", f"vm{bed.hosts}"
    sink = python(bed, receiver, SINK)
    return ended(bed, python(bed, sender, UDP, bed.address(receiver), amount), sink)


# A hole that is read fills the page cache and asks nothing of a disk.
CACHE = """
import os, sys, time
size, file = int(sys.argv[2]) << 20, os.open(sys.argv[1], os.O_RDWR | os.O_CREAT)
os.unlink(sys.argv[1])
os.ftruncate(file, size)
print("ready", flush=True)
while True:
    for at in range(0, size, 1 << 20):
        os.pread(file, 1 << 20, at)
        time.sleep(.015)
    os.posix_fadvise(file, 0, 0, os.POSIX_FADV_DONTNEED)
    time.sleep(1)
"""


def page_cache(case, bed, host, amount):
    """amount: MB"""
    return ended(bed, python(bed, host, CACHE, f"{case['scratch']}/cached", amount))


def idle_helpers(case, bed, host, amount):
    """amount: their number. Each reads a pipe that nobody writes."""
    return ended(bed, *(started(bed, bed.words(host, "cat")) for _ in range(int(amount))))


def download(case, bed, host, amount):
    """amount: MB/s, a tenth of what a testbed's link has if nobody says otherwise. The link is not shaped here: that would be a fault."""
    return flow(bed, case["stranger"], host, amount)


@contextlib.contextmanager
def buffered_writes(case, bed, host, amount):
    """amount: MB/s"""
    with Disk(f"{case['scratch']}/other", 64) as disk, ended(bed, bed.helper(host, "burst", f"{disk.path}/burst", int(amount))):
        yield


KINDS = {"hog": hog, "outhog": outside_hog, "duty": duty, "quota": quota, "out": sends_at, "in": receives_at, "both": both_ways, "rmem": receive_buffer,
         "wmem": send_buffer, "foreign": foreign_traffic, "stop": stops, "work": more_work, "wthrottle": writes_at, "wiops": writes_per_s, "mem": memory_limit,
         "idlehog": idle_hog, "sparehog": spare_hog, "udp": udp_elsewhere, "cache": page_cache, "helpers": idle_helpers, "download": download,
         "buffered": buffered_writes}
DECOYS = ("idlehog", "sparehog", "udp", "cache", "helpers", "download", "buffered")
NUMBER = r"([\d.]+)"


def turn_of(percent):
    return f"{float(percent) / 100 * .2:.3g}/0.2"


def kilobytes(text):
    return str(int(float(text) * 1024))


# Phrases of a draw: pattern, kind, what makes the amount of the numbers in it.
PHRASES = [(re.compile(pattern), kind, amount) for pattern, kind, amount in (
    (r"hog of SCHED_IDLE on a used core", "idlehog", lambda: "1"),
    (r"hog on a core that nobody uses", "sparehog", lambda: "1"),
    (r"UDP at (\d+) MB/s off the path", "udp", str),
    (r"a large page cache made and dropped", "cache", lambda: "512"),
    (r"ten idle helpers that wait for ever on a pipe", "helpers", lambda: "10"),
    (r"a foreign download through the same interface at a tenth of its rate", "download", lambda: str(USUAL_MBIT // 80)),
    (r"a process that writes (\d+) MB/s buffered on another device", "buffered", str),
    (r"hog inside (?:one host's|the server's) group", "hog", lambda: "1"),
    (r"hog on (?:one host's|the server's) core, outside its group", "outhog", lambda: "1"),
    (rf"hog of {NUMBER} % duty on one host", "duty", str),
    (rf"quota of {NUMBER} % on (?:one host|the server)", "quota", str),
    (rf"(?:one host|server) sends at {NUMBER} Mbit/s", "out", str),
    (rf"(?:one host|server) receives at {NUMBER} Mbit/s", "in", str),
    (rf"one host both ways at {NUMBER} Mbit/s", "both", str),
    (rf"the client's host at {NUMBER} Mbit/s", "both", str),
    (rf"receive buffer of {NUMBER} kB (?:on one host|at the server)", "rmem", kilobytes),
    (rf"send buffer of {NUMBER} kB on one host", "wmem", kilobytes),
    (rf"one rank stopped {NUMBER} % of the time in turns of .2 s", "stop", turn_of),
    (rf"one rank has {NUMBER} times the work", "work", str),
    (rf"memory limit {NUMBER} % of what (?:it uses on one host|the server uses)", "mem", str),
    (r"foreign traffic fills half of one host's link of 200 Mbit/s", "foreign", lambda: "50"),
)]
DISK = re.compile(rf"disk (?:writes of one host|of the server) throttled(?: to|:) {NUMBER} MB/s or {NUMBER} (?:per second|requests a second)")
TWO = "two of the above at once on two hosts"


def read(text, numbers):
    """(kind, amount) of a phrase; None: not one of these. The amount of "mem" is a share in %, of which bytes are made once a clean
    run is known. numbers: random.Random, which decides where the phrase leaves a choice."""
    disk = DISK.match(text)
    if disk:
        return numbers.choice((("wthrottle", disk.group(1)), ("wiops", disk.group(2))))
    for pattern, kind, amount in PHRASES:
        found = pattern.match(text)
        if found:
            return kind, amount(*found.groups())
    return None


def word_of(kind, host, amount):
    """The word that truth.jsonl has for it."""
    return f"{kind}:{host}:{amount}"


def planted(kind, case, bed, host, amount):
    """A context manager: the fault is there inside of it."""
    return KINDS[kind](case, bed, host, amount)


# ---- what a host uses ----

class Used(threading.Thread):
    """The most anonymous memory that each host of a testbed has while the block runs: with Used(bed, hosts) as used: ...; used.bytes[host]"""

    def __init__(self, bed, hosts):
        super().__init__(daemon=True)
        self.bed, self.bytes, self.over = bed, dict.fromkeys(hosts, 0), threading.Event()

    def run(self):
        while not self.over.wait(.1):
            for host in self.bytes:
                with contextlib.suppress(OSError, Unable, AttributeError):
                    path, v2 = self.bed.group("memory", host)
                    with open(f"{path}/memory.stat") as file:
                        self.bytes[host] = max(self.bytes[host], int(re.search(r"^anon (\d+)" if v2 else r"^total_rss (\d+)", file.read(), re.M).group(1)))

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        self.over.set()
        self.join()
