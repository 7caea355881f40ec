/* SPDX-License-Identifier: MIT */
/* A job of which little is known: a full host beside it is reported, and programs that may serve it
 * are kept.
 */
#include "tests/unit/lockstep.h"

#include "analysis/evidence/beside_job.h"

static double busy_now, waited_now, throttled_now;

static double host_cpu(size_t column, double t_s) {
    (void)t_s;
    return column == CPU_USER ? busy_now * 1e9 : column == CPU_IDLE ? (1 - busy_now) * 1e9 : 0;
}
static double cpu_pressure(size_t column, double t_s) {
    (void)t_s;
    return column == PSI_SOME ? waited_now * 1e9 : 0;
}
static double group_value(size_t column, double t_s) {
    (void)t_s;
    return column == CGROUP_THROTTLED ? throttled_now * 1e9 : 0;
}
static double connection_value(size_t column, double t_s) {
    (void)t_s;
    return column == CONNECTION_SEND_BYTES ? 1e6 : column == CONNECTION_PID ? 1000 : 0;
}

static void plant_host(struct recording *r, int host, double busy, double waited) {
    busy_now = busy;
    waited_now = waited;
    plant(r, RECORDING_CPU, host, "cpu0", 0.1, 0, host_cpu);
    plant(r, RECORDING_PSI, host, "cpu", 0.1, 0, cpu_pressure);
}

/* A server outside the job fills vm1, and its client in the job on vm2 waits for it nearly always.
 */
static void plant_thin(struct recording *r, double busy, double waited) {
    plant_init(r, 2, 20);
    plant_host(r, 0, busy, waited);
    plant_host(r, 1, 0.1, 0.01);
    plant_process(r, 0, "postgres[7]", (struct plant_process){-1, busy, 0, 0});
    plant_process(r, 1, "client[1000]", (struct plant_process){0, 0.1, 0, 0});
}

static void expect_said(struct recording *r, const char *words, const char *not_said) {
    struct judged j;
    judge(r, &j);
    assert_int_equal(j.verdict.state, VERDICT_INSUFFICIENT);
    if (!strstr(j.words.summary, words))
        fail_msg("not '%s': %s", words, j.words.summary);
    assert_null(strstr(j.words.summary, not_said));
    assert_false(any_says(&j.words.ruled_out, "cpu: "));
    assert_false(any_says(&j.words.ruled_out, "CPU quota"));
    assert_true(any_says(&j.words.next, "--job vm1:unit=NAME"));
    release(r, &j);
}

static void a_host_that_is_full_beside_the_job_is_never_nothing(void **state) {
    struct recording r;
    (void)state;
    plant_thin(&r, 0.99, 0.95);
    expect_said(&r, "vm1 had no core to spare: it was 99 % busy", "Nothing ran out");
}

/* A small process of the job beside the server lost nothing by it. */
static void a_group_that_is_throttled_beside_the_job_is_never_harmless(void **state) {
    struct recording r;
    (void)state;
    plant_thin(&r, 0.4, 0.1);
    plant_process(&r, 0, "helper[1001]", (struct plant_process){1, 0.02, 0, 0});
    throttled_now = 0.56;
    plant(&r, RECORDING_CGROUP, 0, "/db", 0.1, 0, group_value);
    expect_said(&r, "A control group on vm1 was throttled 56 % of the time", "Nothing ran out");
}

static void a_group_that_is_throttled_where_nothing_of_the_job_was_seen_is_suspected(void **state) {
    struct recording r;
    struct judged j;
    (void)state;
    plant_thin(&r, 0.4, 0.1);
    throttled_now = 0.56;
    plant(&r, RECORDING_CGROUP, 0, "/db", 0.1, 0, group_value);
    judge(&r, &j);
    assert_int_equal(j.verdict.state, VERDICT_SUSPECTED);
    assert_int_equal(j.verdict.resource, RESOURCE_CPU_QUOTA);
    assert_int_equal(j.verdict.host, 0);
    release(&r, &j);
}

static void a_host_with_room_has_not_run_out(void **state) {
    struct recording r;
    struct judged j;
    (void)state;
    plant_thin(&r, 0.6, 0.2);
    judge(&r, &j);
    assert_non_null(strstr(j.words.summary, "Nothing ran out"));
    assert_false(any_says(&j.words.next, "--job"));
    release(&r, &j);
}

/* The job fills the host: its own processes show what they wait for. */
static void a_host_that_the_job_fills_is_judged_by_the_job(void **state) {
    struct recording r;
    struct run_model model;
    struct beside_job beside;
    (void)state;
    plant_init(&r, 1, 20);
    plant_host(&r, 0, 0.99, 0.95);
    plant_process(&r, 0, "server[1000]", (struct plant_process){0, 0.95, 0, 0});
    assert_int_equal(mpi_log_finish(&r.calls), 0);
    assert_int_equal(model_build(&r, &model), 0);
    assert_int_equal(beside_job_find(&model, model.main_group, &beside), -1);
    assert_true(beside_job_of(&model, model.main_group, 0).is_full);
    model_release(&model);
    recording_release(&r);
}

static bool may_serve(const char *const *connections, const int *hosts, size_t n, int host) {
    struct recording r;
    struct run_model model;
    plant_thin(&r, 0.99, 0.95);
    for (size_t i = 0; i < n; i++)
        plant(&r, RECORDING_CONNECTION, hosts[i], connections[i], 1, 1u << CONNECTION_PID,
              connection_value);
    assert_int_equal(mpi_log_finish(&r.calls), 0);
    assert_int_equal(model_build(&r, &model), 0);
    bool may = host_may_serve_job(&model, host);
    model_release(&model);
    recording_release(&r);
    return may;
}

static void a_connection_without_its_other_end_leads_to_who_serves(void **state) {
    static const char *const to_server[] = {"10.0.0.2:4000>10.0.0.1:5432"};
    static const char *const pair[] = {"10.0.0.2:4000>10.0.0.1:5432",
                                       "10.0.0.1:5432>10.0.0.2:4000"};
    static const char *const known[] = {"10.0.0.2:4000>10.0.0.1:5432", "10.0.0.1:99>10.0.0.2:98",
                                        "10.0.0.2:98>10.0.0.1:99"};
    static const char *const inside[] = {"127.0.0.1:4000>127.0.0.1:5432"};
    static const char *const both[] = {"127.0.0.1:4000>127.0.0.1:5432",
                                       "127.0.0.1:5432>127.0.0.1:4000"};
    static const int on_client[] = {1, 1}, on_both[] = {1, 0, 1};
    (void)state;
    assert_true(may_serve(to_server, on_client, 1, 0)); /* their addresses are not known */
    assert_false(may_serve(pair, on_both, 2, 0));       /* a process of the job is there */
    assert_true(may_serve(known, on_both, 3, 0));
    assert_false(may_serve(known, on_both, 3, 1));
    assert_true(may_serve(inside, on_client, 1, 1));
    assert_false(may_serve(both, on_client, 2, 1));
    assert_false(may_serve(NULL, NULL, 0, 0));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_host_that_is_full_beside_the_job_is_never_nothing),
        cmocka_unit_test(a_group_that_is_throttled_beside_the_job_is_never_harmless),
        cmocka_unit_test(a_group_that_is_throttled_where_nothing_of_the_job_was_seen_is_suspected),
        cmocka_unit_test(a_host_with_room_has_not_run_out),
        cmocka_unit_test(a_host_that_the_job_fills_is_judged_by_the_job),
        cmocka_unit_test(a_connection_without_its_other_end_leads_to_who_serves),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
