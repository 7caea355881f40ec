# SPDX-License-Identifier: MIT
"""A recorded training of two emulated hosts, each with a core that does not halt: the common part of the benchmarks of profiling's
cost."""
import contextlib
import os
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, f"{HERE}/../faults")
from bed import Bed, cores_awake # noqa: E402

HOSTS = 2
PROGRAMS = ("softmax", "sync")
QUIET = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}


def program(binaries, name, work, seconds):
    """A training that takes about that long, and its iterations."""
    per_s = {"softmax": 30, "sync": 24}[name]
    if name == "sync":
        make = ["chokepoint-sgd", "generate", "--features", "200000", "--examples", "60000", "--files", "6", "--out", f"{work}/data"]
        words = ["chokepoint-sgd", "--mode", "sync", "--transfer", "sparse", "--features", "200000", "--batch", "20000"]
    else:
        make = ["chokepoint-data", "generate", "digits", "--out", f"{work}/data", "--train", "6000", "--test", "100", "--quiet"]
        words = ["chokepoint-sgd", "--model", "softmax", "--exchange", "allreduce", "--batch", "2000", "--mode", "sync",
                 "--test-every", "1000000"]
    subprocess.run([f"{binaries}/{make[0]}", *make[1:]], check=True, capture_output=True)
    return [f"{binaries}/{words[0]}", *words[1:], "--data", f"{work}/data", "--iterations", str(per_s * seconds), "--quiet"]


def observers(bed):
    """Observing processes on the bed's hosts: {process: "agent" or "collector"}."""
    found = {}
    for host in range(HOSTS):
        folder, _ = bed.group("cpu", f"vm{host + 1}")
        with open(f"{folder}/cgroup.procs") as file:
            for pid in file.read().split():
                with open(f"/proc/{pid}/cmdline") as line:
                    words = line.read().split("\0")
                if words[0] == f"{bed.bin}/chokepoint-agent":
                    found[int(pid)] = "agent"
                elif words[:2] == [f"{bed.bin}/chokepoint", "collector"]:
                    found[int(pid)] = "collector"
    return found


@contextlib.contextmanager
def training(binaries, name, seconds, work):
    """The recorded command, under way, and its observers. Its database is WORK/db once it has ended."""
    with cores_awake(), Bed(binaries, f"th{os.getpid() % 10000}", HOSTS, "0,1") as bed:
        with open(f"{work}/hosts", "w") as file:
            file.writelines(f"vm{host + 1} slots=1\n" for host in range(HOSTS))
        words = [f"{binaries}/chokepoint", "run", "--no-report", "--quiet", "--db", f"{work}/db", "--hosts", f"{work}/hosts", "--",
                 "mpirun", "--hostfile", f"{work}/hosts", "-np", str(HOSTS), "-N", "1", *program(binaries, name, work, seconds)]
        process = subprocess.Popen(bed.words("vm1", *words), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                   env=dict(os.environ, **QUIET))
        time.sleep(3) # all processes exist, and the first calls are made
        watch = observers(bed)
        if len(watch) < 1 + 2 * HOSTS:
            sys.exit(f"{len(watch)} processes watch, not {1 + 2 * HOSTS} or more")
        yield process, watch
        if process.wait():
            sys.exit(f"the recorded command: exit status {process.returncode}")
