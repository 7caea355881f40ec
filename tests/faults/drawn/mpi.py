# SPDX-License-Identifier: MIT
"""Programs with MPI of the distribution that a draw may choose: their packages, an input that is made in the case's folder, and the
words that each rank runs there. Inputs are sized for 5 to 20 s on two hosts with a core each.

`text(folder, work)` makes the input and returns shell text for a rank; work is None, or (rank, factor): that rank has so many times the
work of the others."""
import glob
import os
import random
import shutil
import subprocess
import sys
from dataclasses import dataclass, field

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
import made_inputs

PYTHON = "/usr/bin/python3" # Debian's packages are of Debian's Python
BY_ITSELF = "the program hands its work out by itself"


@dataclass
class Program:
    """needs: a pattern of files or a command that the packages bring. work: what becomes more for one rank, or "not applicable:
    reason"; only: the one (rank, factor) that the input can have. natural: {host: resources} that limit it when nothing is wrong."""
    name: str
    packages: str
    needs: str
    text: object
    work: str
    only: tuple = None
    writes: str = None # the host that writes files, vm1 or vm2
    disk_mb: int = 256
    warm: bool = False # its first run makes what later ones find
    natural: dict = field(default_factory=dict)

    def can_have_more(self):
        return not self.work.startswith("not applicable")

    def missing(self):
        """None, or what a reader has to install."""
        there = shutil.which(self.needs) or glob.glob(self.needs)
        return None if there else f"{self.name}: {self.needs} is not there: apt-get install --no-install-recommends {self.packages}"


def put(folder, name, text):
    with open(f"{folder}/{name}", "w") as file:
        file.write(text)


def of(work, rank):
    """How many times the work a rank has."""
    return work[1] if work and work[0] == rank else 1


def compiled(folder, name, flags):
    subprocess.run(["mpicc", "-O2", "-o", f"{folder}/{name}", f"{HERE}/{name}.c", *flags], check=True)


def library_flags(*names):
    return subprocess.run(["pkg-config", "--cflags", "--libs", *names], check=True, capture_output=True, text=True).stdout.split()


# ---- quantum mechanics ----

def abinit(folder, work):
    points = 3 if work else 2 # dealt out in turn, so the first rank has two of three
    put(folder, "si.abi", f"""pseudos "/usr/share/abinit/psp/14si.pspnc"
pp_dirpath ""
acell 3*10.2
rprim 0 .5 .5 .5 0 .5 .5 .5 0
ntypat 1 znucl 14 natom 2 typat 1 1
xred 0 0 0 .25 .25 .25
ecut 54
kptopt 0 nkpt {points} kpt {" ".join(f".25 {.1 + .05 * i:.2f} .3" for i in range(points))}
nstep 34 tolvrs 1e-30
istwfk {points}*1 nband 24
nsym 1
prtwf 0 prtden 0 prteig 0
""")
    return "abinit si.abi"


def elk(folder, work):
    put(folder, "elk.in", f"""
tasks
  0

nosym
  .true.

maxscl
  55

epspot
  1e-20

epsengy
  1e-20

rgkmax
  8.5

avec
  1.0  0.0  0.0
  0.0  1.0  0.0
  0.0  0.0  1.0

scale
  7.6534

sppath
  '/usr/share/elk-lapw/species/'

atoms
  1
  'Al.in'
  4
  0.0  0.0  0.0  0.0  0.0  0.0
  0.5  0.5  0.0  0.0  0.0  0.0
  0.5  0.0  0.5  0.0  0.0  0.0
  0.0  0.5  0.5  0.0  0.0  0.0

reducek
  0

ngridk
  1  1  {3 if work else 2}
""")
    return "elk-lapw"


# ---- trees of sequences ----

def sequences(taxa, sites, seed=1):
    """Names and rows, each half of them related more closely."""
    numbers = random.Random(seed)
    rows = [numbers.choices(made_inputs.BASES, k=sites)]
    while len(rows) < taxa:
        rows = [made_inputs.evolved(numbers, row, .08) for row in rows for _ in (0, 1)]
    return [(f"t{i}", "".join(row)) for i, row in enumerate(rows[:taxa])]


def phylip(folder, taxa, sites):
    put(folder, "in.phy", f" {taxa} {sites}\n" + "".join(f"{name:10s}{row}\n" for name, row in sequences(taxa, sites)))


def puzzle(folder, work):
    phylip(folder, 32, 900)
    return r'printf "n\n4000\ny\n" | tree-ppuzzle in.phy'


def iqtree(folder, work):
    phylip(folder, 28, 6000)
    return "iqtree2-mpi -s in.phy -m GTR+G -nt 1 -seed 1 -redo -ninit 20 -n 36"


def hyphy(folder, work):
    codons = [a + b + c for a in "ACGT" for b in "ACGT" for c in "ACGT" if a + b + c not in ("TAA", "TAG", "TGA")]
    numbers = random.Random(1)
    rows = [numbers.choices(codons, k=60)]
    while len(rows) < 8:
        rows = [[numbers.choice(codons) if numbers.random() < .1 else codon for codon in row] for row in rows for _ in (0, 1)]
    put(folder, "in.fas", "".join(f">t{i}\n{''.join(row)}\n" for i, row in enumerate(rows)))
    put(folder, "in.nwk", "(((t0,t1),(t2,t3)),(t4,t5),(t6,t7));\n")
    return "/usr/lib/hyphy/bin/HYPHYMPI fel --alignment in.fas --tree in.nwk --code Universal --branches All < /dev/null"


def prime(folder, work):
    for name in ("seqfile", "hostfile", "gse"):
        shutil.copy(f"/usr/share/doc/prime-phylo/examples/{name}", folder)
    n = 9000
    return f"""n={n}; [ "$OMPI_COMM_WORLD_RANK" != {work[0] if work else "-"} ] || n={int(n * of(work, work[0] if work else 0))}
primeDLRS -r -s 1 -q -i $n -o chain.$OMPI_COMM_WORLD_RANK seqfile hostfile gse"""


# ---- particles and fields ----

def liggghts(folder, work):
    sides = [.06 * of(work, rank) for rank in (0, 1)]
    put(folder, "in.box", f"""units si
atom_style granular
boundary m m m
newton off
communicate single vel yes
processors 2 1 1
region box block 0 0.4 0 0.1 0 0.4 units box
region left block 0 0.196 0 0.1 0 {sides[0]:.4f} units box
region right block 0.199 0.4 0 0.1 0 {sides[1]:.4f} units box
create_box 1 box
neighbor 0.002 bin
neigh_modify delay 0
fix m1 all property/global youngsModulus peratomtype 5.e6
fix m2 all property/global poissonsRatio peratomtype 0.45
fix m3 all property/global coefficientRestitution peratomtypepair 1 0.9
fix m4 all property/global coefficientFriction peratomtypepair 1 0.05
pair_style gran model hertz tangential history
pair_coeff * *
timestep 0.00001
lattice sc 0.005
create_atoms 1 region left
create_atoms 1 region right
set group all diameter 0.0052 density 2500
fix 1 all nve/sphere
thermo 500
thermo_style custom step atoms ke
run 9000
""")
    return "liggghts -in in.box"


def gerris(folder, work):
    rank, factor = work or (0, 1)
    share = (factor - 1) / 3 # of that box is twice as fine, with four times the cells
    put(folder, "flow.gfs", f"""2 1 GfsSimulation GfsBox GfsGEdge {{}} {{
  Time {{ iend = 180 }}
  Refine (x {'> .5' if rank else '< .5'} && y < {share - .5:.4f} ? 8 : 7)
  Init {{}} {{ U = sin(2.*M_PI*y) V = sin(2.*M_PI*x) }}
}}
GfsBox {{ pid = 0 }}
GfsBox {{ pid = 1 }}
1 2 right
""")
    return "gerris2D flow.gfs"


def freefem(folder, work):
    put(folder, "heat.edp", f"""// Each rank solves heat on a square of its own, then all take the mean on a coarser one.
int side = mpirank == {work[0] if work else -1} ? {int(100 * of(work, work[0]) ** .5) if work else 100} : 100;
mesh Th = square(side, side), Tc = square(60, 60);
fespace Vh(Th, P1);
fespace Vc(Tc, P1);
Vh u, v, w = 0;
Vc c;
for (int step = 0; step < 120; step++) {{
    solve heat(u, v, solver = CG, eps = 1e-8) = int2d(Th)(u * v + .01 * (dx(u) * dx(v) + dy(u) * dy(v))) - int2d(Th)((w + 1) * v) + on(1, u = mpirank);
    c = u;
    real[int] mine = c[], sum(mine.n);
    mpiAllReduce(mine, sum, mpiCommWorld, mpiSUM);
    c[] = sum / mpisize;
    w = c;
}}
if (mpirank == 0) cout << "norm " << c[].l2 << endl;
""")
    return "FreeFem++-mpi -nw -v 0 heat.edp"


def esys(folder, work):
    put(folder, "block.py", """from esys.lsm import *
from esys.lsm.util import *
from esys.lsm.geometry import *
sim = LsmMpi(numWorkerProcesses=1, mpiDimList=[1, 1, 1])
sim.initNeighbourSearch(particleType="NRotSphere", gridSpacing=2.5, verletDist=0.2)
sim.setNumTimeSteps(2200)
sim.setTimeStepSize(0.0001)
sim.setSpatialDomain(BoundingBox(Vec3(-30, -30, -30), Vec3(30, 30, 30)))
sim.createParticles(CubicBlock(dimCount=[20, 20, 20], radius=0.5))
sim.createInteractionGroup(NRotElasticPrms(name="repulsion", normalK=10000.0, scaling=True))
sim.createInteractionGroup(GravityPrms(name="gravity", acceleration=Vec3(0, -9.81, 0)))
sim.run()
""")
    return "esysparticle block.py"


def mpgrafic(folder, work):
    put(folder, "in", open("/usr/share/doc/mpgrafic/examples/Input.stdin").read())
    return "mpgrafic --np=240 < in"


def pysph(folder, work):
    put(folder, "dam.py", """from pysph.examples.dam_break_2d import DamBreak2D
DamBreak2D().run(["--max-steps", "800", "--directory", "out", "--pfreq", "100000"])
""")
    return f"export HOME={folder}/../..; {PYTHON} -B dam.py" # what it compiles is kept there


def relion(folder, work):
    import array
    os.mkdir(f"{folder}/out")
    size, count, numbers = 32, 320, random.Random(1)
    pixels = array.array("f", (numbers.gauss(3 if (x - size / 2) ** 2 + (y - size / 2) ** 2 * (1 + i % 3) < 40 else 0, 1)
                               for i in range(count) for y in range(size) for x in range(size)))
    head = array.array("i", [size, size, count, 2, 0, 0, 0, size, size, count]).tobytes() + array.array("f", [float(size)] * 2 + [float(count)] + [90.] * 3).tobytes()
    head += array.array("i", [1, 2, 3]).tobytes() + array.array("f", [-5, 5, 0]).tobytes()
    with open(f"{folder}/all.mrcs", "wb") as file:
        file.write(head.ljust(208, b"\0") + b"MAP " + b"\x44\x44\0\0".ljust(812, b"\0"))
        pixels.tofile(file)
    put(folder, "all.star", "\ndata_\n\nloop_\n_rlnImageName #1\n_rlnVoltage #2\n_rlnSphericalAberration #3\n_rlnAmplitudeContrast #4\n_rlnMagnification #5\n"
        "_rlnDetectorPixelSize #6\n" + "".join(f"{i + 1:06d}@all.mrcs 300 2.7 0.1 10000 3\n" for i in range(count)))
    return "relion_refine_mpi --o out/run --i all.star --iter 5 --K 3 --particle_diameter 80 --psi_step 12 --offset_range 3 --offset_step 2 --norm --scale --pad 1 --dont_combine_weights_via_disc --random_seed 1 --j 1 --zero_mask --tau2_fudge 2"


# ---- libraries ----

def hypre(folder, work):
    compiled(folder, "hypre", ["-I/usr/include/hypre", "-lHYPRE", "-lm"])
    return "./hypre 260 520 28" + (f" {work[0]} {work[1]}" if work else "")


def elpa(folder, work):
    compiled(folder, "elpa", library_flags("elpa"))
    return f"./elpa 2400 {800 if work else 40} 4" # three blocks for two ranks


def superlu(folder, work):
    compiled(folder, "superlu", library_flags("superlu_dist"))
    return "./superlu 260 15"


def starpu(folder, work):
    return ("export STARPU_NCPU=1 STARPU_WORKERS_NOBIND=1 STARPU_HOME=.; "
            f"/usr/lib/x86_64-linux-gnu/starpu/mpi/mpi_cholesky -size 14400 -nblocks 24 -dblockx {3 if work else 2} -dblocky 1")


def netpipe(folder, work):
    return "NPopenmpi -l 1 -u 4096 -n 1500 -o np.out"


def script(name, language=PYTHON):
    """A script of ours: it takes the rank with more work, and how many times more."""
    def text(folder, work):
        return f"{language} {HERE}/{name} {work[0] if work else -1} {work[1] if work else 1}"
    return text


WORKER = {"vm2": ["cpu", "imbalance"]} # the first rank hands out work, and waits
PROGRAMS = {one.name: one for one in (
    Program("abinit", "abinit abinit-data", "abinit", abinit, "two of three points of the Brillouin zone", only=(0, 2)),
    Program("elk-lapw", "elk-lapw", "elk-lapw", elk, "two of three points of the Brillouin zone", only=(0, 2)),
    Program("tree-ppuzzle", "tree-ppuzzle", "tree-ppuzzle", puzzle, f"not applicable: {BY_ITSELF}", natural=WORKER),
    Program("iqtree", "iqtree", "iqtree2-mpi", iqtree, "not applicable: each rank searches for itself until all have found enough"),
    Program("hyphy-mpi", "hyphy-mpi", "/usr/lib/hyphy/bin/HYPHYMPI", hyphy, f"not applicable: {BY_ITSELF}", natural={"vm1": ["cpu", "imbalance"], **WORKER}),
    Program("prime-phylo", "prime-phylo", "primeDLRS", prime, "steps of the rank's chain"),
    Program("liggghts", "liggghts", "liggghts", liggghts, "particles of the rank's half of the box"),
    Program("gerris", "gerris libgfs-dev", "gerris2D", gerris, "cells of the rank's box"),
    Program("freefem++", "freefem++", "FreeFem++-mpi", freefem, "triangles of the rank's square"),
    Program("esys-particle", "esys-particle", "esysparticle", esys, "not applicable: one rank leads, the other works", natural=WORKER),
    Program("mpgrafic", "mpgrafic", "mpgrafic", mpgrafic, "not applicable: transforms need slabs of one size", writes="vm1", disk_mb=800,
            natural={"vm1": ["cpu", "imbalance", "disk"]}),
    Program("python3-pysph", "python3-pysph python3-pyzoltan", "/usr/lib/python3/dist-packages/pyzoltan", pysph, "not applicable: it balances particles by itself", warm=True),
    Program("relion", "relion", "relion_refine_mpi", relion, f"not applicable: {BY_ITSELF}", natural=WORKER),
    Program("libhypre-dev", "libhypre-dev", "/usr/include/hypre/HYPRE.h", hypre, "rows of the rank"),
    Program("libelpa-dev", "libelpa-dev", "/usr/include/elpa/elpa/elpa.h", elpa, "two of three blocks of the matrix", only=(0, 2)),
    Program("libsuperlu-dist-dev", "libsuperlu-dist-dev", "/usr/include/superlu-dist/superlu_ddefs.h", superlu, "not applicable: supernodes are dealt out in turn"),
    Program("starpu-examples", "starpu-examples", "/usr/lib/x86_64-linux-gnu/starpu/mpi/mpi_cholesky", starpu, "two of three columns of blocks", only=(0, 2)),
    Program("netpipe-openmpi", "netpipe-openmpi", "NPopenmpi", netpipe, "not applicable: messages go to and fro, and nothing is computed"),
    Program("python3-slepc4py-real3.18", "python3-slepc4py-real3.18", "/usr/lib/slepcdir/slepc3.18/*-real", script("slepc_modes.py"), "rows of the rank"),
    Program("python3-dolfinx-real", "python3-dolfinx-real", "/usr/lib/petscdir/petsc*/*-real/lib/python3/dist-packages/dolfinx", script("dolfinx_poisson.py"), "cells of the rank", warm=True),
    Program("r-cran-rmpi", "r-cran-rmpi r-base-core", "/usr/lib/R/site-library/Rmpi", script("rmpi_values.R", "Rscript"), "matrices of the rank"),
)}
NOT_HERE = {"aces3": "this build finds a symmetry that the molecule has not, and stops (@TSTOPS: operations failed), with any of three molecules"}
