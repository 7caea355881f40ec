/* SPDX-License-Identifier: MIT */
/* CPU time of a host that is a control group: by the scheduler's clock, not by ticks. */
#include <setjmp.h>
#include <stdbool.h>

#include "tests/unit/plant.h"

#include <cmocka.h>

#define SECONDS 10
#define CORES 2

/* The ticks of each core; the clock of a group, in cores. */
static struct { double user, system, irq; } planted;
static double clock_now;

static double ticks(size_t column, double t_s) {
    (void)t_s;
    switch (column) {
    case CPU_USER:
        return planted.user * 1e9;
    case CPU_SYSTEM:
        return planted.system * 1e9;
    case CPU_IDLE:
        return (1 - planted.user - planted.system) * 1e9;
    case CPU_IRQ:
        return planted.irq * 1e9;
    case CPU_STEAL:
        return 0;
    default:
        return NAN;
    }
}

static double clock_of(size_t column, double t_s) {
    (void)t_s;
    return column == CGROUP_CPU ? clock_now * 1e9 : NAN;
}

static void plant_group(struct recording *r, const char *path, double cores) {
    clock_now = cores;
    plant(r, RECORDING_CGROUP, 0, path, 0.1, 0, clock_of);
}

static void plant_cores(struct recording *r) {
    plant_init(r, 2, SECONDS);
    for (int host = 0; host < 2; host++)
        for (int core = 0; core < CORES; core++)
            plant(r, RECORDING_CPU, host, core ? "cpu1" : "cpu0", 0.1, 0, ticks);
}

/* The mean of a column over the run, summed over both cores of a host, in cores. */
static double used(const struct recording *r, int host, size_t column) {
    const struct series_set *set = &r->tables[RECORDING_CPU];
    struct window whole = {0, r->duration_ns};
    double sum = 0;
    for (size_t s = 0; s < set->n; s++)
        if (set->items[s].host == host)
            sum += series_growth(set, &set->items[s], column, (struct windows){&whole, 1}, NULL) /
                   (double)r->duration_ns;
    return sum;
}

#define NEAR(a, b)                                                                                 \
    do {                                                                                           \
        double is_ = (a), should_ = (b);                                                           \
        if (!(fabs(is_ - should_) <= 1e-6))                                                        \
            fail_msg("%s is %.9g, not %.9g", #a, is_, should_);                                    \
    } while (0)

/* The ticks missed a third, or counted a third too much. The other host has no group. */
static void a_group_used_what_its_clock_says(void **state) {
    static const double clocks[] = {0.9, 0.45};
    (void)state;
    planted.user = 0.2, planted.system = 0.1, planted.irq = NAN;
    for (size_t i = 0; i < 2; i++) {
        struct recording r;
        plant_cores(&r);
        plant_group(&r, "/job", clocks[i]);
        recording_use_exact_cpu(&r);
        NEAR(used(&r, 0, CPU_USER), clocks[i] * 2 / 3);
        NEAR(used(&r, 0, CPU_SYSTEM), clocks[i] / 3);
        NEAR(used(&r, 0, CPU_IDLE), CORES - clocks[i]);
        NEAR(used(&r, 1, CPU_USER), 0.4);
        NEAR(used(&r, 1, CPU_IDLE), CORES - 0.6);
        recording_release(&r);
    }
}

/* No core can have used more than its time. */
static void a_full_core_is_no_fuller(void **state) {
    struct recording r;
    (void)state;
    planted.user = 0.9, planted.system = 0.05, planted.irq = NAN;
    plant_cores(&r);
    plant_group(&r, "/job", 2.2);
    recording_use_exact_cpu(&r);
    NEAR(used(&r, 0, CPU_USER) + used(&r, 0, CPU_SYSTEM), CORES);
    NEAR(used(&r, 0, CPU_IDLE), 0);
    recording_release(&r);
}

static void the_group_below_and_the_one_beside_are_not_the_host(void **state) {
    struct recording r;
    (void)state;
    planted.user = 0.2, planted.system = 0.1, planted.irq = NAN;
    plant_cores(&r);
    plant_group(&r, "/job/part", 0.4);
    plant_group(&r, "/job", 0.9);
    recording_use_exact_cpu(&r);
    NEAR(used(&r, 0, CPU_IDLE), CORES - 0.9);
    recording_release(&r);
    plant_cores(&r);
    plant_group(&r, "/jo", 0.8);
    plant_group(&r, "/job", 0.9);
    recording_use_exact_cpu(&r);
    NEAR(used(&r, 0, CPU_IDLE), CORES - 0.6);
    recording_release(&r);
}

/* The parent group, recorded for its limit, used several times as much. */
static void the_group_above_is_not_the_host(void **state) {
    struct recording r;
    (void)state;
    planted.user = 0.2, planted.system = 0.1, planted.irq = NAN;
    plant_cores(&r);
    plant_group(&r, "/all", 1.9);
    plant_group(&r, "/all/job", 0.9);
    recording_use_exact_cpu(&r);
    NEAR(used(&r, 0, CPU_IDLE), CORES - 0.6);
    recording_release(&r);
}

/* Interrupts count for the machine only: the group's clock is a part of its cores' time. */
static void the_cores_of_a_machine_are_not_those_of_a_group(void **state) {
    struct recording r;
    (void)state;
    planted.user = 0.2, planted.system = 0.1, planted.irq = 0;
    plant_cores(&r);
    plant_group(&r, "/job", 0.5);
    recording_use_exact_cpu(&r);
    NEAR(used(&r, 0, CPU_USER), 0.4);
    recording_release(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_group_used_what_its_clock_says),
        cmocka_unit_test(a_full_core_is_no_fuller),
        cmocka_unit_test(the_group_below_and_the_one_beside_are_not_the_host),
        cmocka_unit_test(the_group_above_is_not_the_host),
        cmocka_unit_test(the_cores_of_a_machine_are_not_those_of_a_group),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
