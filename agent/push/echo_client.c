/* SPDX-License-Identifier: MIT */
#include "agent/push/echo_client.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/error.h"

void echo_client_init(struct echo_client *client) {
    *client = (struct echo_client){.fd = -1};
}

void echo_client_release(struct echo_client *client) {
    if (client->fd >= 0)
        close(client->fd);
    echo_client_init(client);
}

static socklen_t parse_address(const char *text, uint16_t port, struct sockaddr_storage *to) {
    struct sockaddr_in *v4 = (struct sockaddr_in *)to;
    struct sockaddr_in6 *v6 = (struct sockaddr_in6 *)to;
    memset(to, 0, sizeof *to);
    if (inet_pton(AF_INET, text, &v4->sin_addr) == 1) {
        v4->sin_family = AF_INET;
        v4->sin_port = htons(port);
        return sizeof *v4;
    }
    if (inet_pton(AF_INET6, text, &v6->sin6_addr) == 1) {
        v6->sin6_family = AF_INET6;
        v6->sin6_port = htons(port);
        return sizeof *v6;
    }
    return 0;
}

static int open_towards(struct echo_client *client, const char *address, uint16_t port) {
    struct sockaddr_storage to;
    socklen_t size = parse_address(address, port, &to);
    if (!size)
        return -EINVAL;
    int fd = echo_socket(to.ss_family);
    if (fd < 0)
        return fd;
    if (connect(fd, (const struct sockaddr *)&to, size) < 0 ||
        getrandom(&client->next_id, sizeof client->next_id, 0) != sizeof client->next_id) {
        int r = negative_errno();
        close(fd);
        return r;
    }
    client->fd = fd;
    return 0;
}

int echo_client_point(struct echo_client *client, const char *address, uint16_t port,
                      uint64_t key) {
    bool same = strcmp(client->address, address) == 0 && client->port == port;
    if (same && client->key == key)
        return 0;
    echo_client_release(client);
    snprintf(client->address, sizeof client->address, "%s", address);
    client->port = port;
    client->key = key;
    return key ? open_towards(client, address, port) : 0;
}

/* Reads the clock last: a delay before the question only widens the bound. */
static void ask_one(struct echo_client *client) {
    unsigned char bytes[ECHO_SIZE];
    uint64_t id = ++client->next_id ? client->next_id : ++client->next_id;
    echo_put(bytes, &(struct echo){.kind = ECHO_ASK, .key = client->key, .id = id});
    client->pending[id % ECHO_PENDING].id = id;
    client->pending[id % ECHO_PENDING].sent_ns = clock_monotonic_ns();
    if (send(client->fd, bytes, sizeof bytes, MSG_NOSIGNAL) < 0)
        client->pending[id % ECHO_PENDING].id = 0;
}

void echo_client_ask(struct echo_client *client, unsigned n) {
    for (unsigned i = 0; client->fd >= 0 && i < n; i++)
        ask_one(client);
}

static void take_answer(struct echo_client *client, const struct echo *tell, int64_t arrived_ns,
                        struct echo_heard *heard) {
    size_t slot = tell->id % ECHO_PENDING;
    if (!tell->id || client->pending[slot].id != tell->id)
        return;
    const struct exchange exchange = {client->pending[slot].sent_ns, tell->received_ns,
                                      tell->replied_ns, arrived_ns};
    struct exchange_result result;
    client->pending[slot].id = 0;
    if (!exchange_solve(&exchange, &result) ||
        (heard->exchanged && heard->result.error_ns <= result.error_ns))
        return;
    heard->exchanged = true;
    heard->result = result;
    heard->heard_ns = arrived_ns;
}

void echo_client_hear(struct echo_client *client, struct echo_heard *ret_heard) {
    unsigned char bytes[ECHO_SIZE + 1];
    struct echo echo;
    int64_t arrived_ns;
    *ret_heard = (struct echo_heard){0};
    /* Reads at most as many as can have been asked for, and some calls: no sender can keep the loop
     * busy. */
    for (int i = 0; client->fd >= 0 && i < 4 * ECHO_PENDING; i++) {
        int n = echo_receive(client->fd, &client->arrival, bytes, sizeof bytes, NULL, NULL,
                             &arrived_ns);
        if (n == -EAGAIN)
            return;
        if (n < 0 || !echo_get(bytes, (size_t)n, &echo) || !echo_is_authentic(bytes, client->key))
            continue; /* an error of an earlier datagram, or a foreign one */
        if (echo.kind == ECHO_TELL)
            take_answer(client, &echo, arrived_ns, ret_heard);
        ret_heard->called |= echo.kind == ECHO_CALL;
    }
}
