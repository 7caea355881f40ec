/* SPDX-License-Identifier: MIT */
/*
 * Datagrams at both ends. The collector's end gets datagrams of strangers and agents. The agent's
 * end asks our collector, which gives any answer. Real sockets on the loopback device.
 *
 * A piece is 2 bytes, for the action and the end, and 40 of a datagram: the words before its code,
 * or all of a datagram without a key.
 */
#include <arpa/inet.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "agent/push/echo_client.h"
#include "collector/echo_server.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

#define BODY 40
#define PIECE (2 + BODY)
#define PIECES_MAX 64
#define OUR_KEY 77
#define WAIT_MS 1000 /* for a datagram that surely comes */

struct ends {
    struct echo_server *server;
    int agent;     /* connected to the server */
    bool known;    /* it has asked, so the server calls it */
    int collector; /* the client's, which this program plays */
    struct echo_client client;
    struct echo_arrival arrival;
    struct sockaddr_storage asker; /* the client's address, once it has asked */
    socklen_t asker_size;
};

static int bound_socket(int type, struct sockaddr_in *ret_address) {
    socklen_t size = sizeof *ret_address;
    *ret_address =
        (struct sockaddr_in){.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int fd = type == SOCK_DGRAM ? echo_socket(AF_INET) : socket(AF_INET, type | SOCK_CLOEXEC, 0);
    if (fd < 0 || bind(fd, (struct sockaddr *)ret_address, size) < 0 ||
        getsockname(fd, (struct sockaddr *)ret_address, &size) < 0)
        abort();
    return fd;
}

static void open_ends(struct ends *ends) {
    struct sockaddr_in address;
    int beside = bound_socket(SOCK_STREAM, &address);
    struct sockaddr_in own;
    ends->agent = bound_socket(SOCK_DGRAM, &own);
    if (echo_server_new(&ends->server) < 0 || echo_server_listen(ends->server, beside) < 0 ||
        connect(ends->agent, (struct sockaddr *)&address, sizeof address) < 0)
        abort();
    close(beside);
    ends->collector = bound_socket(SOCK_DGRAM, &own);
    echo_client_init(&ends->client);
    if (echo_client_point(&ends->client, "127.0.0.1", ntohs(own.sin_port), OUR_KEY) < 0)
        abort();
}

/* Builds the datagram of a piece; with a key its code is right. Returns its size. */
static size_t make(const uint8_t *piece, uint64_t key, uint8_t bytes[ECHO_SIZE + 1],
                   struct echo *ret_echo) {
    memset(bytes, 0, ECHO_SIZE + 1);
    if (piece[0] & 8) {
        memcpy(bytes, piece + 2, BODY);
        *ret_echo = (struct echo){0};
        return piece[1] % (ECHO_SIZE + 2);
    }
    *ret_echo = (struct echo){.kind = (enum echo_kind)(piece[1] & 3), .key = key};
    memcpy(&ret_echo->id, piece + 2, 8);
    memcpy(&ret_echo->received_ns, piece + 10, 8);
    memcpy(&ret_echo->replied_ns, piece + 18, 8);
    echo_put(bytes, ret_echo);
    return ECHO_SIZE;
}

/* False if nothing comes in that time. */
static bool receive(struct ends *ends, int fd, int wait_ms, struct echo *ret_echo,
                    uint8_t bytes[ECHO_SIZE]) {
    struct pollfd fds = {.fd = fd, .events = POLLIN};
    struct sockaddr_storage from;
    socklen_t from_size;
    int64_t arrived_ns;
    if (poll(&fds, 1, wait_ms) <= 0)
        return false;
    if (echo_receive(fd, &ends->arrival, bytes, ECHO_SIZE, &from, &from_size, &arrived_ns) !=
            ECHO_SIZE ||
        !echo_get(bytes, ECHO_SIZE, ret_echo))
        abort();
    if (fd == ends->collector) {
        ends->asker = from;
        ends->asker_size = from_size;
    }
    return true;
}

/* To the collector's end: a question with its key gets one answer, anything else gets none. */
static void ask_server(struct ends *ends, const uint8_t *piece) {
    uint8_t bytes[ECHO_SIZE + 1], answer[ECHO_SIZE];
    struct echo sent, got;
    uint64_t key = echo_server_key(ends->server);
    size_t n = make(piece, piece[0] & 4 ? key ^ 2 : key, bytes, &sent);
    bool question = n == ECHO_SIZE && sent.kind == ECHO_ASK && sent.key == key;
    if (send(ends->agent, bytes, n, MSG_NOSIGNAL) < 0)
        return;
    echo_server_hear(ends->server, WAIT_MS);
    while (receive(ends, ends->agent, question ? WAIT_MS : 0, &got, answer)) {
        if (!question || got.kind != ECHO_TELL || got.id != sent.id ||
            got.replied_ns < got.received_ns || !echo_is_authentic(answer, key))
            abort();
        question = false;
        ends->known = true;
    }
}

/* Agents that have asked are called. */
static void call(struct ends *ends) {
    uint8_t bytes[ECHO_SIZE];
    struct echo got;
    echo_server_call(ends->server);
    echo_server_hear(ends->server, WAIT_MS);
    if (receive(ends, ends->agent, ends->known ? WAIT_MS : 0, &got, bytes) != ends->known ||
        (ends->known && got.kind != ECHO_CALL))
        abort();
}

static bool is_pending(const struct echo_client *client, uint64_t id) {
    return id && client->pending[id % ECHO_PENDING].id == id;
}

/* To the agent's end: only an answer with the key to its question is accepted, and once. */
static void tell_client(struct ends *ends, const uint8_t *piece) {
    uint8_t bytes[ECHO_SIZE + 1];
    struct echo sent;
    struct echo_heard heard;
    uint8_t copy[PIECE];
    memcpy(copy, piece, PIECE);
    if (!(piece[0] & 16))
        memcpy(copy + 2, &ends->client.pending[piece[1] >> 2 & 7].id, 8);
    size_t n = make(copy, piece[0] & 4 ? OUR_KEY ^ 2 : OUR_KEY, bytes, &sent);
    bool ours = n == ECHO_SIZE && sent.key == OUR_KEY;
    bool wanted = ours && sent.kind == ECHO_TELL && is_pending(&ends->client, sent.id);
    sendto(ends->collector, bytes, n, MSG_NOSIGNAL, (struct sockaddr *)&ends->asker,
           ends->asker_size);
    poll(&(struct pollfd){.fd = ends->client.fd, .events = POLLIN}, 1, WAIT_MS);
    echo_client_hear(&ends->client, &heard);
    if ((heard.exchanged && (!wanted || heard.result.error_ns <= 0)) ||
        (heard.called && !(ours && sent.kind == ECHO_CALL)) ||
        (wanted && is_pending(&ends->client, sent.id)))
        abort();
}

static void ask_collector(struct ends *ends, unsigned n) {
    uint8_t bytes[ECHO_SIZE];
    struct echo got;
    echo_client_ask(&ends->client, n);
    for (unsigned i = 0; i < n && receive(ends, ends->collector, WAIT_MS, &got, bytes); i++)
        if (got.kind != ECHO_ASK || !echo_is_authentic(bytes, OUR_KEY))
            abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n) {
    static struct ends ends;
    if (!ends.server)
        open_ends(&ends);
    ask_collector(&ends, 1); /* the client's address is known from then on */
    for (size_t i = 0; i < PIECES_MAX && n >= PIECE; i++, data += PIECE, n -= PIECE) {
        switch (data[0] & 3) {
        case 0:
            ask_server(&ends, data);
            break;
        case 1:
            tell_client(&ends, data);
            break;
        case 2:
            ask_collector(&ends, data[1] & 7);
            break;
        default:
            call(&ends);
        }
    }
    return 0;
}
