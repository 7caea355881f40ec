/* SPDX-License-Identifier: MIT */
/* CPU time taken by the hypervisor, a quota, or other hosts of the machine. */
#include "tests/unit/counted_process.h"
#include "tests/unit/own_remark.h"

#define NEAR(a, b)                                                                                 \
    do {                                                                                           \
        double is_ = (a), should_ = (b);                                                           \
        if (!(fabs(is_ - should_) <= 0.02))                                                        \
            fail_msg("%s is %.4g, not %.4g", #a, is_, should_);                                    \
    } while (0)

static const struct candidate *find(const struct judged *j, enum resource resource) {
    for (size_t i = 0; i < j->candidates.n; i++)
        if (j->candidates.items[i].resource == resource && !j->candidates.items[i].fallback)
            return &j->candidates.items[i];
    return NULL;
}

static double stolen_core(size_t column, double t_s) {
    (void)t_s;
    return column == CPU_USER ? 0.7e9 : column == CPU_STEAL ? 0.3e9 : 0;
}

/* Without calls only the kernel's count tells how much. */
static void what_the_hypervisor_takes_is_a_share_of_the_time(void **state) {
    struct recording r;
    struct judged j;
    (void)state;
    plant_init(&r, 1, SECONDS);
    plant(&r, RECORDING_CPU, 0, "cpu0", 0.1, 0, stolen_core);
    shares_now = (struct shares){.cpu = 0.7};
    host_now = 0;
    plant(&r, RECORDING_PROCESS, 0, "work[1000]", 1, PROCESS_LEVELS, process_of);
    judge(&r, &j);
    const struct candidate *c = find(&j, RESOURCE_STEAL);
    assert_non_null(c);
    NEAR(c->blocked, 0.3);
    release(&r, &j);
}

/* For the kernel a task whose group has used up its quota waits in the run queue. */
static void who_waits_for_a_quota_alone_lacks_no_core(void **state) {
    struct recording r;
    struct judged j;
    const struct remark *said = NULL;
    (void)state;
    plant_lockstep(&r, 3, (struct trouble){.queue = 0.03, .throttled = true});
    judge(&r, &j);
    assert_null(find(&j, RESOURCE_CPU));
    for (size_t i = 0; i < j.candidates.ruled_out.n; i++)
        if (i + 1 == j.candidates.cpu_ruled_out)
            said = &j.candidates.ruled_out.items[i];
    assert_non_null(said);
    assert_ptr_equal(said->kind, remark_named("CPU_NOT_SHORT"));
    NEAR(said->numbers[2] / 100, 0);
    release(&r, &j);
}

/* Three hosts on one core, each with `used` of it; all of them, or one, wait for it for `queue` in
 * each iteration.
 */
static bool is_machine_full(double used, double queue, bool all) {
    struct recording r;
    struct judged j;
    plant_lockstep(&r, 3, (struct trouble){.queue = queue, .all = all});
    r.machines = calloc(3, sizeof *r.machines);
    for (size_t s = 0; s < r.tables[RECORDING_CPU].n; s++)
        for (size_t row = 1; row < r.tables[RECORDING_CPU].items[s].n; row++) {
            int64_t *values =
                &r.tables[RECORDING_CPU].items[s].values[row * r.tables[RECORDING_CPU].n_columns];
            values[CPU_USER] = llround(used * 1e8);
            values[CPU_IDLE] = llround((1 - used) * 1e8);
        }
    judge(&r, &j);
    bool full = false;
    for (size_t i = 0; i < j.candidates.n; i++)
        full |= j.candidates.items[i].kind == CAUSE_MACHINE_FULL;
    release(&r, &j);
    return full;
}

static void a_machine_is_full_of_what_its_hosts_use_not_of_what_they_leave(void **state) {
    (void)state;
    assert_true(is_machine_full(0.3, 0.02, true));
    assert_false(is_machine_full(0.1, 0.02, true));
}

/* No core is idle while a task waits for it: other programs had what these hosts did not use. */
static void a_machine_that_others_use_is_full_for_its_hosts(void **state) {
    (void)state;
    assert_true(is_machine_full(0.1, 0.05, true));
    assert_false(is_machine_full(0.1, 0.05, false));
}

/* Processes of host 0, each with a life and its wait for a core, in s. */
static double worst_wait(const double (*lives)[2], size_t n) {
    struct budget budgets[8] = {0};
    struct rank_budget items[8] = {0};
    for (size_t i = 0; i < n; i++) {
        budgets[i].wall_s = lives[i][0];
        budgets[i].term_s[BUDGET_RUN_QUEUE] = lives[i][1];
        items[i].groups = &budgets[i];
    }
    const struct run_model model = {.budgets = {.items = items, .n = n}};
    return model_worst_rank(&model, 0, 0, BUDGET_RUN_QUEUE, NULL);
}

static void a_process_of_a_moment_says_nothing_of_the_run(void **state) {
    (void)state;
    NEAR(worst_wait((const double[][2]){{10, 0.5}, {10, 3}}, 2), 0.3);
    NEAR(worst_wait((const double[][2]){{10, 0.5}, {0.2, 0.16}}, 2), 0.066);
    NEAR(worst_wait((const double[][2]){{0.2, 0.1}, {0.3, 0.1}, {0.2, 0.15}}, 3), 0.5);
    assert_true(isnan(worst_wait((const double[][2]){{0, 0}}, 1)));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_the_hypervisor_takes_is_a_share_of_the_time),
        cmocka_unit_test(who_waits_for_a_quota_alone_lacks_no_core),
        cmocka_unit_test(a_machine_is_full_of_what_its_hosts_use_not_of_what_they_leave),
        cmocka_unit_test(a_machine_that_others_use_is_full_for_its_hosts),
        cmocka_unit_test(a_process_of_a_moment_says_nothing_of_the_run),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
