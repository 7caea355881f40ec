# SPDX-License-Identifier: MIT
"""A testbed for a case, and the limits that an injector sets on it. Each case has a new testbed:
making one takes 60 ms, and nothing of an earlier case can be left in it."""
import os
import re
import subprocess
import sys
import time

CONTROL = "/sys/fs/cgroup"


def burst_bytes(mbit):
    """Burst of a link shaped to that rate: 2 ms of it, but at least two of the largest packets."""
    return max(int(mbit * 1e6 / 8 / 500), 2 * 9000)


# Stressors of stress-ng that take something of a host, with the words that keep them small.
STRESSORS = {"cpu": (), "cache": (), "stream": (), "vm": ("--vm-bytes", "64m"), "hdd": ("--hdd-bytes", "64m"), "iomix": ("--iomix-bytes", "64m"),
             "sock": (), "switch": ()}


def children_of(pid):
    with open(f"/proc/{pid}/task/{pid}/children") as file:
        return file.read().split()


class Unable(Exception):
    """This machine or user cannot do it: the case is skipped, and does not count as failed."""


def run_tool(words, **options):
    done = subprocess.run(words, capture_output=True, text=True, **options)
    if done.returncode:
        raise RuntimeError(f"{' '.join(map(str, words))}: {done.stderr.strip() or done.stdout.strip()}")
    return done.stdout


def write(path, text):
    with open(path, "w") as file:
        file.write(str(text))


class Bed:
    """with Bed(bin, name, hosts, cpus) as bed: ..."""

    def __init__(self, binaries, name, hosts, cpus, rate=None):
        self.bin, self.name, self.hosts, self.cpus, self.rate = binaries, name, hosts, cpus, rate
        self.helpers = []

    def _testbed(self, *words):
        return [f"{self.bin}/chokepoint", "testbed", "--name", self.name, *map(str, words)]

    def __enter__(self):
        done = subprocess.run(self._testbed("up", self.hosts, "--cpus", self.cpus or "none", "--rate", self.rate or "none"),
                              capture_output=True, text=True)
        if done.returncode == 3:
            raise Unable(done.stderr.strip() or done.stdout.strip())
        if done.returncode:
            raise RuntimeError(done.stderr.strip() or done.stdout.strip())
        self._prefer()
        return self

    def __exit__(self, *_):
        for helper in reversed(self.helpers):
            if helper.poll() is None:
                helper.kill()
            helper.wait()
        subprocess.run(self._testbed("down"), capture_output=True)

    def _prefer(self):
        """Other programs of the machine should get hardly any CPU time."""
        for path, value in ((f"{CONTROL}/cpu/{self.name}-testbed/cpu.shares", 262144),
                            (f"{CONTROL}/{self.name}-testbed/cpu.weight", 10000)):
            if os.path.exists(path):
                write(path, value)
                return

    # ---- inside a host ----

    def words(self, host, *words):
        """The words that run a command inside a host; the started process becomes the command itself."""
        return self._testbed("exec", host, "--", *words)

    def helper(self, host, *words, cpu=None):
        """Starts fault-trouble in a host and waits until it is under way. It ends with the bed at the latest."""
        pin = ["taskset", "-c", str(cpu)] if cpu is not None else []
        process = subprocess.Popen(self.words(host, *pin, f"{self.bin}/fault-trouble", *words),
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True)
        self.helpers.append(process)
        line = process.stdout.readline()
        if not line.startswith("ready "):
            raise RuntimeError(f"fault-trouble {' '.join(map(str, words))}: {process.stderr.read().strip()}")
        return process

    def stressed(self, host, kind, workers, folder):
        """Starts stress-ng in a host and waits until its workers are there. `end` ends them, too."""
        command = ["stress-ng", "--quiet", f"--{kind}", str(workers), "--timeout", "0", "--temp-path", folder, *STRESSORS[kind]]
        process = subprocess.Popen(self.words(host, *command), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True)
        self.helpers.append(process)
        while not children_of(process.pid):
            if process.poll() is not None:
                raise RuntimeError(f"stress-ng --{kind}: {process.stderr.read().strip()}")
            time.sleep(.01)
        return process

    def end(self, process):
        process.terminate() # stress-ng ends its workers first
        try:
            process.wait(5)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        self.helpers.remove(process)

    def address(self, host):
        with open(f"/run/chokepoint-testbed/{self.name}/hosts") as file:
            for line in file:
                words = line.split()
                if host in words[1:]:
                    return words[0]
        raise RuntimeError(f"no host {host}")

    def cpu_s(self):
        """CPU time that the whole testbed has used, s."""
        for path, unit in ((f"{CONTROL}/cpuacct/{self.name}-testbed/cpuacct.usage", 1e-9),
                           (f"{CONTROL}/{self.name}-testbed/cpu.stat", 1e-6)):
            if os.path.exists(path):
                with open(path) as file:
                    return int(re.search(r"(?:usage_usec )?(\d+)", file.read()).group(1)) * unit
        return 0

    # ---- limits ----

    def group(self, controller, host):
        """The host's directory in that controller's hierarchy, and whether the controller has version 2."""
        old = f"{CONTROL}/{controller}/{self.name}-testbed/{host}"
        new = f"{CONTROL}/{self.name}-testbed/{host}"
        if os.path.isdir(old):
            return old, False
        if os.path.isdir(new):
            return new, True
        raise Unable(f"no cgroup with {controller} for the hosts of a testbed")

    def set_quota(self, host, share):
        """Share of one core; None: no limit."""
        path, v2 = self.group("cpu", host)
        try:
            if v2:
                write(f"{path}/cpu.max", "max 100000" if share is None else f"{int(share * 100000)} 100000")
            else:
                write(f"{path}/cpu.cfs_quota_us", -1 if share is None else int(share * 100000))
        except OSError as error:
            raise Unable(f"no CPU quota: {error}") from error

    def set_memory(self, host, limit):
        path, v2 = self.group("memory", host)
        try:
            write(f"{path}/memory.max" if v2 else f"{path}/memory.limit_in_bytes", limit if limit else "max" if v2 else -1)
        except OSError as error:
            raise Unable(f"no memory limit: {error}") from error

    def _limit_reads(self, host, device, limit, old, new):
        path, v2 = self.group("blkio", host)
        try:
            if v2:
                write(f"{path}/io.max", f"{device} {new}={limit or 'max'}")
            else:
                write(f"{path}/blkio.throttle.{old}", f"{device} {limit or 0}")
        except OSError as error:
            raise Unable(f"no block-I/O throttle: {error}") from error

    def set_read_limit(self, host, device, bytes_per_s):
        """device as "7:0"; None: no limit."""
        self._limit_reads(host, device, bytes_per_s, "read_bps_device", "rbps")

    def set_operations_limit(self, host, device, reads_per_s):
        self._limit_reads(host, device, reads_per_s, "read_iops_device", "riops")

    def shape(self, host, direction, mbit):
        """direction "send": the host's own end; "receive": the switch's port towards it. None: no shaping."""
        space, device = (f"{self.name}-{host}", "eth0") if direction == "send" else (f"{self.name}-switch", host)
        words = ["ip", "netns", "exec", space, "tc", "qdisc"]
        if mbit is None:
            subprocess.run([*words, "del", "dev", device, "root"], capture_output=True)
            return
        burst = burst_bytes(mbit)
        limit = max(int(mbit * 1e6 / 8 / 100), 256 << 10) + burst
        try:
            run_tool([*words, "replace", "dev", device, "root", "tbf", "rate", f"{int(mbit * 1000)}kbit",
                      "burst", str(burst), "limit", str(limit)])
        except RuntimeError as error:
            raise Unable(f"no tbf: {error}") from error


def machine_cpu_s():
    """CPU time that everything on this machine has used, in s, and that other machines took from it (steal)."""
    with open("/proc/stat") as file:
        user, nice, system, _, _, irq, softirq, steal, *_ = map(int, file.readline().split()[1:])
    return (user + nice + system + irq + softirq + steal) / os.sysconf("SC_CLK_TCK")


class Disk:
    """A file system of its own on a loop device, in memory and so a fast disk until it is throttled:
    with Disk(folder, MB) as disk: disk.path, disk.device"""

    def __init__(self, folder, megabytes=64):
        self.folder, self.megabytes = folder, megabytes
        self.image, self.path, self.loop = f"/dev/shm/{safe_name(folder)[-60:]}.image", folder, None

    def __enter__(self):
        try:
            os.makedirs(self.path, exist_ok=True)
            with open(self.image, "wb") as file:
                os.posix_fallocate(file.fileno(), 0, self.megabytes << 20)
            run_tool(["mkfs.ext4", "-q", "-F", "-E", "lazy_itable_init=0", self.image])
            self.loop = run_tool(["losetup", "--show", "-f", self.image]).strip()
            run_tool(["mount", self.loop, self.path])
        except (OSError, RuntimeError) as error:
            self.__exit__()
            raise Unable(f"no loop device with a file system: {error}") from error
        with open(f"/sys/block/{os.path.basename(self.loop)}/dev") as file:
            self.device = file.read().strip()
        return self

    def __exit__(self, *_):
        if os.path.ismount(self.path):
            subprocess.run(["umount", self.path], capture_output=True)
        if self.loop:
            subprocess.run(["losetup", "-d", self.loop], capture_output=True)
        for remove, what in ((os.rmdir, self.path), (os.unlink, self.image)):
            try:
                remove(what)
            except OSError as error:
                if os.path.exists(what):
                    print(f"{what}: {error}", file=sys.stderr)


class Setting:
    """A kernel setting of this machine that has another value inside the context, if it exists and may be set."""

    def __init__(self, path, value):
        self.path, self.value, self.before = path, value, None

    def __enter__(self):
        try:
            with open(self.path) as file:
                before = file.read().strip()
            write(self.path, self.value)
            self.before = before
        except OSError:
            pass # missing, or read-only
        return self

    @property
    def is_set(self):
        return self.before is not None

    def __exit__(self, *_):
        if self.is_set:
            write(self.path, self.before)


def delay_accounting():
    """Only with it are a rank's waits for disks counted."""
    return Setting("/proc/sys/kernel/task_delayacct", 1)


def cores_awake():
    """Cores of a virtual machine that poll for a second before they halt. A core that halts is given to other machines by
    the one below, and is slow when it wakes (a third, at times): a rank that waits between its computing would pay for that,
    and a host's core would not be its own. Idle time stays idle time."""
    return Setting("/sys/module/haltpoll/parameters/guest_halt_poll_ns", 10**9)


def megabit_needed(report):
    """Mean rates of the busiest sender and of the busiest receiver, in Mbit/s: (send, receive)."""
    means = {"net_send": 0, "net_recv": 0}
    for row in report["resources"]:
        training = any(r["phase"] == "training" for r in report["resources"])
        if row["metric"] in means and row["phase"] == ("training" if training else "all"):
            means[row["metric"]] = max(means[row["metric"]], row["mean"] or 0)
    return means["net_send"] * 8, means["net_recv"] * 8


def safe_name(text):
    return re.sub(r"[^A-Za-z0-9.-]", "-", text)
