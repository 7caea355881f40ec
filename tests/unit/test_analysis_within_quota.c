/* SPDX-License-Identifier: MIT */
/* A job under a CPU quota: what else is taken from it gives it no more than its quota. */
#include "tests/unit/counted_process.h"

#include "analysis/gain/whatif.h"

static double quota_now; /* cores; 0: the group has none */

static double group_of(size_t column, double t_s) {
    (void)t_s;
    switch (column) {
    case CGROUP_QUOTA:
        return quota_now > 0 ? quota_now * 1e8 : NAN;
    case CGROUP_PERIOD:
        return quota_now > 0 ? 1e8 : NAN;
    case CGROUP_CPU:
        return shares_now.cpu * 1e9;
    default:
        return 0;
    }
}

static double full_cpu(size_t column, double t_s) {
    (void)t_s;
    return column == CPU_USER ? 1e9 : 0;
}

/* The job's one process computes for 0.4 of the time and queues for the rest of it behind another
 * program on its core.
 */
static void plant_beside(struct recording *r, double quota) {
    quota_now = quota;
    host_now = 0;
    threads_now = 1;
    shares_now = (struct shares){0.4, 0.58, 0};
    plant_init(r, 1, SECONDS);
    plant(r, RECORDING_CPU, 0, "cpu0", 0.1, 0, full_cpu);
    plant(r, RECORDING_PROCESS, 0, "work[1000]", 1, PROCESS_LEVELS, process_of);
    plant_process(r, 0, "hog[999]", (struct plant_process){-1, 0.58, 0, 0});
    plant(r, RECORDING_CGROUP, 0, "/job", 0.1, 1u << CGROUP_QUOTA | 1u << CGROUP_PERIOD, group_of);
}

static struct whatif_answer ask(const struct judged *j) {
    struct whatif_scenario alone = {
        .kind = WHATIF_WITHOUT, .host = 0, .rank = -1, .term = BUDGET_RUN_QUEUE};
    struct whatif_answer a;
    assert_int_equal(whatif_ask(j->whatif, &alone, 1, &a), 0);
    assert_true(a.counted);
    return a;
}

/* The least gain without a quota is that of a busy core. */
static void without_a_quota_the_core_is_all_that_the_others_leave(void **state) {
    (void)state;
    for (double quota = 0; quota <= 4; quota += 4) {
        struct recording r;
        struct judged j;
        plant_beside(&r, quota);
        judge(&r, &j);
        assert_true(ask(&j).gain > 0.5);
        assert_int_equal(j.verdict.kind, CAUSE_CONTENTION);
        assert_null(strstr(j.words.worth, "quota"));
        release(&r, &j);
    }
}

/* It has used four fifths of its quota, so that the last fifth is all that can be gained. */
static void a_quota_bounds_what_a_core_of_its_own_is_worth(void **state) {
    struct recording r;
    struct judged j;
    (void)state;
    plant_beside(&r, 0.5);
    judge(&r, &j);
    struct whatif_answer a = ask(&j);
    assert_true(fabs(a.gain - 0.2) < 0.02 && a.gain_low < a.gain && a.gain_high < 0.3);
    assert_int_equal(j.verdict.kind, CAUSE_CONTENTION);
    assert_true(fabs(j.verdict.gain - a.run_gain) < 0.01);
    if (!strstr(j.words.worth, "then its CPU quota is the limit"))
        fail_msg("%s", j.words.worth);
    release(&r, &j);
}

/* Nothing is to be gained where the other program takes no more than the quota leaves. */
static void a_quota_that_is_used_up_leaves_no_contention_to_blame(void **state) {
    struct recording r;
    struct judged j;
    (void)state;
    plant_beside(&r, 0.4);
    judge(&r, &j);
    assert_true(ask(&j).gain < 0.02);
    assert_int_not_equal(j.verdict.kind, CAUSE_CONTENTION);
    release(&r, &j);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_a_quota_the_core_is_all_that_the_others_leave),
        cmocka_unit_test(a_quota_bounds_what_a_core_of_its_own_is_worth),
        cmocka_unit_test(a_quota_that_is_used_up_leaves_no_contention_to_blame),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
