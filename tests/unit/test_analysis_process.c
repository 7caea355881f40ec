/* SPDX-License-Identifier: MIT */
/* Programs without MPI: processes of one job compared by what the kernel counts of them. */
#include <setjmp.h>
#include <stdbool.h>

#include "tests/unit/lockstep.h"

#define CONNECTION_LEVELS                                                                          \
    (1u << CONNECTION_PID | 1u << CONNECTION_RTT | 1u << CONNECTION_MIN_RTT |                      \
     1u << CONNECTION_DELIVERY_RATE)
#define PID 1000
#define SECONDS 12

/* A process of one thread, one a host, in shares of the time; and what it sends to each other. */
struct process {
    const char *name;
    double cpu, queue, disk;
    double sent_mb_s, under_way; /* to it, from each other: share of the time */
};

static struct process now;
static int host_now;
static double under_way_now;

static double process_of(size_t column, double t_s) {
    (void)t_s;
    switch (column) {
    case PROCESS_PID:
        return PID + host_now;
    case PROCESS_RANK:
        return NAN;
    case PROCESS_JOB:
        return 1;
    case PROCESS_USER:
        return now.cpu * 1e9;
    case PROCESS_RUN_QUEUE:
        return now.queue * 1e9;
    case PROCESS_BLOCK_IO:
        return now.disk * 1e9;
    default:
        return 0;
    }
}

static double connection_of(size_t column, double t_s) {
    (void)t_s;
    switch (column) {
    case CONNECTION_PID:
        return PID + host_now;
    case CONNECTION_BUSY:
        return under_way_now * 1e9;
    case CONNECTION_SEND_BYTES:
        return now.sent_mb_s * 1e6;
    case CONNECTION_RTT:
    case CONNECTION_MIN_RTT:
        return 1e5;
    case CONNECTION_DELIVERY_RATE:
        return 1e9;
    default:
        return 0;
    }
}

static void plant_job(struct recording *r, const struct process *processes, int n) {
    plant_hosts(r, (size_t)n, SECONDS);
    for (host_now = 0; host_now < n; host_now++) {
        char name[64];
        now = processes[host_now];
        snprintf(name, sizeof name, "%s[%d]", now.name, PID + host_now);
        plant(r, RECORDING_PROCESS, host_now, name, 1, PROCESS_LEVELS, process_of);
        for (int to = 0; to < n; to++) {
            int low = to < host_now ? to : host_now, high = to < host_now ? host_now : to;
            if (to == host_now)
                continue;
            snprintf(name, sizeof name, "10.0.0.%d:%d>10.0.0.%d:%d", host_now + 1,
                     host_now == low ? 5000 + high : 6000 + low, to + 1,
                     to == low ? 5000 + high : 6000 + low);
            under_way_now = processes[to].under_way;
            plant(r, RECORDING_CONNECTION, host_now, name, 0.5, CONNECTION_LEVELS, connection_of);
        }
    }
}

/* NULL: nobody is to be blamed. */
static void expect_of(const struct process *processes, int n, const char *resource, int host) {
    struct recording r;
    struct judged j;
    plant_job(&r, processes, n);
    judge(&r, &j);
    const struct verdict *v = &j.verdict;
    bool blames = v->state == VERDICT_SATURATED || v->state == VERDICT_SUSPECTED;
    if (blames != (resource != NULL) ||
        (resource && (strcmp(v->resource, resource) != 0 || v->host != host)))
        fail_msg("%s: %s", verdict_state_name(v->state), v->summary);
    assert_true(!blames || v->state == VERDICT_SUSPECTED);
    assert_true(v->confidence <= (blames ? VERDICT_CONFIDENCE_LEAN : VERDICT_CONFIDENCE_CAP));
    release(&r, &j);
}

static void equal_shares_of_the_work_are_balanced(void **state) {
    struct process two[] = {{"train", 0.95, 0, 0, 20, 0.03}, {"train", 0.9, 0.02, 0, 20, 0.02}};
    (void)state;
    expect_of(two, 2, NULL, -1);
}

static void who_computes_more_and_never_waits_is_waited_for(void **state) {
    struct process two[] = {{"train", 0.66, 0, 0, 20, 0.02}, {"train", 0.97, 0.02, 0, 20, 0.08}};
    struct process four[] = {{"train", 0.97, 0, 0, 20, 0.02},
                             {"train", 0.7, 0, 0, 20, 0.02},
                             {"train", 0.72, 0, 0, 20, 0.02},
                             {"train", 0.68, 0, 0, 20, 0.02}};
    (void)state;
    expect_of(two, 2, "imbalance", 1);
    expect_of(four, 4, "imbalance", 0);
}

static void what_a_peer_computes_less_for_want_of_a_core_is_no_imbalance(void **state) {
    struct process two[] = {{"train", 0.66, 0, 0, 20, 0.02}, {"train", 0.67, 0.3, 0, 20, 0.1}};
    struct recording r;
    struct judged j;
    (void)state;
    plant_job(&r, two, 2);
    judge(&r, &j);
    assert_string_equal(j.verdict.resource, "cpu");
    assert_int_equal(j.verdict.host, 1);
    release(&r, &j);
}

/* They take turns: each waits while the other computes, as it is meant to be. */
static void a_server_and_its_client_are_no_peers(void **state) {
    struct process turns[] = {{"train", 0.86, 0, 0, 20, 0.02}, {"train", 0.24, 0, 0, 20, 0.02}};
    struct process served[] = {{"train", 0.95, 0, 0, 60, 0.02},
                               {"train", 0.7, 0, 0, 20, 0.02},
                               {"train", 0.7, 0, 0, 20, 0.02},
                               {"train", 0.7, 0, 0, 20, 0.02}};
    (void)state;
    expect_of(turns, 2, NULL, -1);
    expect_of(served, 4, NULL, -1);
}

static void another_program_and_one_apart_are_no_peers(void **state) {
    struct process other[] = {{"train", 0.97, 0, 0, 20, 0.02}, {"feed", 0.66, 0, 0, 20, 0.02}};
    struct process apart[] = {{"train", 0.97, 0, 0, 0, 0}, {"train", 0.66, 0, 0, 0, 0}};
    (void)state;
    expect_of(other, 2, NULL, -1);
    expect_of(apart, 2, NULL, -1);
}

static void data_that_wait_for_one_that_is_off_its_core_tell_that_it_sleeps(void **state) {
    struct process two[] = {{"train", 0.6, 0.04, 0, 20, 0.03}, {"train", 0.6, 0.15, 0, 20, 0.12}};
    (void)state;
    expect_of(two, 2, "application", 1);
}

/* Off their cores alike, and nothing tells who waits for whom. */
static void waiting_that_no_connection_explains_is_nobody_s(void **state) {
    struct process alike[] = {{"train", 0.6, 0.04, 0, 20, 0.1}, {"train", 0.6, 0.15, 0, 20, 0.12}};
    struct process quick[] = {{"train", 0.6, 0.04, 0, 20, 0.001}, {"train", 0.6, 0, 0, 20, 0.03}};
    (void)state;
    expect_of(alike, 2, NULL, -1);
    expect_of(quick, 2, NULL, -1);
}

/* Data wait for it as well, but the other is the one that never waits. */
static void who_waits_for_a_busy_one_does_not_sleep(void **state) {
    struct process two[] = {{"train", 0.98, 0, 0, 20, 0.03}, {"train", 0.9, 0, 0, 20, 0.12}};
    (void)state;
    two[1].cpu = 0.88;
    expect_of(two, 2, NULL, -1);
}

static void a_process_that_reads_a_disk_does_not_sleep(void **state) {
    struct process two[] = {{"train", 0.6, 0, 0, 20, 0.03}, {"train", 0.6, 0, 0.38, 20, 0.12}};
    struct recording r;
    struct judged j;
    (void)state;
    plant_job(&r, two, 2);
    judge(&r, &j);
    assert_string_not_equal(j.verdict.resource, "application");
    release(&r, &j);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_shares_of_the_work_are_balanced),
        cmocka_unit_test(who_computes_more_and_never_waits_is_waited_for),
        cmocka_unit_test(what_a_peer_computes_less_for_want_of_a_core_is_no_imbalance),
        cmocka_unit_test(a_server_and_its_client_are_no_peers),
        cmocka_unit_test(another_program_and_one_apart_are_no_peers),
        cmocka_unit_test(data_that_wait_for_one_that_is_off_its_core_tell_that_it_sleeps),
        cmocka_unit_test(waiting_that_no_connection_explains_is_nobody_s),
        cmocka_unit_test(who_waits_for_a_busy_one_does_not_sleep),
        cmocka_unit_test(a_process_that_reads_a_disk_does_not_sleep),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
