#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Statistics over a field in an HDF5 file: each rank reads a slice by MPI-IO, computes on it, and all sum up. The variable FIELD
names the file; `hdf_slices.py make` writes it. Its pages leave the page cache before the loop."""
import os
import sys
import time

from mpi4py import MPI
import h5py
import numpy

SLICES, LINES, WIDTH = 120, 128, 1024 # 120 MiB


def make(path):
    with h5py.File(path, "w") as file:
        field = file.create_dataset("field", (SLICES, LINES, WIDTH), dtype="f8")
        for i in range(SLICES):
            field[i] = numpy.random.default_rng(i).standard_normal((LINES, WIDTH))


def forget(path):
    with open(path, "rb") as file:
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def main(path):
    import mpi_python
    iterations, plants = mpi_python.arguments()
    comm = MPI.COMM_WORLD
    forget(path)
    total, at = numpy.zeros(WIDTH), [0]
    sleep_s = mpi_python.planted(plants, "sleep", comm.rank, 0) / 1000
    with h5py.File(path, "r", driver="mpio", comm=comm) as file:
        field = file["field"]
        share = LINES // comm.size

        def step():
            time.sleep(sleep_s)
            lines = slice(comm.rank * share, (comm.rank + 1) * share)
            mine = field[at[0] % SLICES, lines]
            at[0] += 1
            spectrum = numpy.abs(numpy.fft.fft2(mine))
            for _ in range(3):
                spectrum = numpy.sqrt(numpy.abs(numpy.fft.ifft2(numpy.fft.fft2(spectrum))) + 1)
            comm.Allreduce(spectrum.sum(0), total)

        mpi_python.timed(comm.Barrier, comm.rank, iterations, step)


if __name__ == "__main__":
    make(os.environ["FIELD"]) if sys.argv[1:] == ["make"] else main(os.environ["FIELD"])
