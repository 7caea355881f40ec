/* SPDX-License-Identifier: MIT */
/*
 * Nanoseconds of the cheapest MPI calls, on MPI_COMM_SELF: one line "NAME NS", the median over
 * rounds. shim_cost.sh runs it with and without the shim.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define ROUNDS 31
#define CALLS 50000

static char in[64], out[64];
static int found;

static void iprobe(void) {
    MPI_Iprobe(0, 5, MPI_COMM_SELF, &found, MPI_STATUS_IGNORE);
}

static void wait_null(void) {
    MPI_Request q = MPI_REQUEST_NULL;
    MPI_Wait(&q, MPI_STATUS_IGNORE);
}

static void bcast(void) {
    MPI_Bcast(out, 8, MPI_CHAR, 0, MPI_COMM_SELF);
}

static void sendrecv(void) {
    MPI_Sendrecv(out, 8, MPI_CHAR, 0, 1, in, 8, MPI_CHAR, 0, 1, MPI_COMM_SELF, MPI_STATUS_IGNORE);
}

/* Three calls, two requests. */
static void exchange(void) {
    MPI_Request q[2];
    MPI_Irecv(in, 8, MPI_CHAR, 0, 2, MPI_COMM_SELF, &q[0]);
    MPI_Isend(out, 8, MPI_CHAR, 0, 2, MPI_COMM_SELF, &q[1]);
    MPI_Waitall(2, q, MPI_STATUSES_IGNORE);
}

static MPI_Win window;

static void put(void) {
    MPI_Put(out, 8, MPI_CHAR, 0, 0, 8, MPI_CHAR, window);
}

static void flush(void) {
    MPI_Win_flush_local_all(window);
}

static const struct {
    const char *name;
    void (*call)(void);
    int calls;
} cases[] = {{"iprobe", iprobe, 1},
             {"put", put, 1},
             {"flush", flush, 1},
             {"wait", wait_null, 1},
             {"bcast", bcast, 1},
             {"sendrecv", sendrecv, 1},
             {"irecv+isend+waitall", exchange, 3}};

static double now_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static int compare(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

int main(int argc, char **argv) {
    double ns[ROUNDS];
    void *base;
    MPI_Init(&argc, &argv);
    MPI_Win_allocate(64, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &window);
    MPI_Win_lock_all(0, window);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        for (int k = 0; k < ROUNDS; k++) {
            double start = now_ns();
            for (int n = 0; n < CALLS; n++)
                cases[i].call();
            ns[k] = (now_ns() - start) / CALLS / cases[i].calls;
        }
        qsort(ns, ROUNDS, sizeof *ns, compare);
        printf("%s %.2f\n", cases[i].name, ns[ROUNDS / 2]);
    }
    MPI_Win_unlock_all(window);
    MPI_Win_free(&window);
    MPI_Finalize();
    return 0;
}
