/* SPDX-License-Identifier: MIT */
/* Solves a Laplacian on a grid by conjugate gradients and algebraic multigrid of hypre, again and
 * again: hypre ROWS WIDTH SOLVES [RANK FACTOR]. Each rank has ROWS rows of the grid, the named one
 * FACTOR times as many. */
#include <HYPRE.h>
#include <HYPRE_parcsr_ls.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv) {
    int me, rows = atoi(argv[1]), width = atoi(argv[2]), solves = atoi(argv[3]), iterations = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    if (argc > 5 && atoi(argv[4]) == me)
        rows = (int)(rows * atof(argv[5]));
    int end, all;
    MPI_Scan(&rows, &end, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Allreduce(&rows, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    HYPRE_Init();
    int low = (end - rows) * width, high = end * width - 1;
    HYPRE_IJMatrix ij;
    HYPRE_IJMatrixCreate(MPI_COMM_WORLD, low, high, low, high, &ij);
    HYPRE_IJMatrixSetObjectType(ij, HYPRE_PARCSR);
    HYPRE_IJMatrixInitialize(ij);
    for (int i = low; i <= high; i++) {
        HYPRE_Int at[5], n = 0, row = i;
        HYPRE_Real value[5];
        int y = i / width, x = i % width,
            to[4] = {y > 0 ? i - width : -1, x > 0 ? i - 1 : -1, x < width - 1 ? i + 1 : -1,
                     y < all - 1 ? i + width : -1};
        at[n] = i, value[n++] = 4;
        for (int k = 0; k < 4; k++)
            if (to[k] >= 0)
                at[n] = to[k], value[n++] = -1;
        HYPRE_IJMatrixSetValues(ij, 1, &n, &row, at, value);
    }
    HYPRE_IJMatrixAssemble(ij);
    HYPRE_IJVector right, unknown;
    HYPRE_IJVectorCreate(MPI_COMM_WORLD, low, high, &right);
    HYPRE_IJVectorCreate(MPI_COMM_WORLD, low, high, &unknown);
    HYPRE_ParCSRMatrix matrix;
    HYPRE_ParVector b, x;
    HYPRE_IJMatrixGetObject(ij, (void **)&matrix);
    for (int s = 0; s < solves; s++) {
        HYPRE_IJVectorSetObjectType(right, HYPRE_PARCSR);
        HYPRE_IJVectorInitialize(right);
        HYPRE_IJVectorSetObjectType(unknown, HYPRE_PARCSR);
        HYPRE_IJVectorInitialize(unknown);
        for (HYPRE_Int i = low; i <= high; i++) {
            HYPRE_Real one = 1 + (i + s) % 7, zero = 0;
            HYPRE_IJVectorSetValues(right, 1, &i, &one);
            HYPRE_IJVectorSetValues(unknown, 1, &i, &zero);
        }
        HYPRE_IJVectorAssemble(right);
        HYPRE_IJVectorAssemble(unknown);
        HYPRE_IJVectorGetObject(right, (void **)&b);
        HYPRE_IJVectorGetObject(unknown, (void **)&x);
        HYPRE_Solver cg, amg;
        HYPRE_ParCSRPCGCreate(MPI_COMM_WORLD, &cg);
        HYPRE_PCGSetMaxIter(cg, 100);
        HYPRE_PCGSetTol(cg, 1e-8);
        HYPRE_BoomerAMGCreate(&amg);
        HYPRE_BoomerAMGSetMaxIter(amg, 1);
        HYPRE_BoomerAMGSetTol(amg, 0);
        HYPRE_BoomerAMGSetRelaxType(amg, 6);
        HYPRE_PCGSetPrecond(cg, (HYPRE_PtrToSolverFcn)HYPRE_BoomerAMGSolve,
                            (HYPRE_PtrToSolverFcn)HYPRE_BoomerAMGSetup, amg);
        HYPRE_ParCSRPCGSetup(cg, matrix, b, x);
        HYPRE_ParCSRPCGSolve(cg, matrix, b, x);
        HYPRE_PCGGetNumIterations(cg, &iterations);
        HYPRE_BoomerAMGDestroy(amg);
        HYPRE_ParCSRPCGDestroy(cg);
    }
    if (me == 0)
        printf("%d rows, %d iterations\n", all * width, iterations);
    HYPRE_Finalize();
    MPI_Finalize();
    return 0;
}
