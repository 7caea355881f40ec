/* SPDX-License-Identifier: MIT */
/*
 * One thread serves all sockets. It keeps the addresses of agents that asked with the right key, in
 * a table of fixed size where a new address may displace another: an agent that misses a call
 * pushes a second later.
 */
#include "collector/echo_server.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/random.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/echo.h"
#include "common/error.h"

#define PEERS_MAX 8192 /* a power of two */
#define PROBES 8
#define AT_ONCE 64

struct peer {
    int fd; /* the socket that received its request; 0: free */
    socklen_t size;
    struct sockaddr_storage address;
};

struct echo_server {
    uint64_t key;
    struct pollfd fds[1 + ECHO_LISTENERS_MAX]; /* the first one wakes the thread */
    nfds_t n_fds;
    struct echo_arrival arrival;
    struct peer *peers; /* owned: PEERS_MAX */
    atomic_bool calling, ending;
    pthread_t thread;
    bool started;
};

int echo_server_new(struct echo_server **ret_server) {
    struct echo_server *server = calloc(1, sizeof *server);
    if (server)
        server->peers = calloc(PEERS_MAX, sizeof *server->peers);
    int fd = server && server->peers ? eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC) : -1;
    if (fd < 0 || getrandom(&server->key, sizeof server->key, 0) != sizeof server->key) {
        int r = server && server->peers ? negative_errno() : -ENOMEM;
        if (fd >= 0)
            close(fd);
        if (server)
            free(server->peers);
        free(server);
        return r;
    }
    server->key = (server->key >> 1) | 1; /* never 0 */
    server->fds[0] = (struct pollfd){.fd = fd, .events = POLLIN};
    server->n_fds = 1;
    *ret_server = server;
    return 0;
}

int echo_server_listen(struct echo_server *server, int beside_fd) {
    struct sockaddr_storage address;
    socklen_t size = sizeof address;
    if (server->n_fds > ECHO_LISTENERS_MAX)
        return -ENOSPC;
    if (getsockname(beside_fd, (struct sockaddr *)&address, &size) < 0)
        return negative_errno();
    int fd = echo_socket(address.ss_family);
    if (fd < 0)
        return fd;
    if (bind(fd, (const struct sockaddr *)&address, size) < 0) {
        int r = negative_errno();
        close(fd);
        return r;
    }
    server->fds[server->n_fds++] = (struct pollfd){.fd = fd, .events = POLLIN};
    return 0;
}

uint64_t echo_server_key(const struct echo_server *server) {
    return server->n_fds > 1 ? server->key : 0;
}

/* ---- peers ---- */

static size_t hash_address(const struct peer *peer) {
    const unsigned char *bytes = (const unsigned char *)&peer->address;
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (socklen_t i = 0; i < peer->size; i++)
        hash = (hash ^ bytes[i]) * UINT64_C(0x100000001b3);
    return (size_t)(hash ^ hash >> 32) & (PEERS_MAX - 1);
}

static bool is_same_peer(const struct peer *a, const struct peer *b) {
    return a->fd == b->fd && a->size == b->size && memcmp(&a->address, &b->address, a->size) == 0;
}

static void remember(struct echo_server *server, const struct peer *peer) {
    size_t first = hash_address(peer);
    for (size_t i = 0; i < PROBES; i++) {
        struct peer *slot = &server->peers[(first + i) & (PEERS_MAX - 1)];
        if (!slot->fd || is_same_peer(slot, peer)) {
            *slot = *peer;
            return;
        }
    }
    server->peers[first] = *peer;
}

/* ---- the thread ---- */

static void send_to(const struct peer *peer, const struct echo *echo) {
    unsigned char bytes[ECHO_SIZE];
    echo_put(bytes, echo);
    sendto(peer->fd, bytes, sizeof bytes, MSG_NOSIGNAL, (const struct sockaddr *)&peer->address,
           peer->size);
}

/* False when the socket has nothing more to read. */
static bool answer_one(struct echo_server *server, int fd) {
    unsigned char bytes[ECHO_SIZE + 1]; /* one byte more: longer datagrams show by their size */
    struct peer peer = {.fd = fd};
    struct echo ask;
    int64_t arrived_ns;
    int n = echo_receive(fd, &server->arrival, bytes, sizeof bytes, &peer.address, &peer.size,
                         &arrived_ns);
    if (n < 0)
        return n == -EINTR;
    if (!echo_get(bytes, (size_t)n, &ask) || ask.kind != ECHO_ASK ||
        !echo_is_authentic(bytes, server->key))
        return true;
    remember(server, &peer);
    send_to(&peer,
            &(struct echo){ECHO_TELL, server->key, ask.id, arrived_ns, clock_monotonic_ns()});
    return true;
}

static void call_all(struct echo_server *server) {
    for (size_t i = 0; i < PEERS_MAX; i++)
        if (server->peers[i].fd)
            send_to(&server->peers[i], &(struct echo){.kind = ECHO_CALL, .key = server->key});
}

void echo_server_hear(struct echo_server *server, int timeout_ms) {
    uint64_t n;
    poll(server->fds, server->n_fds, timeout_ms);
    if (server->fds[0].revents && read(server->fds[0].fd, &n, sizeof n) < 0)
        return;
    if (atomic_exchange(&server->calling, false))
        call_all(server);
    for (nfds_t i = 1; i < server->n_fds; i++)
        for (int k = 0; server->fds[i].revents && k < AT_ONCE; k++)
            if (!answer_one(server, server->fds[i].fd))
                break;
}

static void *serve_sockets(void *arg) {
    struct echo_server *server = arg;
    while (!atomic_load(&server->ending))
        echo_server_hear(server, -1);
    return NULL;
}

int echo_server_start(struct echo_server *server) {
    int error = pthread_create(&server->thread, NULL, serve_sockets, server);
    server->started = error == 0;
    return -error;
}

static void wake(struct echo_server *server) {
    const uint64_t one = 1;
    if (write(server->fds[0].fd, &one, sizeof one) < 0)
        return; /* the counter is full: the thread is awake already */
}

void echo_server_call(struct echo_server *server) {
    atomic_store(&server->calling, true);
    wake(server);
}

void echo_server_free(struct echo_server *server) {
    if (!server)
        return;
    if (server->started) {
        atomic_store(&server->ending, true);
        wake(server);
        pthread_join(server->thread, NULL);
    }
    for (nfds_t i = 0; i < server->n_fds; i++)
        close(server->fds[i].fd);
    explicit_bzero(&server->key, sizeof server->key);
    free(server->peers);
    free(server);
}
