# SPDX-License-Identifier: MIT
"""Poisson's equation by DOLFINx, assembled and solved again and again: dolfinx_poisson.py RANK FACTOR. The named rank assembles FACTOR times
as often, as if it had so many times the cells."""
import sys

import ufl
from dolfinx import fem, mesh
from mpi4py import MPI
from petsc4py import PETSc

busy, factor = int(sys.argv[1]), float(sys.argv[2])
comm = MPI.COMM_WORLD
domain = mesh.create_unit_square(comm, 160, 160)
space = fem.FunctionSpace(domain, ("Lagrange", 1))
u, v = ufl.TrialFunction(space), ufl.TestFunction(space)
a, right = fem.form((ufl.inner(ufl.grad(u), ufl.grad(v)) + u * v) * ufl.dx), fem.form(v * ufl.dx)
own = mesh.create_unit_square(MPI.COMM_SELF, 160, 80)
mine = fem.FunctionSpace(own, ("Lagrange", 1))
p, q = ufl.TrialFunction(mine), ufl.TestFunction(mine)
local = fem.form((ufl.inner(ufl.grad(p), ufl.grad(q)) + p * q) * ufl.dx)
rounds = round(4 * (factor if comm.rank == busy else 1))
for step in range(60):
    for _ in range(rounds):
        fem.petsc.assemble_matrix(local).assemble()
    matrix = fem.petsc.assemble_matrix(a)
    matrix.assemble()
    b = fem.petsc.assemble_vector(right)
    b.ghostUpdate(addv=PETSc.InsertMode.ADD, mode=PETSc.ScatterMode.REVERSE)
    solver = PETSc.KSP().create(comm)
    solver.setOperators(matrix)
    solver.setType("cg")
    solver.getPC().setType("jacobi")
    x = b.duplicate()
    solver.solve(b, x)
if comm.rank == 0:
    print("iterations", solver.getIterationNumber())
