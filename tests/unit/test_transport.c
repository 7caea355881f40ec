/* SPDX-License-Identifier: MIT */
/* The agent's pushes and the collector's server together, over TLS, and strangers on their port. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include <arpa/inet.h>
#include <cmocka.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "agent/push/push.h"
#include "agent/spool/spool.h"
#include "collector/credentials.h"
#include "collector/server.h"
#include "common/clock.h"
#include "tests/unit/frames.h"
#include "tests/unit/spooled_frames.h"
#include "tests/unit/stored_number.h"

#define TOKEN "00112233445566778899aabbccddeeff"
#define PATIENCE_NS (60 * NS_PER_S)

struct collector {
    struct store *store;
    struct writer *writer;
    struct server *server;
};

struct fixture {
    char dir[32], db[64], address[SERVER_ADDRESS_TEXT_MAX], url[96], key[HOST_KEY_SIZE];
    int64_t run;
    struct credentials ours;
    struct collector collector;
    struct spool *spool;
    struct push *push;
    uint64_t last_seq;
};

static void on_event(void *ctx, const char *line) {
    (void)ctx, (void)line;
}

static void start_collector(struct fixture *f, const struct credentials *credentials) {
    char why[200] = "";
    struct collector *c = &f->collector;
    assert_int_equal(store_open_write(f->db, &c->store, NULL, 0), 0);
    const struct writer_options writer = {.store = c->store, .run = f->run, .event = on_event};
    assert_int_equal(writer_start(&writer, &c->writer), 0);
    const struct server_options server = {f->address, TOKEN, c->writer, credentials};
    assert_int_equal(server_start(&server, &c->server, why, sizeof why), 0);
    snprintf(f->address, sizeof f->address, "%s", server_address(c->server, 0));
    snprintf(f->url, sizeof f->url, "https://%s", f->address);
}

static void stop_collector(struct fixture *f) {
    server_finish(f->collector.server);
    writer_free(f->collector.writer);
    store_close(f->collector.store);
    f->collector = (struct collector){0};
}

static int setup(void **state) {
    struct fixture *f = calloc(1, sizeof *f);
    struct store *store;
    static const struct table *const tables[] = {&frames_cpu};
    const struct run_begin begin = {
        .command = "true", .wall_ns = 1, .mono_ns = 1, .period_ns = 100000000};
    strcpy(f->dir, "/tmp/transport-XXXXXX");
    strcpy(f->address, "127.0.0.1:0");
    assert_non_null(mkdtemp(f->dir));
    snprintf(f->db, sizeof f->db, "%s/x.db", f->dir);
    assert_int_equal(store_open_write(f->db, &store, NULL, 0), 0);
    assert_int_equal(store_run_begin(store, &begin, &f->run), 0);
    store_close(store);
    const struct spool_config config = {
        .dir = f->dir,
        .limit_bytes = 16u << 20,
        .stream = {.host = "vm1", .boot_id = "x", .stream_id = 7, .period_ns = 100 * NS_PER_MS},
        .tables = tables,
        .n_tables = 1};
    assert_int_equal(spool_open(&config, &f->spool), 0);
    assert_int_equal(credentials_make(NULL, &f->ours), 0);
    assert_int_equal(credentials_host_key(TOKEN, "vm1", f->key), 0);
    *state = f;
    return 0;
}

static int teardown(void **state) {
    struct fixture *f = *state;
    char wal[80];
    push_free(f->push);
    if (f->collector.server)
        stop_collector(f);
    spool_close(f->spool, true);
    credentials_release(&f->ours);
    unlink(f->db);
    snprintf(wal, sizeof wal, "%s-wal", f->db);
    unlink(wal);
    rmdir(f->dir);
    free(f);
    return 0;
}

static void append(struct fixture *f, uint64_t n) {
    frames_spool(f->spool, &f->last_seq, n);
}

static void start_push(struct fixture *f) {
    const struct push_config config = {.url = f->url,
                                       .pin = f->ours.pin,
                                       .host = "vm1",
                                       .token = f->key,
                                       .spool = f->spool,
                                       .interval_ns = 20 * NS_PER_MS,
                                       .notify_fd = -1};
    assert_int_equal(push_start(&config, &f->push), 0);
}

static struct push_status await(struct fixture *f, bool (*condition)(const struct push_status *)) {
    struct push_status status;
    int64_t end_ns = clock_monotonic_ns() + PATIENCE_NS;
    while (push_status(f->push, &status), !condition(&status)) {
        assert_true(clock_monotonic_ns() < end_ns);
        poll(NULL, 0, 2);
    }
    return status;
}

static bool has_failed_twice(const struct push_status *status) {
    return status->failures >= 2;
}

static bool has_pushed(const struct push_status *status) {
    return status->pushes > 0 && status->committed_seq > 0;
}

static void finish(struct fixture *f) {
    assert_int_equal(push_finish(f->push, clock_monotonic_ns() + PATIENCE_NS), 0);
    stop_collector(f);
    assert_int_equal(stored_number(f->db, "SELECT count(*) FROM frame"), f->last_seq);
}

/* ---- somebody else on the port ---- */

struct listener {
    int fd, stop_fd;
    pthread_t thread;
    char heard[1 << 16];
    size_t size;
    atomic_uint connections; /* received to their ends */
};

static void hear(struct listener *l, int fd) {
    for (;;) {
        struct pollfd fds[] = {{.fd = fd, .events = POLLIN}, {.fd = l->stop_fd, .events = POLLIN}};
        poll(fds, 2, 1000);
        ssize_t n = fds[0].revents && !fds[1].revents && l->size < sizeof l->heard
                        ? recv(fd, l->heard + l->size, sizeof l->heard - l->size, 0)
                        : 0;
        if (n <= 0)
            return;
        l->size += (size_t)n;
        send(fd, "HTTP/1.1 401 X\r\nContent-Length: 0\r\n\r\n", 37, MSG_NOSIGNAL);
    }
}

static void *listen_and_keep(void *arg) {
    struct listener *l = arg;
    for (;;) {
        struct pollfd fds[] = {{.fd = l->fd, .events = POLLIN},
                               {.fd = l->stop_fd, .events = POLLIN}};
        poll(fds, 2, -1);
        if (fds[1].revents)
            return NULL;
        int fd = accept(l->fd, NULL, NULL);
        hear(l, fd);
        close(fd);
        l->connections++;
    }
}

static void take_port(struct fixture *f, struct listener *l) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int on = 1;
    address.sin_port = htons((uint16_t)atoi(strrchr(f->address, ':') + 1));
    l->stop_fd = eventfd(0, EFD_CLOEXEC);
    l->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    setsockopt(l->fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    assert_int_equal(bind(l->fd, (struct sockaddr *)&address, sizeof address), 0);
    assert_int_equal(listen(l->fd, 8), 0);
    assert_int_equal(pthread_create(&l->thread, NULL, listen_and_keep, l), 0);
}

static void leave_port(struct listener *l) {
    eventfd_write(l->stop_fd, 1);
    pthread_join(l->thread, NULL);
    close(l->fd);
    close(l->stop_fd);
}

/* ---- claims ---- */

static void frames_go_to_the_pinned_collector(void **state) {
    struct fixture *f = *state;
    start_collector(f, &f->ours);
    append(f, 50);
    start_push(f);
    await(f, has_pushed);
    append(f, 20);
    finish(f);
}

static void a_squatter_with_another_key_is_sent_nothing(void **state) {
    struct fixture *f = *state;
    struct credentials theirs;
    assert_int_equal(credentials_make(NULL, &theirs), 0);
    start_collector(f, &theirs);
    append(f, 5);
    start_push(f);
    struct push_status status = await(f, has_failed_twice);
    assert_string_equal(status.trouble,
                        "another program has the collector's port: its key is not the run's");
    assert_int_equal(status.pushes, 0);
    stop_collector(f);
    assert_int_equal(stored_number(f->db, "SELECT count(*) FROM frame"), 0);
    assert_int_equal(
        stored_number(f->db, "SELECT coalesce(sum(n), 0) FROM refused WHERE kind <> 'busy'"), 0);
    start_collector(f, &f->ours); /* at the same address */
    finish(f);
    credentials_release(&theirs);
}

static void a_squatter_that_speaks_plainly_learns_no_key(void **state) {
    struct fixture *f = *state;
    struct listener *l = calloc(1, sizeof *l);
    start_collector(f, &f->ours);
    append(f, 5);
    start_push(f);
    await(f, has_pushed);
    stop_collector(f);
    take_port(f, l);
    append(f, 5);
    /* failures alone prove nothing: some happen before it listens */
    for (int64_t end_ns = clock_monotonic_ns() + PATIENCE_NS; l->connections < 2; poll(NULL, 0, 2))
        assert_true(clock_monotonic_ns() < end_ns);
    leave_port(l);
    assert_null(memmem(l->heard, l->size, f->key, strlen(f->key)));
    assert_null(memmem(l->heard, l->size, "vm1", 3));
    start_collector(f, &f->ours);
    finish(f);
    free(l);
}

static void a_new_certificate_of_the_same_key_has_the_same_pin(void **state) {
    struct fixture *f = *state;
    struct credentials again, other;
    assert_int_equal(credentials_make(f->ours.key, &again), 0);
    assert_int_equal(credentials_make(NULL, &other), 0);
    assert_string_equal(again.pin, f->ours.pin);
    assert_string_not_equal(other.pin, f->ours.pin);
    assert_int_equal(strlen(again.pin), 8 + 44);
    credentials_release(&again);
    credentials_release(&other);
    assert_int_equal(credentials_make("no key", &other), -EINVAL);
    credentials_release(&other);
}

static void keys_of_hosts_are_those_of_hmac(void **state) {
    (void)state;
    char key[HOST_KEY_SIZE];
    assert_int_equal(credentials_host_key(TOKEN, "vm1", key), 0);
    assert_string_equal(key, "545ff76dc1a8a9de09fb96614867c5bc"); /* by Python's hmac */
    assert_int_equal(credentials_host_key(TOKEN, "vm2", key), 0);
    assert_string_equal(key, "1ec159429cf1a4d5ebc508b488cd8541");
}

int main(void) {
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
    signal(SIGPIPE, SIG_IGN);
    const struct CMUnitTest tests[] = {
        TEST(frames_go_to_the_pinned_collector),
        TEST(a_squatter_with_another_key_is_sent_nothing),
        TEST(a_squatter_that_speaks_plainly_learns_no_key),
        TEST(a_new_certificate_of_the_same_key_has_the_same_pin),
        TEST(keys_of_hosts_are_those_of_hmac),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
