/* SPDX-License-Identifier: MIT */
/*
 * bench_mpi_rounds pingpong|allreduce|stencil SECONDS: wall ns and CPU ns of a round of one pattern
 * of small calls, on all ranks at once; prints "NS MEAN_NS CPU_NS CALLS": the median over blocks of
 * rounds on the first rank, the mean over the whole run, the CPU time of all ranks, and the calls
 * of a rank in a round.
 * mpi_full_node.py runs it.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define BLOCK 2000
#define BLOCKS_MAX 100000
#define HALO 32

static int rank, size;
static char in[2][HALO], out[2][HALO];

static double clock_now(clockid_t clock) {
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/* Ranks in pairs; a last one without a partner waits at the end. */
static void pingpong(void) {
    int other = rank ^ 1;
    if (other >= size)
        return;
    if (rank & 1) {
        MPI_Recv(in[0], 8, MPI_CHAR, other, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Send(out[0], 8, MPI_CHAR, other, 1, MPI_COMM_WORLD);
    } else {
        MPI_Send(out[0], 8, MPI_CHAR, other, 1, MPI_COMM_WORLD);
        MPI_Recv(in[0], 8, MPI_CHAR, other, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
}

static void allreduce(void) {
    double one = 1, sum;
    MPI_Allreduce(&one, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

/* Halos of a ring of ranks, and some work. */
static void stencil(void) {
    MPI_Request q[4];
    int left = (rank + size - 1) % size, right = (rank + 1) % size;
    MPI_Irecv(in[0], HALO, MPI_CHAR, left, 1, MPI_COMM_WORLD, &q[0]);
    MPI_Irecv(in[1], HALO, MPI_CHAR, right, 2, MPI_COMM_WORLD, &q[1]);
    MPI_Isend(out[1], HALO, MPI_CHAR, right, 1, MPI_COMM_WORLD, &q[2]);
    MPI_Isend(out[0], HALO, MPI_CHAR, left, 2, MPI_COMM_WORLD, &q[3]);
    for (volatile int i = 0; i < 2000; i++)
        ;
    MPI_Waitall(4, q, MPI_STATUSES_IGNORE);
}

static const struct {
    const char *name;
    void (*round)(void);
    int calls;
} patterns[] = {{"pingpong", pingpong, 2}, {"allreduce", allreduce, 1}, {"stencil", stencil, 5}};

static int compare(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

int main(int argc, char **argv) {
    static double blocks[BLOCKS_MAX];
    size_t kind = 0, n = 0;
    double seconds = argc == 3 ? atof(argv[2]) : 0, cpu, cpu_sum;
    while (kind < 3 && (argc != 3 || strcmp(patterns[kind].name, argv[1]) != 0))
        kind++;
    if (kind == 3 || seconds <= 0)
        return 2;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    double begin = clock_now(CLOCK_MONOTONIC), cpu_begin = clock_now(CLOCK_PROCESS_CPUTIME_ID);
    for (int more = 1; more;) {
        double start = clock_now(CLOCK_MONOTONIC);
        for (int i = 0; i < BLOCK; i++)
            patterns[kind].round();
        double end = clock_now(CLOCK_MONOTONIC);
        blocks[n++] = (end - start) / BLOCK;
        more = end - begin < seconds * 1e9 && n < BLOCKS_MAX;
        MPI_Bcast(&more, 1, MPI_INT, 0, MPI_COMM_WORLD);
    }
    double mean = (clock_now(CLOCK_MONOTONIC) - begin) / ((double)n * BLOCK);
    cpu = (clock_now(CLOCK_PROCESS_CPUTIME_ID) - cpu_begin) / ((double)n * BLOCK);
    MPI_Reduce(&cpu, &cpu_sum, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    qsort(blocks, n, sizeof *blocks, compare);
    if (rank == 0)
        printf("%.1f %.1f %.1f %d\n", blocks[n / 2], mean, cpu_sum / size, patterns[kind].calls);
    MPI_Finalize();
    return 0;
}
