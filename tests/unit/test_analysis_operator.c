/* SPDX-License-Identifier: MIT */
/* T8: operators planted in iterations of known length are found with their costs and shares. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "analysis/facts/iteration/operator.h"
#include "tests/unit/plant.h"

#define NEAR(a, b) assert_true(fabs((double)(a) - (double)(b)) < 1e-6 * fmax(1, fabs((double)(b))))

struct planted {
    struct recording recording;
    struct iterations iterations;
    struct operators operators;
};

static void judge(struct planted *p) {
    assert_int_equal(iterations_from_marks(&p->recording, &p->iterations), 0);
    assert_int_equal(operators_from_marks(&p->recording, &p->iterations, &p->operators), 0);
}

static void forget(struct planted *p) {
    operators_release(&p->operators);
    iterations_release(&p->iterations);
    recording_release(&p->recording);
}

static void plant_operator(struct recording *r, const char *name, int rank, double start_s,
                           double duration_s, int64_t bytes) {
    plant_mark(r, MARK_OPERATOR, name, rank, rank, VALUE_ABSENT, start_s, duration_s);
    r->marks[r->n_marks - 1].output_bytes = bytes;
}

static const struct operator_use *find(const struct planted *p, const char *name, int role) {
    for (size_t i = 0; i < p->operators.n_uses; i++)
        if (strcmp(p->operators.uses[i].name, name) == 0 && p->operators.uses[i].role == role)
            return &p->operators.uses[i];
    fail_msg("no %s in role %d", name, role);
    return NULL;
}

/* Rank 0 serves, ranks 1 and 2 work; iterations of 1.0, 1.2, 1.4 ... s follow each other. */
static void plant_training(struct planted *p, int n) {
    *p = (struct planted){0};
    plant_init(&p->recording, 3, 100);
    double start = 1;
    for (int i = 0; i < n; i++) {
        double length = 1 + 0.2 * i;
        for (int rank = 0; rank < 3; rank++) {
            plant_mark(&p->recording, MARK_ITERATION, "iteration", rank, rank, i, start, length);
            if (rank)
                plant_operator(&p->recording, "gradient", rank, start + 0.1, 0.4, 1000 * rank);
        }
        plant_operator(&p->recording, "reduce", 0, start + 0.5, 0.5, 4000);
        start += length;
    }
}

static void costs_and_shares_are_as_planted(void **state) {
    struct planted p;
    (void)state;
    plant_training(&p, 5); /* 1 + 1.2 + 1.4 + 1.6 + 1.8 = 7 s */
    plant_operator(&p.recording, "gradient", 1, 50, 2, VALUE_ABSENT); /* outside of iterations */
    judge(&p);
    assert_int_equal(p.operators.n_uses, 2);
    const struct operator_use *reduce = find(&p, "reduce", 0), *gradient = find(&p, "gradient", 1);
    assert_int_equal(reduce->calls, 5);
    assert_int_equal(reduce->n_ranks, 1);
    NEAR(reduce->output_bytes, 4000);
    NEAR(reduce->total_s, 2.5);
    NEAR(reduce->longest_s, 0.5);
    NEAR(reduce->share, 2.5 / 7);
    assert_int_equal(gradient->calls, 11);
    assert_int_equal(gradient->n_ranks, 2);
    NEAR(gradient->output_bytes, 1500);
    NEAR(gradient->total_s, 10 * 0.4 + 2);
    NEAR(gradient->longest_s, 2);
    NEAR(gradient->share, 10 * 0.4 / 14);
    forget(&p);
}

static void the_median_iteration_is_one_that_was(void **state) {
    struct planted p;
    (void)state;
    for (int n = 4; n <= 5; n++) { /* 1.2 of four, 1.4 of five */
        plant_training(&p, n);
        judge(&p);
        int k = (n - 1) / 2;
        assert_int_equal(p.operators.rank->rank, 0);
        assert_int_equal(p.operators.iteration->number, k);
        NEAR((double)p.operators.iteration->duration_ns / 1e9, 1 + 0.2 * k);
        assert_int_equal(p.operators.n_bars, 3);
        for (int i = 0; i < 3; i++)
            assert_int_equal(p.operators.bars[i].mark->rank, i);
        int64_t begin = p.operators.iteration->end_ns - p.operators.iteration->duration_ns;
        NEAR((double)(p.operators.bars[0].start_ns - begin) / 1e9, 0.5);
        NEAR((double)(p.operators.bars[1].end_ns - begin) / 1e9, 0.5);
        forget(&p);
    }
}

/* Iterations without operators, during a warm-up, are not shown; operators that cross an end are
 * cut.
 */
static void what_is_shown_lies_in_the_iteration(void **state) {
    struct planted p = {0};
    (void)state;
    plant_init(&p.recording, 2, 100);
    for (int i = 0; i < 9; i++)
        plant_mark(&p.recording, MARK_ITERATION, "iteration", 0, 0, i, 1 + i, 1);
    plant_operator(&p.recording, "work", 0, 7.5, 0.25, VALUE_ABSENT);
    plant_operator(&p.recording, "long", 1, 5, 30, VALUE_ABSENT);
    plant_operator(&p.recording, "before", 1, 6, 1, VALUE_ABSENT);
    plant_operator(&p.recording, "after", 1, 8, 1, VALUE_ABSENT);
    judge(&p);
    assert_int_equal(p.operators.iteration->number, 6);
    assert_int_equal(p.operators.n_bars, 2);
    assert_string_equal(p.operators.bars[1].mark->name, "long");
    assert_int_equal(p.operators.bars[1].start_ns, 7 * S);
    assert_int_equal(p.operators.bars[1].end_ns, 8 * S);
    assert_true(isnan(find(&p, "long", -1)->share));
    assert_true(isnan(find(&p, "work", 0)->output_bytes));
    NEAR(find(&p, "work", 0)->share, 0.25 / 9);
    forget(&p);
}

static void a_program_without_operators_has_none(void **state) {
    struct planted p = {0};
    (void)state;
    plant_init(&p.recording, 1, 10);
    judge(&p);
    assert_int_equal(p.operators.n_uses, 0);
    assert_null(p.operators.rank);
    forget(&p);
    p = (struct planted){0};
    plant_init(&p.recording, 1, 10);
    plant_mark(&p.recording, MARK_ITERATION, "iteration", 0, 0, 0, 1, 1);
    plant_mark(&p.recording, MARK_OPERATOR, "unfinished", 0, 0, 0, 1, NAN);
    judge(&p);
    assert_int_equal(p.operators.n_uses, 0);
    assert_int_equal(p.operators.n_bars, 0);
    forget(&p);
}

static void of_too_many_bars_the_longest_are_kept(void **state) {
    struct planted p = {0};
    (void)state;
    plant_init(&p.recording, 1, 10);
    plant_mark(&p.recording, MARK_ITERATION, "iteration", 0, 0, 0, 1, 8);
    for (int i = 0; i < OPERATOR_BARS_MAX + 500; i++)
        plant_operator(&p.recording, "op", 0, 1 + 0.001 * i, i < 500 ? 1e-6 : 5e-4, 1);
    judge(&p);
    assert_int_equal(p.operators.n_bars, OPERATOR_BARS_MAX);
    assert_int_equal(p.operators.n_bars_left_out, 500);
    assert_int_equal(p.operators.uses[0].calls, OPERATOR_BARS_MAX + 500);
    for (size_t i = 0; i < p.operators.n_bars; i++)
        assert_true(p.operators.bars[i].end_ns - p.operators.bars[i].start_ns > 1000);
    forget(&p);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(costs_and_shares_are_as_planted),
        cmocka_unit_test(the_median_iteration_is_one_that_was),
        cmocka_unit_test(what_is_shown_lies_in_the_iteration),
        cmocka_unit_test(a_program_without_operators_has_none),
        cmocka_unit_test(of_too_many_bars_the_longest_are_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
