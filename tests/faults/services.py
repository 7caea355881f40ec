# SPDX-License-Identifier: MIT
"""Programs of the group `service`: distributed, without MPI and without marks. Each is a script that starts its parts on all
hosts, does a fixed amount of work and prints "loop SECONDS" and its rate. A plant reaches only its part, as a variable or
a word of the command line."""
import functools
import glob
import os
import subprocess

from workload import HERE, Spread, scaled

KEPT = ("CHOKEPOINT_RUN", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS")
PYTHON = "/usr/bin/python3" # Debian's packages are of Debian's Python


class Service(Spread):
    """A program whose runs are recorded with wait clocks."""
    half, group, options, allowance = "service", "service", ("--wait-clocks",), .3
    faulty_scale = .65
    seen_by = "CHOKEPOINT_RUN=" # in its processes' environment, for faults that stop them

    def start_all(self, case, parts, last):
        """Makes a script for the first host: it runs all parts (host from 0, shell text) at once, and `last` after them."""
        keep = " ".join(f"{name}=${name}" for name in KEPT)
        lines = ["#!/bin/sh", "set -e"]
        for host, text in parts:
            lines.append(f"$CHOKEPOINT_RSH vm{host + 1} \"export {keep}; {text}\" &" if host else f"{{ {text}; }} &")
        path = f"{case['folder']}/start-all.sh"
        with open(path, "w") as file:
            file.write("\n".join((*lines, last, "wait")) + "\n")
        os.chmod(path, 0o755)
        return [path]

    def plant(self, case, kind):
        """The planted amount of that kind as text; None: not planted."""
        return next((text.split(":")[2] for text in case["plants"] if text.startswith(f"{kind}:")), None)

    def planted_on(self, case, kind, host):
        amount = next((text.split(":") for text in case["plants"] if text.startswith(f"{kind}:")), None)
        return amount[2] if amount and int(amount[1]) == host else None


class Ours(Service):
    """A program that is built here."""
    program = None

    def available(self, binaries):
        return None if os.path.exists(f"{binaries}/{self.program}") else f"{self.program} is not built"


class Store(Ours):
    """A key-value server on the second host, its clients on the first."""
    name, program, port, threads, requests, needs_disks = "svc-store", "fault-store", 7400, 4, 32000, True
    targets = {fault: 1 for fault in ("F1", "F3", "F17", "F18", "F22")}
    processes = {"F18": "fault-store"}

    def fill_disks(self, case, links):
        """The server makes its file."""

    def words(self, case):
        hold = self.plant(case, "hold")
        serve = f"{f'STORE_HOLD={hold} ' if hold else ''}exec {case['bin']}/fault-store serve {self.port} {self.threads} {case['disks'][1].path}/values"
        return self.start_all(case, [(1, serve)], f"{case['bin']}/fault-store ask {case['addresses'][1]} {self.port} {self.threads} "
                                                  f"{scaled(self.requests, case)} {self.threads}")


class Ring(Ours):
    """All-reduce in a ring of connections: one process on each host, which computes and passes data
    on."""
    name, program, port, iterations = "svc-ring", "fault-ring", 7410, 520
    targets = {"F1": 1, "F2": 0, "F5": 1, "F12": 1, "F17": 1}
    processes = {"F12": "fault-ring"}
    feels = .5 # like that of the scored half

    def words(self, case):
        return self.start_all(case, [(1, self.command(case, 1))], self.command(case, 0))

    def command(self, case, rank):
        nap = self.planted_on(case, "sleep", rank)
        return (f"{f'RING_NAP_MS={nap} ' if nap else ''}{case['bin']}/fault-ring {rank} 2 {self.port} {scaled(self.iterations, case)} 35 256 "
                f"{case['addresses'][1 - rank]}")


class Train(Service):
    """torchrun on two hosts, gloo between them, a data loader for each rank."""
    name, port, iterations = "svc-train", 7420, 480
    targets = {"F1": 0, "F2": 1, "F5": 1, "F11": 0, "F21": 1}
    processes = {"F11": "train.py", "F21": "train.py"}

    @functools.lru_cache
    def available(self, binaries):
        return None if self.loads() else "PyTorch with gloo (package python3-torch) is not installed"

    def loads(self):
        return subprocess.run([PYTHON, "-c", "import torch; torch.distributed.ProcessGroupGloo"], capture_output=True).returncode == 0

    def prepare(self, case):
        self.loads() # into the page cache

    def words(self, case):
        return self.start_all(case, [(1, f"exec {self.command(case, 1)}")], self.command(case, 0))

    def command(self, case, node):
        """Under Python 3.11 its default of --redirects and --tee, 0, is no value of theirs: so errors go through it."""
        plants = " ".join(self.plant_words(case))
        return (f"{PYTHON} -m torch.distributed.run --nnodes 2 --node_rank {node} --nproc_per_node 1 --redirects 2 --tee 2 --log_dir {case['folder']}/torch "
                f"--master_addr {case['addresses'][0]} "
                f"--master_port {self.port} {HERE}/train.py {scaled(self.iterations, case)} {plants}")


class Flow(Service):
    """Scheduler and client on the first host, a worker on each of two others."""
    name, port, ranks, rounds, own_cores = "svc-flow", 7430, 3, 75, False
    targets = {"F2": 1, "F5": 2, "F12": 2, "F17": 1, "F20": 0}
    processes = {"F12": "flow.py", "F20": "flow.py"}
    natural = (("vm2", "application"), ("vm3", "application")) # their tasks sleep

    @functools.lru_cache
    def available(self, binaries):
        loads = subprocess.run([PYTHON, "-c", "import distributed"], capture_output=True).returncode == 0
        return None if loads else "Dask (package python3-distributed) is not installed"

    def words(self, case):
        run, at = f"cd {case['scratch']}; exec {PYTHON} -B {HERE}/flow.py", f"{case['addresses'][0]}:{self.port}"
        parts = [(0, f"{run} scheduler {self.port} {self.plant(case, 'thread') or 1}")]
        parts += [(host, f"{run} worker {at} worker-{host} {self.planted_on(case, 'sleep', host) or 0}") for host in (1, 2)]
        return self.start_all(case, parts, f"{PYTHON} -B {HERE}/flow.py client {at} 2 {scaled(self.rounds, case)}")


class Pipe(Ours):
    """A reader at its source's pace on the first host, a compressor and a writer on the second."""
    name, program, port, blocks, pace_us, needs_disks = "svc-pipe", "fault-pipe", 7440, 1500, 7000, True
    targets = {"F2": 1, "F5": 1, "F7": 0, "F12": 1, "F20": 1}
    processes = {"F12": "fault-pipe", "F20": "gzip"}
    natural = (("vm1", "application"),) # the source's pace

    def fill_disks(self, case, links):
        """The reader makes its file."""

    def words(self, case):
        pipe, disks = f"{case['bin']}/fault-pipe", case["disks"]
        far = (f"{pipe} receive {self.port} | gzip -{self.plant(case, 'thread') or 1} | "
               f"{pipe} write {disks[1].path}/out {1000 * int(self.plant(case, 'sleep') or 0)}")
        near = f"{pipe} read {disks[0].path}/in {scaled(self.blocks, case)} {self.pace_us} | {pipe} send {case['addresses'][1]} {self.port}"
        return self.start_all(case, [(1, far)], near)


class Web(Service):
    """Load on the first host, a web server on the second, its backend on the third."""
    name, port, ranks, requests, own_cores = "svc-web", 7450, 3, 4000, False
    targets = {"F2": 2, "F3": 2, "F12": 2, "F19": 1, "F20": 1}
    processes = {"F12": "web.py", "F19": "web.py", "F20": "web.py"}
    natural = (("vm1", "application"),) # its clients pause

    def available(self, binaries):
        return None

    def words(self, case):
        web, (_, front, back) = f"{PYTHON} -B {HERE}/web.py", case["addresses"]
        parts = [(2, f"exec {web} back {self.port} {5 + int(self.plant(case, 'sleep') or 0)}"),
                 (1, f"exec {web} front {self.port} {back}:{self.port} {self.plant(case, 'pool') or 8} {self.plant(case, 'thread') or 1}")]
        return self.start_all(case, parts, f"{web} load {front}:{self.port} 8 {scaled(self.requests, case)} 15")


class Database(Service):
    """PostgreSQL on the second host, the clients of its benchmark on the first."""
    name, port, clients, transactions, needs_disks, disk_mb = "svc-database", 7460, 4, 2600, True, 400
    targets = {fault: 1 for fault in ("F1", "F2", "F3", "F12", "F18")}
    processes = {"F12": "postgres", "F18": "postgres"}
    natural = (("vm2", "cpu"),) # its four sessions share one core
    program = f"{HERE}/database.sh"

    def available(self, binaries):
        return None if glob.glob("/usr/lib/postgresql/*/bin/initdb") else "PostgreSQL (package postgresql) is not installed"

    def fill_disks(self, case, links):
        subprocess.run([self.program, "make", case["disks"][1].path], check=True)

    def words(self, case):
        serve = f"exec {self.program} serve {case['disks'][1].path} {self.port} {self.plant(case, 'sleep') or 0} {self.plant(case, 'hold') or '0/1'}"
        return self.start_all(case, [(1, serve)], f"{self.program} ask {case['addresses'][1]} {self.port} {self.clients} {scaled(self.transactions, case)}")


PROGRAMS = tuple(kind() for kind in (Store, Ring, Train, Flow, Pipe, Web, Database))

# program: fault: magnitudes
PLAN = {
    "svc-store": {"F1": [1.5], "F18": ["60/40"], "F3": [45], "F17": [45], "F22": [700]},
    "svc-ring": {"F1": [1.5], "F2": [55], "F5": [55], "F12": [20], "F17": [45]},
    "svc-train": {"F1": [2.5], "F2": [45], "F5": [65], "F11": [3.2], "F21": [40]},
    "svc-flow": {"F2": [12], "F5": [40], "F12": [25], "F17": [45], "F20": [15]},
    "svc-pipe": {"F2": [40], "F5": [50], "F7": [18], "F12": [5], "F20": [6]},
    "svc-web": {"F2": [8], "F3": [40], "F12": [40], "F19": [1], "F20": [12]},
    "svc-database": {"F1": [1.5], "F2": [40], "F3": [45], "F12": [8], "F18": ["60/40"]},
}
