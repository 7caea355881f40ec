/* SPDX-License-Identifier: MIT */
/*
 * Start, end and limits of the server. Each listening address has an event loop of the library; the
 * door hands it connections that have begun a TLS handshake.
 */
#include "collector/server_private.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "collector/credentials.h"
#include "collector/door.h"
#include "collector/echo_server.h"
#include "collector/gate.h"
#include "collector/server_listen.h"
#include "common/clock.h"
#include "common/error.h"

#define CONNECTIONS_MAX 16384u /* less if the process may open fewer descriptors */
#define DESCRIPTORS_KEPT 128u  /* for everything but connections */
#define WAITING_MAX 8192u      /* whose handshake has not begun, or that wait for a slot */
#define STRANGERS_MAX 256u     /* whose handshake has begun, without a key yet */
#define CONNECTIONS_PER_HOST 8u
#define DROPPED_SLACK 64u /* dropped connections that are not closed yet */
#define STRANGER_NS (5 * NS_PER_S)
#define REQUEST_NS (60 * NS_PER_S)
#define CONNECTION_MEMORY (64u << 10) /* for headers and one piece of a body */
#define IDLE_S 30u
#define FINISH_MS 1000

static void on_connection(void *ctx, struct MHD_Connection *connection, void **visitor,
                          enum MHD_ConnectionNotificationCode code) {
    struct server *server = ctx;
    if (code == MHD_CONNECTION_NOTIFY_CLOSED) {
        gate_leave(server->gate, *visitor);
        *visitor = NULL;
        return;
    }
    int fd = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD)->connect_fd;
    *visitor = gate_enter(
        server->gate, fd,
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS)->client_addr);
}

/* From any thread. */
static void on_dropped(void *ctx) {
    writer_refused(((struct server *)ctx)->writer, REFUSED_BUSY);
}

/* From any thread that counts visitors. */
static void on_room(void *ctx) {
    door_room(((struct server *)ctx)->door);
}

static bool has_room_for(void *ctx, const struct sockaddr *from) {
    return gate_expect(((struct server *)ctx)->gate, from);
}

/* ---- life ---- */

/* TLS 1.3 alone: both ends are parts of this project. */
static struct MHD_Daemon *start_daemon(struct server *server) {
    static char priorities[] = "SECURE128:-VERS-ALL:+VERS-TLS1.3";
    const struct credentials *own = server->credentials;
    struct MHD_OptionItem tls[] = {{MHD_OPTION_HTTPS_MEM_KEY, 0, own ? own->key : NULL},
                                   {MHD_OPTION_HTTPS_MEM_CERT, 0, own ? own->certificate : NULL},
                                   {MHD_OPTION_HTTPS_PRIORITIES, 0, priorities},
                                   {MHD_OPTION_END, 0, NULL}};
    return MHD_start_daemon(
        MHD_USE_EPOLL_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_NO_LISTEN_SOCKET |
            MHD_USE_ITC | (own ? MHD_USE_TLS : 0),
        0, NULL, NULL, server_request, server, MHD_OPTION_URI_LOG_CALLBACK, server_request_line,
        server, MHD_OPTION_NOTIFY_COMPLETED, server_completed, NULL, MHD_OPTION_NOTIFY_CONNECTION,
        on_connection, server, MHD_OPTION_CONNECTION_LIMIT, server->connections_max,
        MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)CONNECTION_MEMORY,
        MHD_OPTION_CONNECTION_TIMEOUT, IDLE_S, MHD_OPTION_SIGPIPE_HANDLED_BY_APP, 1,
        MHD_OPTION_ARRAY, own ? tls : tls + 3, MHD_OPTION_END);
}

static unsigned connections_max(void) {
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) < 0 || limit.rlim_cur > CONNECTIONS_MAX + DESCRIPTORS_KEPT)
        return CONNECTIONS_MAX;
    return limit.rlim_cur < 2 * DESCRIPTORS_KEPT ? DESCRIPTORS_KEPT
                                                 : (unsigned)limit.rlim_cur - DESCRIPTORS_KEPT;
}

/* On the door's thread. If it fails, the library closes the connection. */
static void take_connection(void *ctx, size_t i, int fd, const struct sockaddr *from,
                            socklen_t size) {
    struct server *server = ctx;
    MHD_add_connection(server->listeners[i].daemon, fd, from, size);
}

static unsigned at_most(unsigned n, unsigned limit) {
    return n < limit ? n : limit;
}

/* A quarter of the descriptors is for connections that wait at the door. */
static int open_gates(struct server *server) {
    unsigned most = connections_max();
    const struct gate_limits waiting = {.strangers = at_most(most / 4, WAITING_MAX),
                                        .stranger_ns = STRANGER_NS,
                                        .dropped = on_dropped,
                                        .ctx = server};
    const struct door_options door = {.waiting = waiting,
                                      .at_once = !server->credentials,
                                      .may_enter = has_room_for,
                                      .let_in = take_connection,
                                      .ctx = server};
    server->connections_max = most - (unsigned)waiting.strangers;
    unsigned strangers = at_most(most / 4, STRANGERS_MAX);
    const struct gate_limits inside = {.strangers = strangers,
                                       .known = server->connections_max - strangers -
                                                at_most(most / 16, DROPPED_SLACK),
                                       .known_per_host = CONNECTIONS_PER_HOST,
                                       .stranger_ns = STRANGER_NS,
                                       .request_ns = REQUEST_NS,
                                       .dropped = on_dropped,
                                       .room = on_room,
                                       .ctx = server};
    int r = gate_new(&inside, &server->gate);
    return r < 0 ? r : door_new(&door, &server->door);
}

static int add_listener(struct server *server, const char *spec, char *why, size_t why_size) {
    if (server->n_listeners == SERVER_ADDRESSES_MAX) {
        snprintf(why, why_size, "more than %d addresses to listen on", SERVER_ADDRESSES_MAX);
        return -EINVAL;
    }
    struct listener *l = &server->listeners[server->n_listeners];
    int fd = listen_on(spec, l->address, sizeof l->address, why, why_size);
    if (fd < 0)
        return fd;
    echo_server_listen(server->echo, fd); /* agents can work without it */
    int r = door_listen(server->door, fd);
    if (r < 0)
        return close(fd), snprintf(why, why_size, "%s: %s", l->address, strerror(-r)), r;
    l->daemon = start_daemon(server);
    if (!l->daemon) {
        snprintf(why, why_size, "cannot start the HTTP server on %s", l->address);
        return -ENOMEM;
    }
    server->n_listeners++;
    return 0;
}

static int add_listeners(struct server *server, const char *list, char *why, size_t why_size) {
    char copy[1024], *rest = copy, *spec;
    if (strlen(list) >= sizeof copy) {
        snprintf(why, why_size, "the list of addresses is too long");
        return -EINVAL;
    }
    strcpy(copy, list);
    while ((spec = strsep(&rest, ","))) {
        int r = add_listener(server, spec, why, why_size);
        if (r < 0)
            return r;
    }
    return 0;
}

static int check_token(const char *token, char *why, size_t why_size) {
    size_t size = strlen(token);
    bool good = size >= SERVER_TOKEN_MIN && size <= SERVER_TOKEN_MAX;
    for (size_t i = 0; good && i < size; i++)
        good = token[i] > ' ' && token[i] < 127;
    if (good)
        return 0;
    snprintf(why, why_size, "the token must have %d to %d printable characters", SERVER_TOKEN_MIN,
             SERVER_TOKEN_MAX);
    return -EINVAL;
}

static void free_server(struct server *server) {
    door_stop(server->door);
    for (size_t i = 0; i < server->n_listeners; i++)
        MHD_stop_daemon(server->listeners[i].daemon);
    gate_free(server->gate);
    door_free(server->door); /* last: the gate calls it until now */
    echo_server_free(server->echo);
    explicit_bzero(server->token, sizeof server->token);
    free(server);
}

int server_start(const struct server_options *options, struct server **ret_server, char *why,
                 size_t why_size) {
    int r = check_token(options->token, why, why_size);
    if (r < 0)
        return r;
    struct server *server = calloc(1, sizeof *server);
    if (!server) {
        snprintf(why, why_size, "out of memory");
        return -ENOMEM;
    }
    server->writer = options->writer;
    server->credentials = options->credentials;
    snprintf(server->token, sizeof server->token, "%s", options->token);
    r = open_gates(server);
    if (r == 0)
        r = echo_server_new(&server->echo);
    if (r < 0)
        snprintf(why, why_size, "cannot start: %s", strerror(-r));
    else
        r = add_listeners(server, options->listen, why, why_size);
    if (r == 0)
        r = door_start(server->door);
    if (r < 0) {
        free_server(server);
        return r;
    }
    if (echo_server_start(server->echo) == 0)
        atomic_store(&server->echo_key, echo_server_key(server->echo));
    *ret_server = server;
    return 0;
}

const char *server_address(const struct server *server, size_t i) {
    return i < server->n_listeners ? server->listeners[i].address : NULL;
}

void server_ask_stop(struct server *server) {
    atomic_store(&server->stop, true);
    echo_server_call(server->echo);
}

void server_finish(struct server *server) {
    if (!server)
        return;
    door_stop(server->door);
    writer_drain(server->writer);
    int64_t until_ns = clock_monotonic_ns() + FINISH_MS * NS_PER_MS;
    while (atomic_load(&server->requests) > 0 && clock_monotonic_ns() < until_ns)
        poll(NULL, 0, 5);
    free_server(server);
}
