# SPDX-License-Identifier: MIT
"""The faults, each with its effect and its label. A fault is a context manager around the command; it gives a dict {host,
resource (one or several right ones), cause, rank, pid, options} and cleans up on every exit. Times are wall clock;
None: the whole run."""
import contextlib
import os
import signal
import threading
import time


def label(host, resource, cause, rank=None, pid=None):
    return {"host": host, "resource": resource if isinstance(resource, list) else [resource],
            "cause": cause, "rank": rank, "pid": pid, "start": None, "end": None}


def host_of(rank):
    """One rank on each host, in order."""
    return f"vm{rank + 1}"


# Words with which a verdict may name a program's own limits.
LOCK, POOL = ["lock", "application"], ["pool", "lock", "application"]
THREAD, INPUT = ["thread", "cpu", "imbalance"], ["input", "application", "imbalance"]

# ---- what is done to a host from outside ----

def shares_of(amount):
    """Shares of time in percent for an amount such as 2.3: two greedy threads that always run, and one
    for three tenths of the time."""
    whole, rest = divmod(round(amount * 100), 100)
    return [100] * whole + ([rest] if rest else [])


@contextlib.contextmanager
def hog(case, bed, rank, amount):
    """amount: number of threads, the last of which may run for a share of the time"""
    shares = shares_of(amount)
    words = ([("cpu", shares.count(100))] if 100 in shares else []) + [("part", share) for share in shares if share < 100]
    hogs = [bed.helper(host_of(rank), *one) for one in words]
    try:
        yield [label(host_of(rank), "cpu", "contention", pid=[h.pid for h in hogs])]
    finally:
        for process in hogs:
            bed.end(process)


ALSO_DISK = ("hdd", "iomix") # stressors that a program may feel at its disk


@contextlib.contextmanager
def stressor(case, bed, rank, amount):
    """amount: "KIND/WORKERS" of stress-ng"""
    kind, workers = amount.split("/")
    process = bed.stressed(host_of(rank), kind, workers, case["scratch"])
    try:
        yield [label(host_of(rank), ["cpu", "disk", "disk-throttle"] if kind in ALSO_DISK else "cpu", "contention")]
    finally:
        bed.end(process)


@contextlib.contextmanager
def quota(case, bed, rank, amount):
    bed.set_quota(host_of(rank), amount / 100)
    try:
        yield [label(host_of(rank), "cpu-quota", "quota")]
    finally:
        bed.set_quota(host_of(rank), None)


@contextlib.contextmanager
def link(case, bed, rank, amount, directions, resources):
    """amount: % of the mean rate of the busiest host in a clean run."""
    host = host_of(rank)
    need = {"send": case["need"][0], "receive": case["need"][1]}
    if directions == ("send", "receive"): # a worker's own need is a part of the server's
        need = {d: n / max(1, case["ranks"] - 1) for d, n in need.items()}
    case["mbit"] = {d: max(need[d] * amount / 100, 1) for d in directions}
    for direction, mbit in case["mbit"].items():
        bed.shape(host, direction, mbit)
    try:
        yield [label(host, resources, "path-limited")]
    finally:
        for direction in directions:
            bed.shape(host, direction, None)


def egress(case, bed, rank, amount):
    return link(case, bed, rank, amount, ("send",), "net-egress")


def ingress(case, bed, rank, amount):
    return link(case, bed, rank, amount, ("receive",), "net-ingress")


def both_ways(case, bed, rank, amount):
    return link(case, bed, rank, amount, ("send", "receive"), ["net-egress", "net-ingress"])


@contextlib.contextmanager
def foreign_traffic(case, bed, rank, amount):
    """Greedy connections out of the host over a link that would do for the job alone: four times its need. The last
    one may be content with a share of the link."""
    host, stranger = host_of(rank), f"vm{bed.hosts}"
    mbit = max(case["need"][0] * 4, 1)
    bed.shape(host, "send", mbit)
    sink = bed.helper(stranger, "sink", 7001)
    rate = lambda share: 0 if share == 100 else max(1, round(mbit / 8 * share / 100)) # MB/s
    senders = [bed.helper(host, "send", bed.address(stranger), 7001, rate(share)) for share in shares_of(amount)]
    try:
        yield [label(host, "net-egress", "link-contention", pid=[s.pid for s in senders])]
    finally:
        for process in (*senders, sink):
            bed.end(process)
        bed.shape(host, "send", None)


@contextlib.contextmanager
def read_throttle(case, bed, rank, amount):
    """amount: MB/s"""
    disk = case["disks"][rank]
    bed.set_read_limit(host_of(rank), disk.device, int(amount * 1e6))
    try:
        yield [label(host_of(rank), "disk-throttle", "throttle")]
    finally:
        bed.set_read_limit(host_of(rank), disk.device, None)


@contextlib.contextmanager
def foreign_reader(case, bed, rank, amount):
    """amount: readers, the last for a share of the time only. A disk that would do for the job, and is shared with
    others: an fsync writer, as one would expect here, costs nobody anything on a fast virtual disk, so the disk is
    made a slow one of 100 MB/s."""
    disk = case["disks"][rank]
    bed.set_read_limit(host_of(rank), disk.device, int(100e6))
    readers = [bed.helper(host_of(rank), "read", f"{disk.path}/foreign-{i}", 8, share) for i, share in enumerate(shares_of(amount))]
    try:
        yield [label(host_of(rank), ["disk", "disk-throttle"], "disk-contention", pid=[r.pid for r in readers])]
    finally:
        for process in readers:
            bed.end(process)
        bed.set_read_limit(host_of(rank), disk.device, None)


@contextlib.contextmanager
def memory_limit(case, bed, rank, amount):
    """amount: MB; the program maps more than that (its --plant memory is part of the clean run, too)"""
    bed.set_memory(host_of(rank), int(amount * 1e6))
    try:
        yield [label(host_of(rank), "memory", "memory-limit")]
    finally:
        bed.set_memory(host_of(rank), None)


@contextlib.contextmanager
def operations_limit(case, bed, rank, amount):
    """amount: reads per second"""
    disk = case["disks"][rank]
    bed.set_operations_limit(host_of(rank), disk.device, int(amount))
    try:
        yield [label(host_of(rank), "disk-throttle", "throttle")]
    finally:
        bed.set_operations_limit(host_of(rank), disk.device, None)


def ranks_on(bed, host, seen_by):
    """The program's processes on a host."""
    with open(f"{bed.group('cpu', host)[0]}/cgroup.procs") as file:
        for pid in map(int, file.read().split()):
            with contextlib.suppress(OSError), open(f"/proc/{pid}/environ", "rb") as environ, open(f"/proc/{pid}/comm") as comm:
                if seen_by.encode() in environ.read() and not comm.read().startswith("chokepoint"):
                    yield pid


def stop_now_and_then(bed, host, seen_by, share, over):
    """Until `over`, the host's ranks are stopped for that share of each second."""
    while not over.wait(1 - share):
        pids = list(ranks_on(bed, host, seen_by))
        for signal_now in (signal.SIGSTOP, signal.SIGCONT):
            for pid in pids:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal_now)
            if signal_now == signal.SIGSTOP:
                over.wait(share)


@contextlib.contextmanager
def stops(case, bed, rank, amount):
    """amount: % of each second"""
    over = threading.Event()
    thread = threading.Thread(target=stop_now_and_then, args=(bed, host_of(rank), case["seen_by"], amount / 100, over), daemon=True)
    thread.start()
    try:
        yield [label(host_of(rank), "application", "stopped", rank=rank)]
    finally:
        over.set()
        thread.join()


# ---- what the program does to itself ----

@contextlib.contextmanager
def planted(case, bed, rank, text, resource, cause):
    window = case.get("window")
    case["plants"].append(text + (f"@{window[0]}-{window[1]}" if window else ""))
    yield [label(host_of(rank), resource, cause, rank=rank)]


def skew(case, bed, rank, amount):
    return planted(case, bed, rank, f"skew:{rank}:{amount}", "imbalance", "skew")


def sleep(case, bed, rank, amount):
    return planted(case, bed, rank, f"sleep:{rank}:{amount}", "application", "sleep")


def lock_held(case, bed, rank, amount):
    """amount: "HELD/FREE" in ms"""
    return planted(case, bed, rank, f"hold:{rank}:{amount}", LOCK, "lock")


def pool(case, bed, rank, amount):
    """amount: connections in the pool"""
    return planted(case, bed, rank, f"pool:{rank}:{amount}", POOL, "pool")


def thread_full(case, bed, rank, amount):
    """amount: factor on the work of the only thread that does it"""
    return planted(case, bed, rank, f"thread:{rank}:{amount}", THREAD, "single-thread")


def input_starved(case, bed, rank, amount):
    """amount: additional ms of the loader for each batch"""
    return planted(case, bed, rank, f"input:{rank}:{amount}", INPUT, "input")


def apply(case, bed, rank, amount):
    return planted(case, bed, 0, f"apply:{amount}", "cpu", "serial")


@contextlib.contextmanager
def small_buffer(case, bed, rank, amount, which, cause):
    """The rank's own socket buffer size in bytes; OpenMPI takes it from that rank's environment."""
    case["environment"].append((rank, f"OMPI_MCA_btl_tcp_{which}", int(amount)))
    yield [label(host_of(rank), "application", cause, rank=rank)]


def send_buffer(case, bed, rank, amount):
    return small_buffer(case, bed, rank, amount, "sndbuf", "sndbuf")


def receive_buffer(case, bed, rank, amount):
    return small_buffer(case, bed, rank, amount, "rcvbuf", "receiver")


# ---- decoys: nobody waits for them ----

@contextlib.contextmanager
def unused_core(case, bed, rank, amount):
    process = bed.helper(host_of(rank), "cpu", 1, cpu=case["spare_cpu"])
    try:
        yield []
    finally:
        bed.end(process)


@contextlib.contextmanager
def traffic_elsewhere(case, bed, rank, amount):
    """amount: MB/s between two hosts outside the job"""
    sink = bed.helper(f"vm{bed.hosts}", "sink", 7001)
    sender = bed.helper(f"vm{bed.hosts - 1}", "send", bed.address(f"vm{bed.hosts}"), 7001, int(amount))
    try:
        yield []
    finally:
        bed.end(sender)
        bed.end(sink)


@contextlib.contextmanager
def scratch(case, bed, rank, words):
    process = bed.helper(host_of(rank), *words)
    try:
        yield []
    finally:
        bed.end(process)


def page_cache(case, bed, rank, amount):
    return scratch(case, bed, rank, ("cache", f"{case['scratch']}/cached", int(amount)))


def buffered_writes(case, bed, rank, amount):
    return scratch(case, bed, rank, ("burst", f"{case['scratch']}/burst", int(amount)))


@contextlib.contextmanager
def spinning(case, bed, rank, amount):
    case["plants_extra"].append("--spin")
    yield []


@contextlib.contextmanager
def nothing(case, bed, rank, amount):
    yield []


@contextlib.contextmanager
def two(case, bed, first, second):
    """Two faults at once: (function, rank, amount) each."""
    with first[0](case, bed, *first[1:]) as one, second[0](case, bed, *second[1:]) as other:
        yield one + other


class Later(threading.Thread):
    """A fault from outside for a part of the run: on `start` seconds after go(), off after `duration`."""

    def __init__(self, make, start, duration):
        super().__init__(daemon=True)
        self.make, self.start_s, self.duration = make, start, duration
        self.over = threading.Event()
        self.labels, self.trouble = [], None

    def run(self):
        try:
            if self.over.wait(self.start_s):
                return
            with self.make() as labels:
                begin = time.time()
                self.over.wait(self.duration)
                self.labels = [dict(one, start=begin, end=time.time()) for one in labels]
        except Exception as error: # reported when the thread is joined
            self.trouble = error

    def finish(self):
        self.over.set()
        self.join()
        if self.trouble:
            raise self.trouble
        return self.labels
