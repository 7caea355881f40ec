# SPDX-License-Identifier: MIT
"""The programs of the matrix: their command lines, sized so that a clean run takes two to seven seconds
on two cores of 2026, and where each prints the time of its loop."""
import functools
import glob
import json
import os
import re
import shutil
import subprocess

import services
import strange
from workload import HERE, QUIET, Spread, Workload, environment, scaled

FEATURES = 200000
# How well the judge's authors know a program. "tuned": its runs may be read and the judge changed for them. "watched":
# they are scored but not examined. "strange": never seen before a release. Services have no MPI, and separate scores.
GROUPS = ("tuned", "watched", "strange", "service")


class Ours(Workload):
    """A program of this project: --plant, --json and marks."""
    programs = ()

    def available(self, binaries):
        missing = [name for name in self.programs if not os.path.exists(f"{binaries}/{name}")]
        return f"{missing[0]} is not built" if missing else None

    def usual(self, case):
        return ["--quiet", "--json", f"{case['folder']}/summary.json", *self.plant_words(case)]

    def loop_s(self, case, output):
        with open(f"{case['folder']}/summary.json") as file:
            return json.load(file)["duration_s"]


class Sgd(Ours):
    programs = ("chokepoint-sgd",)

    def __init__(self, name, half, mode, iterations, batch=20000, ranks=2, dense=0, disks=False, plants=(), own_cores=True, strangers=0, feels=1):
        self.name, self.half, self.mode, self.iterations, self.batch = name, half, mode, iterations, batch
        self.ranks, self.dense, self.needs_disks, self.own_cores = ranks, dense, disks, own_cores
        self.baseline_plants, self.strangers, self.feels = plants, strangers, feels
        self.silent = (0,) if mode == "async" else () # it continues computing after it has served another
        self.allowance = .3 if disks or plants else .1 if dense else 0

    def words(self, case):
        words = [f"{case['bin']}/chokepoint-sgd", "--mode", self.mode, "--transfer", "dense" if self.dense else "sparse",
                 "--features", self.dense or FEATURES, "--data", case["data"], "--batch", self.batch,
                 "--iterations", scaled(self.iterations, case), "--seed", case["seed"]]
        return words + (["--direct"] if self.needs_disks else []) + self.usual(case)


class Images(Ours):
    """Trainings on made-up digits; all ranks are equal, gradients are summed by collectives."""
    half, needs_digits = "scored", True

    def common(self, case, iterations):
        return ["--data", case["digits"], "--mode", "sync", "--test-every", 1000000, "--iterations", scaled(iterations, case),
                "--seed", case["seed"] + 1, *self.usual(case)]


class Lenet(Images):
    name, programs = "lenet", ("chokepoint-lenet", "chokepoint-data")

    def words(self, case):
        return [f"{case['bin']}/chokepoint-lenet", "--batch", 512, *self.common(case, 110)]


class Softmax(Images):
    name, programs = "softmax", ("chokepoint-sgd", "chokepoint-data")

    def words(self, case):
        return [f"{case['bin']}/chokepoint-sgd", "--model", "softmax", "--exchange", "allreduce", "--batch", 2000, *self.common(case, 220)]


class Matmul(Ours):
    name, half, programs = "matmul", "tuning", ("chokepoint-matmul",)

    def words(self, case):
        return [f"{case['bin']}/chokepoint-matmul", "--size", 1536, "--block", 192, "--repeat", scaled(64, case), "--seed", case["seed"] + 1,
                *self.usual(case)]


class Lammps(Workload):
    name, half = "lammps", "scored"
    steps = 1200

    def available(self, binaries):
        return None if shutil.which("lmp") else "lmp (package lammps) is not installed"

    def words(self, case):
        return ["lmp", "-in", f"{HERE}/in.lj", "-var", "steps", scaled(self.steps, case), "-var", "seed", 87287 + case["seed"], "-log", "none"]

    def loop_s(self, case, output):
        return float(re.search(r"^Loop time of ([0-9.e+-]+)", output, re.M).group(1))


class Espresso(Workload):
    """Quantum ESPRESSO's pw.x. Its work is its number of points; the time before the first step does not count."""
    name, half, points = "espresso", "scored", 40
    pseudo = "/usr/share/espresso/pseudo/Si.pz-vbc.UPF"

    def available(self, binaries):
        if not shutil.which("pw.x"):
            return "pw.x (package quantum-espresso) is not installed"
        return None if os.path.exists(self.pseudo) else f"{self.pseudo} (package quantum-espresso-data) is not installed"

    def words(self, case):
        points = scaled(self.points, case)
        path = f"{case['folder']}/silicon.pwi"
        shutil.copy(f"{HERE}/silicon.pwi", path)
        with open(path, "a") as file:
            file.write(f"{points}\n" + ".1 .2 .3 1\n" * points)
        return ["-wdir", case["folder"], "pw.x", "-in", path]

    def loop_s(self, case, output):
        minutes, seconds = re.search(r"^ +electrons +:.*CPU +(?:([0-9]+)m *)?([0-9.]+)s WALL", output, re.M).groups()
        return 60 * int(minutes or 0) + float(seconds)


class ShellTimed(Workload):
    """A program that says no time of the whole: the ranks' shells do, and the last of them counts (MrBayes' first
    rank leaves long before one that a quota holds up). It reads `settings` where it runs."""
    half, scales = "scored", False

    def words(self, case):
        shutil.copy(f"{HERE}/{self.settings}", case["folder"])
        timed = f"a=$(date +%s%N); {self.program}; s=$?; echo loop $((($(date +%s%N) - a) / 1000)); exit $s"
        return ["-wdir", case["folder"], "sh", "-c", timed]

    def loop_s(self, case, output):
        return max(int(us) for us in re.findall(r"^loop ([0-9]+)", output, re.M)) * 1e-6


class Hpcc(ShellTimed):
    """HPC Challenge: a dozen benchmarks in sequence."""
    name, program, settings, allowance = "hpcc", "hpcc", "hpccinf.txt", .1

    def available(self, binaries):
        return None if shutil.which("hpcc") else "hpcc (package hpcc) is not installed"


class Scalapack(ShellTimed):
    """ScaLAPACK's own test of its LU factorisation, at sizes that fit into the test's memory."""
    name, settings = "scalapack", "LU.dat"

    @property
    def program(self):
        return next(iter(glob.glob("/usr/lib/*/scalapack/openmpi-tests/xdlu")), None)

    def available(self, binaries):
        return None if self.program else "xdlu (package scalapack-mpi-test) is not installed"


class Mpb(ShellTimed):
    """MIT Photonic Bands: Maxwell's eigenvalues by Fourier transforms, which are transposed between the ranks."""
    name, program, settings = "mpb", "mpb-mpi bands.ctl", "bands.ctl"

    def available(self, binaries):
        return None if shutil.which("mpb-mpi") else "mpb-mpi (package mpb-mpi) is not installed"


class MrBayes(ShellTimed):
    """Markov chains over phylogenetic trees: each rank has its own chains, which are swapped now and then."""
    name, path, settings = "mrbayes", "/usr/lib/mrbayes-mpi/mb-mpi", "trees.nex"
    program = f"{path} {settings}"

    def available(self, binaries):
        return None if os.path.exists(self.path) else f"{self.path} (package mrbayes-mpi) is not installed"


class NWChem(ShellTimed):
    """NWChem: quantum chemistry over global arrays, whose one-sided accesses are MPI messages here."""
    name, program, settings = "nwchem", "nwchem.openmpi water.nw", "water.nw"

    def available(self, binaries):
        return None if shutil.which("nwchem.openmpi") else "nwchem.openmpi (package nwchem-openmpi) is not installed"


class Gromacs(Workload):
    """GROMACS' molecular dynamics, with its own balancing of load as it is set by default. The input of the runs is
    made once, outside of the folders of cases. Its ranks pin themselves to no core: both would choose the first."""
    name, half, steps = "gromacs", "scored", 1200
    box = "/usr/share/gromacs/top/spc216.gro"

    def available(self, binaries):
        missing = [path for path in (shutil.which("gmx_mpi") or "gmx_mpi", self.box) if not os.path.exists(path)]
        return f"{missing[0]} (package gromacs) is not installed" if missing else None

    def start(self, case):
        return f"{os.path.dirname(case['folder'])}/gromacs/start.tpr"

    def prepare(self, case):
        start = self.start(case)
        if not os.path.exists(start):
            folder = os.path.dirname(start)
            os.makedirs(folder, exist_ok=True)
            for line in (f"genconf -f {self.box} -nbox 2 2 2 -o water.gro",
                         f"grompp -f {HERE}/spc.mdp -c water.gro -p {HERE}/spc.top -o new.tpr"):
                subprocess.run(["gmx", "-quiet", *line.split()], cwd=folder, check=True, capture_output=True)
            os.rename(f"{folder}/new.tpr", start)

    def words(self, case):
        return ["-wdir", case["folder"], "gmx_mpi", "-quiet", "mdrun", "-s", self.start(case), "-nsteps", scaled(self.steps, case),
                "-ntomp", 1, "-pin", "off", "-noconfout"]

    def loop_s(self, case, output):
        return float(re.search(r"^ +Time: +[0-9.]+ +([0-9.]+)", output, re.M).group(1))


class Cp2k(Workload):
    """CP2K: density functional theory, molecular dynamics of two molecules of water over block-sparse matrices. Its first step
    takes twice as long as the second, and the later ones ever longer."""
    name, half, steps, scales = "cp2k", "scored", 16, False
    data = "/usr/share/cp2k/GTH_POTENTIALS"

    def available(self, binaries):
        missing = [path for path in (shutil.which("cp2k.psmp") or "cp2k.psmp", self.data) if not os.path.exists(path)]
        return f"{missing[0]} (package cp2k) is not installed" if missing else None

    def words(self, case):
        path = f"{case['folder']}/dimer.inp"
        with open(f"{HERE}/dimer.inp") as settings, open(path, "w") as file:
            file.write(f"@SET STEPS {scaled(self.steps, case)}\n{settings.read()}")
        return ["-wdir", case["folder"], "cp2k.psmp", "-i", path]

    def loop_s(self, case, output):
        return float(re.search(r"^ qs_mol_dyn_low +.* ([0-9.]+)$", output, re.M).group(1))


class Gloo(Spread):
    name, allowance = "gloo", .1
    python, program, port = "/usr/bin/python3", f"{HERE}/gloo_ring.py", 7200 # Debian's packages are of Debian's Python

    def loads(self):
        return subprocess.run([self.python, "-c", "import torch; torch.distributed.ProcessGroupGloo"], capture_output=True).returncode == 0

    @functools.lru_cache
    def available(self, binaries):
        return None if self.loads() else "PyTorch with gloo (package python3-torch) is not installed"

    def prepare(self, case):
        """So that each run finds it in the page cache: from disk the start takes as long as the loop."""
        self.loads()

    def words(self, case):
        plants = " ".join(self.plant_words(case))
        return self.script(case, lambda rank: f"{self.python} {self.program} {rank} {self.ranks} {case['addresses'][0]}:{self.port} "
                                              f"{scaled(300, case)} {plants}")


class Ring(Spread):
    units, kilobytes, port = 35, 256, 7100
    feels = .5 # a chain of products: the canary's sums are slowed 1.5 to 2.7 times as much (canary.c)

    def __init__(self, name, load=None, iterations=190):
        self.name, self.load, self.iterations, self.needs_disks = name, load, iterations, load == "direct"
        self.allowance = .3 if load else 0

    def available(self, binaries):
        return None if os.path.exists(f"{binaries}/fault-ring") else "fault-ring is not built"

    def words(self, case):
        return self.script(case, lambda rank: self.command(case, rank))

    def command(self, case, rank):
        nearby = case["addresses"][(rank + 1) % self.ranks]
        ring = f"{case['bin']}/fault-ring {rank} {self.ranks} {self.port} {scaled(self.iterations, case)} {self.units} {self.kilobytes} {nearby}"
        if self.load == "direct":
            ring += f" direct {case['disks'][rank].path}/load 256"
        elif self.load == "map":
            ring += f" map {case['scratch']}/load-{rank} 61440"
        return ring


SMALL = 1500 # examples whose weights fit into an eager message: a rendezvous would wait for the server's own spin

# feels: a plant spins for CPU time, 30 of 35 and 40 of 53 ms, which does not depend on the core's
# speed.
WORKLOADS = {w.name: w for w in (
    Sgd("sync", "tuning", "sync", 150),
    Sgd("sync-net", "tuning", "sync", 250, batch=2000, ranks=3, dense=500000, own_cores=False, strangers=2),
    Sgd("sync-disk", "tuning", "sync", 95, batch=SMALL, disks=True, plants=("spin:0:30", "spin:1:30"), feels=.15),
    Sgd("sync-memory", "tuning", "sync", 50, batch=SMALL, plants=("memory:0:120", "memory:1:120", "spin:0:40", "spin:1:40"), feels=.25),
    Matmul(),
    Sgd("async-tune", "tuning", "async", 320, batch=9000),
    Sgd("async", "scored", "async", 150),
    Sgd("async-net", "scored", "async", 700, batch=2000, ranks=3, dense=500000, own_cores=False, strangers=2),
    Lenet(),
    Softmax(),
    Lammps(),
    Hpcc(),
    Espresso(),
    Scalapack(),
    Mpb(),
    MrBayes(),
    NWChem(),
    Gromacs(),
    Cp2k(),
    Gloo(),
    Ring("ring"),
    Ring("ring-disk", "direct"),
    Ring("ring-memory", "map", 190),
    Sgd("one", "tuning", "sync", 150, ranks=1),
    *strange.PROGRAMS,
    *services.PROGRAMS,
)}


def group_of(name):
    return WORKLOADS[name].group if name in WORKLOADS else Workload.group
