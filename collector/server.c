/* SPDX-License-Identifier: MIT */
/*
 * One event loop a listening address; the answer to a push is held back (its connection suspended)
 * until the writer has committed it.
 *
 * A request that is refused is still read to its end, within the limit of a body: closing a socket
 * on unread bytes resets the connection and may take the answer along. Only a body announced as
 * too large is answered at once. A body must announce its length: bounded memory is then a
 * decision taken before the first byte of it, not in its middle.
 */
#include "collector/server.h"

#include <inttypes.h>
#include <microhttpd.h>
#include <poll.h>
#include <stdatomic.h>
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
#include "common/buffer.h"
#include "common/clock.h"
#include "common/error.h"
#include "common/text.h"

#define BODIES_MAX (256u << 20) /* bytes of all bodies on their way */
#define CONNECTIONS_MAX 16384u  /* fewer where descriptors are */
#define DESCRIPTORS_KEPT 128u   /* for all that is no connection */
#define WAITING_MAX 1024u       /* that have not begun to shake hands */
#define STRANGERS_MAX 256u      /* that have, and have shown no key */
#define CONNECTIONS_PER_HOST 8u
#define DROPPED_SLACK 64u /* dropped, and not yet closed */
#define STRANGER_NS (5 * NS_PER_S)
#define REQUEST_NS (60 * NS_PER_S)
#define CONNECTION_MEMORY (64u << 10) /* headers, and the piece of a body read at once */
#define IDLE_S 30u
#define FINISH_MS 1000

struct listener {
    struct MHD_Daemon *daemon; /* does not listen itself: the door hands it connections */
    char address[SERVER_ADDRESS_TEXT_MAX];
};

struct server {
    char token[SERVER_TOKEN_MAX + 1];
    const struct credentials *credentials;
    struct writer *writer;
    struct gate *gate; /* owned */
    struct door *door; /* owned */
    unsigned connections_max;
    struct listener listeners[SERVER_ADDRESSES_MAX];
    size_t n_listeners;
    struct echo_server *echo;      /* owned */
    atomic_uint_fast64_t echo_key; /* 0 until it runs */
    atomic_bool stop;
    atomic_size_t body_bytes; /* of all requests */
    atomic_size_t requests;   /* begun and not yet answered */
};

/* From the request line to the end of its answer. */
struct request {
    struct write_job job; /* first: done() gets its address */
    struct server *server;
    struct MHD_Connection *connection;
    struct visitor *visitor;
    int64_t received_ns;
    struct buffer body;
    size_t length;   /* announced, and counted in body_bytes */
    unsigned status; /* 0 while nothing speaks against it */
    const char *why;
    bool opened, submitted;
};

/* ---- what is let in ---- */

/* In a time that does not depend on where the texts differ; that their lengths do, all may know. */
static bool equal_in_constant_time(const char *a, const char *b) {
    size_t a_size = strlen(a), b_size = strlen(b);
    volatile unsigned char difference = a_size != b_size;
    for (size_t i = 0; i < a_size; i++)
        difference |= (unsigned char)(a[i] ^ b[b_size ? i % b_size : 0]);
    return difference == 0;
}

static const char *header(const struct request *q, const char *name) {
    return MHD_lookup_connection_value(q->connection, MHD_HEADER_KIND, name);
}

/* Whether it has the key of the host that it names. */
static bool is_authorized(struct request *q) {
    const char *host = header(q, "Chokepoint-Host");
    const char *value = header(q, MHD_HTTP_HEADER_AUTHORIZATION);
    char key[HOST_KEY_SIZE], expected[HOST_KEY_SIZE + 8];
    if (!host || !value || strlen(host) > INSTANCE_MAX ||
        credentials_host_key(q->server->token, host, key) < 0)
        return false;
    snprintf(expected, sizeof expected, "Bearer %s", key);
    if (!equal_in_constant_time(value, expected))
        return false;
    snprintf(q->job.push.sender, sizeof q->job.push.sender, "%s", host);
    return true;
}

static void refuse(struct request *q, unsigned status, enum refusal refusal, const char *why) {
    q->status = status;
    q->why = why;
    writer_refused(q->server->writer, refusal);
}

static bool is_chunked(const struct request *q) {
    return header(q, MHD_HTTP_HEADER_TRANSFER_ENCODING) != NULL;
}

static void check_length(struct request *q) {
    const char *text = header(q, MHD_HTTP_HEADER_CONTENT_LENGTH);
    uint64_t length;
    if (!text || text_parse_u64(text, &length) < 0 || is_chunked(q))
        return refuse(q, MHD_HTTP_LENGTH_REQUIRED, REFUSED_BAD_REQUEST,
                      "a body must announce its length");
    if (length > INGEST_BODY_MAX)
        return refuse(q, MHD_HTTP_CONTENT_TOO_LARGE, REFUSED_TOO_LARGE,
                      "a body may have 4 MiB at most");
    q->length = (size_t)length;
    if (atomic_fetch_add(&q->server->body_bytes, q->length) + q->length > BODIES_MAX)
        return refuse(q, MHD_HTTP_SERVICE_UNAVAILABLE, REFUSED_BUSY, "too much at once");
    if (buffer_reserve(&q->body, q->length) < 0)
        refuse(q, MHD_HTTP_SERVICE_UNAVAILABLE, REFUSED_BUSY, "out of memory");
}

/* "MONO OFFSET ERROR" in ns. Anything else is taken as no estimate. */
static void read_clock(struct request *q) {
    const char *text = header(q, "Chokepoint-Clock");
    if (!text)
        return;
    const char *end = text + strlen(text);
    struct clock_estimate e;
    if (text_i64(&text, end, &e.mono_ns) && text_i64(&text, end, &e.offset_ns) &&
        text_i64(&text, end, &e.error_ns) && text == end && clock_estimate_valid(&e)) {
        q->job.push.clock = e;
        q->job.push.have_clock = true;
    }
}

static void open_request(struct request *q, const char *url, const char *method) {
    q->opened = true;
    if (!is_authorized(q))
        return refuse(q, MHD_HTTP_UNAUTHORIZED, REFUSED_UNAUTHORIZED,
                      header(q, "Chokepoint-Host") ? "not the key of this host"
                                                   : "no host is named: is this the agent of "
                                                     "another version?");
    gate_know(q->server->gate, q->visitor, q->job.push.sender);
    gate_request_begins(q->server->gate, q->visitor);
    if (strcmp(url, "/v1/frames") != 0)
        return refuse(q, MHD_HTTP_NOT_FOUND, REFUSED_BAD_REQUEST, "there is only /v1/frames");
    if (strcmp(method, MHD_HTTP_METHOD_POST) != 0)
        return refuse(q, MHD_HTTP_METHOD_NOT_ALLOWED, REFUSED_BAD_REQUEST, "frames are POSTed");
    const char *final = header(q, "Chokepoint-Final");
    q->job.push.final = final && strcmp(final, "1") == 0;
    read_clock(q);
    check_length(q);
}

/* Whether so much is announced that it is not worth reading to its end. */
static bool is_not_worth_reading(const struct request *q) {
    const char *text = header(q, MHD_HTTP_HEADER_CONTENT_LENGTH);
    uint64_t length;
    if (is_chunked(q))
        return true;
    return text && (text_parse_u64(text, &length) < 0 || length > INGEST_BODY_MAX);
}

/* ---- answers ---- */

static unsigned status_of(const struct request *q) {
    if (q->status)
        return q->status;
    if (q->job.result == 0)
        return MHD_HTTP_OK;
    return q->job.result == -EBADMSG || q->job.result == -EUSERS ? MHD_HTTP_BAD_REQUEST
                                                                 : MHD_HTTP_SERVICE_UNAVAILABLE;
}

static int format_answer(const struct request *q, unsigned status, char *text, size_t size) {
    if (status != MHD_HTTP_OK)
        return snprintf(text, size, "%s\n", q->why ? q->why : q->job.push.why);
    uint64_t key = atomic_load(&q->server->echo_key);
    int stop = atomic_load(&q->server->stop);
    return snprintf(text, size,
                    "committed %" PRIu64 "\nreceived_ns %" PRId64 "\nreplied_ns %" PRId64
                    "\nstop %d\necho %" PRIu64 "\n",
                    q->job.push.committed, q->received_ns, clock_monotonic_ns(), stop, key);
}

static enum MHD_Result answer(struct request *q) {
    char text[256];
    unsigned status = status_of(q);
    int size = format_answer(q, status, text, sizeof text);
    struct MHD_Response *response =
        MHD_create_response_from_buffer((size_t)size, text, MHD_RESPMEM_MUST_COPY);
    if (!response)
        return MHD_NO;
    MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, "text/plain");
    if (status == MHD_HTTP_UNAUTHORIZED)
        MHD_add_response_header(response, MHD_HTTP_HEADER_WWW_AUTHENTICATE, "Bearer");
    if (status == MHD_HTTP_METHOD_NOT_ALLOWED)
        MHD_add_response_header(response, MHD_HTTP_HEADER_ALLOW, MHD_HTTP_METHOD_POST);
    enum MHD_Result queued = MHD_queue_response(q->connection, status, response);
    MHD_destroy_response(response);
    return queued;
}

/* On the writer's thread: the event loop goes on with this connection. */
static void job_done(struct write_job *job) {
    struct request *q = (struct request *)job;
    MHD_resume_connection(q->connection);
}

static enum MHD_Result submit(struct request *q) {
    q->submitted = true;
    gate_request_ends(q->server->gate, q->visitor);
    q->job.push.body = q->body.data;
    q->job.push.size = q->body.size;
    q->job.done = job_done;
    MHD_suspend_connection(q->connection);
    if (writer_submit(q->server->writer, &q->job) < 0) {
        refuse(q, MHD_HTTP_SERVICE_UNAVAILABLE, REFUSED_BUSY, "the collector is ending");
        MHD_resume_connection(q->connection);
    }
    return MHD_YES;
}

/* ---- what the library calls ---- */

static void *on_request_line(void *ctx, const char *uri, struct MHD_Connection *connection) {
    (void)uri;
    struct request *q = calloc(1, sizeof *q);
    if (!q)
        return NULL;
    q->server = ctx;
    q->connection = connection;
    q->visitor =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT)->socket_context;
    q->received_ns = clock_monotonic_ns();
    buffer_init(&q->body);
    atomic_fetch_add(&q->server->requests, 1);
    return q;
}

static enum MHD_Result on_request(void *ctx, struct MHD_Connection *connection, const char *url,
                                  const char *method, const char *version, const char *data,
                                  size_t *size, void **request) {
    (void)ctx, (void)connection, (void)version;
    struct request *q = *request;
    if (!q || !q->visitor)
        return MHD_NO;
    if (!q->opened) {
        open_request(q, url, method);
        return q->status && is_not_worth_reading(q) ? answer(q) : MHD_YES;
    }
    if (*size > 0) {
        if (*size > q->length - q->body.size && !q->status)
            return MHD_NO;
        if (!q->status)
            buffer_put(&q->body, data, *size);
        *size = 0;
        return MHD_YES;
    }
    return q->status || q->submitted ? answer(q) : submit(q);
}

static void on_completed(void *ctx, struct MHD_Connection *connection, void **request,
                         enum MHD_RequestTerminationCode code) {
    (void)ctx, (void)connection, (void)code;
    struct request *q = *request;
    if (!q)
        return;
    if (q->visitor)
        gate_request_ends(q->server->gate, q->visitor);
    atomic_fetch_sub(&q->server->body_bytes, q->length);
    atomic_fetch_sub(&q->server->requests, 1);
    buffer_release(&q->body);
    free(q);
    *request = NULL;
}

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

/* ---- life ---- */

/* TLS 1.3 alone: both ends are ours. */
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
        0, NULL, NULL, on_request, server, MHD_OPTION_URI_LOG_CALLBACK, on_request_line, server,
        MHD_OPTION_NOTIFY_COMPLETED, on_completed, NULL, MHD_OPTION_NOTIFY_CONNECTION,
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

/* On the door's thread. When it fails the library closes the connection. */
static void let_in(void *ctx, size_t i, int fd, const struct sockaddr *from, socklen_t size) {
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
    const struct door_options door = {waiting, !server->credentials, let_in, server};
    server->connections_max = most - (unsigned)waiting.strangers;
    unsigned strangers = at_most(most / 4, STRANGERS_MAX);
    const struct gate_limits inside = {.strangers = strangers,
                                       .known = server->connections_max - strangers -
                                                at_most(most / 16, DROPPED_SLACK),
                                       .known_per_host = CONNECTIONS_PER_HOST,
                                       .stranger_ns = STRANGER_NS,
                                       .request_ns = REQUEST_NS,
                                       .dropped = on_dropped,
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
    echo_server_listen(server->echo, fd); /* agents can do without it */
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
    door_free(server->door);
    for (size_t i = 0; i < server->n_listeners; i++)
        MHD_stop_daemon(server->listeners[i].daemon);
    gate_free(server->gate);
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
    door_free(server->door);
    server->door = NULL;
    writer_drain(server->writer);
    int64_t until_ns = clock_monotonic_ns() + FINISH_MS * NS_PER_MS;
    while (atomic_load(&server->requests) > 0 && clock_monotonic_ns() < until_ns)
        poll(NULL, 0, 5);
    free_server(server);
}
