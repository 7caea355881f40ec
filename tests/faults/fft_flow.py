#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A wave in a box by mpi4py-fft: each step of time goes to Fourier space and back, and each of the two turns the box around
between the ranks (all-to-all). sleep and apply as everywhere."""
import time

from mpi4py import MPI
from mpi4py_fft import PFFT, newDistArray
import numpy
import mpi_python

SIDE = 96
ITERATIONS, PLANTS = mpi_python.arguments()
COMM = MPI.COMM_WORLD


def main():
    fft = PFFT(COMM, [SIDE] * 3, dtype=numpy.float64)
    wave, spectrum = newDistArray(fft, False), newDistArray(fft, True)
    wave[:] = numpy.random.default_rng(COMM.rank).standard_normal(wave.shape)
    damping = numpy.exp(-.001 * numpy.add.outer(numpy.add.outer(*(numpy.arange(n) for n in spectrum.shape[:2])), numpy.arange(spectrum.shape[2])))
    sleep_s, apply_ms = (mpi_python.planted(PLANTS, kind, COMM.rank, 0) for kind in ("sleep", "apply"))

    def step():
        time.sleep(sleep_s / 1000)
        mpi_python.compute_ms(apply_ms)
        fft.forward(wave, spectrum)
        spectrum[:] *= damping
        fft.backward(spectrum, wave)
        wave[:] += .1 * numpy.sin(wave)

    mpi_python.timed(COMM.Barrier, COMM.rank, ITERATIONS, step)


main()
