/* SPDX-License-Identifier: MIT */
/* Efficiency ratios of ranks whose times were chosen so that the answers follow by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>

#include "analysis/evidence/efficiency.h"
#include "analysis/facts/series/stats.h"

#define NEAR(a, b)                                                                                 \
    do {                                                                                           \
        double is_ = (a), should_ = (b);                                                           \
        if (!(fabs(is_ - should_) <= 1e-9))                                                        \
            fail_msg("%s is %.12g, not %.12g", #a, is_, should_);                                  \
    } while (0)

/* Seconds of computing, waiting for a core, waiting for a peer, and transfer: all of its life. */
static struct budget rank(double cpu, double run_queue, double wait, double transfer) {
    struct budget b = {.source = BUDGET_FROM_EVENTS, .closure_pct = 100};
    for (int t = 0; t < BUDGET_TERMS; t++)
        b.term_s[t] = t == BUDGET_STEAL ? NAN : 0;
    b.term_s[BUDGET_CPU] = cpu;
    b.term_s[BUDGET_RUN_QUEUE] = run_queue;
    b.term_s[BUDGET_PEER_WAIT] = wait;
    b.term_s[BUDGET_TRANSFER] = transfer;
    b.wall_s = cpu + run_queue + wait + transfer;
    return b;
}

static struct efficiency of(const struct budget *ranks, size_t n, double ideal, double bound) {
    const struct budget *list[8];
    for (size_t i = 0; i < n; i++)
        list[i] = &ranks[i];
    return efficiency_of(list, n, ideal, bound);
}

/* Rank 0 computes 8 s, rank 1 4 s and waits 4 s: load balance 6 / 8. */
static void half_the_work_on_one_of_two_ranks_is_a_load_balance_of_three_quarters(void **state) {
    const struct budget ranks[] = {rank(8, 0, 0, 2), rank(4, 0, 4, 2)};
    struct efficiency e = of(ranks, 2, NAN, NAN);
    (void)state;
    NEAR(e.load_balance, 0.75);
    NEAR(e.communication, 0.8);
    NEAR(e.parallel, 0.6);
    NEAR(e.elapsed_s, 10);
    assert_int_equal(e.longest, 0);
    NEAR(e.computing, 1);
    assert_int_equal(e.source, EFFICIENCY_NO_IDEAL);
    assert_true(isnan(e.transfer) && isnan(e.serialisation));
}

/* Skew, a hog and a quota give the same ratios: only `computing` differs. */
static void the_ratios_are_blind_to_the_cause_and_computing_is_not(void **state) {
    const struct budget skew[] = {rank(8, 0, 0, 2), rank(4, 0, 4, 2)};
    const struct budget hog[] = {rank(4, 4, 0, 2), rank(4, 0, 4, 2)};
    struct efficiency a = of(skew, 2, NAN, NAN), b = of(hog, 2, NAN, NAN);
    (void)state;
    NEAR(a.load_balance, b.load_balance);
    NEAR(a.parallel, b.parallel);
    NEAR(a.computing, 1);
    NEAR(b.computing, 8.0 / 12);
}

/* 10 s, of which an ideal network would leave 9; the longest rank works 8 s. */
static void serialisation_and_transfer_are_told_apart_by_the_ideal_network(void **state) {
    const struct budget ranks[] = {rank(8, 0, 1, 1), rank(4, 0, 5, 1)};
    struct efficiency e = of(ranks, 2, 9, NAN);
    (void)state;
    assert_int_equal(e.source, EFFICIENCY_FROM_REPLAY);
    NEAR(e.transfer, 0.9);
    NEAR(e.serialisation, 8.0 / 9);
    e = of(ranks, 2, NAN, 8.5);
    assert_int_equal(e.source, EFFICIENCY_FROM_BOUND);
    NEAR(e.transfer, 0.85);
    NEAR(e.serialisation, 8 / 8.5);
    NEAR(e.serialisation * e.transfer, e.communication);
    e = of(ranks, 2, NAN, 3); /* the longest rank is the better bound */
    NEAR(e.transfer, 0.8);
    NEAR(e.serialisation, 1);
    e = of(ranks, 2, 12, NAN); /* an ideal network is not slower */
    NEAR(e.transfer, 1);
}

/* Each ratio is at most 1, and the products hold, for any ranks. */
static void the_factors_multiply_to_the_parallel_efficiency(void **state) {
    uint64_t random = 7;
    (void)state;
    for (int round = 0; round < 200; round++) {
        struct budget ranks[8];
        size_t n = 2 + stats_random_below(&random, 7);
        for (size_t i = 0; i < n; i++) {
            double own = 0.5 + (double)stats_random_below(&random, 1000) / 100;
            double queue = (double)stats_random_below(&random, 100) / 100;
            ranks[i] = rank(own, queue, 20 - own - queue - 1, 1);
        }
        double ideal = (double)stats_random_below(&random, 25);
        struct efficiency e = of(ranks, n, NAN, ideal);
        NEAR(e.load_balance * e.communication, e.parallel);
        NEAR(e.serialisation * e.transfer, e.communication);
        assert_true(e.load_balance <= 1 + 1e-12 && e.transfer <= 1 + 1e-12 && e.parallel > 0);
        assert_true(e.serialisation <= 1 + 1e-12);
    }
}

static void what_is_not_known_of_one_rank_is_not_known_of_all(void **state) {
    struct budget ranks[] = {rank(8, 0, 0, 2), rank(4, 0, 4, 2), rank(1, 0, 9, 0)};
    (void)state;
    ranks[2].source = BUDGET_FROM_COUNTERS;
    assert_true(isnan(of(ranks, 3, NAN, NAN).parallel));
    ranks[2] = rank(1, 0, 9, 0);
    ranks[2].unknown_s = 1;
    assert_true(isnan(of(ranks, 3, NAN, NAN).parallel));
    ranks[2] = rank(1, 0, 9, 0);
    ranks[2].closure_pct = 90;
    assert_true(isnan(of(ranks, 3, NAN, NAN).parallel));
    ranks[2] = rank(0, 0, 0, 0); /* did not live in this phase */
    NEAR(of(ranks, 3, NAN, NAN).load_balance, 0.75);
    assert_true(isnan(of(ranks, 1, NAN, NAN).parallel));
    assert_true(isnan(of(ranks, 0, NAN, NAN).elapsed_s));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(half_the_work_on_one_of_two_ranks_is_a_load_balance_of_three_quarters),
        cmocka_unit_test(the_ratios_are_blind_to_the_cause_and_computing_is_not),
        cmocka_unit_test(serialisation_and_transfer_are_told_apart_by_the_ideal_network),
        cmocka_unit_test(the_factors_multiply_to_the_parallel_efficiency),
        cmocka_unit_test(what_is_not_known_of_one_rank_is_not_known_of_all),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
