/* SPDX-License-Identifier: MIT */
/* Datagrams beside the pushes: what they prove about two clocks, and that datagrams of strangers do
 * no harm.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <arpa/inet.h>
#include <cmocka.h>
#include <endian.h>
#include <linux/sock_diag.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "agent/push/echo_client.h"
#include "collector/echo_server.h"
#include "common/clock.h"
#include "common/error.h"
#include "common/siphash.h"

struct fixture {
    struct echo_server *server;
    int beside_fd;
    uint16_t port;
    struct echo_client client;
};

static int setup(void **state) {
    struct fixture *f = calloc(1, sizeof *f);
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof address;
    f->beside_fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(f->beside_fd, (struct sockaddr *)&address, size), 0);
    assert_int_equal(getsockname(f->beside_fd, (struct sockaddr *)&address, &size), 0);
    f->port = ntohs(address.sin_port);
    assert_int_equal(echo_server_new(&f->server), 0);
    assert_int_equal(echo_server_key(f->server), 0);
    assert_int_equal(echo_server_listen(f->server, f->beside_fd), 0);
    assert_int_equal(echo_server_start(f->server), 0);
    echo_client_init(&f->client);
    *state = f;
    return 0;
}

static int teardown(void **state) {
    struct fixture *f = *state;
    echo_client_release(&f->client);
    echo_server_free(f->server);
    close(f->beside_fd);
    free(f);
    return 0;
}

static void point(struct fixture *f) {
    assert_int_equal(
        echo_client_point(&f->client, "127.0.0.1", f->port, echo_server_key(f->server)), 0);
    assert_true(f->client.fd >= 0);
}

static bool await(const struct echo_client *client, int ms) {
    struct pollfd fds = {.fd = client->fd, .events = POLLIN};
    return poll(&fds, 1, ms) == 1;
}

static void what_is_put_is_got_and_nothing_else(void **state) {
    (void)state;
    unsigned char bytes[ECHO_SIZE + 1];
    struct echo in = {ECHO_TELL, UINT64_MAX - 1, 7, -5, INT64_MAX}, out;
    echo_put(bytes, &in);
    for (size_t size = 0; size <= sizeof bytes; size++)
        assert_true(echo_get(bytes, size, &out) == (size == ECHO_SIZE));
    assert_true(echo_get(bytes, ECHO_SIZE, &out));
    assert_int_equal(out.kind, ECHO_TELL);
    assert_int_equal(out.id, 7);
    assert_true(out.received_ns == -5 && out.replied_ns == INT64_MAX);
    for (size_t i = 0; i < 8; i++) { /* another magic, another kind */
        bytes[i] ^= 0x40;
        assert_false(echo_get(bytes, ECHO_SIZE, &out));
        bytes[i] ^= 0x40;
    }
    bytes[8] = 1; /* reserved for later versions */
    assert_false(echo_get(bytes, ECHO_SIZE, &out));
}

static void every_bit_is_authenticated_and_the_key_is_not_sent(void **state) {
    (void)state;
    unsigned char bytes[ECHO_SIZE];
    uint64_t key = UINT64_C(0x7123456789abcdef), sent;
    echo_put(bytes, &(struct echo){ECHO_TELL, key, 7, 5, 6});
    assert_true(echo_is_authentic(bytes, key));
    assert_false(echo_is_authentic(bytes, key ^ 1));
    for (size_t i = 0; i < 8 * ECHO_SIZE; i++) {
        bytes[i / 8] ^= (unsigned char)(1 << i % 8);
        assert_false(echo_is_authentic(bytes, key));
        bytes[i / 8] ^= (unsigned char)(1 << i % 8);
    }
    for (size_t i = 0; i + 8 <= ECHO_SIZE; i++) {
        memcpy(&sent, bytes + i, 8);
        assert_true(sent != key && be64toh(sent) != key);
    }
}

/* The example of the paper that describes it: key 0 to 15, message 0 to 14. */
static void the_code_is_siphash(void **state) {
    (void)state;
    const uint64_t key[2] = {UINT64_C(0x0706050403020100), UINT64_C(0x0f0e0d0c0b0a0908)};
    unsigned char message[15];
    for (unsigned char i = 0; i < sizeof message; i++)
        message[i] = i;
    assert_true(siphash(key, message, sizeof message) == UINT64_C(0xa129ca6149be45e5));
}

/* The largest error of an exchange: half of its duration, and the clocks' drift meanwhile. */
static int64_t error_max(int64_t under_way_ns, int64_t took_ns) {
    return under_way_ns / 2 + took_ns / (1000000 / EXCHANGE_DRIFT_PPM) + 3;
}

/* Both ends read one clock here, so the true offset is 0. */
static void an_answer_bounds_the_offset(void **state) {
    struct fixture *f = *state;
    struct echo_heard heard;
    point(f);
    int64_t before = clock_monotonic_ns();
    for (int i = 0; i < 50; i++) {
        echo_client_ask(&f->client, 2);
        do
            assert_true(await(&f->client, 20000));
        while (echo_client_hear(&f->client, &heard), !heard.exchanged);
        assert_true(llabs(heard.result.offset_ns) <= heard.result.error_ns);
        assert_true(heard.heard_ns >= before && heard.heard_ns <= clock_monotonic_ns());
        assert_false(heard.called);
    }
}

/* By the kernel's time stamp: an answer that is read late is as exact. */
static void an_answer_that_lay_is_as_good_as_a_fresh_one(void **state) {
    struct fixture *f = *state;
    struct echo_heard heard;
    point(f);
    echo_client_ask(&f->client, 1); /* the first answer sets the relation of the clocks */
    assert_true(await(&f->client, 20000));
    echo_client_hear(&f->client, &heard);
    int as_it_came = 0;
    for (int i = 0; i < 20; i++) {
        int64_t asked_ns = clock_monotonic_ns();
        echo_client_ask(&f->client, 1);
        assert_true(await(&f->client, 20000));
        int64_t there_ns = clock_monotonic_ns(); /* it has arrived at some time before */
        poll(NULL, 0, 20);
        int64_t lay_ns = clock_monotonic_ns() - there_ns;
        echo_client_hear(&f->client, &heard);
        assert_true(heard.exchanged);
        assert_true(llabs(heard.result.offset_ns) <= heard.result.error_ns);
        int64_t took_ns = heard.heard_ns - asked_ns;
        assert_true(heard.result.error_ns <= error_max(took_ns, took_ns));
        as_it_came += heard.heard_ns < there_ns + lay_ns / 2;
    }
    /* Not each one: if the thread is descheduled between its readings of two clocks, it may believe
     * that one was set.
     */
    assert_true(as_it_came > 0);
}

static void without_the_key_nothing_is_answered(void **state) {
    struct fixture *f = *state;
    struct echo_heard heard;
    assert_int_equal(
        echo_client_point(&f->client, "127.0.0.1", f->port, echo_server_key(f->server) ^ 2), 0);
    echo_client_ask(&f->client, 4);
    assert_false(await(&f->client, 100));
    echo_client_hear(&f->client, &heard);
    assert_false(heard.exchanged || heard.called);
    assert_int_equal(echo_client_point(&f->client, "127.0.0.1", f->port, 0), 0);
    assert_int_equal(f->client.fd, -1); /* key 0: no question is sent */
    assert_int_equal(echo_client_point(&f->client, "no address", f->port, 1), -EINVAL);
    echo_client_ask(&f->client, 1);
    echo_client_hear(&f->client, &heard);
}

static void who_asked_is_called(void **state) {
    struct fixture *f = *state;
    struct echo_client other;
    struct echo_heard heard;
    point(f);
    echo_client_init(&other);
    assert_int_equal(echo_client_point(&other, "127.0.0.1", f->port, echo_server_key(f->server)),
                     0);
    struct echo_client *clients[] = {&f->client, &other};
    for (size_t i = 0; i < 2; i++) {
        echo_client_ask(clients[i], 1);
        assert_true(await(clients[i], 20000));
        echo_client_hear(clients[i], &heard);
    }
    echo_server_call(f->server);
    for (size_t i = 0; i < 2; i++) {
        assert_true(await(clients[i], 20000));
        echo_client_hear(clients[i], &heard);
        assert_true(heard.called);
    }
    echo_client_release(&other);
}

/* The server answers after any datagram, and the client accepts only answers to its own questions.
 */
static void datagrams_of_strangers_change_nothing(void **state) {
    struct fixture *f = *state;
    struct echo_heard heard;
    uint64_t random = 3;
    point(f);
    for (int i = 0; i < 3000; i++) {
        unsigned char bytes[96] = {0};
        struct echo echo = {(enum echo_kind)(i % 5), i % 2 ? f->client.key : 5, (uint64_t)i, 1, 2};
        echo_put(bytes, &echo);
        for (int k = 0; k < i % 4; k++) {
            random = random * UINT64_C(6364136223846793005) + 1;
            bytes[(random >> 33) % ECHO_SIZE] ^= (unsigned char)(random >> 50);
        }
        send(f->client.fd, bytes, (size_t)(i % 90), MSG_DONTWAIT);
        echo_client_hear(&f->client, &heard);
        assert_false(heard.exchanged);
    }
    while (await(&f->client, 50))
        echo_client_hear(&f->client, &heard);
    echo_client_ask(&f->client, 1);
    assert_true(await(&f->client, 20000));
    echo_client_hear(&f->client, &heard);
    assert_true(heard.exchanged);
}

/* A fake collector: its answers, and when they come. */
struct stub {
    int fd;
    struct echo_arrival arrival;
    struct sockaddr_storage from;
    socklen_t from_size;
};

static void stub_open(struct fixture *f, struct stub *stub) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof address;
    *stub = (struct stub){.fd = echo_socket(AF_INET)};
    assert_int_equal(bind(stub->fd, (struct sockaddr *)&address, size), 0);
    assert_int_equal(getsockname(stub->fd, (struct sockaddr *)&address, &size), 0);
    assert_int_equal(echo_client_point(&f->client, "127.0.0.1", ntohs(address.sin_port), 77), 0);
}

static struct echo stub_hear(struct stub *stub) {
    unsigned char bytes[ECHO_SIZE];
    struct echo ask = {0};
    assert_int_equal(echo_receive(stub->fd, &stub->arrival, bytes, sizeof bytes, &stub->from,
                                  &stub->from_size, &ask.received_ns),
                     ECHO_SIZE);
    int64_t arrived_ns = ask.received_ns;
    assert_true(echo_get(bytes, ECHO_SIZE, &ask));
    ask.received_ns = arrived_ns;
    return ask;
}

static void stub_tell(const struct stub *stub, uint64_t id, int64_t received_ns,
                      int64_t replied_ns) {
    unsigned char bytes[ECHO_SIZE];
    echo_put(bytes, &(struct echo){ECHO_TELL, 77, id, received_ns, replied_ns});
    sendto(stub->fd, bytes, sizeof bytes, 0, (const struct sockaddr *)&stub->from, stub->from_size);
}

static void an_answer_counts_once_and_only_if_it_can_be(void **state) {
    struct fixture *f = *state;
    struct stub stub;
    struct echo_heard heard;
    stub_open(f, &stub);
    echo_client_ask(&f->client, 1);
    struct echo ask = stub_hear(&stub);
    for (int i = 0; i < 2; i++) {
        stub_tell(&stub, ask.id, ask.received_ns, ask.received_ns);
        assert_true(await(&f->client, 20000));
        echo_client_hear(&f->client, &heard);
        assert_true(heard.exchanged == (i == 0));
    }
    echo_client_ask(&f->client, 1);
    ask = stub_hear(&stub);
    stub_tell(&stub, ask.id, INT64_MAX, INT64_MIN);
    assert_true(await(&f->client, 20000));
    echo_client_hear(&f->client, &heard);
    assert_false(heard.exchanged);
    close(stub.fd);
}

static uint32_t bytes_queued(int fd) {
    uint32_t info[SK_MEMINFO_VARS];
    socklen_t size = sizeof info;
    assert_int_equal(getsockopt(fd, SOL_SOCKET, SO_MEMINFO, info, &size), 0);
    return info[SK_MEMINFO_RMEM_ALLOC];
}

static void of_several_answers_the_surest_counts(void **state) {
    struct fixture *f = *state;
    struct stub stub;
    struct echo_heard heard;
    stub_open(f, &stub);
    for (int sure = 0; sure < 2; sure++) {
        struct echo asks[2];
        int64_t told_ns = 0, asked_ns = clock_monotonic_ns();
        echo_client_ask(&f->client, 2);
        for (int i = 0; i < 2; i++)
            asks[i] = stub_hear(&stub);
        /* Both answers come after 30 ms; one of them says that it spent all that time there. */
        poll(NULL, 0, 30);
        for (int i = 0; i < 2; i++) {
            uint32_t before = bytes_queued(f->client.fd);
            told_ns = i == sure ? clock_monotonic_ns() : told_ns;
            stub_tell(&stub, asks[i].id, asks[i].received_ns,
                      i == sure ? told_ns : asks[i].received_ns);
            for (int waited = 0; bytes_queued(f->client.fd) == before && waited < 20000; waited++)
                poll(NULL, 0, 1);
        }
        echo_client_hear(&f->client, &heard);
        assert_true(heard.exchanged);
        assert_true(llabs(heard.result.offset_ns) <= heard.result.error_ns);
        int64_t took_ns = clock_monotonic_ns() - asked_ns;
        assert_true(heard.result.error_ns <=
                    error_max(took_ns - (told_ns - asks[sure].received_ns), took_ns));
    }
    close(stub.fd);
}

int main(void) {
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_put_is_got_and_nothing_else),
        cmocka_unit_test(every_bit_is_authenticated_and_the_key_is_not_sent),
        cmocka_unit_test(the_code_is_siphash),
        TEST(an_answer_bounds_the_offset),
        TEST(an_answer_that_lay_is_as_good_as_a_fresh_one),
        TEST(without_the_key_nothing_is_answered),
        TEST(who_asked_is_called),
        TEST(datagrams_of_strangers_change_nothing),
        TEST(an_answer_counts_once_and_only_if_it_can_be),
        TEST(of_several_answers_the_surest_counts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
