/* SPDX-License-Identifier: MIT */
/*
 * Only the messages of a sparse sync iteration: every other rank sends rank 0 a head of 16 bytes
 * and FLOATS x 4, gets an answer of the same size, and sends as much again. Waits like
 * chokepoint-sgd (nap) or in blocking MPI calls (spin). Usage, on all ranks: sgd_exchange
 * ITERATIONS FLOATS nap|spin. Prints the median of the iterations in seconds.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "workloads/common/wait.h"

#define HEAD 16
#define MAX_RANKS 64

struct pair { /* requests for one other rank */
    char head[HEAD];
    float *floats;
};

static struct waiter waiter;
static int n_floats;

/* Both messages, to or from every peer at once. */
static void exchange(struct pair *pairs, const int *peers, int n, int sends) {
    MPI_Request requests[2 * MAX_RANKS];
    for (int i = 0; i < n; i++) {
        struct pair *p = &pairs[i];
        if (sends) {
            MPI_Isend(p->head, HEAD, MPI_BYTE, peers[i], 1, MPI_COMM_WORLD, &requests[2 * i]);
            MPI_Isend(p->floats, n_floats, MPI_FLOAT, peers[i], 2, MPI_COMM_WORLD,
                      &requests[2 * i + 1]);
        } else {
            MPI_Irecv(p->head, HEAD, MPI_BYTE, peers[i], 1, MPI_COMM_WORLD, &requests[2 * i]);
            MPI_Irecv(p->floats, n_floats, MPI_FLOAT, peers[i], 2, MPI_COMM_WORLD,
                      &requests[2 * i + 1]);
        }
    }
    wait_all(&waiter, 2 * n, requests);
}

static double now_s(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static int ascending(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

int main(int argc, char **argv) {
    static struct pair pairs[MAX_RANKS];
    int rank, n_ranks, peers[MAX_RANKS];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &n_ranks);
    int iterations = argc == 4 ? atoi(argv[1]) : 0, n = rank == 0 ? n_ranks - 1 : 1;
    n_floats = argc == 4 ? atoi(argv[2]) : 0;
    if (iterations < 1 || n_floats < 1 || n_ranks < 2 || n_ranks > MAX_RANKS)
        MPI_Abort(MPI_COMM_WORLD, 2);
    waiter_begin(&waiter, strcmp(argv[3], "spin") == 0);
    for (int i = 0; i < n; i++) {
        peers[i] = rank == 0 ? i + 1 : 0;
        pairs[i].floats = calloc((size_t)n_floats, sizeof(float));
    }
    double *seconds = calloc((size_t)iterations, sizeof *seconds), start = now_s();
    for (int i = 0; i < iterations; i++) {
        exchange(pairs, peers, n, rank != 0);
        exchange(pairs, peers, n, rank == 0);
        exchange(pairs, peers, n, rank != 0);
        double end = now_s();
        seconds[i] = end - start;
        start = end;
    }
    qsort(seconds, (size_t)iterations, sizeof *seconds, ascending);
    if (rank == 0)
        printf("%.9f\n", seconds[iterations / 2]);
    MPI_Finalize();
    return 0;
}
