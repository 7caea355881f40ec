# SPDX-License-Identifier: MIT
"""Common parts of the matrix's programs: their environment, how much of their work a case does, where they start."""
import os
import re
import shutil

HERE = os.path.dirname(os.path.abspath(__file__))
QUIET = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
OF_LIBRARIES = ("OPENBLAS_", "MKL_", "BLIS_", "OMP_")


def environment():
    """This program's, less what it says of libraries that compute: ranks on other hosts would not hear of it, and compute with
    other kernels than the first."""
    return {name: value for name, value in os.environ.items() if not name.startswith(OF_LIBRARIES)} | QUIET


def scaled(iterations, case):
    """Less of the same work if the fault makes it take long; true slowdowns are per iteration."""
    return max(12, round(iterations * case["scale"]))


class Workload:
    """own_cores: each host has a core to itself; otherwise the case is marked shared-core and left out of CPU scores."""
    group = "tuned"
    half, ranks, own_cores, needs_disks, strangers, mpi = "tuning", 2, True, False, 0, True
    allowance = 0 # cores that the kernel uses for the case itself, outside its hosts' groups
    needs_digits = False
    silent = () # ranks whose own rounds contain no call
    scales = True # less of its work takes proportionally less time
    feels = 1 # its response to slow cores, from what it does (truth.py)
    baseline_plants = ()
    hit = 0 # added to the seed, which decides what rank a fault hits
    pinned = True # to one core, if it runs on one host
    disk_mb, one_disk = 64, False # for each rank, or one for all
    options = () # options of `chokepoint run`
    faulty_scale = None # of a faulty run's work; None: depends on the fault (cases.py)
    targets = {} # {fault: the rank that it hits}, where it differs from cases.py
    processes = {} # {fault: the program it is in}, for the label
    natural = () # {(host, resource), ...} that truly limit a clean run: naming them blames no innocent host
    seen_by = "OMPI_COMM_WORLD_RANK=" # in its processes' environment

    def available(self, binaries):
        return None

    def prepare(self, case):
        """Makes the inputs of its runs, before anything is measured."""

    def fill_disks(self, case, links):
        """Puts each rank's share of the data on its disk; `links` is a folder that shows all of it."""
        for i in range(6):
            disk = case["disks"][i % case["ranks"]]
            shutil.copy(f"{case['data']}/train-{i:02d}.libsvm", disk.path)
            os.symlink(f"{disk.path}/train-{i:02d}.libsvm", f"{links}/train-{i:02d}.libsvm")

    def plant_words(self, case):
        words = [*case["plants_extra"]]
        for plant in (*self.baseline_plants, *case["plants"]):
            words += ["--plant", plant]
        return words


class Spread(Workload):
    """Without MPI: one process on each host, started over the testbed's stand-in for ssh."""
    half, mpi = "scored", False

    def script(self, case, command_of):
        """A script at rank 0 that starts the others, with the run's name in their environment."""
        lines = ["#!/bin/sh", "set -e"]
        keep = " ".join(f"{n}=${n}" for n in ("CHOKEPOINT_RUN", "CHOKEPOINT_MARKS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"))
        for rank in reversed(range(self.ranks)):
            command = command_of(rank)
            lines.append(f"$CHOKEPOINT_RSH vm{rank + 1} \"{keep} exec {command}\" &" if rank else command)
        lines.append("wait")
        path = f"{case['folder']}/spread.sh"
        with open(path, "w") as file:
            file.write("\n".join(lines) + "\n")
        os.chmod(path, 0o755)
        return [path]

    def loop_s(self, case, output):
        return float(re.search(r"^loop ([0-9.]+)", output, re.M).group(1))
