/* SPDX-License-Identifier: MIT */
/*
 * A client whose link is set to a rate both ways. Its own queue shows the rate of sending; what it
 * receives queues at the other end. Each answer comes over a connection of its own, too short to be
 * seen.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "analysis/gain/demand.h"
#include "tests/unit/awaited_plant.h"

#define SET_MB_S 10.
#define STEADY 9.5

enum { CLIENT = 1, SERVER };

static struct {
    double high, low; /* MB/s that the client receives, in turns of half a second */
    bool from_server; /* else from nobody in the run */
} answers;

static double answered_mb_s(double t_s) {
    return (int)(2 * t_s) % 2 ? answers.low : answers.high;
}

static double client_net_row(size_t column, double t_s) {
    return column == NET_RECEIVE_BYTES ? answered_mb_s(t_s) * 1e6
           : column == NET_SEND_BYTES  ? .1e6
                                       : 0;
}

static double server_net_row(size_t column, double t_s) {
    return column == NET_SEND_BYTES && answers.from_server ? answered_mb_s(t_s) * 1e6
           : column == NET_RECEIVE_BYTES                   ? .1e6
                                                           : 0;
}

static double queue_row(size_t column, double t_s) {
    (void)t_s;
    return column == QDISC_RATE ? SET_MB_S * 1e6 : column == QDISC_SEND_BYTES ? .1e6 : 0;
}

static double unseen_row(size_t column, double t_s) {
    return column == CONNECTION_RECEIVE_BYTES ? answered_mb_s(t_s) * 1e6
           : column == CONNECTION_SEND_BYTES  ? .1e6
                                              : 0;
}

static double nothing_row(size_t column, double t_s) {
    (void)column;
    (void)t_s;
    return 0;
}

/* The part of the path on which somebody computes. */
static double computed(void) {
    return model_demand(&judged.model, 0, 0, BUDGET_CPU) +
           model_demand(&judged.model, 0, 1, BUDGET_CPU);
}

/* The server computes for four tenths of the time, the client for one. */
static const struct candidate *judge_answers(double high, double low, bool from_server) {
    answers.high = high;
    answers.low = low;
    answers.from_server = from_server;
    begin();
    add_process(&recording, (struct process){.host = 0, .pid = CLIENT, .run = .1, .receive = .9});
    add_process(&recording, (struct process){.host = 1, .pid = SERVER, .run = .4, .poll = .6});
    add_socket(&recording, 0, A_TO_B, (struct socket){CLIENT, .starved = .9});
    plant(&recording, RECORDING_SELF, 0, "connection", 0.1, 0, nothing_row);
    plant(&recording, RECORDING_CONNECTION, 0, "ended unseen", 0.1, 0, unseen_row);
    plant(&recording, RECORDING_NET, 0, "eth0", 0.1, 0, client_net_row);
    plant(&recording, RECORDING_NET, 1, "eth0", 0.1, 0, server_net_row);
    plant(&recording, RECORDING_QDISC, 0, "eth0 tbf 1:", 0.1,
          1u << QDISC_BACKLOG | 1u << QDISC_RATE, queue_row);
    judge();
    return found(CAUSE_PATH_LIMITED);
}

static void a_steady_stream_at_the_set_rate_fills_the_link_it_comes_by(void **state) {
    (void)state;
    const struct candidate *c = judge_answers(STEADY, STEADY, true);
    assert_non_null(c);
    assert_int_equal(c->host, 0);
    assert_int_equal(c->resource, RESOURCE_NET_INGRESS);
    assert_int_equal(c->ceiling_from, CEILING_SET);
    assert_int_equal(c->against.n, 1); /* that this is the most it can be */
    assert_true(computed() > .2);
    assert_true(fabs(c->blocked + computed() - 1) < .02); /* and no core waits for the link */
    release();
}

static void a_stream_below_the_set_rate_fills_nothing(void **state) {
    (void)state;
    assert_null(judge_answers(STEADY, 5, true));
    release();
    assert_null(judge_answers(8, 8, true));
    release();
}

static void a_download_from_elsewhere_is_not_the_jobs(void **state) {
    (void)state;
    assert_null(judge_answers(STEADY, STEADY, false));
    release();
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_steady_stream_at_the_set_rate_fills_the_link_it_comes_by),
        cmocka_unit_test(a_stream_below_the_set_rate_fills_nothing),
        cmocka_unit_test(a_download_from_elsewhere_is_not_the_jobs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
