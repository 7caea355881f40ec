/* SPDX-License-Identifier: MIT */
/* The server over real sockets; the test writes requests by hand, so that they can be wrong. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <arpa/inet.h>
#include <cmocka.h>
#include <netinet/in.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "collector/credentials.h"
#include "collector/server.h"
#include "collector/server_listen.h"
#include "collector/server_private.h"
#include "common/clock.h"
#include "tests/unit/frames.h"
#include "tests/unit/stored_number.h"

#define TOKEN "00112233445566778899aabbccddeeff"

struct fixture {
    char dir[32], db[48], events[4096];
    struct store *store;
    int64_t run;
    struct writer *writer;
    struct server *server;
    unsigned short port;
};

static void on_event(void *ctx, const char *line) {
    struct fixture *f = ctx;
    size_t used = strlen(f->events);
    snprintf(f->events + used, sizeof f->events - used, "%s\n", line);
}

static struct fixture *open_run(void) {
    struct fixture *f = calloc(1, sizeof *f);
    strcpy(f->dir, "/tmp/server-XXXXXX");
    assert_non_null(mkdtemp(f->dir));
    snprintf(f->db, sizeof f->db, "%s/x.db", f->dir);
    const struct run_begin begin = {
        .command = "true", .wall_ns = 1, .mono_ns = 1, .period_ns = 100000000};
    assert_int_equal(store_open_write(f->db, &f->store, NULL, 0), 0);
    assert_int_equal(store_run_begin(f->store, &begin, &f->run), 0);
    return f;
}

static int serve(struct fixture *f) {
    char why[200] = "";
    const struct writer_options writer = {
        .store = f->store, .run = f->run, .event = on_event, .event_ctx = f};
    assert_int_equal(writer_start(&writer, &f->writer), 0);
    const struct server_options server = {"127.0.0.1:0", TOKEN, f->writer, NULL};
    assert_int_equal(server_start(&server, &f->server, why, sizeof why), 0);
    f->port = (unsigned short)atoi(strrchr(server_address(f->server, 0), ':') + 1);
    assert_null(server_address(f->server, 1));
    return 0;
}

static int setup(void **state) {
    *state = open_run();
    return serve(*state);
}

/* vm1 has as many streams as a host may have. */
static int setup_full(void **state) {
    struct fixture *f = *state = open_run();
    struct wire_stream stream = {.host = "vm1",
                                 .boot_id = "01234567-89ab-cdef-0123-456789abcdef",
                                 .stream_id = 1000,
                                 .period_ns = 100000000};
    int64_t host, id;
    assert_int_equal(store_begin(f->store), 0);
    for (int i = 0; i < STORE_STREAMS_MAX; i++, stream.stream_id++)
        assert_int_equal(store_stream(f->store, f->run, &stream, &host, &id), 0);
    assert_int_equal(store_commit(f->store), 0);
    return serve(f);
}

static void stop(struct fixture *f) {
    server_finish(f->server);
    writer_free(f->writer);
    store_close(f->store);
    f->server = NULL;
    f->writer = NULL;
    f->store = NULL;
}

static int teardown(void **state) {
    struct fixture *f = *state;
    stop(f);
    unlink(f->db);
    rmdir(f->dir);
    free(f);
    return 0;
}

/* ---- a client ---- */

static int connect_to(const char *address, unsigned short port) {
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(port)};
    inet_pton(AF_INET, address, &to.sin_addr);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_true(fd >= 0);
    if (connect(fd, (struct sockaddr *)&to, sizeof to) == 0)
        return fd;
    close(fd);
    return -1;
}

static void send_all(int fd, const void *data, size_t size) {
    for (size_t sent = 0; sent < size;) {
        ssize_t n = send(fd, (const char *)data + sent, size - sent, MSG_NOSIGNAL);
        if (n <= 0)
            return; /* the server may have closed */
        sent += (size_t)n;
    }
}

/* Reads one answer: its status, its body in ret_text. 0 if the connection ended without one. */
static int read_answer(int fd, char *ret_text, size_t capacity) {
    char head[2048];
    size_t size = 0, length = 0;
    int status = 0;
    head[0] = '\0';
    while (!strstr(head, "\r\n\r\n")) {
        if (size + 1 == sizeof head || recv(fd, head + size, 1, 0) != 1)
            return 0;
        head[++size] = '\0';
    }
    assert_int_equal(sscanf(head, "HTTP/1.1 %d", &status), 1);
    const char *field = strcasestr(head, "\r\nContent-Length: ");
    if (field)
        length = (size_t)atoi(field + 18);
    assert_true(length < capacity);
    for (size = 0; size < length; size++)
        assert_int_equal(recv(fd, ret_text + size, 1, 0), 1);
    ret_text[length] = '\0';
    return status;
}

static void send_request(int fd, const char *fields, const void *body, size_t size) {
    char head[1024];
    int n = snprintf(head, sizeof head,
                     "POST /v1/frames HTTP/1.1\r\nHost: x\r\n%sContent-Length: %zu\r\n\r\n", fields,
                     size);
    send_all(fd, head, (size_t)n);
    send_all(fd, body, size);
}

/* HMAC-SHA256 of the names under TOKEN, by Python's hmac. */
#define KEY_OF_VM1 "545ff76dc1a8a9de09fb96614867c5bc"
#define KEY_OF_VM2 "1ec159429cf1a4d5ebc508b488cd8541"
#define OF_VM1 "Chokepoint-Host: vm1\r\n"
#define AUTHORIZED OF_VM1 "Authorization: Bearer " KEY_OF_VM1 "\r\n"

struct answer {
    int status;
    char text[512];
};

static struct answer post(const struct fixture *f, const char *fields, const struct buffer *body) {
    struct answer answer = {0};
    int fd = connect_to("127.0.0.1", f->port);
    send_request(fd, fields, body->data, body->size);
    answer.status = read_answer(fd, answer.text, sizeof answer.text);
    close(fd);
    return answer;
}

static struct answer say(const struct fixture *f, const char *request) {
    struct answer answer = {0};
    int fd = connect_to("127.0.0.1", f->port);
    send_all(fd, request, strlen(request));
    answer.status = read_answer(fd, answer.text, sizeof answer.text);
    close(fd);
    return answer;
}

static struct buffer body_of(const char *host, uint64_t first, uint64_t last) {
    struct buffer body = {0};
    frames_open(&body, host, 7, &frames_cpu);
    frames_put_many(&body, &frames_cpu, first, last);
    return body;
}

static int64_t refused(struct fixture *f, const char *kind) {
    char query[128];
    stop(f); /* writes the counts */
    snprintf(query, sizeof query, "SELECT coalesce(sum(n), 0) FROM refused WHERE kind = '%s'",
             kind);
    return stored_number(f->db, query);
}

/* ---- claims ---- */

static void an_answer_leaves_after_its_commit(void **state) {
    struct fixture *f = *state;
    AUTO(buffer_release) struct buffer body = body_of("vm1", 1, 5);
    struct answer answer = post(f, AUTHORIZED, &body);
    assert_int_equal(answer.status, 200);
    assert_int_equal(stored_number(f->db, "SELECT max(seq) FROM frame"), 5);
    unsigned long long seq, received, replied;
    int stop_asked;
    assert_int_equal(sscanf(answer.text,
                            "committed %llu\nreceived_ns %llu\nreplied_ns %llu\nstop %d\n", &seq,
                            &received, &replied, &stop_asked),
                     4);
    assert_int_equal(seq, 5);
    assert_true(received <= replied);
    assert_int_equal(stop_asked, 0);
    assert_string_equal(f->events, "host vm1\n");
}

static int by_number(const void *a, const void *b) {
    long long x = *(const long long *)a, y = *(const long long *)b;
    return (x > y) - (x < y);
}

/* When the host should push next, by the collector's clock; -1: when it likes. */
static long long next_push_of(struct fixture *f, unsigned number, uint64_t seq) {
    char name[16], key[HOST_KEY_SIZE], headers[256];
    long long replied, next;
    snprintf(name, sizeof name, "vm%u", number);
    credentials_host_key(TOKEN, name, key);
    snprintf(headers, sizeof headers, "Chokepoint-Host: %s\r\nAuthorization: Bearer %s\r\n", name,
             key);
    AUTO(buffer_release) struct buffer body = body_of(name, seq, seq);
    struct answer answer = post(f, headers, &body);
    assert_int_equal(answer.status, 200);
    assert_int_equal(sscanf(strstr(answer.text, "replied_ns"), "replied_ns %lld", &replied), 1);
    assert_int_equal(sscanf(strstr(answer.text, "next_ns"), "next_ns %lld", &next), 1);
    assert_true(next == 0 || (next >= NS_PER_S / 2 && next < 3 * NS_PER_S / 2));
    return next ? replied + next : -1;
}

#define MANY 90

static void pushes_of_many_hosts_are_spread_over_the_second(void **state) {
    struct fixture *f = *state;
    long long at[MANY + 1], widest = 0;
    for (unsigned i = 0; i < MANY; i++)
        assert_int_equal(next_push_of(f, i, 1) < 0, i < 64);
    for (unsigned i = 0; i < MANY; i++)
        at[i] = next_push_of(f, i, 2) % NS_PER_S;
    qsort(at, MANY, sizeof *at, by_number);
    at[MANY] = at[0] + NS_PER_S;
    for (unsigned i = 0; i < MANY; i++)
        widest = at[i + 1] - at[i] > widest ? at[i + 1] - at[i] : widest;
    assert_true(widest < 3 * NS_PER_S / MANY);
}

/* About as many in each second, and each host once in the interval. */
static void a_thousand_hosts_more_push_a_second_less_often(void **state) {
    (void)state;
    static const struct {
        uint64_t n_hosts;
        int64_t interval_s;
    } cases[] = {{65, 1}, {1024, 1}, {1025, 2}, {4096, 4}};
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        unsigned of_second[4] = {0}, usual = (unsigned)(cases[i].n_hosts / cases[i].interval_s);
        int64_t interval_ns = cases[i].interval_s * NS_PER_S;
        for (uint64_t host = 0; host < cases[i].n_hosts; host++) {
            const struct ingest_push push = {.host_number = host, .n_hosts = cases[i].n_hosts};
            int64_t now_ns = 7 * NS_PER_S + NS_PER_S / 3;
            int64_t next_ns = server_next_push_ns(&push, now_ns);
            assert_in_range(next_ns, NS_PER_S / 2, interval_ns + NS_PER_S / 2 - 1);
            assert_int_equal(server_next_push_ns(&push, now_ns + next_ns), interval_ns);
            of_second[(now_ns + next_ns) % interval_ns / NS_PER_S]++;
        }
        for (int64_t s = 0; s < cases[i].interval_s; s++)
            assert_in_range(of_second[s], usual - 4, usual + 4);
    }
    const struct ingest_push one_of_few = {.host_number = 3, .n_hosts = 64};
    assert_int_equal(server_next_push_ns(&one_of_few, NS_PER_S), 0);
}

static void nobody_without_the_key_of_its_host_gets_in(void **state) {
    struct fixture *f = *state;
    AUTO(buffer_release) struct buffer body = body_of("vm1", 1, 5);
    const char *const wrong[] = {
        "",
        "Authorization: Bearer " KEY_OF_VM1 "\r\n",
        OF_VM1,
        OF_VM1 "Authorization: Bearer " KEY_OF_VM2 "\r\n",
        OF_VM1 "Authorization: Bearer " TOKEN "\r\n",
        OF_VM1 "Authorization: Bearer " KEY_OF_VM1 KEY_OF_VM1 "\r\n",
        OF_VM1 "Authorization: Bearer \r\n",
        OF_VM1 "Authorization: \r\n",
        OF_VM1 "Authorization: Basic " KEY_OF_VM1 "\r\n",
        OF_VM1 "authorization: bearer" KEY_OF_VM1 "\r\n",
        "Chokepoint-Host: \r\nAuthorization: Bearer " KEY_OF_VM1 "\r\n",
        "Chokepoint-Host: vm1vm1\r\nAuthorization: Bearer " KEY_OF_VM1 "\r\n",
    };
    for (size_t i = 0; i < ARRAY_SIZE(wrong); i++)
        assert_int_equal(post(f, wrong[i], &body).status, 401);
    assert_int_equal(stored_number(f->db, "SELECT count(*) FROM host"), 0);
    assert_int_equal(stored_number(f->db, "SELECT count(*) FROM frame"), 0);
    assert_int_equal(stored_number(f->db, "SELECT count(*) FROM table_info"), 0);
    assert_string_equal(f->events, "");
    assert_int_equal(refused(f, "unauthorized"), ARRAY_SIZE(wrong));
}

static void a_host_speaks_only_for_itself(void **state) {
    struct fixture *f = *state;
    AUTO(buffer_release) struct buffer body = body_of("vm2", 1, 5);
    struct answer answer = post(f, AUTHORIZED, &body);
    assert_int_equal(answer.status, 400);
    assert_string_equal(answer.text, "a host sends samples of itself only\n");
    assert_int_equal(stored_number(f->db, "SELECT count(*) FROM host"), 0);
    assert_int_equal(refused(f, "bad_frame"), 1);
}

static void an_agent_that_names_no_host_is_told_of_versions(void **state) {
    struct fixture *f = *state;
    AUTO(buffer_release) struct buffer body = body_of("vm1", 1, 5);
    struct answer answer = post(f, "Authorization: Bearer " TOKEN "\r\n", &body);
    assert_non_null(strstr(answer.text, "another version"));
}

static void the_token_is_asked_for_before_anything_else(void **state) {
    struct fixture *f = *state;
    assert_int_equal(say(f, "GET /secret HTTP/1.1\r\nHost: x\r\n\r\n").status, 401);
    assert_int_equal(
        say(f, "POST /v1/frames HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999999\r\n\r\n").status,
        401);
}

static void other_paths_and_methods_are_refused(void **state) {
    struct fixture *f = *state;
    assert_int_equal(say(f, "GET /v1/frames HTTP/1.1\r\nHost: x\r\n" AUTHORIZED "\r\n").status,
                     405);
    assert_int_equal(say(f, "GET / HTTP/1.1\r\nHost: x\r\n" AUTHORIZED "\r\n").status, 404);
    assert_int_equal(refused(f, "bad_request"), 2);
}

static void a_body_that_is_too_large_is_refused_before_it_is_sent(void **state) {
    struct fixture *f = *state;
    struct answer answer = say(f, "POST /v1/frames HTTP/1.1\r\nHost: x\r\n" AUTHORIZED
                                  "Content-Length: 4194305\r\n\r\n");
    assert_int_equal(answer.status, 413);
    assert_non_null(strstr(answer.text, "4 MiB"));
    assert_int_equal(refused(f, "too_large"), 1);
}

static void a_body_of_unknown_length_is_refused(void **state) {
    struct fixture *f = *state;
    assert_int_equal(say(f, "POST /v1/frames HTTP/1.1\r\nHost: x\r\n" AUTHORIZED
                            "Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n")
                         .status,
                     411);
    assert_int_equal(say(f, "POST /v1/frames HTTP/1.1\r\nHost: x\r\n" AUTHORIZED
                            "Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n"
                            "5\r\nhello\r\n0\r\n\r\n")
                         .status,
                     411);
}

/* ---- the room for bodies ---- */

static size_t bytes_on_their_way(struct fixture *f) {
    while (atomic_load(&f->server->requests))
        sched_yield(); /* each ends after it has given back its bytes */
    return atomic_load(&f->server->body_bytes);
}

/* Whichever way a request ends. */
static void a_body_gives_its_room_back(void **state) {
    struct fixture *f = *state;
    AUTO(buffer_release) struct buffer good = body_of("vm1", 1, 5);
    AUTO(buffer_release) struct buffer garbage = {0};
    AUTO(buffer_release) struct buffer foreign = body_of("vm2", 1, 5);
    buffer_put(&garbage, "GIF89a, or so", 13);
    assert_int_equal(post(f, AUTHORIZED, &good).status, 200);
    assert_int_equal(bytes_on_their_way(f), 0);
    assert_int_equal(post(f, AUTHORIZED, &garbage).status, 400);
    assert_int_equal(bytes_on_their_way(f), 0);
    assert_int_equal(post(f, AUTHORIZED, &foreign).status, 400);
    assert_int_equal(bytes_on_their_way(f), 0);
    assert_int_equal(post(f, OF_VM1, &good).status, 401);
    assert_int_equal(bytes_on_their_way(f), 0);
    say(f, "POST /v1/frames HTTP/1.1\r\nHost: x\r\n" AUTHORIZED "Content-Length: 4194305\r\n\r\n");
    assert_int_equal(bytes_on_their_way(f), 0);
    int fd = connect_to("127.0.0.1", f->port);
    const char head[] =
        "POST /v1/frames HTTP/1.1\r\nHost: x\r\n" AUTHORIZED "Content-Length: 100\r\n\r\nCHK";
    send_all(fd, head, strlen(head));
    while (atomic_load(&f->server->body_bytes) != 100)
        sched_yield();
    close(fd); /* in the middle of its body */
    assert_int_equal(bytes_on_their_way(f), 0);
}

#define FULL 64 /* bodies of 4 MiB in 256 MiB */

/* Announces a body of 4 MiB and sends none of it. */
static int announce(const struct fixture *f, unsigned number) {
    char name[16], key[HOST_KEY_SIZE], head[512];
    snprintf(name, sizeof name, "vm%u", number);
    credentials_host_key(TOKEN, name, key);
    int n = snprintf(head, sizeof head,
                     "POST /v1/frames HTTP/1.1\r\nHost: x\r\nChokepoint-Host: %s\r\n"
                     "Authorization: Bearer %s\r\nContent-Length: %u\r\n\r\n",
                     name, key, 4u << 20);
    int fd = connect_to("127.0.0.1", f->port);
    send_all(fd, head, (size_t)n);
    return fd;
}

/* A refused request takes none of it. */
static void bodies_have_room_for_256_mib_at_once(void **state) {
    struct fixture *f = *state;
    AUTO(buffer_release) struct buffer body = body_of("vm1", 1, 5);
    int fds[FULL];
    for (unsigned i = 0; i < FULL; i++)
        fds[i] = announce(f, 100 + i);
    while (atomic_load(&f->server->body_bytes) != 256u << 20)
        sched_yield();
    for (int i = 0; i < 3; i++) {
        struct answer answer = post(f, AUTHORIZED, &body);
        assert_int_equal(answer.status, 503);
        assert_string_equal(answer.text, "too much at once\n");
    }
    while (atomic_load(&f->server->requests) != FULL)
        sched_yield();
    assert_int_equal(atomic_load(&f->server->body_bytes), 256u << 20);
    close(fds[0]);
    while (atomic_load(&f->server->requests) != FULL - 1)
        sched_yield();
    assert_int_equal(post(f, AUTHORIZED, &body).status, 200);
    for (unsigned i = 1; i < FULL; i++)
        close(fds[i]);
    assert_int_equal(bytes_on_their_way(f), 0);
    assert_int_equal(refused(f, "busy"), 3);
}

static void endless_headers_are_refused(void **state) {
    struct fixture *f = *state;
    char text[512];
    static char header[128 << 10];
    memset(header, 'a', sizeof header);
    int fd = connect_to("127.0.0.1", f->port);
    send_all(fd, "POST /v1/frames HTTP/1.1\r\nX: ", 29);
    send_all(fd, header, sizeof header);
    int status = read_answer(fd, text, sizeof text);
    assert_true(status == 0 || (status >= 400 && status < 500));
    close(fd);
    AUTO(buffer_release) struct buffer body = body_of("vm1", 1, 1);
    assert_int_equal(post(f, AUTHORIZED, &body).status, 200);
}

static void garbage_is_refused_with_a_reason(void **state) {
    struct fixture *f = *state;
    AUTO(buffer_release) struct buffer body = {0};
    buffer_put(&body, "GIF89a, or so", 13);
    struct answer answer = post(f, AUTHORIZED, &body);
    assert_int_equal(answer.status, 400);
    assert_string_equal(answer.text, "not a Chokepoint stream, or of another version, at byte 0\n");
    body.size = 0;
    assert_int_equal(post(f, AUTHORIZED, &body).status, 400);
    assert_int_equal(refused(f, "bad_frame"), 2);
}

static void a_truncated_body_is_refused_and_stores_nothing(void **state) {
    struct fixture *f = *state;
    AUTO(buffer_release) struct buffer body = body_of("vm1", 1, 5);
    body.size -= 3;
    assert_int_equal(post(f, AUTHORIZED, &body).status, 400);
    assert_int_equal(stored_number(f->db, "SELECT count(*) FROM frame"), 0);
}

static void a_bad_push_does_not_harm_the_next_on_its_connection(void **state) {
    struct fixture *f = *state;
    char text[512];
    AUTO(buffer_release) struct buffer bad = body_of("vm1", 1, 5);
    AUTO(buffer_release) struct buffer good = body_of("vm1", 1, 7);
    bad.data[bad.size - 1] ^= 1;
    int fd = connect_to("127.0.0.1", f->port);
    send_request(fd, AUTHORIZED, bad.data, bad.size);
    assert_int_equal(read_answer(fd, text, sizeof text), 400);
    send_request(fd, "", good.data, good.size);
    assert_int_equal(read_answer(fd, text, sizeof text), 401);
    send_request(fd, AUTHORIZED, good.data, good.size);
    assert_int_equal(read_answer(fd, text, sizeof text), 200);
    close(fd);
    assert_int_equal(stored_number(f->db, "SELECT count(*) FROM frame"), 7);
}

/* If they were called bad, the agent would drop their frames one by one: agent/push/push.c. */
static void a_stream_beyond_the_bound_waits_and_is_said_once(void **state) {
    struct fixture *f = *state;
    AUTO(buffer_release) struct buffer one_more = body_of("vm1", 1, 5);
    AUTO(buffer_release) struct buffer other = body_of("vm2", 1, 5);
    for (int i = 0; i < 2; i++) {
        struct answer answer = post(f, AUTHORIZED, &one_more);
        assert_int_equal(answer.status, 503);
        assert_string_equal(answer.text, "the host has 4096 streams already\n");
    }
    assert_string_equal(f->events, "trouble vm1: the host has 4096 streams already; "
                                   "its agent keeps its samples and tries again\n");
    assert_int_equal(
        post(f, "Chokepoint-Host: vm2\r\nAuthorization: Bearer " KEY_OF_VM2 "\r\n", &other).status,
        200);
    assert_int_equal(stored_number(f->db, "SELECT count(*) FROM frame"), 5);
    assert_int_equal(refused(f, "busy"), 2);
    assert_int_equal(refused(f, "bad_frame"), 0);
}

static void a_replay_stores_nothing_twice(void **state) {
    struct fixture *f = *state;
    AUTO(buffer_release) struct buffer body = body_of("vm1", 1, 5);
    for (int i = 0; i < 3; i++)
        assert_int_equal(post(f, AUTHORIZED, &body).status, 200);
    assert_int_equal(stored_number(f->db, "SELECT count(*) FROM frame"), 5);
    assert_int_equal(stored_number(f->db, "SELECT sum(duplicates) FROM stream"), 10);
}

static void a_sender_that_vanishes_harms_nobody(void **state) {
    struct fixture *f = *state;
    AUTO(buffer_release) struct buffer body = body_of("vm1", 1, 5);
    for (int i = 0; i < 20; i++) {
        int fd = connect_to("127.0.0.1", f->port);
        send_request(fd, AUTHORIZED, body.data, body.size);
        close(fd); /* before the answer */
        fd = connect_to("127.0.0.1", f->port);
        char head[] = "POST /v1/frames HTTP/1.1\r\nHost: x\r\n" AUTHORIZED
                      "Content-Length: 1000000\r\n\r\nCHKPNT1\n";
        send_all(fd, head, strlen(head));
        close(fd); /* in the middle of its body */
    }
    assert_int_equal(post(f, AUTHORIZED, &body).status, 200);
    assert_int_equal(stored_number(f->db, "SELECT count(*) FROM frame"), 5);
}

struct pusher {
    const struct fixture *f;
    char host[16];
    int good;
    pthread_t thread;
};

static void *push_thrice(void *arg) {
    struct pusher *pusher = arg;
    char key[HOST_KEY_SIZE], fields[256];
    credentials_host_key(TOKEN, pusher->host, key);
    snprintf(fields, sizeof fields, "Chokepoint-Host: %s\r\nAuthorization: Bearer %s\r\n",
             pusher->host, key);
    for (uint64_t i = 0; i < 3; i++) {
        struct buffer body = body_of(pusher->host, 1 + 4 * i, 4 + 4 * i);
        pusher->good += post(pusher->f, fields, &body).status == 200;
        buffer_release(&body);
    }
    return NULL;
}

static void many_hosts_push_at_once(void **state) {
    struct fixture *f = *state;
    struct pusher pushers[24];
    for (size_t i = 0; i < ARRAY_SIZE(pushers); i++) {
        pushers[i] = (struct pusher){.f = f};
        snprintf(pushers[i].host, sizeof pushers[i].host, "vm%zu", i);
        assert_int_equal(pthread_create(&pushers[i].thread, NULL, push_thrice, &pushers[i]), 0);
    }
    for (size_t i = 0; i < ARRAY_SIZE(pushers); i++) {
        pthread_join(pushers[i].thread, NULL);
        assert_int_equal(pushers[i].good, 3);
    }
    assert_int_equal(stored_number(f->db, "SELECT count(*) FROM host"), 24);
    assert_int_equal(stored_number(f->db, "SELECT count(*) FROM frame"), 24 * 12);
}

static void agents_are_told_to_stop_and_the_last_push_is_told(void **state) {
    struct fixture *f = *state;
    AUTO(buffer_release) struct buffer body = body_of("vm1", 1, 5);
    server_ask_stop(f->server);
    assert_non_null(strstr(post(f, AUTHORIZED, &body).text, "\nstop 1\n"));
    AUTO(buffer_release) struct buffer opening = body_of("vm1", 1, 0);
    post(f, AUTHORIZED "Chokepoint-Final: 1\r\n", &opening);
    assert_non_null(strstr(f->events, "final vm1 5\n"));
}

static void a_clock_header_is_stored_and_a_bad_one_ignored(void **state) {
    struct fixture *f = *state;
    AUTO(buffer_release) struct buffer body = body_of("vm1", 1, 5);
    const char *const bad[] = {"x",      "1 2",    "1 2 3 4",
                               "-1 2 3", "1 2 -3", "99999999999999999999 1 1"};
    char field[160];
    for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
        snprintf(field, sizeof field, AUTHORIZED "Chokepoint-Clock: %s\r\n", bad[i]);
        assert_int_equal(post(f, field, &body).status, 200);
    }
    assert_int_equal(stored_number(f->db, "SELECT count(*) FROM clock"), 0);
    post(f, AUTHORIZED "Chokepoint-Clock: 1000 -77 5\r\n", &body);
    assert_int_equal(stored_number(f->db, "SELECT offset_ns FROM clock"), -77);
}

static void it_listens_where_it_was_told_and_nowhere_else(void **state) {
    struct fixture *f = *state;
    assert_int_equal(connect_to("127.0.0.2", f->port), -1);
    struct server *other;
    char why[200], list[64];
    const char *const bad[] = {"localhost:0", "127.0.0.1", "127.0.0.1:",     ":80",
                               "*:0",         "",          "127.0.0.1:0,,",  "::1:0",
                               "[::1]",       "[]:1",      "127.0.0.1:99999"};
    struct server_options options = {NULL, TOKEN, f->writer, NULL};
    for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
        options.listen = bad[i];
        assert_int_equal(server_start(&options, &other, why, sizeof why), -EINVAL);
        assert_non_null(strstr(why, "ADDR:PORT"));
    }
    snprintf(list, sizeof list, "127.0.0.1:0,127.0.0.1:%hu", f->port);
    options.listen = list;
    assert_int_equal(server_start(&options, &other, why, sizeof why), -EADDRINUSE);
    options.listen = "127.0.0.1:0";
    options.token = "short";
    assert_int_equal(server_start(&options, &other, why, sizeof why), -EINVAL);
}

/* As `run` hands it over: the port stays its own while no process serves it. */
static void it_serves_a_descriptor_that_listens_already(void **state) {
    struct fixture *f = *state;
    struct server *other;
    char why[200], name[64], list[32];
    unsigned short port;
    int fd = listen_on("127.0.0.1:0", name, sizeof name, why, sizeof why);
    assert_true(fd >= 0);
    assert_int_equal(sscanf(name, "127.0.0.1:%hu", &port), 1);
    int early = connect_to("127.0.0.1", port);
    assert_true(early >= 0);
    snprintf(list, sizeof list, "fd:%d", dup(fd));
    const struct server_options options = {list, TOKEN, f->writer, NULL};
    assert_int_equal(server_start(&options, &other, why, sizeof why), 0);
    assert_string_equal(server_address(other, 0), name);
    AUTO(buffer_release) struct buffer body = body_of("vm1", 1, 1);
    send_request(early, AUTHORIZED, body.data, body.size);
    assert_int_equal(read_answer(early, why, sizeof why), 200);
    close(early);
    server_finish(other);
    early = connect_to("127.0.0.1", port);
    assert_true(early >= 0);
    close(early);
    close(fd);
}

static void a_descriptor_that_does_not_listen_is_refused(void **state) {
    struct fixture *f = *state;
    struct server *other;
    char why[200], plain[32];
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    snprintf(plain, sizeof plain, "fd:%d", fd);
    const char *const bad[] = {plain, "fd:", "fd:0", "fd:-1", "fd:x", "fd:99999", "fd:4294967299"};
    struct server_options options = {NULL, TOKEN, f->writer, NULL};
    for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
        options.listen = bad[i];
        assert_true(server_start(&options, &other, why, sizeof why) < 0);
        assert_non_null(strstr(why, bad[i]));
    }
    close(fd);
}

static void an_end_commits_what_has_arrived(void **state) {
    struct fixture *f = *state;
    char text[512];
    AUTO(buffer_release) struct buffer body = body_of("vm1", 1, 400);
    int fd = connect_to("127.0.0.1", f->port);
    send_request(fd, AUTHORIZED, body.data, body.size);
    assert_int_equal(read_answer(fd, text, sizeof text), 200);
    close(fd);
    stop(f);
    assert_int_equal(stored_number(f->db, "SELECT count(*) FROM frame"), 400);
    assert_int_equal(connect_to("127.0.0.1", f->port), -1);
}

int main(void) {
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(an_answer_leaves_after_its_commit),
        TEST(pushes_of_many_hosts_are_spread_over_the_second),
        TEST(a_thousand_hosts_more_push_a_second_less_often),
        TEST(nobody_without_the_key_of_its_host_gets_in),
        TEST(a_host_speaks_only_for_itself),
        TEST(an_agent_that_names_no_host_is_told_of_versions),
        TEST(the_token_is_asked_for_before_anything_else),
        TEST(other_paths_and_methods_are_refused),
        TEST(a_body_that_is_too_large_is_refused_before_it_is_sent),
        TEST(a_body_of_unknown_length_is_refused),
        TEST(a_body_gives_its_room_back),
        TEST(bodies_have_room_for_256_mib_at_once),
        TEST(endless_headers_are_refused),
        TEST(garbage_is_refused_with_a_reason),
        TEST(a_truncated_body_is_refused_and_stores_nothing),
        TEST(a_bad_push_does_not_harm_the_next_on_its_connection),
        cmocka_unit_test_setup_teardown(a_stream_beyond_the_bound_waits_and_is_said_once,
                                        setup_full, teardown),
        TEST(a_replay_stores_nothing_twice),
        TEST(a_sender_that_vanishes_harms_nobody),
        TEST(many_hosts_push_at_once),
        TEST(agents_are_told_to_stop_and_the_last_push_is_told),
        TEST(a_clock_header_is_stored_and_a_bad_one_ignored),
        TEST(it_listens_where_it_was_told_and_nowhere_else),
        TEST(it_serves_a_descriptor_that_listens_already),
        TEST(a_descriptor_that_does_not_listen_is_refused),
        TEST(an_end_commits_what_has_arrived),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
