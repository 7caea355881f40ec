/* SPDX-License-Identifier: MIT */
/*
 * Capacity of rank 0's links, by plain TCP sockets: rank 0 sends BYTES to every other rank at once,
 * then receives as much from each, then both at the same time, when acknowledgements have to share
 * the links with the other direction's data. MPI only starts the ranks and tells them the address.
 * Usage, on all ranks: raw_link INTERFACE BYTES. Prints "out_bytes_per_s X", "in_bytes_per_s Y"
 * (sums of payload), and "both_bytes_per_s Z", of each direction.
 */
#include <arpa/inet.h>
#include <ifaddrs.h>
#include <mpi.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define BLOCK (1 << 18)
#define MAX_PEERS 128

static char block[BLOCK];

static void give_up(const char *what) {
    perror(what);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

static struct sockaddr_in own_address(const char *interface) {
    struct sockaddr_in address = {0};
    struct ifaddrs *all;
    if (getifaddrs(&all) < 0)
        give_up("getifaddrs");
    for (struct ifaddrs *i = all; i; i = i->ifa_next)
        if (i->ifa_addr && i->ifa_addr->sa_family == AF_INET && strcmp(i->ifa_name, interface) == 0)
            memcpy(&address, i->ifa_addr, sizeof address);
    freeifaddrs(all);
    return address;
}

static int listen_at(struct sockaddr_in *address) {
    socklen_t size = sizeof *address;
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    if (bind(fd, (struct sockaddr *)address, size) < 0 || listen(fd, MAX_PEERS) < 0 ||
        getsockname(fd, (struct sockaddr *)address, &size) < 0)
        give_up("listen");
    return fd;
}

/* One socket: remaining bytes to send and to receive. */
struct flow {
    size_t out, in;
};

static size_t block_of(size_t left) {
    return left < BLOCK ? left : BLOCK;
}

static void step(const struct pollfd *p, struct flow *f) {
    ssize_t n;
    if ((p->revents & (POLLIN | POLLHUP | POLLERR)) && f->in) {
        if ((n = recv(p->fd, block, block_of(f->in), MSG_DONTWAIT)) <= 0)
            give_up("recv");
        f->in -= (size_t)n;
    }
    if ((p->revents & POLLOUT) && f->out) {
        if ((n = send(p->fd, block, block_of(f->out), MSG_DONTWAIT)) <= 0)
            give_up("send");
        f->out -= (size_t)n;
    }
}

/* Sends and receives that many bytes over each socket, all at once. */
static void move(const int *fds, int n, size_t out, size_t in) {
    struct pollfd polls[MAX_PEERS];
    struct flow flows[MAX_PEERS];
    for (int i = 0; i < n; i++)
        flows[i] = (struct flow){out, in};
    for (;;) {
        int open = 0;
        for (int i = 0; i < n; i++) {
            short events = (short)((flows[i].out ? POLLOUT : 0) | (flows[i].in ? POLLIN : 0));
            polls[i] = (struct pollfd){.fd = events ? fds[i] : -1, .events = events};
            open += events != 0;
        }
        if (!open)
            return;
        if (poll(polls, (nfds_t)n, -1) < 0)
            give_up("poll");
        for (int i = 0; i < n; i++)
            step(&polls[i], &flows[i]);
    }
}

static double now_s(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* For "out" and "both": until each receiver reports that it has everything. */
static void measure(const int *fds, int n, size_t bytes) {
    double start = now_s();
    move(fds, n, bytes, 0);
    move(fds, n, 0, 1);
    double sent = now_s();
    move(fds, n, 1, 0);
    move(fds, n, 0, bytes);
    double received = now_s();
    move(fds, n, 1, 0);
    move(fds, n, bytes, bytes);
    move(fds, n, 0, 1);
    double end = now_s();
    printf("out_bytes_per_s %.0f\nin_bytes_per_s %.0f\nboth_bytes_per_s %.0f\n",
           (double)bytes * n / (sent - start), (double)bytes * n / (received - sent),
           (double)bytes * n / (end - received));
}

static void answer(struct sockaddr_in address, size_t bytes) {
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    if (connect(fd, (struct sockaddr *)&address, sizeof address) < 0)
        give_up("connect");
    move(&fd, 1, 0, bytes);
    move(&fd, 1, 1, 0);
    move(&fd, 1, 0, 1);
    move(&fd, 1, bytes, 0);
    move(&fd, 1, 0, 1);
    move(&fd, 1, bytes, bytes);
    move(&fd, 1, 1, 0);
    close(fd);
}

int main(int argc, char **argv) {
    struct sockaddr_in address = {0};
    int rank, n, listener = -1, fds[MAX_PEERS];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &n);
    if (argc != 3 || n < 2 || n > MAX_PEERS)
        MPI_Abort(MPI_COMM_WORLD, 2);
    if (rank == 0) {
        address = own_address(argv[1]);
        listener = listen_at(&address);
    }
    MPI_Bcast(&address, sizeof address, MPI_BYTE, 0, MPI_COMM_WORLD);
    size_t bytes = strtoull(argv[2], NULL, 10);
    if (rank == 0) {
        for (int i = 0; i < n - 1; i++)
            fds[i] = accept(listener, NULL, NULL);
        measure(fds, n - 1, bytes);
    } else {
        answer(address, bytes);
    }
    MPI_Finalize();
    return 0;
}
