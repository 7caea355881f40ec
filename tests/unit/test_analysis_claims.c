/* SPDX-License-Identifier: MIT */
/* Planted statements of several sources about one second of a process. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "analysis/time/claims.h"

#define SECOND INT64_C(1000000000)
#define MS 1e6

static struct budget_interval second_of_counters(double cpu_ms, double longest_ms) {
    return (struct budget_interval){.begin_ns = 0,
                                    .end_ns = SECOND,
                                    .cpu = cpu_ms * MS,
                                    .longest = longest_ms * MS,
                                    .queued = 0,
                                    .disk = NAN,
                                    .mpi = NAN,
                                    .sending = NAN};
}

/* A budget that knows nothing but its source. */
static struct budget budget_from(enum budget_source source) {
    return (struct budget){.source = source};
}

static struct claims claims_made(const struct budget_interval *interval, bool sliced, bool groups) {
    struct window second = {0, SECOND};
    struct claim_facts facts = {interval, 1, sliced, groups};
    struct budget taken = budget_from(BUDGET_FROM_CLOCKS);
    struct claims claims;
    claims_make(&facts, (struct windows){&second, 1}, &taken, &claims);
    return claims;
}

static struct claims claims_of(const struct budget_interval *interval, bool sliced) {
    return claims_made(interval, sliced, true);
}

static void assert_range(const struct claimed *c, double low_s, double high_s) {
    assert_float_equal(c->low_s, low_s, 1e-9);
    assert_float_equal(c->high_s, high_s, 1e-9);
}

/* The busiest thread computed .4 s, all together 3 s: the process as one .4 s to 1 s. */
static void threads_bound_the_process_as_one(void **state) {
    struct budget_interval i = second_of_counters(3000, 400);
    (void)state;
    struct claims claims = claims_of(&i, false);
    assert_range(&claims.terms[BUDGET_CPU], .4, 1);
    assert_range(&claims.terms[BUDGET_IDLE], 0, .6); /* what is left */
    assert_false(claims.terms[BUDGET_CPU].disputed);
}

static void one_thread_is_exact(void **state) {
    struct budget_interval i = second_of_counters(900, 0);
    (void)state;
    i.one_thread = true;
    struct claims claims = claims_of(&i, false);
    assert_range(&claims.terms[BUDGET_CPU], .9, .9);
}

static void clocks_against_counters_are_a_finding(void **state) {
    struct budget_interval i = second_of_counters(900, 0);
    double gap_s;
    (void)state;
    i.one_thread = true;
    i.clocks = (struct process_time){.run = 300 * MS, .told_run = 300 * MS, .asleep = 700 * MS};
    struct claims claims = claims_of(&i, false);
    const struct claimed *c = &claims.terms[BUDGET_CPU];
    assert_true(c->disputed);
    assert_int_equal(c->one, CLAIM_COUNTERS);
    assert_int_equal(c->other, CLAIM_CLOCKS);
    assert_range(c, .9, .9); /* the exact one holds */
    assert_int_equal(claims_worst(&claims, ~0U, &gap_s), BUDGET_CPU);
    assert_float_equal(gap_s, .6, 1e-9);
    assert_int_equal(claims_worst(&claims, 1u << BUDGET_DISK, &gap_s), BUDGET_TERMS);
}

/* Time outside the slices is in no clock, so that slices are no bound. */
static void slices_never_bound(void **state) {
    struct budget_interval i = second_of_counters(900, 0);
    (void)state;
    i.one_thread = true;
    i.clocks = (struct process_time){.run = 880 * MS, .told_run = 880 * MS, .disk = 120 * MS};
    struct claims claims = claims_of(&i, true);
    assert_range(&claims.terms[BUDGET_CPU], .9, .9);
    assert_range(&claims.terms[BUDGET_DISK], 0, .1);
}

/* Clocks that began after .7 s say nothing about the time before. */
static void clocks_leave_open_what_they_did_not_see(void **state) {
    struct budget_interval i = second_of_counters(900, 0);
    (void)state;
    i.one_thread = true;
    i.clocks = (struct process_time){.run = 250 * MS, .told_run = 250 * MS, .disk = 50 * MS};
    struct claims claims = claims_of(&i, false);
    assert_range(&claims.terms[BUDGET_CPU], .9, .9);
    assert_range(&claims.terms[BUDGET_DISK], .05, .1);
    assert_false(claims.terms[BUDGET_CPU].disputed);
}

/* A rank inside a call for .8 s burns a core and computes at most .2 s. */
static void a_call_demands_no_core(void **state) {
    struct budget_interval i = second_of_counters(1000, 1000);
    (void)state;
    i.mpi = 800 * MS;
    struct claims claims = claims_of(&i, false);
    assert_range(&claims.terms[BUDGET_CPU], 0, .2);
    assert_range(&claims.terms[BUDGET_PEER_WAIT], 0, .8);
}

/* A process sends no longer than its connections have data. */
static void connections_bound_sending(void **state) {
    struct budget_interval i = second_of_counters(0, 0);
    (void)state;
    i.sending = 100 * MS;
    i.clocks = (struct process_time){.send = 600 * MS, .asleep = 400 * MS};
    struct claims claims = claims_of(&i, false);
    const struct claimed *c = &claims.terms[BUDGET_TRANSFER];
    assert_true(c->disputed);
    assert_int_equal(c->other, CLAIM_CONNECTIONS);
}

static void half_a_window_has_half_of_it(void **state) {
    struct budget_interval i = second_of_counters(900, 0);
    struct window half = {SECOND / 2, 2 * SECOND};
    struct claims claims;
    (void)state;
    i.one_thread = true;
    struct claim_facts facts = {&i, 1, false, true};
    struct budget taken = budget_from(BUDGET_FROM_CLOCKS);
    claims_make(&facts, (struct windows){&half, 1}, &taken, &claims);
    assert_float_equal(claims.wall_s, .5, 1e-9);
    assert_range(&claims.terms[BUDGET_CPU], .45, .45);
}

/* A rank that computes or is ready all the time waits for no link. */
static void what_is_told_leaves_no_wait(void **state) {
    struct budget_interval i = second_of_counters(450, 0);
    (void)state;
    i.queued = 500 * MS;
    i.sending = 800 * MS;
    struct claims claims = claims_of(&i, false);
    assert_float_equal(claims_waited(&claims), .05, 1e-9);
    i.queued = 0;
    claims = claims_of(&i, false);
    assert_float_equal(claims_waited(&claims), .55, 1e-9);
    i.clocks = (struct process_time){.run = 450 * MS, .told_run = 450 * MS, .asleep = 550 * MS};
    claims = claims_of(&i, false);
    assert_float_equal(claims_waited(&claims), 0, 1e-9);
}

/* One thread that was ready for .4 s, .3 s of it throttled. */
static void only_control_groups_tell_a_quota_from_a_core(void **state) {
    struct budget_interval i = second_of_counters(500, 0);
    (void)state;
    i.one_thread = true;
    i.queued = 400 * MS;
    i.quota = 300 * MS;
    struct claims claims = claims_of(&i, false);
    assert_range(&claims.terms[BUDGET_RUN_QUEUE], .1, .1);
    assert_range(&claims.terms[BUDGET_QUOTA], .3, .3);
    claims = claims_made(&i, false, false);
    assert_float_equal(claims_known(&claims, 1u << BUDGET_RUN_QUEUE), 0, 1e-9);
}

/* If several threads were ready, the process as one may still have waited for no core. */
static void ready_threads_are_no_wait(void **state) {
    struct budget_interval i = second_of_counters(500, 300);
    (void)state;
    i.queued = 900 * MS;
    struct claims claims = claims_of(&i, false);
    assert_float_equal(claims_known(&claims, 1u << BUDGET_RUN_QUEUE), 0, 1e-9);
    i.clocks = (struct process_time){
        .run = 500 * MS, .told_run = 500 * MS, .runnable = 400 * MS, .asleep = 100 * MS};
    claims = claims_of(&i, true); /* in slices */
    assert_float_equal(claims_known(&claims, 1u << BUDGET_RUN_QUEUE), .4, 1e-9);
}

/* Every call is known: the budget made of them tells how long data were under way. */
static void known_calls_tell_transfer(void **state) {
    struct budget_interval i = second_of_counters(200, 0);
    struct window second = {0, SECOND};
    struct claim_facts facts = {&i, 1, false, true};
    struct budget taken = budget_from(BUDGET_FROM_EVENTS);
    struct claims claims;
    (void)state;
    i.mpi = 800 * MS;
    taken.term_s[BUDGET_TRANSFER] = .5;
    claims_make(&facts, (struct windows){&second, 1}, &taken, &claims);
    assert_range(&claims.terms[BUDGET_TRANSFER], .5, .8);
    assert_range(&claims.terms[BUDGET_PEER_WAIT], 0, .5);
    assert_float_equal(claims_waited(&claims), .6, 1e-9); /* asleep or computing: .2 s each */
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(threads_bound_the_process_as_one),
        cmocka_unit_test(one_thread_is_exact),
        cmocka_unit_test(clocks_against_counters_are_a_finding),
        cmocka_unit_test(slices_never_bound),
        cmocka_unit_test(clocks_leave_open_what_they_did_not_see),
        cmocka_unit_test(a_call_demands_no_core),
        cmocka_unit_test(connections_bound_sending),
        cmocka_unit_test(half_a_window_has_half_of_it),
        cmocka_unit_test(what_is_told_leaves_no_wait),
        cmocka_unit_test(only_control_groups_tell_a_quota_from_a_core),
        cmocka_unit_test(ready_threads_are_no_wait),
        cmocka_unit_test(known_calls_tell_transfer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
