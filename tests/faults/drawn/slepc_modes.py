# SPDX-License-Identifier: MIT
"""Lowest modes of a Laplacian by SLEPc: slepc_modes.py RANK FACTOR. The named rank has FACTOR times the rows."""
import sys

import slepc4py

slepc4py.init([])
from petsc4py import PETSc
from slepc4py import SLEPc

comm = PETSc.COMM_WORLD
busy, factor, width = int(sys.argv[1]), float(sys.argv[2]), 160
lines = round(140 * (factor if comm.rank == busy else 1))
matrix = PETSc.Mat().createAIJ(((lines * width, None), (lines * width, None)), nnz=5, comm=comm)
low, high = matrix.getOwnershipRange()
size = matrix.getSize()[0]
for row in range(low, high):
    at = [row] + [to for to, there in ((row - width, row >= width), (row - 1, row % width), (row + 1, (row + 1) % width), (row + width, row + width < size)) if there]
    matrix.setValues(row, at, [4] + [-1] * (len(at) - 1))
matrix.assemble()
for _ in range(6):
    solver = SLEPc.EPS().create(comm)
    solver.setOperators(matrix)
    solver.setProblemType(SLEPc.EPS.ProblemType.HEP)
    solver.setWhichEigenpairs(SLEPc.EPS.Which.SMALLEST_REAL)
    solver.setDimensions(6, 60)
    solver.setTolerances(1e-12, 500)
    solver.solve()
    if comm.rank == 0:
        print("iterations", solver.getIterationNumber())
    solver.destroy()
