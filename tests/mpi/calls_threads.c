/* SPDX-License-Identifier: MIT */
/* calls_threads ROUNDS: threads that all send and receive at once, under MPI_THREAD_MULTIPLE. Needs
 * 2 ranks.
 */
#include <mpi.h>
#include <pthread.h>

#include "tests/mpi/expect.h"

#define THREADS 8

static int rank;
static long rounds;

static void *run(void *arg) {
    long n, in = 0;
    int thread = (int)(long)arg;
    MPI_Request q;
    for (n = 0; n < rounds; n++) {
        MPI_Irecv(&in, 1, MPI_LONG, !rank, thread, MPI_COMM_WORLD, &q);
        MPI_Send(&n, 1, MPI_LONG, !rank, thread, MPI_COMM_WORLD);
        MPI_Wait(&q, MPI_STATUS_IGNORE);
        if (in != n)
            MPI_Abort(MPI_COMM_WORLD, 3);
    }
    return NULL;
}

int main(int argc, char **argv) {
    pthread_t threads[THREADS];
    int level;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    if (level != MPI_THREAD_MULTIPLE)
        MPI_Abort(MPI_COMM_WORLD, 77);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    rounds = argc > 1 ? atol(argv[1]) : 1;
    for (long i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, run, (void *)i);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    MPI_Finalize();
    expect("Init_thread", 1, 0, 0);
    expect("Finalize", 1, 0, 0);
    expect("Irecv", THREADS * rounds, 0, THREADS * rounds * 8);
    expect("Send", THREADS * rounds, THREADS * rounds * 8, 0);
    expect("Wait", THREADS * rounds, 0, 0);
    return expect_write(rank) != 0;
}
