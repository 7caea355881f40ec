/* SPDX-License-Identifier: MIT */
/* Pushes a real spool to a collector that answers as each test wants, including wrong answers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <arpa/inet.h>
#include <cmocka.h>
#include <inttypes.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "agent/push/push.h"
#include "agent/spool/spool.h"
#include "collector/echo_server.h"
#include "common/clock.h"
#include "tests/unit/frames.h"
#include "tests/unit/spooled_frames.h"

#define TOKEN "00112233445566778899aabbccddeeff"
#define PATIENCE_NS (20 * NS_PER_S)

/* ---- a collector with a will of its own ---- */

struct request {
    char head[2048];
    size_t size; /* of the body */
    uint64_t n_frames, first_seq, last_seq;
    uint64_t known; /* the number in place of its tables */
    bool final;
};

struct peer {
    int listen_fd, stop_fd;
    unsigned short port;
    pthread_t thread;
    /* Writes the whole answer; false: there is no answer. */
    bool (*answer)(struct peer *peer, const struct request *request, char *text, size_t size);
    pthread_mutex_t lock; /* of everything below */
    unsigned requests;
    uint64_t committed;
    uint64_t seen[4096]; /* how often each frame was taken */
    uint64_t bad_seq, echo_key;
    int64_t next_ns; /* which answers ask for */
    uint64_t tables; /* the number that answers give */
    unsigned whole;  /* requests that contained their tables */
    size_t largest;
    bool final;
    char last_head[2048];
};

static bool receive(struct peer *peer, int fd, void *data, size_t size) {
    for (size_t got = 0; got < size;) {
        struct pollfd fds[] = {{.fd = fd, .events = POLLIN},
                               {.fd = peer->stop_fd, .events = POLLIN}};
        poll(fds, 2, -1);
        ssize_t n = fds[1].revents ? 0 : recv(fd, (char *)data + got, size - got, 0);
        if (n <= 0)
            return false;
        got += (size_t)n;
    }
    return true;
}

/* Left-out tables are those of all tests. */
static void describe(struct request *request, const uint8_t *body) {
    struct wire_reader reader, tables;
    struct wire_record record;
    struct buffer opening = {0};
    frames_open(&opening, "vm1", 7, &frames_cpu);
    wire_reader_init(&tables, opening.data, opening.size);
    while (wire_next(&tables, &record) == 0)
        ;
    wire_reader_init(&reader, body, request->size);
    while (wire_next(&reader, &record) == 0) {
        if (record.type == WIRE_KNOWN) {
            request->known = record.known;
            wire_borrow_tables(&reader, tables.tables);
        }
        if (record.type != WIRE_FRAME)
            continue;
        if (request->n_frames++ == 0)
            request->first_seq = record.head.seq;
        request->last_seq = record.head.seq;
    }
    wire_reader_release(&reader);
    wire_reader_release(&tables);
    buffer_release(&opening);
}

static bool read_request(struct peer *peer, int fd, struct request *request) {
    size_t n = 0;
    *request = (struct request){0};
    while (!strstr(request->head, "\r\n\r\n"))
        if (n + 1 == sizeof request->head || !receive(peer, fd, request->head + n++, 1))
            return false;
    const char *length = strcasestr(request->head, "\r\nContent-Length: ");
    request->size = length ? (size_t)atoll(length + 18) : 0;
    request->final = strcasestr(request->head, "\r\nChokepoint-Final: 1") != NULL;
    uint8_t *body = malloc(request->size + 1);
    bool good = receive(peer, fd, body, request->size);
    if (good)
        describe(request, body);
    free(body);
    return good;
}

static bool serve_one(struct peer *peer, int fd) {
    struct request request;
    char text[8192] = "";
    if (!read_request(peer, fd, &request))
        return false;
    pthread_mutex_lock(&peer->lock);
    peer->requests++;
    memcpy(peer->last_head, request.head, sizeof peer->last_head);
    if (request.size > peer->largest)
        peer->largest = request.size;
    bool answered = peer->answer(peer, &request, text, sizeof text);
    pthread_mutex_unlock(&peer->lock);
    if (answered)
        send(fd, text, strlen(text), MSG_NOSIGNAL);
    return true;
}

static void *peer_main(void *arg) {
    struct peer *peer = arg;
    for (;;) {
        struct pollfd fds[] = {{.fd = peer->listen_fd, .events = POLLIN},
                               {.fd = peer->stop_fd, .events = POLLIN}};
        poll(fds, 2, -1);
        if (fds[1].revents)
            return NULL;
        int fd = accept(peer->listen_fd, NULL, NULL);
        while (fd >= 0 && serve_one(peer, fd))
            ;
        close(fd);
    }
}

static void peer_start(struct peer *peer) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof address;
    peer->listen_fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    peer->stop_fd = eventfd(0, EFD_CLOEXEC);
    assert_int_equal(bind(peer->listen_fd, (struct sockaddr *)&address, size), 0);
    assert_int_equal(listen(peer->listen_fd, 8), 0);
    getsockname(peer->listen_fd, (struct sockaddr *)&address, &size);
    peer->port = ntohs(address.sin_port);
    pthread_mutex_init(&peer->lock, NULL);
    assert_int_equal(pthread_create(&peer->thread, NULL, peer_main, peer), 0);
}

static void peer_stop(struct peer *peer) {
    eventfd_write(peer->stop_fd, 1);
    pthread_join(peer->thread, NULL);
    close(peer->listen_fd);
    close(peer->stop_fd);
    pthread_mutex_destroy(&peer->lock);
}

static bool say(char *text, size_t size, int status, const char *body) {
    snprintf(text, size, "HTTP/1.1 %d X\r\nContent-Length: %zu\r\n\r\n%s", status, strlen(body),
             body);
    return true;
}

static bool take(struct peer *peer, const struct request *request, char *text, size_t size) {
    char body[256];
    for (uint64_t seq = request->first_seq; request->n_frames && seq <= request->last_seq; seq++)
        peer->seen[seq % 4096]++;
    if (request->n_frames)
        peer->committed = request->last_seq;
    peer->final |= request->final;
    int64_t now = clock_monotonic_ns();
    snprintf(body, sizeof body,
             "committed %" PRIu64 "\nreceived_ns %" PRId64 "\nreplied_ns %" PRId64
             "\nstop 0\necho %" PRIu64 "\ntables %" PRIu64 "\nnext_ns %" PRId64 "\n",
             peer->committed, now, now, peer->echo_key, peer->tables, peer->next_ns);
    peer->whole += request->known == 0;
    return say(text, size, 200, body);
}

/* ---- fixture ---- */

struct fixture {
    char dir[32], url[64];
    struct spool *spool;
    struct push *push;
    struct peer peer;
    int notify_fd;
    uint64_t last_seq;
};

static int setup(void **state) {
    struct fixture *f = calloc(1, sizeof *f);
    static const struct table *const tables[] = {&frames_cpu};
    strcpy(f->dir, "/tmp/push-XXXXXX");
    assert_non_null(mkdtemp(f->dir));
    const struct spool_config config = {
        .dir = f->dir,
        .limit_bytes = 16u << 20,
        .stream = {.host = "vm1", .boot_id = "x", .stream_id = 7, .period_ns = 100 * NS_PER_MS},
        .tables = tables,
        .n_tables = 1};
    assert_int_equal(spool_open(&config, &f->spool), 0);
    f->notify_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    f->peer.answer = take;
    peer_start(&f->peer);
    snprintf(f->url, sizeof f->url, "http://127.0.0.1:%hu", f->peer.port);
    *state = f;
    return 0;
}

static int teardown(void **state) {
    struct fixture *f = *state;
    push_free(f->push);
    peer_stop(&f->peer);
    spool_close(f->spool, true);
    close(f->notify_fd);
    rmdir(f->dir);
    free(f);
    return 0;
}

static void append(struct fixture *f, uint64_t n) {
    frames_spool(f->spool, &f->last_seq, n);
}

/* Longer than the uptime of any machine. */
#define NEVER_NS (INT64_C(100) * 365 * 86400 * NS_PER_S)

static void start_every(struct fixture *f, int64_t interval_ns) {
    const struct push_config config = {.url = f->url,
                                       .token = TOKEN,
                                       .spool = f->spool,
                                       .interval_ns = interval_ns,
                                       .notify_fd = f->notify_fd};
    assert_int_equal(push_start(&config, &f->push), 0);
}

static void start(struct fixture *f) {
    start_every(f, 20 * NS_PER_MS);
}

static int finish(struct fixture *f) {
    return push_finish(f->push, clock_monotonic_ns() + PATIENCE_NS);
}

static struct push_status status_of(struct fixture *f) {
    struct push_status status;
    push_status(f->push, &status);
    return status;
}

/* Waits until the condition holds for a fresh `status`. */
#define AWAIT(f, status, condition)                                                                \
    do {                                                                                           \
        int64_t end_ns = clock_monotonic_ns() + PATIENCE_NS;                                       \
        while (!((status) = status_of(f), (condition))) {                                          \
            assert_true(clock_monotonic_ns() < end_ns);                                            \
            poll(NULL, 0, 2);                                                                      \
        }                                                                                          \
    } while (0)

static void expect_each_once(struct fixture *f, uint64_t but) {
    for (uint64_t seq = 1; seq <= f->last_seq; seq++)
        assert_int_equal(f->peer.seen[seq], seq == but ? 0 : 1);
}

/* ---- claims ---- */

static void all_frames_arrive_once_and_the_last_push_is_marked(void **state) {
    struct fixture *f = *state;
    struct push_status status;
    append(f, 30);
    start(f);
    AWAIT(f, status, status.committed_seq == 30);
    append(f, 12);
    assert_int_equal(finish(f), 0);
    status = status_of(f);
    assert_true(status.final && f->peer.final);
    assert_int_equal(status.committed_seq, 42);
    assert_int_equal(status.failures, 0);
    expect_each_once(f, 0);
}

/* With an interval of 50 s only the collector's wish can cause a second push in time; a wish beyond
 * eight intervals is ignored.
 */
static void the_next_push_comes_when_the_collector_wants_it(void **state) {
    struct fixture *f = *state;
    struct push_status status;
    f->peer.next_ns = 10 * NS_PER_MS;
    start_every(f, 50 * NS_PER_S);
    AWAIT(f, status, status.pushes >= 5);
    pthread_mutex_lock(&f->peer.lock);
    f->peer.next_ns = INT64_MAX;
    unsigned before = f->peer.requests;
    pthread_mutex_unlock(&f->peer.lock);
    append(f, 3);
    assert_int_equal(finish(f), 0);
    assert_true(f->peer.requests <= before + 3);
    expect_each_once(f, 0);
}

/* Only the number that answers give replaces the tables; a number that is no longer known costs one
 * request.
 */
static bool know_tables(struct peer *peer, const struct request *request, char *text, size_t size) {
    if (request->known && request->known != peer->tables)
        return say(text, size, 409, "its tables are not known\n");
    return take(peer, request, text, size);
}

static void tables_are_sent_once_and_again_when_asked_for(void **state) {
    struct fixture *f = *state;
    struct push_status status;
    f->peer.answer = know_tables;
    f->peer.tables = 41;
    append(f, 5);
    start(f);
    AWAIT(f, status, status.committed_seq == 5 && status.pushes >= 4);
    pthread_mutex_lock(&f->peer.lock);
    assert_int_equal(f->peer.whole, 1);
    f->peer.tables = 42; /* the collector was restarted */
    pthread_mutex_unlock(&f->peer.lock);
    append(f, 5);
    AWAIT(f, status, status.committed_seq == 10);
    assert_int_equal(finish(f), 0);
    assert_int_equal(f->peer.whole, 2);
    assert_int_equal(status_of(f).failures, 0);
    expect_each_once(f, 0);
}

static void a_push_that_has_no_frame_is_still_finished(void **state) {
    struct fixture *f = *state;
    start(f);
    assert_int_equal(finish(f), 0);
    assert_true(f->peer.final);
}

/* Finishes as for single events: all at the end, and not as the host's last word. */
static void finish_later(struct fixture *f, int64_t patience_ns) {
    const struct push_config config = {.url = f->url,
                                       .token = TOKEN,
                                       .spool = f->spool,
                                       .interval_ns = NS_PER_S,
                                       .never_final = true,
                                       .patience_ns = patience_ns,
                                       .notify_fd = -1};
    assert_int_equal(push_start(&config, &f->push), 0);
}

static void a_stream_that_is_not_the_last_never_says_so(void **state) {
    struct fixture *f = *state;
    append(f, 50);
    finish_later(f, PATIENCE_NS);
    assert_int_equal(finish(f), 0);
    assert_true(status_of(f).final);
    assert_false(f->peer.final);
    expect_each_once(f, 0);
}

static bool busy_after_the_first(struct peer *peer, const struct request *request, char *text,
                                 size_t size) {
    return peer->requests == 1 ? take(peer, request, text, size)
                               : say(text, size, 503, "the database cannot be written\n");
}

/* However far the deadline is: nothing has been taken for too long. */
static void patience_ends_before_the_deadline_when_nothing_is_taken(void **state) {
    struct fixture *f = *state;
    f->peer.answer = busy_after_the_first;
    append(f, 50);
    finish_later(f, 2 * NS_PER_S);
    assert_int_equal(push_finish(f->push, INT64_MAX), PUSH_UNDELIVERED);
    assert_int_equal(status_of(f).pushes, 1);
}

static bool one_slow_frame(struct peer *peer, const struct request *request, char *text,
                           size_t size) {
    poll(NULL, 0, 100);
    return take(peer, request, text, size);
}

/* Longer than the patience, but frames are taken all the time: thirty times in each patience, so
 * that a machine that stalls for a second or two does no harm.
 */
static void patience_lasts_while_frames_are_taken(void **state) {
    struct fixture *f = *state;
    struct spool_config config = {
        .dir = f->dir,
        .limit_bytes = 16u << 20,
        .segment_bytes = 1, /* so that each frame is a body of its own */
        .stream = {.host = "vm1", .boot_id = "x", .stream_id = 7, .period_ns = 100 * NS_PER_MS},
        .tables = (const struct table *const[]){&frames_cpu},
        .n_tables = 1};
    spool_close(f->spool, true);
    assert_int_equal(spool_open(&config, &f->spool), 0);
    f->peer.answer = one_slow_frame;
    append(f, 50);
    finish_later(f, 3 * NS_PER_S);
    assert_int_equal(push_finish(f->push, INT64_MAX), 0);
    expect_each_once(f, 0);
}

static void the_token_is_a_header_and_the_clock_follows_in_the_next(void **state) {
    struct fixture *f = *state;
    struct push_status status;
    start(f);
    AWAIT(f, status, status.pushes >= 2);
    assert_int_equal(finish(f), 0);
    assert_non_null(strstr(f->peer.last_head, "\r\nAuthorization: Bearer " TOKEN "\r\n"));
    assert_null(strstr(f->peer.last_head, "Expect"));
    const char *clock = strstr(f->peer.last_head, "\r\nChokepoint-Clock: ");
    assert_non_null(clock);
    int64_t mono_ns, offset_ns, error_ns;
    assert_int_equal(
        sscanf(clock + 20, "%" SCNd64 " %" SCNd64 " %" SCNd64, &mono_ns, &offset_ns, &error_ns), 3);
    /* Both sides read one clock here, so the true offset is 0. */
    assert_true(llabs(offset_ns) <= error_ns);
}

static bool refuse_bad(struct peer *peer, const struct request *request, char *text, size_t size) {
    if (request->n_frames && request->first_seq <= peer->bad_seq &&
        peer->bad_seq <= request->last_seq)
        return say(text, size, 400, "bad row, at byte 7\n");
    return take(peer, request, text, size);
}

static void one_bad_frame_costs_one_frame(void **state) {
    struct fixture *f = *state;
    f->peer.answer = refuse_bad;
    f->peer.bad_seq = 77;
    append(f, 200);
    start(f);
    assert_int_equal(finish(f), 0);
    struct push_status status = status_of(f);
    assert_int_equal(status.refused_frames, 1);
    expect_each_once(f, 77);
    assert_int_equal(spool_lost(f->spool), 1);
}

static bool refuse_twice(struct peer *peer, const struct request *request, char *text,
                         size_t size) {
    return peer->requests <= 2 ? say(text, size, 401, "wrong or missing token\n")
                               : take(peer, request, text, size);
}

static void a_refused_token_is_counted_and_tried_again(void **state) {
    struct fixture *f = *state;
    struct push_status status;
    f->peer.answer = refuse_twice;
    append(f, 5);
    start(f);
    AWAIT(f, status, status.unauthorized == 1);
    assert_string_equal(status.trouble, "the collector answers 401: wrong or missing token");
    assert_int_equal(finish(f), 0);
    status = status_of(f);
    assert_int_equal(status.unauthorized, 2);
    assert_int_equal(status.failures, 2);
    expect_each_once(f, 0);
}

static bool fail_thrice(struct peer *peer, const struct request *request, char *text, size_t size) {
    return peer->requests <= 3 ? say(text, size, 503, "disk full\n")
                               : take(peer, request, text, size);
}

static void a_collector_in_trouble_is_tried_again(void **state) {
    struct fixture *f = *state;
    f->peer.answer = fail_thrice;
    append(f, 9);
    start(f);
    struct push_status status;
    AWAIT(f, status, status.failures == 3);
    assert_string_equal(status.trouble, "the collector answers 503: disk full");
    assert_int_equal(finish(f), 0);
    assert_string_equal(status_of(f).trouble, "");
    expect_each_once(f, 0);
}

static bool lie(struct peer *peer, const struct request *request, char *text, size_t size) {
    static char longest[3000];
    static const char *const lies[] = {
        "committed 999999\nreceived_ns 1\nreplied_ns 1\nstop 0\n", /* never sent */
        "committed -1\nreceived_ns 1\nreplied_ns 1\nstop 0\n",
        "committed 99999999999999999999\nreceived_ns 1\nreplied_ns 1\nstop 0\n",
        "committed 0\nreceived_ns 1\nreplied_ns 1\n", /* a line is missing */
        "<html>welcome to our network</html>",
        "",
        longest,
    };
    memset(longest, 'x', sizeof longest - 1);
    (void)request;
    return say(text, size, 200, lies[(peer->requests - 1) % ARRAY_SIZE(lies)]);
}

static void an_answer_that_cannot_be_true_frees_no_frame(void **state) {
    struct fixture *f = *state;
    struct push_status status;
    struct spool_counts counts;
    f->peer.answer = lie;
    append(f, 9);
    start(f);
    AWAIT(f, status, status.failures >= 7);
    assert_int_equal(status.pushes, 0);
    spool_counts(f->spool, &counts);
    assert_int_equal(counts.waiting, 9);
}

static bool redirect(struct peer *peer, const struct request *request, char *text, size_t size) {
    (void)request;
    snprintf(text, size,
             "HTTP/1.1 307 X\r\nLocation: http://127.0.0.1:%hu/other\r\nContent-Length: 0\r\n\r\n",
             peer->port);
    return true;
}

static void redirects_are_not_followed(void **state) {
    struct fixture *f = *state;
    struct push_status status;
    f->peer.answer = redirect;
    start(f);
    AWAIT(f, status, status.failures >= 1);
    assert_non_null(strstr(status.trouble, "307"));
    assert_null(strstr(f->peer.last_head, "/other"));
}

static void the_programs_proxy_is_not_ours(void **state) {
    struct fixture *f = *state;
    setenv("http_proxy", "http://127.0.0.1:1", 1);
    setenv("all_proxy", "http://127.0.0.1:1", 1);
    append(f, 3);
    start(f);
    assert_int_equal(finish(f), 0);
    unsetenv("http_proxy");
    unsetenv("all_proxy");
}

static bool keep_silent(struct peer *peer, const struct request *request, char *text, size_t size) {
    (void)peer, (void)request, (void)text, (void)size;
    return false;
}

static void a_collector_that_never_answers_holds_nobody_up(void **state) {
    struct fixture *f = *state;
    f->peer.answer = keep_silent;
    append(f, 3);
    start(f);
    assert_int_equal(push_finish(f->push, clock_monotonic_ns() + 100 * NS_PER_MS),
                     PUSH_UNDELIVERED);
    push_free(f->push);
    start(f);
    push_free(f->push); /* gives up the push under way */
    f->push = NULL;
}

static bool tell_to_stop(struct peer *peer, const struct request *request, char *text,
                         size_t size) {
    take(peer, request, text, size);
    strstr(text, "stop ")[5] = '1';
    return true;
}

static void a_stop_is_passed_on_once(void **state) {
    struct fixture *f = *state;
    struct push_status status;
    uint64_t n = 0;
    f->peer.answer = tell_to_stop;
    start(f);
    AWAIT(f, status, status.pushes >= 3);
    assert_true(status.stop);
    assert_int_equal(eventfd_read(f->notify_fd, &n), 0);
    assert_int_equal(n, 1);
}

static void what_has_piled_up_goes_in_bodies_of_a_mebibyte_at_most(void **state) {
    struct fixture *f = *state;
    append(f, 4000);
    while (f->last_seq < 60000) /* 2 to 3 MB */
        append(f, 1000);
    start(f);
    assert_int_equal(finish(f), 0);
    assert_int_equal(f->peer.committed, 60000);
    assert_true(f->peer.largest <= 1u << 20);
    assert_true(f->peer.requests < 60);
}

/* The previous thread had frames committed; their segment is still in the spool. */
static void a_new_start_asks_before_it_sends_again(void **state) {
    struct fixture *f = *state;
    append(f, 20);
    start(f);
    assert_int_equal(finish(f), 0);
    push_free(f->push);
    append(f, 2);
    start(f);
    assert_int_equal(finish(f), 0);
    expect_each_once(f, 0);
}

/* The next regular push is an hour away. */
static void who_is_in_a_hurry_does_not_wait_for_the_next_push(void **state) {
    struct fixture *f = *state;
    struct push_status status;
    start_every(f, 3600 * NS_PER_S);
    AWAIT(f, status, status.pushes == 1);
    append(f, 1);
    push_hurry(f->push);
    AWAIT(f, status, status.committed_seq == 1);
    push_hurry(f->push); /* there is nothing to push */
    assert_int_equal(finish(f), 0);
    expect_each_once(f, 0);
    assert_int_equal(f->peer.requests, 3);
}

static struct fixture *sampling;

static bool take_while_a_sample_is_taken(struct peer *peer, const struct request *request,
                                         char *text, size_t size) {
    if (peer->requests == 1)
        append(sampling, 1);
    return take(peer, request, text, size);
}

/* A separate push for each such sample would mean a second one every second. */
static void what_comes_while_a_push_is_under_way_waits_for_the_next(void **state) {
    struct fixture *f = *state;
    struct push_status status;
    sampling = f;
    f->peer.answer = take_while_a_sample_is_taken;
    start_every(f, 3600 * NS_PER_S);
    AWAIT(f, status, status.pushes == 1);
    assert_int_equal(finish(f), 0);
    expect_each_once(f, 0);
    assert_int_equal(f->peer.requests, 2);
}

static void what_does_not_fit_into_a_body_follows_at_once(void **state) {
    struct fixture *f = *state;
    struct push_status status;
    while (f->last_seq < 40000)
        append(f, 1000);
    start_every(f, 3600 * NS_PER_S);
    AWAIT(f, status, status.pushes > 2);
    assert_int_equal(finish(f), 0);
}

static void a_call_of_the_collector_is_heeded_at_once(void **state) {
    struct fixture *f = *state;
    struct push_status status;
    struct echo_server *server;
    assert_int_equal(echo_server_new(&server), 0);
    assert_int_equal(echo_server_listen(server, f->peer.listen_fd), 0);
    assert_int_equal(echo_server_start(server), 0);
    f->peer.echo_key = echo_server_key(server);
    start_every(f, NEVER_NS);
    AWAIT(f, status, status.pushes == 1);
    append(f, 1);
    /* The server knows an agent only after it has asked for the time. */
    AWAIT(f, status, (echo_server_call(server), status.committed_seq == 1));
    echo_server_free(server);
    assert_int_equal(finish(f), 0);
    expect_each_once(f, 0);
}

static void an_url_that_is_none_is_refused(void **state) {
    struct fixture *f = *state;
    const char *const bad[] = {"",
                               "127.0.0.1:80",
                               "ftp://x",
                               "http://",
                               "http://a b",
                               "http://x/y",
                               "file:///etc/passwd",
                               "http://user@x",
                               "http://x\r\nHost: y"};
    struct push_config config = {.token = TOKEN, .spool = f->spool, .notify_fd = -1};
    for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
        config.url = bad[i];
        assert_int_equal(push_start(&config, &f->push), -EINVAL);
    }
    config.url = f->url;
    config.token = "x\r\nChokepoint-Final: 1";
    assert_int_equal(push_start(&config, &f->push), -EINVAL);
    config.token = TOKEN;
    config.host = "x\r\nChokepoint-Final: 1";
    assert_int_equal(push_start(&config, &f->push), -EINVAL);
    config.host = "vm1";
    config.url = "https://127.0.0.1:1"; /* without a pin */
    assert_int_equal(push_start(&config, &f->push), -EINVAL);
}

int main(void) {
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(all_frames_arrive_once_and_the_last_push_is_marked),
        TEST(the_next_push_comes_when_the_collector_wants_it),
        TEST(tables_are_sent_once_and_again_when_asked_for),
        TEST(a_push_that_has_no_frame_is_still_finished),
        TEST(a_stream_that_is_not_the_last_never_says_so),
        TEST(patience_ends_before_the_deadline_when_nothing_is_taken),
        TEST(patience_lasts_while_frames_are_taken),
        TEST(the_token_is_a_header_and_the_clock_follows_in_the_next),
        TEST(one_bad_frame_costs_one_frame),
        TEST(a_refused_token_is_counted_and_tried_again),
        TEST(a_collector_in_trouble_is_tried_again),
        TEST(an_answer_that_cannot_be_true_frees_no_frame),
        TEST(redirects_are_not_followed),
        TEST(the_programs_proxy_is_not_ours),
        TEST(a_collector_that_never_answers_holds_nobody_up),
        TEST(a_stop_is_passed_on_once),
        TEST(what_has_piled_up_goes_in_bodies_of_a_mebibyte_at_most),
        TEST(a_new_start_asks_before_it_sends_again),
        TEST(who_is_in_a_hurry_does_not_wait_for_the_next_push),
        TEST(what_comes_while_a_push_is_under_way_waits_for_the_next),
        TEST(what_does_not_fit_into_a_body_follows_at_once),
        TEST(a_call_of_the_collector_is_heeded_at_once),
        TEST(an_url_that_is_none_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
