#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Heat over a square by PETSc: an implicit time step is a system of equations, solved by conjugate gradients, which
multiply matrices, exchange borders and sum scalars. skew: a rank has that many times the rows of the others."""
import glob
import sys
import time

sys.path[:0] = glob.glob("/usr/lib/petscdir/petsc*/*-real/lib/python3/dist-packages")
import petsc4py
petsc4py.init([sys.argv[0]])
from petsc4py import PETSc
import numpy
import mpi_python

SIDE = 300
ITERATIONS, PLANTS = mpi_python.arguments()
COMM = PETSc.COMM_WORLD
RANK, RANKS = COMM.getRank(), COMM.getSize()


def lines_of(rank):
    """The number of a rank's lines in the square."""
    weights = [mpi_python.planted(PLANTS, "skew", r, 1) for r in range(RANKS)]
    ends = [round(SIDE * sum(weights[:r]) / sum(weights)) for r in range(RANKS + 1)]
    return ends[rank + 1] - ends[rank]


def matrix():
    mine = lines_of(RANK) * SIDE
    a = PETSc.Mat().createAIJ(size=((mine, None), (mine, None)), nnz=5, comm=COMM)
    first, last = a.getOwnershipRange()
    for row in range(first, last):
        y, x = divmod(row, SIDE)
        near = [(y - 1) * SIDE + x] * (y > 0) + [(y + 1) * SIDE + x] * (y < SIDE - 1) + [row - 1] * (x > 0) + [row + 1] * (x < SIDE - 1)
        a.setValues(row, [row, *near], [1 + 4 * 20.] + [-20.] * len(near))
    a.assemble()
    return a


def main():
    a = matrix()
    heat, new = a.createVecs()
    first, last = a.getOwnershipRange()
    heat.setArray(numpy.sin(numpy.arange(first, last) * .001))
    solver = PETSc.KSP().create(COMM)
    solver.setOperators(a)
    solver.setType("cg")
    solver.getPC().setType("jacobi")
    solver.setTolerances(rtol=1e-7)
    sleep_s, apply_ms = mpi_python.planted(PLANTS, "sleep", RANK, 0) / 1000, mpi_python.planted(PLANTS, "apply", RANK, 0)

    def step():
        time.sleep(sleep_s)
        mpi_python.compute_ms(apply_ms)
        solver.solve(heat, new)
        new.copy(heat)

    mpi_python.timed(COMM.barrier, RANK, ITERATIONS, step)


main()
