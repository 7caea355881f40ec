/* SPDX-License-Identifier: MIT */
/* Rules about processes that others wait for, on planted wait clocks: their findings, and none
 * where the mechanism is missing.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "analysis/evidence/asked.h"
#include "analysis/evidence/awaited.h"
#include "tests/unit/awaited_plant.h"

#define POLL WAIT_REASON_POLL

/* A waits for B, which behaves as `b` says. */
static void plant_pair(struct process b) {
    double waits = 1 - b.run - b.receive - b.timer - b.stopped;
    assert_true(fabs(waits) < 1e-9);
    begin();
    add_process(&recording,
                (struct process){.host = 0, .pid = 1, .run = b.receive, .receive = 1 - b.receive});
    add_process(&recording, b);
    add_socket(&recording, 0, A_TO_B, (struct socket){1, 1 - b.receive, 0, 0, 1 - b.receive, 100});
    add_socket(&recording, 1, B_TO_A, (struct socket){2, b.receive, 0, 0, b.receive, 100});
    judge();
}

static void a_stopped_process_that_others_wait_for_is_named(void **state) {
    (void)state;
    plant_pair((struct process){.host = 1, .pid = 2, .run = .3, .receive = .3, .stopped = .4});
    const struct candidate *c = found(CAUSE_STOPPED);
    assert_non_null(c);
    assert_int_equal(c->host, 1);
    assert_int_equal(c->remove.term, BUDGET_STOPPED);
    assert_true(fabs(c->blocked - .4) < .03);
    assert_int_equal(judged.candidates.items[0].kind, CAUSE_STOPPED);
    release();
    plant_pair((struct process){.host = 1, .pid = 2, .run = .66, .receive = .3, .stopped = .04});
    assert_null(found(CAUSE_STOPPED)); /* less than BLOCKED_MIN */
    release();
}

/* A asks B after both have slept for a while. C sleeps nearly all the time, including then. */
static void a_sleeper_that_holds_up_nobody_bounds_no_gain(void **state) {
    struct whatif *whatif;
    struct whatif_answer a;
    struct whatif_scenario s = {
        .kind = WHATIF_WITHOUT, .host = 1, .rank = -1, .term = BUDGET_RUN_QUEUE};
    (void)state;
    begin();
    sockets_begin_s = 4;
    add_process(&recording,
                (struct process){.host = 0, .pid = 1, .run = .2, .receive = .8, .begin_s = 4});
    add_process(
        &recording,
        (struct process){.host = 1, .pid = 2, .run = .2, .ready = .6, .receive = .2, .begin_s = 4});
    add_process(&recording, (struct process){.host = 1, .pid = 3, .run = .03, .timer = .97});
    add_socket(&recording, 0, A_TO_B, (struct socket){1, .8, 0, 0, .8, 100});
    add_socket(&recording, 1, B_TO_A, (struct socket){2, .2, 0, 0, .2, 100});
    sockets_begin_s = 0;
    judge();
    assert_int_equal(whatif_new(&judged.model, &whatif), 0);
    assert_int_equal(whatif_ask(whatif, &s, 1, &a), 0);
    assert_true(fabs(a.gain - .6 * 16 / SECONDS) < .05);
    whatif_free(whatif);
    release();
}

/* A waits for B for half of the time, and B is busy for .6 of it. */
static void plant_busy_sleeper(double timer, double poll) {
    begin();
    add_process(&recording, (struct process){.host = 0, .pid = 1, .run = .5, .receive = .5});
    add_process(&recording,
                (struct process){.host = 1, .pid = 2, .run = .6, .timer = timer, .poll = poll});
    add_socket(&recording, 0, A_TO_B, (struct socket){1, .5, 0, 0, .5, 100});
    add_socket(&recording, 1, B_TO_A, (struct socket){2, 0, 0, 0, 0, 100});
    judge();
}

/* Nothing tells what ended its polls, and the others may have waited for what it computed. */
static void a_sleep_by_exclusion_is_a_suspicion(void **state) {
    (void)state;
    plant_busy_sleeper(.4, 0);
    const struct candidate *c = found(CAUSE_SLEEP);
    assert_non_null(c);
    assert_true(c->saturated); /* it chose the time */
    release();
    plant_busy_sleeper(0, .4);
    c = found(CAUSE_SLEEP);
    assert_non_null(c);
    assert_false(c->saturated);
    assert_true(awaited_while_idle(&judged.model, 1, 0) < .01);
    release();
    begin(); /* it is hardly busy, and they wait nearly all the time */
    add_process(&recording, (struct process){.host = 0, .pid = 1, .run = .1, .receive = .9});
    add_process(&recording, (struct process){.host = 1, .pid = 2, .run = .1, .poll = .9});
    add_socket(&recording, 0, A_TO_B, (struct socket){1, .9, 0, 0, .9, 100});
    add_socket(&recording, 1, B_TO_A, (struct socket){2, 0, 0, 0, 0, 100});
    judge();
    c = found(CAUSE_SLEEP);
    assert_true(c && c->saturated);
    assert_true(fabs(awaited_while_idle(&judged.model, 1, 0) - .8) < .02);
    release();
}

static double used_now; /* of a host's core */

static double cpu_of_host(size_t column, double t_s) {
    (void)t_s;
    return column == CPU_IDLE ? (1 - used_now) * 1e9 : column == CPU_USER ? used_now * 1e9 : 0;
}

static void plant_cores(double used) {
    used_now = used;
    for (int host = 0; host < 3; host++)
        plant(&recording, RECORDING_CPU, host, "cpu0", 0.1, 0, cpu_of_host);
}

/* A job alone on its host, which nobody waits for. */
static void who_sleeps_between_steps_is_suspected_and_who_idles_is_idle(void **state) {
    (void)state;
    begin();
    add_process(&recording, (struct process){.host = 1, .pid = 2, .run = .2, .timer = .8});
    plant_cores(.2);
    judge();
    assert_int_equal(judged.verdict.state, VERDICT_SUSPECTED);
    assert_int_equal(judged.verdict.resource, RESOURCE_APPLICATION);
    assert_int_equal(judged.verdict.kind, CAUSE_SLEEP);
    assert_int_equal(judged.verdict.host, 1);
    assert_int_equal(judged.verdict.subject, SUBJECT_PROCESS);
    assert_true(fabs(judged.verdict.gain - .8) < .05);
    release();
    begin();
    add_process(&recording, (struct process){.host = 1, .pid = 2, .run = .01, .timer = .99});
    plant_cores(.01);
    judge();
    assert_int_equal(judged.verdict.state, VERDICT_IDLE);
    release();
}

/* The CPU time of a child that ends counts at once, though it was used before the recording. */
static void a_job_uses_no_more_than_its_host(void **state) {
    (void)state;
    begin();
    add_process(&recording,
                (struct process){.host = 1, .pid = 2, .run = .01, .timer = .99, .counted = .2});
    plant_cores(.01);
    judge();
    assert_true(fabs(asked_cores(&judged.model) - .01) < .005);
    assert_true(asks_nothing(&judged.model));
    release();
}

static struct whatif_answer answer_to(struct whatif_scenario s) {
    struct whatif *whatif;
    struct whatif_answer a;
    s.rank = -1;
    assert_int_equal(whatif_new(&judged.model, &whatif), 0);
    assert_int_equal(whatif_ask(whatif, &s, 1, &a), 0);
    whatif_free(whatif);
    return a;
}

static void by_chains_of_waits_slower_is_slower(void **state) {
    (void)state;
    plant_pair((struct process){.host = 1, .pid = 2, .run = .6, .receive = .4});
    struct whatif_answer half =
        answer_to((struct whatif_scenario){.kind = WHATIF_CPU, .host = -1, .factor = .5});
    assert_true(half.counted && fabs(half.gain + 1) < .05); /* both compute in turn */
    assert_true(half.gain_low <= half.gain && half.gain <= half.gain_high);
    /* B computes for twice .6 of the time, of which a tenth may be pace */
    assert_true(fabs(half.bound_s / half.measured_s - .9 * 1.2) < .05);
    half = answer_to((struct whatif_scenario){.kind = WHATIF_CPU, .host = 1, .factor = .5});
    assert_true(fabs(half.gain + .6) < .05);
    release();
}

/* A shared core's quota is nothing that a chain of waits tells of. */
static void what_chains_of_waits_do_not_tell_is_refused(void **state) {
    (void)state;
    plant_pair((struct process){.host = 1, .pid = 2, .run = .6, .receive = .4});
    struct whatif_answer a =
        answer_to((struct whatif_scenario){.kind = WHATIF_QUOTA, .host = 1, .factor = .5});
    assert_true(isnan(a.predicted_s) && a.refused.code);
    release();
}

static void one_thread_that_fills_a_core_is_named(void **state) {
    (void)state;
    plant_pair((struct process){.host = 1, .pid = 2, .run = .95, .receive = .05});
    const struct candidate *c = found(CAUSE_SERIAL);
    assert_non_null(c);
    assert_int_equal(c->host, 1);
    assert_int_equal(c->remove.kind, WHATIF_CPU);
    assert_true(c->can_remove); /* it is all of its host's part of the path */
    release();
    plant_pair((struct process){.host = 1, .pid = 2, .run = .7, .receive = .3});
    assert_null(found(CAUSE_SERIAL)); /* it waits too much for a full core */
    release();
}

static void two_that_compute_alike_are_not_one_thread(void **state) {
    (void)state;
    begin();
    add_process(&recording, (struct process){.host = 0, .pid = 1, .run = .9, .receive = .1});
    add_process(&recording, (struct process){.host = 1, .pid = 2, .run = .95, .receive = .05});
    add_socket(&recording, 0, A_TO_B, (struct socket){1, .1, 0, 0, .1, 100});
    add_socket(&recording, 1, B_TO_A, (struct socket){2, .05, 0, 0, .05, 100});
    judge();
    assert_null(found(CAUSE_SERIAL));
    release();
}

/* ---- helpers ---- */

/* A waits for B, which computes most of the time, beside helpers that wait for ever. */
static void plant_helpers(int n) {
    static const struct process kinds[] = {{.host = 1, .run = .001, .lock = .999},
                                           {.host = 1, .run = .001, .poll = .999},
                                           {.host = 1, .run = .001, .receive = .999},
                                           {.host = 0, .run = .001, .timer = .999}};
    begin();
    add_process(&recording, (struct process){.host = 0, .pid = 1, .run = .1, .receive = .9});
    add_process(&recording,
                (struct process){.host = 1, .pid = 2, .run = .88, .ready = .02, .receive = .1});
    add_socket(&recording, 0, A_TO_B, (struct socket){1, .9, 0, 0, .9, 100});
    add_socket(&recording, 1, B_TO_A, (struct socket){2, .1, 0, 0, .1, 100});
    for (int i = 0; i < n; i++) {
        struct process helper = kinds[i % (int)(sizeof kinds / sizeof *kinds)];
        helper.pid = 100 + i;
        add_process(&recording, helper);
    }
    judge();
}

static void helpers_that_wait_for_ever_change_no_verdict(void **state) {
    (void)state;
    plant_helpers(0);
    const struct candidate *c = found(CAUSE_SERIAL);
    assert_non_null(c);
    double blocked = c->blocked, gain = c->gain.estimate;
    enum cause_kind first = judged.candidates.items[0].kind;
    release();
    plant_helpers(12);
    c = found(CAUSE_SERIAL);
    assert_non_null(c);
    assert_int_equal(judged.candidates.items[0].kind, first);
    assert_true(fabs(c->blocked - blocked) < .01);
    assert_true(fabs(c->gain.estimate - gain) < .01);
    release();
}

/* ---- locks ---- */

/* A waits for B, a thread of which sleeps fifty times a second; its threads wake each other. */
static void plant_sleeper(double hand_overs, double waited) {
    begin();
    add_process(&recording, (struct process){.host = 0, .pid = 1, .run = .1, .receive = .9});
    add_process(&recording, (struct process){.host = 1,
                                             .pid = 2,
                                             .run = .1,
                                             .receive = .1,
                                             .timer = .8,
                                             .timer_ends = 50,
                                             .lock_ends = hand_overs});
    add_socket(&recording, 0, A_TO_B, (struct socket){1, .9, 0, 0, .9, 50});
    add_socket(&recording, 1, B_TO_A, (struct socket){2, .1, 0, 0, .1, 50});
    add_hand_over(&recording, 1, 2, waited, 0, hand_overs);
    judge();
}

static void a_sleeper_with_a_lock_hands_it_over_once_each_sleep(void **state) {
    static const struct {
        double hand_overs, waited;
        bool is_lock;
    } plants[] = {{50, 2.4, true},   /* three others wait for it */
                  {5, 3, false},     /* three threads idle, and are seldom needed */
                  {200, 2.4, false}, /* work is handed on, whether or not anything sleeps */
                  {50, .3, false}};  /* nobody waits for as long as it sleeps */
    (void)state;
    for (size_t i = 0; i < sizeof plants / sizeof *plants; i++) {
        plant_sleeper(plants[i].hand_overs, plants[i].waited);
        assert_true(!found(CAUSE_LOCK) == !plants[i].is_lock);
        assert_true(!found(CAUSE_SLEEP) == plants[i].is_lock);
        release();
    }
}

static double core_row(size_t column, double t_s) {
    (void)t_s;
    return column == CPU_USER || column == CPU_IDLE ? .5e9 : 0;
}

/* One process on two cores uses one of them; its threads wake each other. */
static void plant_computing(double hand_overs, double queued) {
    plant_init(&recording, 1, SECONDS);
    plant(&recording, RECORDING_CPU, 0, "cpu0", 0.1, 0, core_row);
    plant(&recording, RECORDING_CPU, 0, "cpu1", 0.1, 0, core_row);
    add_process(&recording, (struct process){.host = 0,
                                             .pid = 1,
                                             .run = 1,
                                             .queued = queued,
                                             .run_ends = 900,
                                             .lock_ends = hand_overs});
    add_hand_over(&recording, 0, 1, 2, 0, hand_overs);
    judge();
}

static void threads_that_compute_in_turns_wait_for_a_lock(void **state) {
    (void)state;
    plant_computing(900, 0);
    assert_non_null(found(CAUSE_LOCK));
    assert_int_equal(found(CAUSE_LOCK)->subject, SUBJECT_CORE);
    assert_null(found(CAUSE_SINGLE_THREAD));
    release();
    plant_computing(20, 0); /* threads that idle */
    assert_non_null(found(CAUSE_SINGLE_THREAD));
    assert_null(found(CAUSE_LOCK));
    release();
    plant_computing(20, .6); /* another thread wants to compute as well */
    assert_non_null(found(CAUSE_COMPUTE_BOUND));
    release();
    plant_computing(900, .6); /* who is handed a lock queues for a moment */
    assert_non_null(found(CAUSE_LOCK));
    release();
}

/* ---- input ---- */

/* Two ranks that alternate; rank 1 polls for its loader, which sleeps or computes. */
static void plant_loader(double loaded, double sleeps) {
    begin();
    double waits = .6 - loaded;
    add_process(&recording,
                (struct process){.host = 0, .pid = 1, .run = .3, .poll = .7, .rank1 = 1});
    add_process(&recording,
                (struct process){.host = 1, .pid = 2, .run = .4, .poll = .6, .rank1 = 2});
    add_process(
        &recording,
        (struct process){
            .host = 1, .pid = 3, .run = .9 - sleeps, .timer = sleeps, .poll = .1, .parent = 2});
    add_socket(&recording, 0, A_TO_B, (struct socket){1, .7, 0, 0, .7, 100});
    add_socket(&recording, 1, B_TO_A, (struct socket){2, .6, 0, 0, waits, 100});
    if (loaded > 0)
        add_pair(&recording, 1, (struct pair){2, 3, POLL, loaded});
    judge();
}

static void a_loader_that_a_rank_waits_for_is_its_input(void **state) {
    (void)state;
    plant_loader(.5, .8);
    assert_int_equal(judged.model.budgets.n, 2);
    assert_int_equal(judged.model.budgets.n_helpers, 1);
    const struct candidate *c = found(CAUSE_INPUT);
    assert_non_null(c);
    assert_int_equal(c->host, 1);
    assert_int_equal(c->rank, 1);
    assert_int_equal(c->remove.term, BUDGET_IDLE);
    assert_int_equal(judged.candidates.items[0].kind, CAUSE_INPUT);
    release();
    plant_loader(.5, 0);
    c = found(CAUSE_INPUT);
    assert_non_null(c);
    assert_int_equal(c->remove.kind, WHATIF_CPU);
    release();
}

static void a_loader_that_is_ahead_is_no_input(void **state) {
    (void)state;
    plant_loader(0, .8); /* no rank waits for it */
    assert_int_equal(judged.model.budgets.n_helpers, 0);
    assert_null(found(CAUSE_INPUT));
    release();
    plant_loader(.03, .3); /* a rank hardly waits for it, though it computes */
    assert_int_equal(judged.model.budgets.n_helpers, 1);
    assert_null(found(CAUSE_INPUT));
    release();
}

/* ---- pools ---- */

#define CLIENTS 8

/* A asks B over eight connections, B asks C over n of them; C sleeps in each request. */
static void plant_pool(int n, double c_waits) {
    char near_end[64], far_end[64];
    begin();
    add_process(&recording, (struct process){.host = 0, .pid = 1, .run = .1, .poll = .9});
    add_process(&recording, (struct process){.host = 1, .pid = 2, .run = .1, .poll = .9});
    add_process(
        &recording,
        (struct process){.host = 2, .pid = 3, .run = .1, .poll = c_waits, .timer = .9 - c_waits});
    for (int i = 0; i < CLIENTS; i++) {
        snprintf(near_end, sizeof near_end, "10.0.0.1:%d>10.0.0.2:80", 5000 + i);
        snprintf(far_end, sizeof far_end, "10.0.0.2:80>10.0.0.1:%d", 5000 + i);
        add_socket(&recording, 0, near_end,
                   (struct socket){1, .9 / CLIENTS, 0, 0, .9 / CLIENTS, 20});
        add_socket(&recording, 1, far_end,
                   (struct socket){2, .1 / CLIENTS, 0, 0, .1 / CLIENTS, 20});
    }
    for (int i = 0; i < n; i++) {
        snprintf(near_end, sizeof near_end, "10.0.0.2:%d>10.0.0.3:90", 7000 + i);
        snprintf(far_end, sizeof far_end, "10.0.0.3:90>10.0.0.2:%d", 7000 + i);
        add_socket(&recording, 1, near_end, (struct socket){2, .8 / n, 0, 0, .8 / n, 160.0 / n});
        add_socket(&recording, 2, far_end,
                   (struct socket){3, c_waits / n, 0, 0, c_waits / n, 160.0 / n});
    }
    judge();
}

static void requests_that_wait_for_few_connections_are_a_pool(void **state) {
    (void)state;
    plant_pool(1, .1);
    const struct candidate *c = found(CAUSE_POOL);
    assert_non_null(c);
    assert_int_equal(c->host, 1);        /* the host with too few */
    assert_int_equal(c->remove.host, 2); /* the host whose sleep would then count less */
    assert_null(found(CAUSE_SLEEP));
    assert_int_equal(judged.candidates.items[0].kind, CAUSE_POOL);
    release();
}

static void a_sleeper_that_is_asked_over_all_or_at_times_is_itself_the_limit(void **state) {
    (void)state;
    plant_pool(CLIENTS, 0); /* as many as ask */
    assert_null(found(CAUSE_POOL));
    assert_non_null(found(CAUSE_SLEEP));
    release();
    plant_pool(1, .4); /* its connection is free for .4 of the time */
    assert_null(found(CAUSE_POOL));
    release();
}

/* Both ends of n connections over which `from` asks `to`. */
static void plant_asking(int from_host, int64_t from, int to_host, int64_t to, int n, double asks,
                         double idles) {
    char near_end[64], far_end[64];
    for (int i = 0; i < n; i++) {
        int port = 1000 * (int)from + i;
        snprintf(near_end, sizeof near_end, "10.0.0.%d:%d>10.0.0.%d:80%d", from_host + 1, port,
                 to_host + 1, (int)to);
        snprintf(far_end, sizeof far_end, "10.0.0.%d:80%d>10.0.0.%d:%d", to_host + 1, (int)to,
                 from_host + 1, port);
        add_socket(&recording, from_host, near_end,
                   (struct socket){from, asks / n, 0, 0, asks / n, 160.0 / n});
        add_socket(&recording, to_host, far_end,
                   (struct socket){to, idles / n, 0, 0, idles / n, 160.0 / n});
    }
}

/* A client asks a proxy over eight connections, the proxy a server over n, the server a sleeper
 * over two. Connections that were opened and hardly used do not count.
 */
static void a_pool_is_found_where_requests_first_queue(void **state) {
    (void)state;
    for (int n = 1; n <= 8; n += 7) {
        begin();
        add_process(&recording, (struct process){.host = 0, .pid = 1, .run = .1, .receive = .9});
        add_process(&recording, (struct process){.host = 0, .pid = 2, .run = .1, .poll = .9});
        add_process(&recording, (struct process){.host = 1, .pid = 3, .run = .1, .poll = .9});
        add_process(&recording,
                    (struct process){.host = 2, .pid = 4, .run = .1, .poll = .02, .timer = .88});
        plant_asking(0, 1, 0, 2, 8, .9, .02);
        plant_asking(0, 2, 1, 3, n, .9, .02);
        plant_asking(1, 3, 2, 4, 2, .85, .02);
        add_socket(&recording, 0, "10.0.0.1:1>10.0.0.2:803", (struct socket){2, 0, 0, 0, 0, 1});
        add_socket(&recording, 1, "10.0.0.2:803>10.0.0.1:1", (struct socket){3, 0, 0, 0, 0, 1});
        judge();
        const struct candidate *c = found(CAUSE_POOL);
        assert_non_null(c);
        assert_string_equal(c->cause.names[0], n == 1 ? "p[2]" : "p[3]");
        assert_int_equal(c->cause.numbers[0], n == 1 ? 1 : 2);
        assert_int_equal(c->remove.host, 2);
        assert_null(found(CAUSE_SLEEP));
        release();
    }
}

/* ---- links ---- */

static double connection_row(size_t column, double t_s) {
    (void)t_s;
    switch (column) {
    case CONNECTION_PID:
        return (double)process_now.pid;
    case CONNECTION_BUSY:
        return .9e9;
    case CONNECTION_SEND_BYTES:
        return 15e6;
    default:
        return 0;
    }
}

static double queue_row(size_t column, double t_s) {
    (void)t_s;
    switch (column) {
    case QDISC_SEND_BYTES:
        return 15e6;
    case QDISC_SEND_PACKETS:
        return 1e4;
    case QDISC_OVERLIMITS:
        return 3000;
    case QDISC_BACKLOG:
        return 70e3;
    case QDISC_RATE:
        return 18e6;
    default:
        return 0;
    }
}

/* Two processes in step: each computes, waits for a core, then for the other's data, which are
 * under way for .9 of the time in both directions. vm2's queue throttles them.
 */
static void a_link_that_is_slow_both_ways_outweighs_waits_for_cores(void **state) {
    (void)state;
    plant_init(&recording, 2, SECONDS);
    for (int host = 0; host < 2; host++) {
        struct process p = {.host = host, .pid = host + 1, .run = .18, .ready = .22, .poll = .6};
        add_process(&recording, p);
        plant(&recording, RECORDING_CONNECTION, host, host ? B_TO_A : A_TO_B, 0.1,
              1u << CONNECTION_PID, connection_row);
        add_socket(&recording, host, host ? B_TO_A : A_TO_B,
                   (struct socket){host + 1, .6, 0, 0, .6, 100});
    }
    plant(&recording, RECORDING_QDISC, 1, "eth0 tbf 1:", 0.1,
          1u << QDISC_BACKLOG | 1u << QDISC_RATE, queue_row);
    judge();
    const struct candidate *link = found(CAUSE_PATH_LIMITED), *cores = found(CAUSE_CONTENTION);
    assert_non_null(link);
    assert_non_null(cores);
    assert_int_equal(link->host, 1);
    assert_int_equal(link->remove.direction, WHATIF_BOTH);
    assert_true(link->run_share < 2 * cores->run_share); /* for one direction alone */
    assert_int_equal(judged.candidates.items[0].kind, CAUSE_PATH_LIMITED);
    release();
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_sleep_by_exclusion_is_a_suspicion),
        cmocka_unit_test(who_sleeps_between_steps_is_suspected_and_who_idles_is_idle),
        cmocka_unit_test(a_job_uses_no_more_than_its_host),
        cmocka_unit_test(a_stopped_process_that_others_wait_for_is_named),
        cmocka_unit_test(a_sleeper_that_holds_up_nobody_bounds_no_gain),
        cmocka_unit_test(by_chains_of_waits_slower_is_slower),
        cmocka_unit_test(what_chains_of_waits_do_not_tell_is_refused),
        cmocka_unit_test(one_thread_that_fills_a_core_is_named),
        cmocka_unit_test(two_that_compute_alike_are_not_one_thread),
        cmocka_unit_test(helpers_that_wait_for_ever_change_no_verdict),
        cmocka_unit_test(a_sleeper_with_a_lock_hands_it_over_once_each_sleep),
        cmocka_unit_test(threads_that_compute_in_turns_wait_for_a_lock),
        cmocka_unit_test(a_loader_that_a_rank_waits_for_is_its_input),
        cmocka_unit_test(a_loader_that_is_ahead_is_no_input),
        cmocka_unit_test(a_pool_is_found_where_requests_first_queue),
        cmocka_unit_test(requests_that_wait_for_few_connections_are_a_pool),
        cmocka_unit_test(a_link_that_is_slow_both_ways_outweighs_waits_for_cores),
        cmocka_unit_test(a_sleeper_that_is_asked_over_all_or_at_times_is_itself_the_limit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
