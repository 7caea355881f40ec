/* SPDX-License-Identifier: MIT */
/*
 * A known amount of traffic between hosts, with the kernel's own count of it.
 *
 * First a token goes once around all ranks, each adding its number. Then rank 0 sends BYTES to rank
 * 1, which checks what arrives, and reads the counters of INTERFACE in its own network namespace
 * before and after; they must show BYTES and the headers. Prints "key value" lines at rank 0.
 * Usage: testbed_traffic BYTES INTERFACE
 */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHUNK (4 << 20)

struct counters {
    unsigned long long received, sent;
};

static struct counters read_counters(const char *interface) {
    struct counters counters = {0, 0};
    FILE *in = fopen("/proc/net/dev", "r");
    char line[512], name[64];
    unsigned long long received, sent;
    while (in && fgets(line, sizeof line, in)) {
        char *colon = strchr(line, ':');
        if (!colon)
            continue;
        *colon = ' ';
        if (sscanf(line, "%63s %llu %*u %*u %*u %*u %*u %*u %*u %llu", name, &received, &sent) ==
                3 &&
            strcmp(name, interface) == 0)
            counters = (struct counters){received, sent};
    }
    if (in)
        fclose(in);
    return counters;
}

static unsigned char pattern(size_t i) {
    return (unsigned char)(i * 7 + (i >> 12));
}

static int is_intact(const unsigned char *data) {
    for (size_t i = 0; i < CHUNK; i++)
        if (data[i] != pattern(i))
            return 0;
    return 1;
}

/* Returns 1 if the token came back with every rank's number. */
static int run_ring(int rank, int n) {
    int token = 0;
    if (rank == 0) {
        MPI_Send(&token, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
        MPI_Recv(&token, 1, MPI_INT, n - 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        return token == n * (n - 1) / 2;
    }
    MPI_Recv(&token, 1, MPI_INT, rank - 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    token += rank;
    MPI_Send(&token, 1, MPI_INT, (rank + 1) % n, 0, MPI_COMM_WORLD);
    return 1;
}

/* Returns when the receiver has everything. */
static void send_chunks(const unsigned char *data, uint64_t n_chunks) {
    for (uint64_t i = 0; i < n_chunks; i++)
        MPI_Send(data, CHUNK, MPI_BYTE, 1, 1, MPI_COMM_WORLD);
    MPI_Recv(NULL, 0, MPI_BYTE, 1, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void receive_chunks(unsigned char *data, uint64_t n_chunks) {
    for (uint64_t i = 0; i < n_chunks; i++)
        MPI_Recv(data, CHUNK, MPI_BYTE, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Send(NULL, 0, MPI_BYTE, 0, 2, MPI_COMM_WORLD);
}

static void report(uint64_t bytes, double seconds, struct counters before, struct counters after) {
    printf("bytes %llu\n", (unsigned long long)bytes);
    printf("seconds %.4f\n", seconds);
    printf("bytes_per_s %.0f\n", (double)bytes / seconds);
    printf("interface_sent %llu\n", after.sent - before.sent);
    printf("interface_received %llu\n", after.received - before.received);
}

/* Returns 1, at every rank, if the last chunk arrived at rank 1 as it was sent. */
static int measure(int rank, uint64_t n_chunks, const char *interface) {
    unsigned char *data = calloc(1, CHUNK);
    if (!data)
        MPI_Abort(MPI_COMM_WORLD, 1);
    for (size_t i = 0; rank == 0 && i < CHUNK; i++)
        data[i] = pattern(i);
    MPI_Barrier(MPI_COMM_WORLD);
    struct counters before = read_counters(interface);
    double start = MPI_Wtime();
    if (rank == 0)
        send_chunks(data, n_chunks);
    else if (rank == 1)
        receive_chunks(data, n_chunks);
    if (rank == 0)
        report(n_chunks * CHUNK, MPI_Wtime() - start, before, read_counters(interface));
    int intact = is_intact(data);
    MPI_Bcast(&intact, 1, MPI_INT, 1, MPI_COMM_WORLD);
    free(data);
    return intact;
}

int main(int argc, char **argv) {
    int rank, n;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &n);
    if (argc != 3 || n < 2)
        MPI_Abort(MPI_COMM_WORLD, 2);
    int ring = run_ring(rank, n);
    int intact = measure(rank, strtoull(argv[1], NULL, 10) / CHUNK, argv[2]);
    if (rank == 0)
        printf("ring %s\ncontent %s\n", ring ? "whole" : "broken", intact ? "intact" : "damaged");
    MPI_Finalize();
    return ring && intact ? 0 : 1;
}
