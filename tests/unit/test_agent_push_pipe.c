/* SPDX-License-Identifier: MIT */
/*
 * Pushes over the two streams of a delivered agent. The agent's side is a child whose standard
 * input and output are pipes, since the streams use the process's own descriptors; the test is the
 * relay. The child reports over a third pipe what each push returned.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "agent/push/push.h"
#include "agent/push/push_http.h"
#include "agent/push/stream.h"
#include "common/clock.h"
#include "common/error.h"

#define POSTS_MAX 4

/* One push of the agent: the size of its body, and whether it gives up when asked. */
struct post {
    size_t size;
    bool gives_up;
};

struct outcome {
    int r;
    int64_t began_ns, ended_ns;
    struct push_answer answer;
};

struct agent {
    pid_t pid;
    int to, from, outcomes; /* its standard input and output; its reports */
    uint8_t bytes[1 << 16]; /* bytes that it wrote and that are not read as a record yet */
    size_t n;
};

/* ---- the agent ---- */

static bool give_up(void *ctx) {
    return ((const struct post *)ctx)->gives_up;
}

static int push_all(const struct post *posts, int outcomes) {
    static uint8_t bytes[SPOOL_BODY_MAX + 1];
    struct push_http *http;
    if (push_load("") || push_http_open(&(struct push_config){0}, &http))
        return 1;
    for (size_t i = 0; posts[i].size; i++) {
        memset(bytes, 'a' + (int)i, posts[i].size);
        struct buffer body = {.data = bytes, .size = posts[i].size};
        const struct push_request request = {.body = &body,
                                             .clock = i ? NULL : "5 -6 7",
                                             .final = i > 0,
                                             .give_up = give_up,
                                             .ctx = (void *)&posts[i]};
        struct outcome outcome = {.began_ns = clock_monotonic_ns()};
        outcome.r = push_http_post(http, &request, &outcome.answer);
        outcome.ended_ns = clock_monotonic_ns();
        if (write(outcomes, &outcome, sizeof outcome) != sizeof outcome)
            return 1;
    }
    push_http_close(http);
    return 0;
}

static void be_agent(const struct post *posts, const int in[2], const int out[2], int outcomes) {
    signal(SIGPIPE, SIG_IGN);
    if (dup2(in[0], STDIN_FILENO) < 0 || dup2(out[1], STDOUT_FILENO) < 0)
        _exit(1);
    close(in[1]);
    close(out[0]);
    close(in[0]);
    close(out[1]);
    _exit(push_all(posts, outcomes));
}

/* A push of size 0 ends the list. */
static void start(struct agent *agent, const struct post *posts) {
    int in[2], out[2], outcomes[2];
    assert_int_equal(pipe(in) | pipe(out) | pipe(outcomes), 0);
    agent->pid = fork();
    assert_true(agent->pid >= 0);
    if (agent->pid == 0)
        be_agent(posts, in, out, outcomes[1]);
    close(in[0]);
    close(out[1]);
    close(outcomes[1]);
    agent->to = in[1];
    agent->from = out[0];
    agent->outcomes = outcomes[0];
    agent->n = 0;
}

static void end(struct agent *agent) {
    int status;
    close(agent->to);
    close(agent->from);
    close(agent->outcomes);
    assert_int_equal(waitpid(agent->pid, &status, 0), agent->pid);
    assert_int_equal(status, 0);
}

/* ---- the relay ---- */

/* Takes the next record, and returns its number. The body must be `size` times the letter of that
 * push.
 */
static uint64_t take_request(struct agent *agent, size_t size, char letter, bool final) {
    struct stream_request request;
    size_t needed;
    int r;
    while ((r = stream_read_request(agent->bytes, agent->n, &request, &needed)) == STREAM_MORE) {
        ssize_t n = read(agent->from, agent->bytes + agent->n, needed - agent->n);
        assert_true(n > 0);
        agent->n += (size_t)n;
    }
    assert_int_equal(r, 0);
    assert_int_equal(request.final, final);
    assert_string_equal(request.clock, final ? "" : "5 -6 7");
    assert_int_equal(request.body_size, size);
    for (size_t i = 0; i < size; i++)
        assert_int_equal(request.body[i], letter);
    assert_int_equal(agent->n, needed);
    agent->n = 0;
    return request.number;
}

static void put_answer(struct buffer *to, uint64_t number, const char *text) {
    struct push_answer answer = {.status = text ? 200 : 0, .address = "10.0.0.9", .port = 4711};
    snprintf(answer.text, sizeof answer.text, "%s", text ? text : "");
    snprintf(answer.why, sizeof answer.why, "%s", text ? "" : "no route");
    assert_int_equal(stream_put_answer(to, number, &answer), 0);
}

static void send_bytes(struct agent *agent, const void *data, size_t size) {
    assert_int_equal(write(agent->to, data, size), size);
}

static void answer(struct agent *agent, uint64_t number, const char *text) {
    struct buffer record;
    buffer_init(&record);
    put_answer(&record, number, text);
    send_bytes(agent, record.data, record.size);
    buffer_release(&record);
}

static struct outcome outcome_of(struct agent *agent) {
    struct outcome outcome;
    assert_int_equal(read(agent->outcomes, &outcome, sizeof outcome), sizeof outcome);
    return outcome;
}

static void expect_answered(struct agent *agent, const char *text) {
    struct outcome outcome = outcome_of(agent);
    assert_int_equal(outcome.r, 0);
    assert_int_equal(outcome.answer.status, 200);
    assert_string_equal(outcome.answer.text, text);
    assert_string_equal(outcome.answer.address, "10.0.0.9");
    assert_int_equal(outcome.answer.port, 4711);
    assert_true(outcome.began_ns <= outcome.answer.sent_ns);
    assert_true(outcome.answer.sent_ns < outcome.answer.heard_ns);
    assert_true(outcome.answer.heard_ns <= outcome.ended_ns);
}

/* Expects nothing more: the agent has closed its side. */
static void expect_silence(struct agent *agent) {
    uint8_t byte;
    assert_int_equal(agent->n, 0);
    assert_int_equal(read(agent->from, &byte, 1), 0);
}

/* ---- claims ---- */

static void each_push_has_its_answer(void **state) {
    struct agent agent;
    (void)state;
    start(&agent, (const struct post[]){{.size = 5}, {.size = 50000}, {0}});
    assert_int_equal(take_request(&agent, 5, 'a', false), 1);
    answer(&agent, 1, "committed 3\n");
    expect_answered(&agent, "committed 3\n");
    assert_int_equal(take_request(&agent, 50000, 'b', true), 2);
    answer(&agent, 2, "committed 4\n");
    expect_answered(&agent, "committed 4\n");
    expect_silence(&agent);
    end(&agent);
}

static void the_answer_to_a_push_that_was_given_up_is_passed_over(void **state) {
    struct agent agent;
    struct buffer both;
    (void)state;
    start(&agent,
          (const struct post[]){{.size = 5, .gives_up = true}, {.size = 6}, {.size = 7}, {0}});
    assert_int_equal(take_request(&agent, 5, 'a', false), 1);
    assert_int_equal(outcome_of(&agent).r, -ECANCELED);
    assert_int_equal(take_request(&agent, 6, 'b', true), 2);
    buffer_init(&both);
    put_answer(&both, 1, "old");
    put_answer(&both, 2, "new");
    send_bytes(&agent, both.data, both.size);
    buffer_release(&both);
    expect_answered(&agent, "new");
    assert_int_equal(take_request(&agent, 7, 'c', true), 3);
    answer(&agent, 2, "told twice");
    answer(&agent, 4, "never asked");
    answer(&agent, 3, "newest");
    expect_answered(&agent, "newest");
    end(&agent);
}

static void an_answer_may_come_byte_by_byte(void **state) {
    struct agent agent;
    struct buffer record;
    (void)state;
    start(&agent, (const struct post[]){{.size = 5}, {0}});
    take_request(&agent, 5, 'a', false);
    buffer_init(&record);
    put_answer(&record, 1, "in pieces");
    for (size_t i = 0; i < record.size; i++)
        send_bytes(&agent, record.data + i, 1);
    buffer_release(&record);
    expect_answered(&agent, "in pieces");
    end(&agent);
}

/* The first push fills the pipe and is given up in its middle. Nothing may follow the partial
 * record, so only its begin arrives.
 */
static void nothing_follows_half_a_record(void **state) {
    static uint8_t came[SPOOL_BODY_MAX];
    const size_t size = 3 << 20;
    struct agent agent;
    size_t n = 0;
    ssize_t more;
    (void)state;
    start(&agent, (const struct post[]){{.size = size, .gives_up = true}, {.size = 6}, {0}});
    struct outcome first = outcome_of(&agent), second = outcome_of(&agent);
    assert_int_equal(first.r, -EPIPE);
    assert_int_equal(second.r, -EPIPE);
    assert_true(second.answer.why[0]);
    while ((more = read(agent.from, came + n, sizeof came - n)) > 0)
        n += (size_t)more;
    assert_true(n > STREAM_HEAD_SIZE && n < size);
    for (size_t i = STREAM_HEAD_SIZE + strlen("5 -6 7"); i < n; i++)
        assert_int_equal(came[i], 'a');
    end(&agent);
}

/* After an invalid record the begin of the next is not known. */
static void a_stream_with_other_bytes_in_it_is_left(void **state) {
    enum { MAGIC = 0, ADDRESS = 8, WHY = 9, TEXT = 11, CHECKSUM = 20, LAST = 24 };
    static const size_t wrong[] = {MAGIC, ADDRESS, WHY, TEXT, CHECKSUM, LAST};
    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(wrong); i++) {
        struct agent agent;
        struct buffer record;
        start(&agent, (const struct post[]){{.size = 5}, {.size = 6}, {0}});
        take_request(&agent, 5, 'a', false);
        buffer_init(&record);
        put_answer(&record, 1, "fine");
        record.data[wrong[i]] ^= 0xc0;
        put_answer(&record, 1, "too late");
        put_answer(&record, 2, "too late");
        send_bytes(&agent, record.data, record.size); /* at once: the agent ends at the first */
        buffer_release(&record);
        assert_int_equal(outcome_of(&agent).r, -EPIPE);
        assert_int_equal(outcome_of(&agent).r, -EPIPE);
        expect_silence(&agent);
        end(&agent);
    }
}

static void a_relay_that_has_ended_is_the_end(void **state) {
    struct agent agent;
    (void)state;
    start(&agent, (const struct post[]){{.size = 5}, {.size = 6}, {0}});
    take_request(&agent, 5, 'a', false);
    send_bytes(&agent, "half", 4);
    close(agent.to);
    struct outcome outcome = outcome_of(&agent);
    assert_int_equal(outcome.r, -EPIPE);
    assert_string_equal(outcome.answer.why, "the way to the relay has ended");
    assert_int_equal(outcome_of(&agent).r, -EPIPE);
    expect_silence(&agent);
    agent.to = -1;
    end(&agent);
}

static void without_a_collector_the_relay_says_why_and_a_later_push_may_succeed(void **state) {
    struct agent agent;
    (void)state;
    start(&agent, (const struct post[]){{.size = 5}, {.size = 6}, {0}});
    take_request(&agent, 5, 'a', false);
    answer(&agent, 1, NULL);
    struct outcome outcome = outcome_of(&agent);
    assert_int_equal(outcome.r, -EIO);
    assert_string_equal(outcome.answer.why, "no route");
    take_request(&agent, 6, 'b', true);
    answer(&agent, 2, "better");
    expect_answered(&agent, "better");
    end(&agent);
}

static void a_wait_ends_when_it_is_woken_or_something_can_be_read(void **state) {
    struct push_http *http;
    int fds[2], flags[] = {fcntl(STDIN_FILENO, F_GETFL), fcntl(STDOUT_FILENO, F_GETFL)};
    (void)state;
    assert_int_equal(push_http_open(&(struct push_config){0}, &http), 0);
    for (int fd = STDIN_FILENO; fd <= STDOUT_FILENO; fd++)
        assert_true(fcntl(fd, F_GETFL) & O_NONBLOCK);
    for (int fd = STDIN_FILENO; fd <= STDOUT_FILENO; fd++)
        fcntl(fd, F_SETFL, flags[fd]); /* the test's own, which may be one file */
    push_http_wake(http);
    push_http_wait(http, clock_monotonic_ns() + 3600 * NS_PER_S, -1);
    push_http_wait(http, clock_monotonic_ns() - 1, -1); /* a deadline in the past */
    assert_int_equal(pipe(fds), 0);
    assert_int_equal(write(fds[1], "x", 1), 1);
    push_http_wait(http, clock_monotonic_ns() + 3600 * NS_PER_S, fds[0]);
    close(fds[0]);
    close(fds[1]);
    push_http_close(http);
    push_http_close(NULL);
}

int main(void) {
    signal(SIGPIPE, SIG_IGN);
    alarm(300); /* ends the test if a push hangs */
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_push_has_its_answer),
        cmocka_unit_test(the_answer_to_a_push_that_was_given_up_is_passed_over),
        cmocka_unit_test(an_answer_may_come_byte_by_byte),
        cmocka_unit_test(nothing_follows_half_a_record),
        cmocka_unit_test(a_stream_with_other_bytes_in_it_is_left),
        cmocka_unit_test(a_relay_that_has_ended_is_the_end),
        cmocka_unit_test(without_a_collector_the_relay_says_why_and_a_later_push_may_succeed),
        cmocka_unit_test(a_wait_ends_when_it_is_woken_or_something_can_be_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
