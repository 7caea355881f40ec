/* SPDX-License-Identifier: MIT */
/* Resources used by a rank's process, from planted rows whose sums are known. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "analysis/evidence/rank_use.h"
#include "tests/unit/plant.h"

#define NEAR(a, b) assert_true(fabs((a) - (b)) < 1e-9)
enum { PID = 70, OTHER_PID = 71, MB = 1000000 };

struct planted {
    struct recording recording;
    struct run_model model;
    int64_t values[RECORDING_COLUMNS_MAX];
    const struct window *window;
};

static const struct rank_budget rank = {.host = 1, .rank = 3, .pid = PID};

static void start(struct planted *p) {
    plant_init(&p->recording, 2, 4);
    p->window = NULL;
    p->model = (struct run_model){.recording = &p->recording};
}

/* Values that a row does not set are unknown. */
static int64_t *blank(struct planted *p) {
    for (size_t i = 0; i < RECORDING_COLUMNS_MAX; i++)
        p->values[i] = VALUE_ABSENT;
    return p->values;
}

/* interval_s NAN: the growth of counters is not known. */
static void append(struct planted *p, enum recording_table table, int64_t instance, double t_s,
                   double interval_s) {
    int64_t interval = isnan(interval_s) ? VALUE_ABSENT : llround(interval_s * 1e9);
    assert_int_equal(series_set_append(&p->recording.tables[table], rank.host, instance, "x",
                                       llround(t_s * 1e9), interval, p->values),
                     0);
}

static void add_process(struct planted *p, double t_s, double interval_s, double user_s,
                        double system_s, int64_t rss) {
    int64_t *values = blank(p);
    values[PROCESS_PID] = PID;
    values[PROCESS_START] = 300 * MS;
    values[PROCESS_USER] = llround(user_s * 1e9);
    values[PROCESS_SYSTEM] = llround(system_s * 1e9);
    values[PROCESS_RSS] = rss;
    append(p, RECORDING_PROCESS, 1, t_s, interval_s);
}

static void add_rank(struct planted *p, double t_s, double interval_s, int64_t run_ns,
                     int64_t rss) {
    int64_t *values = blank(p);
    values[RANK_PID] = PID;
    values[RANK_RUN] = run_ns;
    values[RANK_RSS] = rss;
    append(p, RECORDING_RANK, 2, t_s, interval_s);
}

static struct rank_use find(struct planted *p) {
    struct process_traffic traffic;
    assert_int_equal(process_traffic_make(&p->recording, &traffic), 0);
    struct rank_use use = rank_use_find(&p->model, &traffic, &rank, p->window);
    process_traffic_release(&traffic);
    recording_release(&p->recording);
    return use;
}

/* Started at .3 s, seen at .5 s, ended soon after 1.3 s: the process table has one row of it. */
static void a_rank_that_is_seen_once_has_the_cpu_time_of_its_life(void **state) {
    struct planted p;
    (void)state;
    start(&p);
    add_process(&p, 0.5, 0.5, 0.1, 0.05, 15 * MB);
    add_rank(&p, 0.5, NAN, VALUE_ABSENT, 15 * MB);
    for (int i = 1; i <= 8; i++)
        add_rank(&p, 0.5 + 0.1 * i, 0.1, 80 * MS, i == 4 ? 156 * MB : 20 * MB);
    struct rank_use use = find(&p);
    NEAR(use.cpu_s, 0.15 + 8 * 0.08);
    NEAR(use.lived_s, 0.2 + 0.8);
    NEAR(use.cpu_share, 0.79);
    NEAR(use.peak_bytes, 156e6);
}

/* Ten rows a second report the same time as one row a second; after the last of them only the
 * latter does.
 */
static void no_cpu_time_counts_twice_and_the_end_is_not_lost(void **state) {
    struct planted p;
    (void)state;
    start(&p);
    add_process(&p, 1, 1, 0.2, 0, 1 * MB);
    add_process(&p, 2, 1, 0.5, 0, 1 * MB);
    add_process(&p, 2.4, 0.4, 0.1, 0, 1 * MB);
    add_rank(&p, 1, NAN, VALUE_ABSENT, VALUE_ABSENT);
    for (int i = 1; i <= 10; i++)
        add_rank(&p, 1 + 0.1 * i, 0.1, 50 * MS, VALUE_ABSENT);
    struct rank_use use = find(&p);
    NEAR(use.cpu_s, 0.2 + 0.5 + 0.1);
    NEAR(use.lived_s, 2.4 - 0.3);
    NEAR(use.peak_bytes, 1e6);
}

/* The window begins before the first row of the finer table and ends after its last. */
static void the_share_of_a_core_is_that_of_the_window(void **state) {
    static const struct window training = {1550 * MS, 2650 * MS};
    struct planted p;
    (void)state;
    start(&p);
    p.window = &training;
    add_process(&p, 1.7, 1.7, 0.17, 0, 1 * MB);
    add_process(&p, 2.7, 1, 0.4, 0, 1 * MB);
    add_rank(&p, 1.7, NAN, VALUE_ABSENT, VALUE_ABSENT);
    for (int i = 1; i <= 9; i++)
        add_rank(&p, 1.7 + 0.1 * i, 0.1, i <= 6 ? 50 * MS : 0, VALUE_ABSENT);
    struct rank_use use = find(&p);
    NEAR(use.cpu_s, 0.17 + 0.4);
    NEAR(use.lived_s, 1.4 + 1);
    NEAR(use.cpu_share, (0.1 * 0.15 + 6 * 0.05 + 0.4 * 0.05) / 1.1);
}

/* Time without counters is no part of the life that CPU time is compared with. */
static void a_gap_is_not_taken_for_idleness(void **state) {
    struct planted p;
    (void)state;
    start(&p);
    add_rank(&p, 1, NAN, VALUE_ABSENT, 1 * MB);
    add_rank(&p, 1.1, 0.1, 100 * MS, 1 * MB);
    add_rank(&p, 3, NAN, VALUE_ABSENT, 1 * MB);
    add_rank(&p, 3.1, 0.1, 100 * MS, 1 * MB);
    struct rank_use use = find(&p);
    NEAR(use.cpu_s, 0.2);
    NEAR(use.lived_s, 0.2);
}

/* A kernel without scheduler statistics. */
static void without_run_times_the_process_table_tells(void **state) {
    struct planted p;
    (void)state;
    start(&p);
    add_process(&p, 1, 1, 0.2, 0.1, 1 * MB);
    add_process(&p, 2, 1, 0.5, 0.1, 3 * MB);
    add_rank(&p, 1, NAN, VALUE_ABSENT, VALUE_ABSENT);
    add_rank(&p, 1.1, 0.1, VALUE_ABSENT, VALUE_ABSENT);
    struct rank_use use = find(&p);
    NEAR(use.cpu_s, 0.9);
    NEAR(use.lived_s, 1.7);
    NEAR(use.peak_bytes, 3e6);
}

/* The kernel reports the peak at the process's end; it includes peaks between samples. */
static void the_peak_that_the_kernel_knows_is_the_highest(void **state) {
    struct planted p;
    (void)state;
    start(&p);
    add_process(&p, 1, 1, 0.2, 0, 15 * MB);
    add_rank(&p, 1, NAN, VALUE_ABSENT, 20 * MB);
    int64_t *values = blank(&p);
    values[PROCESS_PID] = PID;
    values[PROCESS_PEAK_RSS] = 156 * MB;
    append(&p, RECORDING_PROCESS, 1, 2, 1);
    NEAR(find(&p).peak_bytes, 156e6);
}

static void what_nobody_saw_is_unknown(void **state) {
    struct planted p;
    (void)state;
    start(&p);
    struct rank_use use = find(&p);
    assert_true(isnan(use.cpu_s) && isnan(use.lived_s) && isnan(use.peak_bytes));
    assert_true(isnan(use.sent_bytes) && isnan(use.received_bytes));
    assert_int_equal(use.bytes, RANK_BYTES_UNKNOWN);
    start(&p);
    add_rank(&p, 1, NAN, VALUE_ABSENT, VALUE_ABSENT); /* seen, but nothing was counted */
    use = find(&p);
    assert_true(isnan(use.cpu_s) && isnan(use.lived_s) && isnan(use.peak_bytes));
}

/* ---- bytes ---- */

static void add_mpi(struct planted *p, double t_s, int64_t sent, int64_t received,
                    int64_t unsized) {
    int64_t *values = blank(p);
    values[MPI_PID] = PID;
    values[MPI_SENT] = sent;
    values[MPI_RECEIVED] = received;
    values[MPI_UNSIZED] = unsized;
    append(p, RECORDING_MPI, 3, t_s, 0.1);
}

static void add_connection(struct planted *p, int64_t instance, int64_t pid, int64_t sent,
                           int64_t received) {
    int64_t *values = blank(p);
    values[CONNECTION_PID] = pid;
    values[CONNECTION_SEND_BYTES] = sent;
    values[CONNECTION_RECEIVE_BYTES] = received;
    append(p, RECORDING_CONNECTION, instance, 1, 1);
}

static void bytes_are_those_of_the_ranks_mpi_calls(void **state) {
    struct planted p;
    (void)state;
    start(&p);
    add_mpi(&p, 1, 5 * MB, 0, 0);
    add_mpi(&p, 1.1, 2 * MB, 0, 0);
    add_connection(&p, 4, PID, 100 * MB, 100 * MB); /* headers, and writes by other processes */
    struct rank_use use = find(&p);
    NEAR(use.sent_bytes, 7e6);
    NEAR(use.received_bytes, 0); /* known to be none */
    assert_int_equal(use.bytes, RANK_BYTES_MPI);
}

static void receives_of_unknown_size_make_bytes_a_most(void **state) {
    struct planted p;
    (void)state;
    start(&p);
    add_mpi(&p, 1, 5 * MB, 6 * MB, 1);
    assert_int_equal(find(&p).bytes, RANK_BYTES_MPI_AT_MOST);
}

static void without_mpi_bytes_are_those_of_the_processs_own_connections(void **state) {
    struct planted p;
    (void)state;
    start(&p);
    add_connection(&p, 4, PID, 5 * MB, 1 * MB);
    add_connection(&p, 5, PID, 3 * MB, VALUE_ABSENT);
    add_connection(&p, 6, OTHER_PID, 100 * MB, 100 * MB);
    struct rank_use use = find(&p);
    NEAR(use.sent_bytes, 8e6);
    NEAR(use.received_bytes, 1e6);
    assert_int_equal(use.bytes, RANK_BYTES_CONNECTIONS);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_rank_that_is_seen_once_has_the_cpu_time_of_its_life),
        cmocka_unit_test(no_cpu_time_counts_twice_and_the_end_is_not_lost),
        cmocka_unit_test(the_share_of_a_core_is_that_of_the_window),
        cmocka_unit_test(a_gap_is_not_taken_for_idleness),
        cmocka_unit_test(without_run_times_the_process_table_tells),
        cmocka_unit_test(the_peak_that_the_kernel_knows_is_the_highest),
        cmocka_unit_test(what_nobody_saw_is_unknown),
        cmocka_unit_test(bytes_are_those_of_the_ranks_mpi_calls),
        cmocka_unit_test(receives_of_unknown_size_make_bytes_a_most),
        cmocka_unit_test(without_mpi_bytes_are_those_of_the_processs_own_connections),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
