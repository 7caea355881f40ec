# SPDX-License-Identifier: MIT
"""Faults of a drawn service: the draw's words become a context manager, the fault's word in truth.jsonl, and what a right
verdict names. The server is on vm2, its load on vm1, strangers on vm3 and vm4."""
import contextlib
import os
import re
import subprocess
import sys
import time

import bed as beds

HERE = os.path.dirname(os.path.abspath(__file__))
PYTHON = "/usr/bin/python3"
SERVER, CLIENT = "vm2", "vm1"
WEIGHT = 131072 # of a hog outside: half of the testbed's group, which spreads over two cores


class NotApplicable(Exception):
    """The reason why this fault cannot be planted in this program."""


class Fault:
    """plant: (name, value) for the program's own part; outside: a context manager of (case, bed); word: in truth.jsonl; expected: for
    words that stranger_scores.py does not know; hosts: emulated hosts that it needs"""

    def __init__(self, word, truth, outside=None, plant=None, expected=None, hosts=2, before=None):
        self.word, self.truth, self.outside, self.plant, self.expected, self.hosts, self.before = word, truth, outside, plant, expected, hosts, before


# ---- programs beside the job ----

@contextlib.contextmanager
def beside(case, bed, host, *words, cpu_group=None):
    """One of beside.py in a host, or outside of all hosts on the server's core: in that group, or where this program is."""
    command = [PYTHON, "-B", f"{HERE}/beside.py", *map(str, words)]
    words = bed.words(host, *command) if host else ["taskset", "-c", str(case.cpus[SERVER]), *command]
    join = (lambda: beds.write(f"{cpu_group}/cgroup.procs", os.getpid())) if cpu_group else None
    process = subprocess.Popen(words, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True, preexec_fn=join)
    try:
        if not process.stdout.readline().startswith("ready"):
            raise RuntimeError(f"{' '.join(command)} did not start")
        yield process
    finally:
        process.kill()
        process.wait()


@contextlib.contextmanager
def trouble(bed, host, *words):
    process = bed.helper(host, *words)
    try:
        yield process
    finally:
        bed.end(process)


@contextlib.contextmanager
def hog_outside(case, bed):
    """Its group stands beside that of the testbed, with as much weight on that core."""
    group, version2 = bed.group("cpu", SERVER)
    path = f"{os.path.dirname(os.path.dirname(group))}/{bed.name}-beside"
    os.makedirs(path, exist_ok=True)
    try:
        beds.write(f"{path}/cpu.weight" if version2 else f"{path}/cpu.shares", 5000 if version2 else WEIGHT)
        with beside(case, bed, None, "spin", cpu_group=path):
            yield
    finally:
        for _ in range(50):
            with contextlib.suppress(OSError):
                os.rmdir(path)
                break
            time.sleep(.02)


@contextlib.contextmanager
def shaped(bed, host, mbit, *directions):
    for direction in directions:
        bed.shape(host, direction, mbit)
    yield


@contextlib.contextmanager
def quota(bed, percent):
    bed.set_quota(SERVER, percent / 100)
    yield


@contextlib.contextmanager
def memory(case, bed, limit):
    """On the server's own group, so that the agent beside it is not the one that is ended."""
    if not case.group:
        raise NotApplicable("a host's group with processes has no groups below it (cgroup version 2)")
    try:
        beds.write(f"{case.group}/memory.limit_in_bytes", limit)
    except OSError as error:
        raise beds.Unable(f"no memory limit: {error}") from error
    yield


@contextlib.contextmanager
def own_group(bed):
    """A group for the memory of the server alone, below that of its host; None, where a group cannot have both processes and groups."""
    path, version2 = bed.group("memory", SERVER)
    if version2:
        yield None
        return
    os.makedirs(f"{path}/served")
    try:
        yield f"{path}/served"
    finally:
        for _ in range(50):
            with contextlib.suppress(OSError):
                os.rmdir(f"{path}/served")
                break
            time.sleep(.02)


@contextlib.contextmanager
def throttled(case, bed, kind, amount):
    """kind: "bps" or "iops", for what is read and for what is written"""
    path, version2 = bed.group("blkio", SERVER)
    try:
        for way in ("read", "write"):
            beds.write(f"{path}/io.max" if version2 else f"{path}/blkio.throttle.{way}_{kind}_device",
                       f"{case.disk.device} {way[0] + kind + '=' if version2 else ''}{int(amount)}")
    except OSError as error:
        raise beds.Unable(f"no block-I/O throttle: {error}") from error
    yield


@contextlib.contextmanager
def receive_buffer(bed, size):
    subprocess.run(bed.words(SERVER, "sh", "-c", f"echo '{min(size, 4096)} {size} {size}' > /proc/sys/net/ipv4/tcp_rmem"), check=True)
    yield


@contextlib.contextmanager
def slow_names(case, bed, delay_ms):
    """A server of names on vm3, which the client's host asks: its own resolv.conf is laid over the machine's for the load alone."""
    beds.write(f"{case.folder}/resolv.conf", f"nameserver {bed.address('vm3')}\noptions timeout:5\n")
    with beside(case, bed, "vm3", "names", 53, bed.address(SERVER), delay_ms):
        yield


@contextlib.contextmanager
def in_turn(*contexts):
    with contextlib.ExitStack() as stack:
        for context in contexts:
            stack.enter_context(context)
        yield


@contextlib.contextmanager
def other_disk(case, bed):
    with beds.Disk(f"{case.folder}/other", 128) as disk, trouble(bed, SERVER, "burst", f"{disk.path}/burst", 20) as process:
        yield process


@contextlib.contextmanager
def page_cache(case, bed):
    path = f"{case.folder}/cached"
    try:
        with beside(case, bed, SERVER, "cache", path, 256):
            yield
    finally:
        os.unlink(path)


@contextlib.contextmanager
def free_core(case, bed):
    free = set(range(os.cpu_count())) - set(case.cpus.values())
    if not free:
        raise NotApplicable(f"the hosts use all {os.cpu_count()} cores of this machine")
    process = bed.helper(SERVER, "cpu", 1, cpu=min(free))
    try:
        yield
    finally:
        bed.end(process)


# ---- what the draw says ----

def in_program(name, value, text, resource, causes, host=SERVER, never=None, says=None):
    expected = {"host": [host], "resource": resource}
    expected.update({key: word for key, word in (("cause", causes), ("never", never), ("says", says)) if word})
    return Fault(name if value is True else f"{name}:{value:g}", f"{host} {text}", plant=(name, value), expected=expected)


def fault_of(text, service, used):
    """The fault that the draw's words name. service: one of the catalogue. used: bytes that the server used at most in the clean run.
    Raises NotApplicable."""
    number = [float(word) for word in re.findall(r"[0-9.]*[0-9]", text)]
    value = number[0] if number else None
    if text == "hog inside the server's group":
        return Fault("hog:vm2:1", "vm2 cpu contention", lambda case, bed: trouble(bed, SERVER, "cpu", 1))
    if text == "hog on the server's core, outside its group":
        return Fault("outhog:vm2", "vm2 cpu contention, by a program outside the host's group", hog_outside)
    if text.startswith("quota of"):
        return Fault(f"quota:vm2:{value:g}", "vm2 cpu-quota", lambda case, bed: quota(bed, value))
    if text.startswith("server sends at"):
        return Fault(f"out:vm2:{value:g}", "vm2 net-egress", lambda case, bed: shaped(bed, SERVER, value, "send"))
    if text.startswith("server receives at"):
        return Fault(f"in:vm2:{value:g}", "vm2 net-ingress", lambda case, bed: shaped(bed, SERVER, value, "receive"))
    if text.startswith("the client's host at"):
        return Fault(f"both:vm1:{value:g}", "vm1 network, both ways", lambda case, bed: shaped(bed, CLIENT, value, "send", "receive"))
    if text.startswith("disk of the server throttled"):
        if not service.disk:
            raise NotApplicable("its server waits for no disk")
        if service.disk == "bytes":
            return Fault(f"wthrottle:vm2:{number[0]:g}", "vm2 disk-throttle", lambda case, bed: throttled(case, bed, "bps", number[0] * 1e6))
        return Fault(f"wiops:vm2:{number[1]:g}", "vm2 disk-throttle", lambda case, bed: throttled(case, bed, "iops", number[1]))
    if text.startswith("memory limit"):
        limit = int(used * value / 100)
        return Fault(f"mem:vm2:{limit}", f"vm2 memory limit: {value:g} % of the {used / 1e6:.0f} MB of the server", lambda case, bed: memory(case, bed, limit))
    if text.startswith("receive buffer of"):
        return Fault(f"rmem:vm2:{int(value * 1000)}", "vm2 receive buffer", lambda case, bed: receive_buffer(bed, int(value * 1000)))
    if text.startswith("slow look-ups of names"):
        if not service.looks_up():
            raise NotApplicable("a client looks the name up once, for a connection that it keeps")
        fault = in_program("names", value, f"look-ups of names take {value:g} ms", ["application"], ["names"], host=CLIENT)
        fault.outside, fault.hosts = lambda case, bed: slow_names(case, bed, value), 3
        return fault
    if text.startswith("a client that is too slow to ask"):
        return in_program("pause", value, f"each client sleeps {value:g} ms between requests", ["application"], ["sleep"], host=CLIENT, never="lock")
    for start, name in (("a pool, worker or connection limit of 1", "pool"), ("one slow downstream", "downstream"), ("one hot key", "hot"), ("a handler that computes", "handler")):
        if text.startswith(start):
            if name not in service.can:
                raise NotApplicable(service.cannot.get(name) or CANNOT[name])
            says = service.can[name]
            if name == "pool":
                return in_program(name, True, f"limit of 1: {says}", ["application"], ["pool", "lock"])
            if name == "downstream":
                return in_program(name, value, f"{says} sleeps {value:g} ms a request", ["application"], ["sleep"], never="lock")
            if name == "hot":
                return in_program(name, True, f"hot: {says}", **service.hot_names)
            return in_program(name, value, f"{says} computes {value:g} ms a request", ["cpu"], ["contention", "compute-bound", "serial", "single-thread"])
    raise NotApplicable(f"unknown fault \"{text}\"")


CANNOT = {"pool": "no limit of 1 lets its clients wait rather than refuses them", "downstream": "it asks nobody", "hot": "none of its keys excludes another",
          "handler": "it runs no code of a request"}


def decoy_of(text):
    if text == "hog of SCHED_IDLE on a used core":
        return Fault("idlehog:vm2", text, lambda case, bed: beside(case, bed, None, "spin", "idle"))
    if text == "hog on a core that nobody uses":
        return Fault("sparehog:vm2", text, free_core)
    if text == "UDP at 50 MB/s off the path":
        return Fault("udp:vm3:50", text, lambda case, bed: in_turn(beside(case, bed, "vm4", "swallow", 7900),
                                                                  beside(case, bed, "vm3", "datagrams", bed.address("vm4"), 7900, 50)), hosts=4)
    if text == "a large page cache made and dropped":
        return Fault("cache:vm2", text, page_cache)
    if text == "ten idle helpers that wait for ever on a pipe":
        return Fault("helpers:vm2:10", text, plant=("helpers", 10))
    if text == "a foreign download through the same interface at a tenth of its rate":
        # a tenth of 1.8 Gbit/s, which a link of a testbed has unless it is told otherwise
        return Fault("download:vm2:22", text, lambda case, bed: in_turn(trouble(bed, SERVER, "sink", 7901), trouble(bed, "vm3", "send", bed.address(SERVER), 7901, 22)), hosts=3)
    if text == "a process that writes 20 MB/s buffered on another device":
        return Fault("writer:vm2:20", text, other_disk)
    raise NotApplicable(f"unknown decoy \"{text}\"")
