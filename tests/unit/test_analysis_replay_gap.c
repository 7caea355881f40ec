/* SPDX-License-Identifier: MIT */
/* Time between calls is split where counters were read; its CPU time is shared out by the counters,
 * and none is lost.
 */
#include "analysis/simulate/replay_build.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

struct planted {
    struct budget_interval intervals[3];
    struct budget_shares shares[3];
    struct builder builder;
    struct replay_rank rank;
    struct rank_builder rb;
};

/* [100, 200) and [200, 300) with that CPU time, and [400, 500) without counters. */
static struct planted *plant(struct planted *p, double first, double second) {
    *p = (struct planted){
        .intervals = {{.begin_ns = 100, .end_ns = 200, .cpu = first},
                      {.begin_ns = 200, .end_ns = 300, .cpu = second},
                      {.begin_ns = 400, .end_ns = 500, .cpu = NAN}},
        .shares = {{.cpu_of_dark = 0.1}, {.cpu_of_dark = 0.2}, {.cpu_of_dark = 0.5}}};
    p->builder = (struct builder){.intervals = p->intervals, .n_intervals = 3};
    p->rank.shares = p->shares;
    p->rb = (struct rank_builder){.b = &p->builder, .to = &p->rank};
    return p;
}

static void expect_op(const struct planted *p, size_t i, uint32_t shares, int64_t ns,
                      int64_t end_ns, int64_t cpu_ns) {
    const struct replay_op *op = &p->rank.ops[i];
    assert_true(i < p->rank.n);
    assert_int_equal(op->kind, REPLAY_GAP);
    assert_int_equal(op->first, shares);
    assert_int_equal(op->ns, ns);
    assert_int_equal(op->end_ns, end_ns);
    assert_int_equal(op->cpu_ns, cpu_ns);
}

static void a_gap_is_cut_where_counters_were_read(void **state) {
    struct planted p;
    (void)state;
    replay_add_gap(&plant(&p, 80, 20)->rb, 50, 530, NAN);
    assert_int_equal(p.rank.n, 6);
    expect_op(&p, 0, REPLAY_NONE, 50, 100, 50);
    expect_op(&p, 1, 0, 100, 200, 10);
    expect_op(&p, 2, 1, 100, 300, 20);
    expect_op(&p, 3, REPLAY_NONE, 100, 400, 100);
    expect_op(&p, 4, 2, 100, 500, 50);
    expect_op(&p, 5, REPLAY_NONE, 30, 530, 30);
    free(p.rank.ops);
    plant(&p, 80, 20);
    replay_add_gap(&p.rb, 120, 150, NAN); /* within one interval, and from there into the next */
    replay_add_gap(&p.rb, 180, 200, NAN);
    replay_add_gap(&p.rb, 200, 300, NAN);
    replay_add_gap(&p.rb, 310, 390, NAN);
    assert_int_equal(p.rank.n, 4);
    expect_op(&p, 0, 0, 30, 150, 3);
    expect_op(&p, 1, 0, 20, 200, 2);
    expect_op(&p, 2, 1, 100, 300, 20);
    expect_op(&p, 3, REPLAY_NONE, 80, 390, 80);
    free(p.rank.ops);
}

/* Counters know 80 of one interval and 20 of the other: less is shared out in that ratio, and more
 * goes where they leave room.
 */
static void cpu_time_lies_where_counters_have_it(void **state) {
    struct planted p;
    (void)state;
    replay_add_gap(&plant(&p, 80, 20)->rb, 100, 300, 0.3);
    expect_op(&p, 0, 0, 100, 200, 48);
    expect_op(&p, 1, 1, 100, 300, 12);
    free(p.rank.ops);
    replay_add_gap(&plant(&p, 80, 20)->rb, 100, 300, 0.8);
    expect_op(&p, 0, 0, 100, 200, 92);
    expect_op(&p, 1, 1, 100, 300, 68);
    free(p.rank.ops);
    replay_add_gap(&plant(&p, 80, 20)->rb, 150, 300, 0.2); /* half of the first: 40 */
    expect_op(&p, 0, 0, 50, 200, 20);
    expect_op(&p, 1, 1, 100, 300, 10);
    free(p.rank.ops);
}

static void what_no_counter_knows_is_even(void **state) {
    struct planted p;
    (void)state;
    replay_add_gap(&plant(&p, 80, 20)->rb, 350, 550, 0.4);
    expect_op(&p, 0, REPLAY_NONE, 50, 400, 20);
    expect_op(&p, 1, 2, 100, 500, 40);
    expect_op(&p, 2, REPLAY_NONE, 50, 550, 20);
    free(p.rank.ops);
    replay_add_gap(&plant(&p, 0, 0)->rb, 100, 300, 0.4); /* counters that counted nothing */
    expect_op(&p, 0, 0, 100, 200, 40);
    expect_op(&p, 1, 1, 100, 300, 40);
    free(p.rank.ops);
    replay_add_gap(&plant(&p, 80, 20)->rb, 300, 300, 0.4);
    assert_int_equal(p.rank.n, 0);
}

static void fixed_times_that_follow_one_another_are_one(void **state) {
    struct planted p;
    (void)state;
    plant(&p, 80, 20);
    replay_add_fixed(&p.rb, 0, 10, 1); /* nothing */
    replay_add_fixed(&p.rb, 30, 40, 1);
    replay_add_fixed(&p.rb, 10, 50, 0.2F);
    assert_int_equal(p.rank.n, 1);
    assert_int_equal(p.rank.ops[0].kind, REPLAY_FIXED);
    assert_int_equal(p.rank.ops[0].ns, 40);
    assert_int_equal(p.rank.ops[0].end_ns, 50);
    assert_true(fabs((double)p.rank.ops[0].spins - 0.8) < 1e-6); /* 32 of 40 */
    p.rank.ops[0].late_ns = 1; /* it had no core, so the next one stays separate */
    replay_add_fixed(&p.rb, 5, 55, 1);
    assert_int_equal(p.rank.n, 2);
    free(p.rank.ops);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_gap_is_cut_where_counters_were_read),
        cmocka_unit_test(cpu_time_lies_where_counters_have_it),
        cmocka_unit_test(what_no_counter_knows_is_even),
        cmocka_unit_test(fixed_times_that_follow_one_another_are_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
