/* SPDX-License-Identifier: MIT */
/* The sources that a run was recorded with: each planted alone, and data that look like it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "analysis/run_model.h"
#include "tests/unit/plant.h"

static double something(size_t column, double t_s) {
    (void)column;
    (void)t_s;
    return 1e6;
}

static double nothing(size_t column, double t_s) {
    (void)column;
    (void)t_s;
    return 0;
}

static void begin(struct recording *r) {
    plant_init(r, 2, 10);
}

/* A mask of enum observed_source. */
static unsigned sources_of(struct recording *r) {
    struct run_model model;
    assert_int_equal(model_build(r, &model), 0);
    unsigned sources = model.observed.sources;
    model_release(&model);
    recording_release(r);
    return sources;
}

static unsigned sources_with(enum recording_table table, const char *name, plant_value *value) {
    struct recording r;
    begin(&r);
    plant(&r, table, 1, name, 0.5, 0, value);
    return sources_of(&r);
}

static unsigned sources_with_mark(enum mark_kind kind) {
    struct recording r;
    begin(&r);
    plant_mark(&r, kind, "x", 0, 0, 0, 1, 2);
    return sources_of(&r);
}

static void each_source_is_told_by_its_own_rows(void **state) {
    (void)state;
    assert_int_equal(sources_with(RECORDING_CONNECTION, "10.0.0.1:1>10.0.0.2:2", something),
                     1u << SOURCE_CONNECTIONS);
    assert_int_equal(sources_with(RECORDING_QDISC, "eth0", something), 1u << SOURCE_QDISC);
    assert_int_equal(sources_with(RECORDING_CGROUP, "job", something), 1u << SOURCE_CGROUP);
    assert_int_equal(sources_with(RECORDING_PSI, "cpu", something), 1u << SOURCE_PSI);
    assert_int_equal(sources_with(RECORDING_PROCESS, "p[1]", something), 1u << SOURCE_DELAYS);
    assert_int_equal(sources_with(RECORDING_SELF, "core", something), 1u << SOURCE_CALIBRATION);
    assert_int_equal(sources_with_mark(MARK_OPERATOR), 1u << SOURCE_OPERATORS);
}

static void what_looks_like_a_source_is_none(void **state) {
    (void)state;
    assert_int_equal(sources_with(RECORDING_PSI, "memory", something), 0);
    assert_int_equal(sources_with(RECORDING_PSI, "io", something), 0);
    assert_int_equal(sources_with(RECORDING_PROCESS, "p[1]", nothing), 0);
    assert_int_equal(sources_with(RECORDING_SELF, "agent", something), 0);
    assert_int_equal(sources_with_mark(MARK_ITERATION), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_source_is_told_by_its_own_rows),
        cmocka_unit_test(what_looks_like_a_source_is_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
