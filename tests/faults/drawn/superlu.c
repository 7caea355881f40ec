/* SPDX-License-Identifier: MIT */
/* Solves a Laplacian on a square grid by the sparse LU of SuperLU_DIST, again and again: superlu
 * WIDTH SOLVES */
#include <stdio.h>
#include <stdlib.h>
#include <superlu_ddefs.h>

int main(int argc, char **argv) {
    int me, ranks, provided, width = atoi(argv[1]), solves = atoi(argv[2]);
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    int_t n = (int_t)width * width, first = n * me / ranks, rows = n * (me + 1) / ranks - first;
    double error = 0;
    for (int s = 0; s < solves; s++) {
        gridinfo_t grid;
        superlu_gridinit(MPI_COMM_WORLD, ranks, 1, &grid);
        double *value = doubleMalloc_dist(5 * rows), *b = doubleMalloc_dist(rows);
        int_t *column = intMalloc_dist(5 * rows), *start = intMalloc_dist(rows + 1), filled = 0;
        for (int_t i = 0; i < rows; i++) {
            int_t at = first + i, y = at / width, x = at % width;
            start[i] = filled;
            b[i] = 1 + (at + s) % 5;
            int_t to[5] = {y > 0 ? at - width : -1, x > 0 ? at - 1 : -1, at,
                           x < width - 1 ? at + 1 : -1, y < width - 1 ? at + width : -1};
            for (int k = 0; k < 5; k++)
                if (to[k] >= 0)
                    column[filled] = to[k], value[filled++] = k == 2 ? 4.1 : -1;
        }
        start[rows] = filled;
        SuperMatrix a;
        dCreate_CompRowLoc_Matrix_dist(&a, n, n, filled, rows, first, value, column, start,
                                       SLU_NR_loc, SLU_D, SLU_GE);
        superlu_dist_options_t options;
        set_default_options_dist(&options);
        options.PrintStat = NO;
        options.ParSymbFact = NO;
        options.ColPerm = MMD_AT_PLUS_A;
        options.RowPerm = NOROWPERM;
        dScalePermstruct_t scale;
        dLUstruct_t lu;
        dSOLVEstruct_t solve;
        SuperLUStat_t stat;
        dScalePermstructInit(n, n, &scale);
        dLUstructInit(n, &lu);
        PStatInit(&stat);
        int info;
        pdgssvx(&options, &a, &scale, b, rows, 1, &grid, &lu, &solve, &error, &stat, &info);
        if (info)
            return 1;
        PStatFree(&stat);
        Destroy_CompRowLoc_Matrix_dist(&a);
        dScalePermstructFree(&scale);
        dDestroy_LU(n, &grid, &lu);
        dLUstructFree(&lu);
        dSolveFinalize(&options, &solve);
        SUPERLU_FREE(b);
        superlu_gridexit(&grid);
    }
    if (me == 0)
        printf("backward error %g\n", error);
    MPI_Finalize();
    return 0;
}
