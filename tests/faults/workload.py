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
    """Less of the same work where the fault makes it take long; true slowdowns are per iteration."""
    return max(12, round(iterations * case["scale"]))


class Workload:
    """own_cores: a core of its own for each host; else the case is marked shared-core and kept out of CPU scores."""
    group = "tuned"
    half, ranks, own_cores, needs_disks, strangers, mpi = "tuning", 2, True, False, 0, True
    allowance = 0 # cores that the kernel works for the case itself, outside of its hosts' groups
    needs_digits = False
    silent = () # ranks whose own rounds have no call in them
    scales = True # less of its work takes less time in proportion
    feels = 1 # of its cores' slowness, by what it does (truth.py)
    baseline_plants = ()
    hit = 0 # added to the seed, which says what rank a fault hits
    pinned = True # to one core, where it runs on one host
    disk_mb, one_disk = 64, False # of each rank, or one for all
    options = () # of `chokepoint run`
    faulty_scale = None # of a faulty run's work; None: by the fault (cases.py)
    targets = {} # {fault: the rank that it hits}, where it is not as cases.py has it
    processes = {} # {fault: the program it is in}, for the label
    natural = () # {(host, resource), ...} that truly limit a clean run: nobody innocent is blamed with them
    seen_by = "OMPI_COMM_WORLD_RANK=" # in the environment of its processes

    def available(self, binaries):
        return None

    def prepare(self, case):
        """Makes what its runs start from, before anything is measured."""

    def fill_disks(self, case, links):
        """Puts on each rank's disk its share of the data; `links` is a folder that shows all of it."""
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
    """Not MPI: a process a host, started over the testbed's stand-in for ssh."""
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
