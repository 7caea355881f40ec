# SPDX-License-Identifier: MIT
"""Programs of the distribution for which no rule was tuned: each was recorded once before it was judged."""
import glob
import os
import re
import shlex
import shutil
import subprocess

import made_inputs
from workload import HERE, Spread, Workload, scaled


def shell_timed(program, before="true"):
    """Words that run a program and print its time."""
    return ["sh", "-c", f"{before}; a=$(date +%s%N); {program}; s=$?; echo loop $((($(date +%s%N) - a) / 1000)) us; exit $s"]


def shell_loop_s(output):
    return max(int(us) for us in re.findall(r"^loop ([0-9]+) us", output, re.M)) * 1e-6


class Strange(Workload):
    """package: the Debian package of the program; inputs are made once, outside the folders of cases."""
    group, half, scales = "strange", "scored", False
    program, package, made = None, None, None

    def available(self, binaries):
        return None if shutil.which(self.program) else f"{self.program} (package {self.package}) is not installed"

    def input(self, case):
        return f"{os.path.dirname(case['folder'])}/inputs/{self.name}"

    def prepare(self, case):
        path = self.input(case)
        if self.made and not os.path.exists(f"{path}/done"):
            os.makedirs(path, exist_ok=True)
            self.make(path)
            open(f"{path}/done", "w").close()

    def loop_s(self, case, output):
        return shell_loop_s(output)


class Examl(Strange):
    """ExaML: the likelihood of a tree of sequences, of which each rank has a part of the positions. Many small collectives."""
    name, program, package, made = "examl", "parse-examl", "examl", True

    def make(self, path):
        made_inputs.alignment(f"{path}/aln", 16, 8000)
        subprocess.run(["parse-examl", "-s", "aln.phy", "-m", "DNA", "-n", "aln"], cwd=path, check=True, capture_output=True)

    def words(self, case):
        path = self.input(case)
        best = next(kind for kind in ("avx2", "avx", "sse3") if kind in open("/proc/cpuinfo").read() or kind == "sse3")
        return ["-wdir", case["folder"], f"/usr/lib/examl/bin/examl-{best}", "-s", f"{path}/aln.binary", "-t", f"{path}/aln.tree", "-m", "GAMMA", "-n", "run"]

    def loop_s(self, case, output):
        return float(re.search(r"^Overall Time for 1 Inference ([0-9.]+)", output, re.M).group(1))


class Meep(Strange):
    """Meep: electromagnetic fields on a grid, whose borders are exchanged in each step. Written in C++, driven by Scheme."""
    name, program, package, hit = "meep", "meep", "meep-mpi-default", 1

    def words(self, case):
        return ["-wdir", case["folder"], "meep", f"{HERE}/waveguide.ctl"]

    def loop_s(self, case, output):
        return float(re.search(r"^Elapsed run time = ([0-9.]+)", output, re.M).group(1))


class Abyss(Strange):
    """ABySS: assembles a genome from its reads. Each rank has the words that hash to it, and polls for messages all the
    time."""
    name, program, package, made = "abyss", "/usr/lib/abyss/ABYSS-P", "abyss", True

    def make(self, path):
        made_inputs.reads(f"{path}/reads.fa", 28000, 80, 30)

    def words(self, case):
        return ["-wdir", case["folder"], *shell_timed(f"{self.program} -k31 -o contigs.fa {self.input(case)}/reads.fa")]


class Partition(Strange):
    """PT-Scotch: all ranks partition a mesh that the first rank reads."""
    name, program, package, made, hit = "dgpart", "dgpart", "ptscotch and scotch", True, 1

    def make(self, path):
        subprocess.run(["gmk_m3", "116", "116", "116", f"{path}/mesh.grf"], check=True)

    def words(self, case):
        return ["dgpart", 16, f"{self.input(case)}/mesh.grf", "/dev/null", "-vt"]

    def loop_s(self, case, output):
        return float(re.search(r"^T\s+Total\s.*max=([0-9.]+)", output, re.M).group(1))


class StrangePython(Strange):
    """A short program that uses a library of the distribution."""
    scales, python = True, "/usr/bin/python3"

    def available(self, binaries):
        return None if glob.glob(self.library) else f"{self.library} (package {self.package}) is not installed"

    def words(self, case):
        return [*self.variables_of(case), self.python, "-B", f"{HERE}/{self.program}", scaled(self.iterations, case), *self.plant_words(case)]

    def variables_of(self, case):
        return []

    def loop_s(self, case, output):
        return float(re.search(r"^loop ([0-9.]+)", output, re.M).group(1))


class Petsc(StrangePython):
    name, package, library = "petsc", "python3-petsc4py", "/usr/lib/petscdir/petsc*/*-real/lib/python3/dist-packages/petsc4py"
    program, iterations = "petsc_heat.py", 380


class Fourier(StrangePython):
    name, package, library = "fft", "python3-mpi4py-fft", "/usr/lib/python3/dist-packages/mpi4py_fft"
    program, iterations, hit = "fft_flow.py", 90, 1


class Hdf(StrangePython):
    name, package, library = "hdf", "python3-h5py-mpi", "/usr/lib/python3/dist-packages/h5py/_debian_h5py_mpi"
    program, iterations, made, needs_disks, one_disk, disk_mb, allowance = "hdf_slices.py", 110, True, True, True, 192, .3

    def make(self, path):
        subprocess.run([self.python, "-B", f"{HERE}/{self.program}", "make"], check=True, env=dict(os.environ, FIELD=f"{path}/field.h5"))

    def fill_disks(self, case, links):
        shutil.copy(f"{self.input(case)}/field.h5", case["disks"][0].path)

    def variables_of(self, case):
        return ["-x", f"FIELD={case['disks'][0].path}/field.h5"]


class Distcc(Spread):
    """make and distcc: sources are compiled here and by a daemon on the second host."""
    name, group, scales, allowance, port, files = "distcc", "strange", False, .1, 7300, 14
    input, prepare, made, loop_s = Strange.input, Strange.prepare, True, Strange.loop_s

    def available(self, binaries):
        return None if shutil.which("distccd") else "distccd (package distcc) is not installed"

    def make(self, path):
        made_inputs.sources(path, self.files)

    def words(self, case):
        folder, address = case["folder"], case["addresses"][1]
        path = f"{folder}/build.sh"
        build = f"make -s -j4 -C {self.input(case)} OUT={folder}/out CXX='distcc g++'"
        daemon = f"distccd --no-detach --daemon --user distccd --allow 0.0.0.0/0 --port {self.port} --jobs 2 --log-stderr --log-level error"
        with open(path, "w") as file:
            file.write(f"""#!/bin/bash
mkdir -p {folder}/out {folder}/distcc
export DISTCC_HOSTS='localhost/1 {address}:{self.port}/1' DISTCC_DIR={folder}/distcc DISTCC_FALLBACK=0
$CHOKEPOINT_RSH vm2 "echo \\$\\$ > {folder}/daemon.pid; CHOKEPOINT_RUN=$CHOKEPOINT_RUN exec {daemon}" &
until (: > /dev/tcp/{address}/{self.port}) 2> /dev/null; do sleep .05; done
{" ".join(map(shlex.quote, shell_timed(build)))}
s=$?
kill $(cat {folder}/daemon.pid)
wait
rm -r {folder}/out
exit $s
""")
        os.chmod(path, 0o755)
        return [path]


class Pbzip2(Strange):
    """pbzip2: one process, which compresses a file by as many threads as the host has cores."""
    name, program, package, made, mpi, ranks, pinned = "pbzip2", "pbzip2", "pbzip2", True, False, 1, False
    needs_disks, disk_mb, allowance = True, 192, .3

    def make(self, path):
        made_inputs.text(f"{path}/text", 120)

    def fill_disks(self, case, links):
        shutil.copy(f"{self.input(case)}/text", case["disks"][0].path)

    def words(self, case):
        path = f"{case['disks'][0].path}/text"
        return shell_timed(f"pbzip2 -c -p2 {path} > /dev/null", f"dd if={path} iflag=nocache count=0 status=none")


PROGRAMS = tuple(kind() for kind in (Examl, Meep, Abyss, Partition, Petsc, Fourier, Hdf, Distcc, Pbzip2))
