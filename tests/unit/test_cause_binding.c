/* SPDX-License-Identifier: MIT */
/* The job's own binding to a few cores of a host. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/awaited_plant.h"

#define CORES 4

static double core_used; /* of the core that rows are planted for */
static struct { double cores, first, used, queued, pid; } bound;

static double core_row(size_t column, double t_s) {
    (void)t_s;
    return column == CPU_USER ? core_used * 1e9 : column == CPU_IDLE ? (1 - core_used) * 1e9 : 0;
}

static double bound_row(size_t column, double t_s) {
    (void)t_s;
    switch (column) {
    case PROCESS_PID:
        return bound.pid;
    case PROCESS_RANK:
        return NAN;
    case PROCESS_JOB:
        return 1;
    case PROCESS_CORES:
        return bound.cores;
    case PROCESS_FIRST_CORE:
        return bound.first;
    case PROCESS_USER:
        return bound.used * 1e9;
    case PROCESS_RUN_QUEUE:
        return bound.queued * 1e9;
    default:
        return 0;
    }
}

static double wait_row_of_bound(size_t column, double t_s) {
    (void)t_s;
    double run = fmin(1, bound.used), ready = fmin(1 - run, bound.queued);
    return column == WAIT_PID                                    ? bound.pid
           : column == WAIT_PROCESS_RUN || column == WAIT_NS_RUN ? run * 1e9
           : column == WAIT_PROCESS_RUNNABLE                     ? ready * 1e9
                                                                 : 0;
}

/* A host of four cores of which `others` are used by others, beside core 0. */
static void plant_host(double first_used, double others) {
    plant_init(&recording, 1, SECONDS);
    for (int core = 0; core < CORES; core++) {
        char name[16];
        snprintf(name, sizeof name, "cpu%d", core);
        core_used = core ? others : first_used;
        plant(&recording, RECORDING_CPU, 0, name, 0.1, 0, core_row);
    }
}

static void plant_bound(double pid, double cores, double used, double queued) {
    char name[16];
    snprintf(name, sizeof name, "p[%d]", (int)pid);
    bound.pid = pid;
    bound.cores = cores;
    bound.first = 0;
    bound.used = used;
    bound.queued = queued;
    plant(&recording, RECORDING_PROCESS, 0, name, 0.1, PROCESS_LEVELS, bound_row);
    plant(&recording, RECORDING_WAIT, 0, name, 0.1, 1u << WAIT_PID, wait_row_of_bound);
}

static void processes_that_share_a_core_while_others_idle_are_bound(void **state) {
    (void)state;
    plant_host(1, .02);
    for (int pid = 1; pid <= 3; pid++)
        plant_bound(pid, 1, 1. / 3, 2. / 3);
    judge();
    const struct candidate *c = found(CAUSE_BINDING);
    assert_non_null(c);
    assert_int_equal(c->host, 0);
    assert_true(fabs(c->blocked - 2. / 3) < .03);
    assert_null(found(CAUSE_CONTENTION));
    assert_int_equal(judged.verdict.kind, CAUSE_BINDING);
    assert_true(fabs(judged.verdict.gain - 2. / 3) < .1);
    assert_non_null(strstr(judged.words.summary, "is bound to core 0"));
    release();
}

/* Some thread of it always runs: no wait for a core is on the path. */
static void a_process_with_more_threads_than_its_cores_is_bound(void **state) {
    (void)state;
    plant_host(1, .02);
    plant_bound(1, 1, 1, 1);
    judge();
    const struct candidate *c = found(CAUSE_BINDING);
    assert_non_null(c);
    assert_true(fabs(c->blocked - .5) < .03);
    assert_int_equal(c->remove.kind, WHATIF_CPU);
    assert_int_equal(judged.verdict.kind, CAUSE_BINDING);
    assert_true(fabs(judged.verdict.gain - .5) < .05);
    release();
}

static void a_binding_costs_nothing_without_idle_cores_or_waits(void **state) {
    static const struct {
        double first_used, others, cores, used, queued;
        const char *why;
    } plants[] = {{1, 1, 1, 1, 2, "no other core idles"},
                  {1, .02, 4, 1, 2, "it may use all cores"},
                  {1, .02, 0, 1, 2, "its binding is not known"},
                  {1, .02, 1, 1, .02, "no thread of it waits"},
                  {1, .02, 1, .4, .6, "another program has its core"}};
    (void)state;
    for (size_t i = 0; i < sizeof plants / sizeof *plants; i++) {
        plant_host(plants[i].first_used, plants[i].others);
        plant_bound(1, plants[i].cores, plants[i].used, plants[i].queued);
        judge();
        if (found(CAUSE_BINDING))
            fail_msg("bound, though %s", plants[i].why);
        release();
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(processes_that_share_a_core_while_others_idle_are_bound),
        cmocka_unit_test(a_process_with_more_threads_than_its_cores_is_bound),
        cmocka_unit_test(a_binding_costs_nothing_without_idle_cores_or_waits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
