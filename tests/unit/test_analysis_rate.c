/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdbool.h>

#include "tests/unit/plant.h"

#include <cmocka.h>

#include "analysis/evidence/quota.h"
#include "analysis/facts/recording/metric.h"
#include "analysis/facts/series/align.h"

#define NEAR(a, b) assert_true(fabs((double)(a) - (double)(b)) <= 1e-9 * fmax(1, fabs((double)(b))))

static void add(struct recording *r, enum recording_table table, int64_t instance, const char *name,
                double t_s, double interval_s, const int64_t *values) {
    series_set_append(&r->tables[table], 0, instance, name, (int64_t)llround(t_s * 1e9),
                      isnan(interval_s) ? VALUE_ABSENT : (int64_t)llround(interval_s * 1e9),
                      values);
}

static double mean(const struct recording *r, enum metric metric, double from_s, double to_s) {
    struct rate rate;
    assert_int_equal(metric_rate(r, 0, metric, &rate), 0);
    double value = rate_mean_between(&rate, (int64_t)(from_s * 1e9), (int64_t)(to_s * 1e9));
    rate_release(&rate);
    return value;
}

/* 300 ms in a run of 450 ms, whose host was sampled from before to after it. */
static void what_the_job_did_lies_between_the_ends_of_the_run(void **state) {
    struct recording r;
    int64_t cpu[RECORDING_COLUMNS_MAX] = {0}, process[RECORDING_COLUMNS_MAX] = {0};
    (void)state;
    plant_init(&r, 1, 0.45);
    cpu[CPU_IDLE] = 1000000000;
    add(&r, RECORDING_CPU, 1, "cpu0", 0.2, 1, cpu);
    add(&r, RECORDING_CPU, 1, "cpu0", 1.2, 1, cpu);
    process[PROCESS_JOB] = 1;
    process[PROCESS_USER] = 300000000;
    add(&r, RECORDING_PROCESS, 2, "train[7]", 0.45, 0.45, process);
    NEAR(mean(&r, METRIC_JOB_CPU, 0, 0.45), 100 * 0.3 / 0.45);
    recording_release(&r);
}

/* A host's process rows may come before those of its cores. */
static void a_level_that_is_newer_than_the_clock_adds_nothing(void **state) {
    struct recording r;
    int64_t cpu[RECORDING_COLUMNS_MAX] = {0}, process[RECORDING_COLUMNS_MAX] = {0};
    (void)state;
    plant_init(&r, 1, 3);
    cpu[CPU_IDLE] = 1000000000;
    add(&r, RECORDING_CPU, 1, "cpu0", 1, 1, cpu);
    process[PROCESS_JOB] = 1;
    process[PROCESS_RSS] = 5000000000;
    add(&r, RECORDING_PROCESS, 2, "train[7]", 2, 1, process);
    NEAR(mean(&r, METRIC_JOB_MEM, 0, 3), 0);
    recording_release(&r);
}

static void a_window_that_cuts_an_interval_takes_its_part(void **state) {
    struct recording r;
    (void)state;
    plant_init(&r, 1, 3);
    add(&r, RECORDING_NET, 1, "eth0", 0, NAN,
        (int64_t[RECORDING_COLUMNS_MAX]){VALUE_ABSENT, VALUE_ABSENT, VALUE_ABSENT});
    add(&r, RECORDING_NET, 1, "eth0", 1, 1,
        (int64_t[RECORDING_COLUMNS_MAX]){0, 10000000, VALUE_ABSENT});
    add(&r, RECORDING_NET, 1, "eth0", 2, 1,
        (int64_t[RECORDING_COLUMNS_MAX]){0, 40000000, VALUE_ABSENT});
    NEAR(mean(&r, METRIC_NET_SEND, 0, 2), 25);
    NEAR(mean(&r, METRIC_NET_SEND, 0.5, 1.5), 25); /* 5 MB and 20 MB in one second */
    NEAR(mean(&r, METRIC_NET_SEND, 0.75, 2), 34);  /* 2.5 MB and 40 MB in 1.25 s */
    NEAR(mean(&r, METRIC_NET_SEND, 1.9, 3), 40);   /* beyond the data: the known part */
    assert_true(isnan(mean(&r, METRIC_NET_SEND, 2.5, 3)));
    recording_release(&r);
}

static struct series_set *rows_in_steps(struct recording *r, int64_t step_ns) {
    plant_init(r, 1, 3);
    r->tables[RECORDING_CONNECTION].step_ns = step_ns;
    int64_t row[RECORDING_COLUMNS_MAX] = {7, 10, VALUE_ABSENT, 0, 100, 5000, 5000};
    for (int i = 0; i < 25; i++) {
        row[CONNECTION_RTT] = i;
        add(r, RECORDING_CONNECTION, 1, "a", 0.1 * i, i ? 0.1 : NAN, row);
    }
    return &r->tables[RECORDING_CONNECTION];
}

static void joined_rows_keep_all_growth_and_the_last_level(void **state) {
    struct recording r, whole;
    (void)state;
    struct series_set *set = rows_in_steps(&r, 1000000000), *kept = rows_in_steps(&whole, 0);
    struct windows all = {&(struct window){0, 3000000000}, 1};
    int64_t covered, covered_whole;
    assert_int_equal(kept->items[0].n, 25);
    assert_int_equal(set->items[0].n, 4); /* at 0, to 1 s, to 2 s, to 2.4 s */
    NEAR(series_growth(set, &set->items[0], CONNECTION_SEND_BYTES, all, &covered), 2400);
    series_growth(kept, &kept->items[0], CONNECTION_SEND_BYTES, all, &covered_whole);
    assert_int_equal(covered, covered_whole);
    assert_int_equal(series_value(set, &set->items[0], 2, CONNECTION_RTT), 20);
    assert_int_equal(series_value(set, &set->items[0], 2, CONNECTION_RWND_LIMITED), VALUE_ABSENT);
    recording_release(&r);
    recording_release(&whole);
}

/* Growth in between is not known, and must not be spread over known rows. */
static void rows_with_a_gap_between_them_are_not_joined(void **state) {
    struct recording r;
    (void)state;
    plant_init(&r, 1, 3);
    struct series_set *set = &r.tables[RECORDING_NET];
    set->step_ns = 1000000000;
    add(&r, RECORDING_NET, 1, "eth0", 0.2, 0.1,
        (int64_t[RECORDING_COLUMNS_MAX]){1, 1, VALUE_ABSENT});
    add(&r, RECORDING_NET, 1, "eth0", 0.3, 0.1,
        (int64_t[RECORDING_COLUMNS_MAX]){1, 1, VALUE_ABSENT});
    add(&r, RECORDING_NET, 1, "eth0", 0.6, 0.1,
        (int64_t[RECORDING_COLUMNS_MAX]){1, 1, VALUE_ABSENT});
    add(&r, RECORDING_NET, 1, "eth0", 0.7, 0.1,
        (int64_t[RECORDING_COLUMNS_MAX]){1, INT64_MAX, VALUE_ABSENT});
    add(&r, RECORDING_NET, 1, "eth0", 0.8, 0.1,
        (int64_t[RECORDING_COLUMNS_MAX]){1, VALUE_ABSENT, VALUE_ABSENT});
    assert_int_equal(set->items[0].n, 4);
    recording_release(&r);
}

/* Samples begin before the run: its first step is as long as every other. */
static void a_step_ends_where_the_run_begins(void **state) {
    struct recording r;
    (void)state;
    plant_init(&r, 1, 3);
    struct series_set *set = &r.tables[RECORDING_NET];
    set->step_ns = 1000000000;
    for (int i = -3; i <= 3; i++)
        add(&r, RECORDING_NET, 1, "eth0", 0.1 * i, 0.1, (int64_t[RECORDING_COLUMNS_MAX]){1, 1});
    assert_int_equal(set->items[0].n, 2);
    assert_int_equal(set->items[0].t_ns[0], 0);
    assert_int_equal(set->items[0].t_ns[1], 300 * MS);
    recording_release(&r);
}

static void only_large_recordings_are_held_in_steps(void **state) {
    (void)state;
    assert_int_equal(recording_step_ns(500000, 500000, 100), 0);
    assert_int_equal(recording_step_ns(3600000, 500000, 100), 1000);
    assert_int_equal(recording_step_ns(230400000, 8000000, 100), 5000);
    assert_int_equal(recording_step_ns(UINT64_MAX, 1, 0), 0);
    assert_true(recording_step_ns(UINT64_MAX, 1, 100) > 0);
}

/* 1 Gbit/s is 125 MB/s, decimal. */
static void bytes_are_bytes_and_megabytes_decimal(void **state) {
    struct recording r;
    (void)state;
    plant_init(&r, 1, 1);
    add(&r, RECORDING_NET, 1, "eth0", 0, NAN,
        (int64_t[RECORDING_COLUMNS_MAX]){VALUE_ABSENT, VALUE_ABSENT, VALUE_ABSENT});
    add(&r, RECORDING_NET, 1, "eth0", 1, 1,
        (int64_t[RECORDING_COLUMNS_MAX]){1000000000 / 8, 0, VALUE_ABSENT});
    add(&r, RECORDING_MEMORY, 2, "memory", 0, NAN,
        (int64_t[RECORDING_COLUMNS_MAX]){8000000000, 6000000000, 0, 0});
    add(&r, RECORDING_MEMORY, 2, "memory", 1, 1,
        (int64_t[RECORDING_COLUMNS_MAX]){8000000000, 5000000000, 0, 0});
    NEAR(mean(&r, METRIC_NET_RECV, 0, 1), 125);
    NEAR(mean(&r, METRIC_MEM_USED, 0, 1), 2.5);
    NEAR(mean(&r, METRIC_MEM_FREE, 0, 1), 5.5);
    recording_release(&r);
}

static void interfaces_add_up_and_loopback_does_not(void **state) {
    struct recording r;
    (void)state;
    plant_init(&r, 1, 1);
    const char *names[] = {"eth0", "eth1", "lo"};
    for (int i = 0; i < 3; i++) {
        add(&r, RECORDING_NET, i, names[i], 0, NAN,
            (int64_t[RECORDING_COLUMNS_MAX]){VALUE_ABSENT, VALUE_ABSENT, VALUE_ABSENT});
        add(&r, RECORDING_NET, i, names[i], 1, 1,
            (int64_t[RECORDING_COLUMNS_MAX]){3000000, 7000000, VALUE_ABSENT});
    }
    NEAR(mean(&r, METRIC_NET_RECV, 0, 1), 6);
    NEAR(mean(&r, METRIC_NET_SEND, 0, 1), 14);
    recording_release(&r);
}

/* The frame at 2 s was lost, so the next interval is twice as long. */
static void a_lost_frame_costs_resolution_not_truth(void **state) {
    struct recording r;
    (void)state;
    plant_init(&r, 1, 4);
    for (int i = 0; i < 2; i++) {
        add(&r, RECORDING_NET, i, i ? "eth1" : "eth0", 0, NAN,
            (int64_t[RECORDING_COLUMNS_MAX]){VALUE_ABSENT, VALUE_ABSENT, VALUE_ABSENT});
        add(&r, RECORDING_NET, i, i ? "eth1" : "eth0", 1, 1,
            (int64_t[RECORDING_COLUMNS_MAX]){0, 5000000, VALUE_ABSENT});
        if (i)
            add(&r, RECORDING_NET, i, "eth1", 2, 1,
                (int64_t[RECORDING_COLUMNS_MAX]){0, 1000000, VALUE_ABSENT});
        add(&r, RECORDING_NET, i, i ? "eth1" : "eth0", 3, i ? 1 : 2,
            (int64_t[RECORDING_COLUMNS_MAX]){0, i ? 1000000 : 8000000, VALUE_ABSENT});
    }
    NEAR(mean(&r, METRIC_NET_SEND, 0, 3), (5 + 8 + 5 + 1 + 1) / 3.0);
    NEAR(mean(&r, METRIC_NET_SEND, 1, 2), 5); /* half of eth0's 8 and eth1's 1 */
    recording_release(&r);
}

/* A row from 0.5 s to 1.5 s, on a grid with cells that end at 1 s, 1.5 s and 2 s. */
static void what_begins_within_a_cell_is_spread_over_its_own_time(void **state) {
    struct recording r;
    struct rate grid;
    double amount[3] = {0}, covered_ns[3] = {0};
    (void)state;
    plant_init(&r, 1, 2);
    const struct series_set *set = &r.tables[RECORDING_NET];
    add(&r, RECORDING_NET, 1, "eth0", 1, 1, (int64_t[RECORDING_COLUMNS_MAX]){0, 0});
    add(&r, RECORDING_NET, 1, "eth0", 2, 1, (int64_t[RECORDING_COLUMNS_MAX]){0, 0});
    add(&r, RECORDING_NET, 2, "eth1", 1.5, 1, (int64_t[RECORDING_COLUMNS_MAX]){0, 8000000});
    assert_int_equal(align_grid(set, 0, NULL, NULL, 1, &grid), 0);
    assert_int_equal(grid.n, 3);
    align_growth(set, &set->items[1], 1u << NET_SEND_BYTES, &grid, amount, covered_ns);
    NEAR(amount[0], 4e6);
    NEAR(amount[1], 4e6);
    NEAR(amount[2], 0);
    NEAR(covered_ns[0], 0.5e9);
    NEAR(covered_ns[1], 0.5e9);
    rate_release(&grid);
    recording_release(&r);
}

/* After a restart the time between is not known: a gap, not a zero. */
static void what_was_not_seen_is_a_gap(void **state) {
    struct recording r;
    struct rate rate;
    (void)state;
    plant_init(&r, 1, 4);
    add(&r, RECORDING_NET, 1, "eth0", 0, NAN,
        (int64_t[RECORDING_COLUMNS_MAX]){VALUE_ABSENT, VALUE_ABSENT, VALUE_ABSENT});
    add(&r, RECORDING_NET, 1, "eth0", 1, 1,
        (int64_t[RECORDING_COLUMNS_MAX]){0, 6000000, VALUE_ABSENT});
    add(&r, RECORDING_NET, 1, "eth0", 3, NAN,
        (int64_t[RECORDING_COLUMNS_MAX]){VALUE_ABSENT, VALUE_ABSENT, VALUE_ABSENT});
    add(&r, RECORDING_NET, 1, "eth0", 4, 1,
        (int64_t[RECORDING_COLUMNS_MAX]){0, 8000000, VALUE_ABSENT});
    NEAR(mean(&r, METRIC_NET_SEND, 0, 4), 7);
    assert_true(isnan(mean(&r, METRIC_NET_SEND, 1, 3)));
    assert_int_equal(metric_rate(&r, 0, METRIC_NET_SEND, &rate), 0);
    struct window window = {0, 4 * S};
    assert_int_equal(rate_covered(&rate, (struct windows){&window, 1}), 2 * S);
    rate_release(&rate);
    recording_release(&r);
}

/* The kernel's ticks do not add up to the interval; shares refer to their sum. */
static void cpu_shares_are_of_the_time_the_kernel_counted(void **state) {
    struct recording r;
    (void)state;
    plant_init(&r, 1, 1);
    int64_t first[CPU_OUTSIDE + 1],
        core0[CPU_OUTSIDE + 1] = {200 * MS, 0, 100 * MS, 600 * MS},
                            core1[CPU_OUTSIDE + 1] = {0, 0, 0, 900 * MS};
    for (int c = 0; c <= CPU_OUTSIDE; c++)
        first[c] = VALUE_ABSENT;
    add(&r, RECORDING_CPU, 1, "cpu0", 0, NAN, first);
    add(&r, RECORDING_CPU, 1, "cpu0", 1, 1, core0);
    add(&r, RECORDING_CPU, 2, "cpu1", 0, NAN, first);
    add(&r, RECORDING_CPU, 2, "cpu1", 1, 1, core1);
    NEAR(mean(&r, METRIC_CPU_IDLE, 0, 1), 100.0 * 1500 / 1800);
    NEAR(mean(&r, METRIC_CPU_USER, 0, 1), 100.0 * 200 / 1800);
    NEAR(mean(&r, METRIC_CPU_CORE_MAX, 0, 1), 100.0 * 300 / 900);
    recording_release(&r);
}

/* A control group counts no steal: unknown, not zero; idle time is still a share of the rest. */
static void an_unknown_column_is_not_zero(void **state) {
    struct recording r;
    (void)state;
    plant_init(&r, 1, 1);
    int64_t row[CPU_OUTSIDE + 1];
    for (int c = 0; c <= CPU_OUTSIDE; c++)
        row[c] = VALUE_ABSENT;
    add(&r, RECORDING_CPU, 1, "cpus", 0, NAN, row);
    row[CPU_USER] = 500 * MS;
    row[CPU_IDLE] = 1500 * MS;
    add(&r, RECORDING_CPU, 1, "cpus", 1, 1, row);
    assert_true(isnan(mean(&r, METRIC_CPU_STEAL, 0, 1)));
    NEAR(mean(&r, METRIC_CPU_IDLE, 0, 1), 75);
    recording_release(&r);
}

/* A difference needs both sides: 8 GB, with the free part unknown. */
static void a_level_is_known_where_all_its_columns_are(void **state) {
    struct recording r;
    (void)state;
    plant_init(&r, 1, 3);
    add(&r, RECORDING_MEMORY, 1, "memory", 0, NAN,
        (int64_t[RECORDING_COLUMNS_MAX]){8000000000, 6000000000, 0, 0});
    add(&r, RECORDING_MEMORY, 1, "memory", 1, 1,
        (int64_t[RECORDING_COLUMNS_MAX]){8000000000, VALUE_ABSENT, 0, 0});
    add(&r, RECORDING_MEMORY, 1, "memory", 2, 1,
        (int64_t[RECORDING_COLUMNS_MAX]){8000000000, 6000000000, 0, 0});
    NEAR(mean(&r, METRIC_MEM_USED, 0, 2), 2);
    assert_true(isnan(mean(&r, METRIC_MEM_USED, 0, 1)));
    recording_release(&r);
}

/* The kernel counts how long a group was throttled; the group with the longest time counts. */
static double standing_group(size_t column, double t_s) {
    (void)t_s;
    return column == CGROUP_THROTTLED ? 0.4e9
           : column == CGROUP_QUOTA   ? 60e6
           : column == CGROUP_PERIOD  ? 100e6
                                      : 0;
}

static double running_group(size_t column, double t_s) {
    return column == CGROUP_THROTTLED ? 0.1e9 : standing_group(column, t_s) / 2;
}

static void a_quota_is_the_share_of_the_time_that_a_group_stood_still(void **state) {
    struct recording r;
    struct run_model model = {.recording = &r};
    const struct windows eight = {&(struct window){1 * S, 9 * S}, 1};
    (void)state;
    plant_init(&r, 2, 10);
    plant(&r, RECORDING_CGROUP, 0, "/", 0.1, 1u << CGROUP_QUOTA | 1u << CGROUP_PERIOD,
          running_group);
    plant(&r, RECORDING_CGROUP, 0, "/job", 0.1, 1u << CGROUP_QUOTA | 1u << CGROUP_PERIOD,
          standing_group);
    struct quota quota = quota_of(&model, 0, eight);
    NEAR(quota.throttled, 0.4);
    NEAR(quota.cores, 0.6);
    assert_true(isnan(quota_of(&model, 1, eight).throttled));
    recording_release(&r);
}

/* Two processes in turn, with 1.5 cores and half a core; a process outside the job does not count.
 */
static void the_job_is_the_sum_of_its_processes(void **state) {
    struct recording r;
    (void)state;
    plant_init(&r, 1, 10);
    int64_t v[RECORDING_COLUMNS_MAX] = {1,        0,        1, 1000000000, 1000 * MS,
                                        500 * MS, 100 * MS, 0, 0,          0};
    for (int t = 1; t <= 5; t++)
        add(&r, RECORDING_PROCESS, 1, "a[1]", t, 1, v);
    v[PROCESS_USER] = 500 * MS;
    v[PROCESS_SYSTEM] = 0;
    for (int t = 6; t <= 10; t++)
        add(&r, RECORDING_PROCESS, 2, "b[2]", t, 1, v);
    v[PROCESS_JOB] = 0;
    for (int t = 1; t <= 10; t++)
        add(&r, RECORDING_PROCESS, 3, "c[3]", t, 1, v);
    NEAR(mean(&r, METRIC_JOB_CPU, 0, 10), 100);
    NEAR(mean(&r, METRIC_JOB_CPU, 0, 5), 150);
    NEAR(mean(&r, METRIC_JOB_CPU, 5, 10), 50);
    NEAR(mean(&r, METRIC_JOB_RUN_QUEUE, 0, 10), 10);
    recording_release(&r);
}

/* It ran all the time until its last scan, at 5 s; the CPU was sampled until 8 s. */
static void expect_job_known_for(double seconds, double stranger_s) {
    struct recording r;
    plant_init(&r, 1, 10);
    int64_t v[RECORDING_COLUMNS_MAX] = {
        [PROCESS_JOB] = 1, [PROCESS_RSS] = 1000000000, [PROCESS_USER] = 1000 * MS};
    int64_t core[CPU_OUTSIDE + 1] = {[CPU_USER] = 100 * MS};
    for (int t = 1; t <= 5; t++)
        add(&r, RECORDING_PROCESS, 1, "a[1]", t, 1, v);
    v[PROCESS_JOB] = 0;
    add(&r, RECORDING_PROCESS, 2, "b[2]", stranger_s, 1, v);
    for (int t = 1; t <= 80; t++)
        add(&r, RECORDING_CPU, 1, "cpu0", t / 10.0, 0.1, core);
    NEAR(mean(&r, METRIC_JOB_CPU, 0, 8), 100 * 5 / seconds);
    NEAR(mean(&r, METRIC_JOB_MEM, 0, 8), 4.1 / seconds); /* a level: from its first cell on */
    recording_release(&r);
}

static void after_the_last_look_at_a_job_nothing_is_known_until_the_next(void **state) {
    (void)state;
    expect_job_known_for(7, 5);     /* a scan was due at 6 s: gone then */
    expect_job_known_for(7, 7);     /* a scan came, and found no process */
    expect_job_known_for(7.5, 5.5); /* a scan found only others */
}

/* 1, 2, ... 10 MB/s, for a second each. */
static void quantile_and_peak_are_of_the_samples(void **state) {
    struct recording r;
    struct rate rate;
    struct window window = {0, 10 * S};
    struct windows all = {&window, 1};
    (void)state;
    plant_init(&r, 1, 10);
    for (int t = 1; t <= 10; t++)
        add(&r, RECORDING_NET, 1, "eth0", t, 1,
            (int64_t[RECORDING_COLUMNS_MAX]){0, t * 1000000, VALUE_ABSENT});
    assert_int_equal(metric_rate(&r, 0, METRIC_NET_SEND, &rate), 0);
    NEAR(rate_quantile(&rate, all, 0.5), 5);
    NEAR(rate_quantile(&rate, all, 0.9), 9);
    NEAR(rate_quantile(&rate, all, 0.95), 10);
    NEAR(rate_peak(&rate, all), 10);
    NEAR(rate_ceiling(&rate, all, 2 * S), 9); /* reached or exceeded for two seconds */
    NEAR(rate_amount_share_above(&rate, all, 9), 19 / 55.0);
    NEAR(rate_amount(&rate, all), 55e6);
    rate_release(&rate);
    recording_release(&r);
}

/* Half a cell or more may be the peak of a window; within one cell it is the mean. */
static void the_peak_of_less_than_half_a_cell_is_its_mean(void **state) {
    struct recording r;
    struct rate rate;
    struct window half = {0, 1500 * MS}, less = {0, 1400 * MS}, within = {1200 * MS, 1400 * MS},
                  beyond = {3 * S, 4 * S};
    (void)state;
    plant_init(&r, 1, 3);
    for (int t = 1; t <= 2; t++)
        add(&r, RECORDING_NET, 1, "eth0", t, 1, (int64_t[RECORDING_COLUMNS_MAX]){0, t * 1000000});
    assert_int_equal(metric_rate(&r, 0, METRIC_NET_SEND, &rate), 0);
    NEAR(rate_peak(&rate, (struct windows){&half, 1}), 2);
    NEAR(rate_peak(&rate, (struct windows){&less, 1}), 1);
    NEAR(rate_peak(&rate, (struct windows){&within, 1}), 2);
    assert_true(isnan(rate_peak(&rate, (struct windows){&beyond, 1})));
    rate_release(&rate);
    recording_release(&r);
}

/* All stretches of a recurring phase count together. */
static void windows_of_a_phase_count_together(void **state) {
    struct recording r;
    struct rate rate;
    struct window stretches[] = {{0, 1 * S}, {2 * S, 3 * S}};
    (void)state;
    plant_init(&r, 1, 3);
    for (int t = 1; t <= 3; t++)
        add(&r, RECORDING_NET, 1, "eth0", t, 1,
            (int64_t[RECORDING_COLUMNS_MAX]){0, t * 1000000, VALUE_ABSENT});
    assert_int_equal(metric_rate(&r, 0, METRIC_NET_SEND, &rate), 0);
    NEAR(rate_mean(&rate, (struct windows){stretches, 2}), 2);
    rate_release(&rate);
    recording_release(&r);
}

/* Shares of GPUs are means over those that tell, bytes and watts are sums, and a part of a divided
 * GPU counts with its card.
 */
static void gpus_of_a_host_are_one(void **state) {
    struct recording r;
    int64_t values[RECORDING_COLUMNS_MAX];
    struct rate rate;
    struct window whole = {0, INT64_C(10000000000)};
    (void)state;
    plant_init(&r, 1, 10);
    for (size_t c = 0; c < RECORDING_COLUMNS_MAX; c++)
        values[c] = VALUE_ABSENT;
    for (int gpu = 0; gpu < 3; gpu++)
        for (int t = 1; t <= 10; t++) {
            static const char *const names[] = {"gpu0", "gpu1", "gpu1/mig1"};
            values[GPU_SM] = gpu == 0 ? 900000000 : 100000000;
            values[GPU_PCIE_RECEIVE] = 5000000;
            values[GPU_WATTS] = gpu == 0 ? INT64_C(600000000000) : INT64_C(100000000000);
            add(&r, RECORDING_GPU, gpu, names[gpu], t, 1, values);
        }
    NEAR(mean(&r, METRIC_GPU_SM, 0, 10), 50);
    NEAR(mean(&r, METRIC_GPU_TO, 0, 10), 10);
    NEAR(mean(&r, METRIC_GPU_WATTS, 0, 10), 700);
    assert_true(isnan(mean(&r, METRIC_GPU_TENSOR, 0, 10))); /* neither tells */
    assert_int_equal(metric_rate_of(&r, 0, METRIC_GPU_SM, "gpu1/mig1", &rate), 0);
    NEAR(rate_mean(&rate, (struct windows){&whole, 1}), 10);
    rate_release(&rate);
    recording_release(&r);
}

/* Rows of a hostile file: dropped, or at least without undefined arithmetic (UBSan checks). */
static void impossible_times_and_values_do_no_harm(void **state) {
    struct recording r;
    const int64_t extremes[] = {INT64_MIN, INT64_MIN + 1, -1, 0, 1, INT64_MAX};
    (void)state;
    plant_init(&r, 1, 3);
    for (size_t t = 0; t < 6; t++)
        for (size_t dt = 0; dt < 6; dt++)
            for (int table = 0; table < RECORDING_COUNT_; table++) {
                int64_t values[RECORDING_COLUMNS_MAX];
                for (size_t c = 0; c < 16; c++)
                    values[c] = extremes[(c + t + dt) % 6];
                assert_int_equal(series_set_append(&r.tables[table], 0, (int64_t)dt, "x",
                                                   extremes[t], extremes[dt], values),
                                 0);
            }
    for (int m = 0; m < METRIC_COUNT_; m++)
        mean(&r, m, 0, 3);
    recording_release(&r);
}

static void nothing_recorded_is_nothing_known(void **state) {
    struct recording r;
    (void)state;
    plant_init(&r, 1, 3);
    for (int m = 0; m < METRIC_COUNT_; m++)
        assert_true(isnan(mean(&r, m, 0, 3)));
    recording_release(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_level_that_is_newer_than_the_clock_adds_nothing),
        cmocka_unit_test(a_window_that_cuts_an_interval_takes_its_part),
        cmocka_unit_test(what_the_job_did_lies_between_the_ends_of_the_run),
        cmocka_unit_test(joined_rows_keep_all_growth_and_the_last_level),
        cmocka_unit_test(rows_with_a_gap_between_them_are_not_joined),
        cmocka_unit_test(a_step_ends_where_the_run_begins),
        cmocka_unit_test(only_large_recordings_are_held_in_steps),
        cmocka_unit_test(bytes_are_bytes_and_megabytes_decimal),
        cmocka_unit_test(interfaces_add_up_and_loopback_does_not),
        cmocka_unit_test(a_lost_frame_costs_resolution_not_truth),
        cmocka_unit_test(what_begins_within_a_cell_is_spread_over_its_own_time),
        cmocka_unit_test(what_was_not_seen_is_a_gap),
        cmocka_unit_test(cpu_shares_are_of_the_time_the_kernel_counted),
        cmocka_unit_test(an_unknown_column_is_not_zero),
        cmocka_unit_test(a_level_is_known_where_all_its_columns_are),
        cmocka_unit_test(a_quota_is_the_share_of_the_time_that_a_group_stood_still),
        cmocka_unit_test(the_job_is_the_sum_of_its_processes),
        cmocka_unit_test(after_the_last_look_at_a_job_nothing_is_known_until_the_next),
        cmocka_unit_test(quantile_and_peak_are_of_the_samples),
        cmocka_unit_test(the_peak_of_less_than_half_a_cell_is_its_mean),
        cmocka_unit_test(windows_of_a_phase_count_together),
        cmocka_unit_test(impossible_times_and_values_do_no_harm),
        cmocka_unit_test(gpus_of_a_host_are_one),
        cmocka_unit_test(nothing_recorded_is_nothing_known),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
