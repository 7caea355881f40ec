/* SPDX-License-Identifier: MIT */
/* The share that hosts used of their control groups' limits, from planted rows. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "reports/model/model_private.h"

#define ROWS 4
#define SECOND INT64_C(1000000000)

struct planted {
    struct recording recording;
    struct run_model model;
    struct report_host_series series[2];
    struct report report;
};

static void init(struct planted *p) {
    *p = (struct planted){.model.recording = &p->recording,
                          .report = {.series = p->series, .n_hosts = 2}};
    recording_init(&p->recording);
}

static void release(struct planted *p) {
    for (size_t h = 0; h < 2; h++)
        for (size_t a = 0; a < ALLOWANCES; a++) {
            free(p->series[h].allowances[a].t_s);
            free(p->series[h].allowances[a].value);
        }
    recording_release(&p->recording);
}

/* A group of a host, with a row each second. */
static void add(struct planted *p, int host, int64_t instance, const int64_t *columns) {
    struct series_set *set = &p->recording.tables[RECORDING_CGROUP];
    for (int64_t i = 1; i <= ROWS; i++)
        assert_int_equal(series_set_append(set, host, instance, "/g", i * SECOND, SECOND, columns),
                         0);
}

/* The values of a row of control groups, none of which is known. */
static void clear(int64_t group[RECORDING_COLUMNS_MAX]) {
    for (size_t c = 0; c < RECORDING_COLUMNS_MAX; c++)
        group[c] = VALUE_ABSENT;
}

static const struct report_series *of(struct planted *p, int host, enum report_allowance what) {
    assert_int_equal(report_fill_allowances(&p->report, &p->model), 0);
    return &p->series[host].allowances[what];
}

static void a_quota_is_used_up_in_periods_that_were_throttled(void **state) {
    struct planted p;
    int64_t group[RECORDING_COLUMNS_MAX];
    (void)state;
    clear(group);
    init(&p);
    group[CGROUP_QUOTA] = SECOND / 20;
    group[CGROUP_PERIOD] = SECOND / 10; /* half a core */
    group[CGROUP_CPU] = SECOND / 5;     /* of which it used two fifths */
    group[CGROUP_PERIODS] = 10;
    group[CGROUP_THROTTLED_PERIODS] = 3;
    add(&p, 1, 1, group);
    const struct report_series *used = of(&p, 1, ALLOWANCE_CPU);
    assert_int_equal(used->n, ROWS);
    assert_float_equal(used->value[0], .4, 1e-9);
    assert_float_equal(used->t_s[3], 4, 1e-9);
    assert_int_equal(p.series[0].allowances[ALLOWANCE_CPU].n, 0); /* another host */
    release(&p);
    init(&p);
    group[CGROUP_THROTTLED_PERIODS] = 9;
    add(&p, 1, 1, group);
    assert_float_equal(of(&p, 1, ALLOWANCE_CPU)->value[0], .9, 1e-9);
    release(&p);
}

static void of_groups_in_each_other_the_fullest_counts_and_no_share_is_above_all(void **state) {
    struct planted p;
    int64_t outer[RECORDING_COLUMNS_MAX], inner[RECORDING_COLUMNS_MAX];
    (void)state;
    clear(outer);
    clear(inner);
    init(&p);
    outer[CGROUP_QUOTA] = SECOND;
    inner[CGROUP_QUOTA] = SECOND / 10;
    outer[CGROUP_PERIOD] = inner[CGROUP_PERIOD] = SECOND / 10;
    outer[CGROUP_CPU] = inner[CGROUP_CPU] = SECOND + SECOND / 50;
    add(&p, 0, 1, outer);
    add(&p, 0, 2, inner);
    assert_float_equal(of(&p, 0, ALLOWANCE_CPU)->value[1], 1, 1e-9);
    release(&p);
}

static void memory_at_its_limit_is_full_only_where_the_limit_was_hit(void **state) {
    struct planted p;
    int64_t group[RECORDING_COLUMNS_MAX];
    (void)state;
    clear(group);
    init(&p);
    group[CGROUP_MEMORY] = group[CGROUP_MEMORY_LIMIT] = 1000000;
    group[CGROUP_LIMIT_HITS] = 0;
    add(&p, 0, 1, group);
    assert_true(of(&p, 0, ALLOWANCE_MEMORY)->value[0] < .9);
    release(&p);
    init(&p);
    group[CGROUP_LIMIT_HITS] = 5;
    add(&p, 0, 1, group);
    assert_float_equal(of(&p, 0, ALLOWANCE_MEMORY)->value[0], 1, 1e-9);
    release(&p);
}

static void a_limit_far_above_all_use_is_none(void **state) {
    struct planted p;
    int64_t group[RECORDING_COLUMNS_MAX];
    (void)state;
    clear(group);
    init(&p);
    group[CGROUP_READ_BYTES] = 1000000;
    group[CGROUP_READ_LIMIT] = INT64_C(1000000000000);
    add(&p, 0, 1, group);
    assert_int_equal(of(&p, 0, ALLOWANCE_DISK)->n, 0);
    release(&p);
    init(&p);
    group[CGROUP_READ_LIMIT] = 2000000;
    add(&p, 0, 1, group);
    assert_float_equal(of(&p, 0, ALLOWANCE_DISK)->value[0], .5, 1e-9);
    release(&p);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_quota_is_used_up_in_periods_that_were_throttled),
        cmocka_unit_test(of_groups_in_each_other_the_fullest_counts_and_no_share_is_above_all),
        cmocka_unit_test(memory_at_its_limit_is_full_only_where_the_limit_was_hit),
        cmocka_unit_test(a_limit_far_above_all_use_is_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
