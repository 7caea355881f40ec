/* SPDX-License-Identifier: MIT */
/*
 * A recording made through the store's own writing interface, with known numbers, for tests of
 * reports. Hosts have two cores and one link of 1 Gbit/s. An iteration takes two seconds; for one
 * of them the first host sends at `send_mb_s` while all ranks are idle.
 */
#ifndef CHOKEPOINT_TESTS_RECORDED_RUN_H
#define CHOKEPOINT_TESTS_RECORDED_RUN_H

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "analysis/facts/recording/recording.h"
#include "collector/store.h"
#include "common/clock.h"
#include "reports/model/model.h"

#define RECORDED_WALL_NS (INT64_C(1700000000) * NS_PER_S)
#define RECORDED_MONO_NS (INT64_C(5000) * NS_PER_S)

struct recorded_run {
    const char *name, *command;
    const char *const *hosts;
    size_t n_hosts;
    double duration_s;
    double send_mb_s;
    bool marks;
    double calls_s; /* calls of MPI_Allreduce by every rank; 0: none */
};

static int64_t recorded_speed = VALUE_ABSENT; /* of eth0, in bytes a second */

/* The columns of a table that analysis reads. */
struct recorded_table {
    struct table table;
    int64_t id;
};

static int recorded_describe(struct store *store, enum recording_table which,
                             struct recorded_table *to) {
    to->table = all_tables[which];
    to->table.n_columns = recording_columns[which].n;
    return store_table(store, &to->table, &to->id);
}

static int recorded_row(struct store *store, int64_t id, const struct table *table,
                        const char *name, const int64_t *values) {
    struct wire_row row = {.name = {name, strlen(name)}};
    memcpy(row.values, values, table->n_columns * sizeof *values);
    return store_row(store, id, table, &row);
}

/* Seconds up to t in which the first host was sending: one in every two. */
static double recorded_sending_s(double t) {
    double whole = floor(t / 2), rest = t - 2 * whole;
    return whole + (rest > 1 ? rest - 1 : 0);
}

#define RECORDED_NS(seconds) ((int64_t)llround((seconds)*1e9))
/* Takes as many values as the table has columns. */
#define RECORDED_ROW(which, name, ...)                                                             \
    recorded_row_of(store, &tables[which], name, (const int64_t[]){__VA_ARGS__},                   \
                    sizeof((const int64_t[]){__VA_ARGS__}) / sizeof(int64_t))

static int recorded_row_of(struct store *store, const struct recorded_table *table,
                           const char *name, const int64_t *values, size_t n) {
    assert_int_equal(n, table->table.n_columns);
    return recorded_row(store, table->id, &table->table, name, values);
}

/* Samples of a host t seconds after its counters began; host 0 is the server. */
static int recorded_samples(struct store *store, struct recorded_table *tables,
                            const struct recorded_run *run, size_t host, double t) {
    double others = (double)(run->n_hosts - 1), sent = run->send_mb_s * 1e6 * recorded_sending_s(t);
    int64_t server = llround(sent), worker = others > 0 ? llround(sent / others) : 0;
    int64_t busy = RECORDED_NS(host ? 0.1 * t : 0.3 * t), rest = RECORDED_NS(t) - busy;
    char process[64];
    snprintf(process, sizeof process, "train[%zu]", 1000 + host);
    int r = RECORDED_ROW(RECORDING_CPU, "cpu0", busy, 0, 0, rest, 0, 0, 0, 0, VALUE_ABSENT);
    r |= RECORDED_ROW(RECORDING_CPU, "cpu1", 0, 0, 0, RECORDED_NS(t), 0, 0, 0, 0, VALUE_ABSENT);
    r |= RECORDED_ROW(RECORDING_MEMORY, "memory", 8000000000, 6000000000, 0, 0);
    r |= RECORDED_ROW(RECORDING_NET, "eth0", host ? worker : 0, host ? 0 : server, recorded_speed,
                      VALUE_ABSENT);
    r |= RECORDED_ROW(RECORDING_NET, "lo", llround(1e9 * t), llround(1e9 * t), VALUE_ABSENT,
                      VALUE_ABSENT);
    if (host != 2 || t > run->duration_s) /* the third host's disk is sampled only at the end */
        r |= RECORDED_ROW(RECORDING_DISK, "sda", llround(2e6 * t), llround(5e5 * t),
                          RECORDED_NS(0.05 * t));
    r |= RECORDED_ROW(RECORDING_PSI, "cpu", RECORDED_NS(0.01 * t), 0);
    r |= RECORDED_ROW(RECORDING_PROCESS, process, (int64_t)(1000 + host), (int64_t)host, 1,
                      250000000, busy, 0, RECORDED_NS(0.002 * t), 0, llround(2e6 * t), 0,
                      VALUE_ABSENT, 0, 1, VALUE_ABSENT, 0, VALUE_ABSENT, 0, VALUE_ABSENT,
                      VALUE_ABSENT, VALUE_ABSENT, VALUE_ABSENT, VALUE_ABSENT);
    return r;
}

static int recorded_marks(struct store *store, int64_t id, const struct recorded_run *run,
                          size_t host, double mono_s) {
    int64_t pid = (int64_t)(1000 + host), rank = (int64_t)host;
    int iterations = (int)(run->duration_s / 2) - 1, r = 0;
    int64_t training[] = {
        1,           rank, pid, 0, RECORDED_NS(mono_s), RECORDED_NS(2 * iterations), VALUE_ABSENT,
        VALUE_ABSENT};
    r |= recorded_row(store, id, &all_tables[TABLE_MARK], "training", training);
    for (int i = 0; i < iterations; i++) {
        int64_t iteration[] = {
            2,           rank, pid, i, RECORDED_NS(mono_s + 2 * i), RECORDED_NS(2), VALUE_ABSENT,
            VALUE_ABSENT};
        r |= recorded_row(store, id, &all_tables[TABLE_MARK], "iteration", iteration);
    }
    for (int i = 0; host == 0 && i < iterations; i += 5) {
        int64_t value[] = {4,
                           rank,
                           pid,
                           i,
                           RECORDED_NS(mono_s + 2 * i + 2),
                           VALUE_ABSENT,
                           VALUE_ABSENT,
                           500000000 + 10000000 * i};
        r |= recorded_row(store, id, &all_tables[TABLE_MARK], "accuracy", value);
    }
    return r;
}

static int recorded_calls(struct store *store, const struct recorded_run *run, size_t host,
                          double mono_s) {
    int64_t id;
    int r = store_table(store, &all_tables[TABLE_CALL], &id);
    for (double t = run->calls_s; r == 0 && t < run->duration_s; t += run->calls_s) {
        int64_t call[CALL_COLUMNS];
        for (size_t c = 0; c < CALL_COLUMNS; c++)
            call[c] = VALUE_ABSENT;
        call[CALL_COMM_ID] = 1;
        call[CALL_BYTES] = 4096;
        call[CALL_START_NS] = RECORDED_NS(mono_s + t);
        call[CALL_DURATION_NS] = NS_PER_MS;
        call[CALL_RANK] = (int64_t)host;
        call[CALL_PID] = (int64_t)(1000 + host);
        call[CALL_THREAD] = call[CALL_FLAG_BITS] = 0;
        r |= recorded_row(store, id, &all_tables[TABLE_CALL], "MPI_Allreduce", call);
    }
    return r;
}

static int recorded_host(struct store *store, int64_t run_id, const struct recorded_run *run,
                         size_t host) {
    static const enum recording_table which[] = {RECORDING_CPU, RECORDING_MEMORY,
                                                 RECORDING_NET, RECORDING_DISK,
                                                 RECORDING_PSI, RECORDING_PROCESS};
    struct recorded_table tables[RECORDING_COUNT_];
    struct wire_stream stream = {.stream_id = 100 + host, .period_ns = 100 * NS_PER_MS};
    int64_t host_id, stream_id, mark_id;
    int r = 0;
    snprintf(stream.host, sizeof stream.host, "%s", run->hosts[host]);
    snprintf(stream.boot_id, sizeof stream.boot_id, "11111111-1111-1111-1111-11111111111%zu",
             host % 10);
    r |= store_stream(store, run_id, &stream, &host_id, &stream_id);
    for (size_t i = 0; i < sizeof which / sizeof *which; i++)
        r |= recorded_describe(store, which[i], &tables[which[i]]);
    r |= store_table(store, &all_tables[TABLE_MARK], &mark_id);
    int frames = (int)lround(run->duration_s * 10) + 10;
    for (int i = 0; r == 0 && i <= frames; i++) {
        /* counters began two seconds before the run, samples half a second before it */
        double t = 1.5 + 0.1 * i, mono_s = (double)RECORDED_MONO_NS / 1e9 - 2;
        struct frame_head head = {.seq = (uint64_t)i + 1,
                                  .mono_ns = RECORDED_NS(mono_s + t),
                                  .wall_ns = RECORDED_WALL_NS + RECORDED_NS(t - 2)};
        r |= store_frame(store, stream_id, &head);
        const struct clock_estimate exchange = {head.mono_ns, 0, 50000};
        if (i % 10 == 0)
            r |= store_clock(store, stream_id, &exchange);
        r |= recorded_samples(store, tables, run, host, t);
        if (i == frames && run->marks)
            r |= recorded_marks(store, mark_id, run, host, mono_s + 2);
        if (i == frames && run->calls_s > 0)
            r |= recorded_calls(store, run, host, mono_s + 2);
    }
    return r;
}

/* Returns 0 or a negative errno. */
static inline int record_run(struct store *store, const struct recorded_run *run) {
    int64_t end = RECORDED_NS(run->duration_s), run_id;
    struct run_begin begin = {.name = run->name,
                              .command = run->command,
                              .wall_ns = RECORDED_WALL_NS,
                              .mono_ns = RECORDED_MONO_NS,
                              .period_ns = 100 * NS_PER_MS,
                              .n_hosts_expected = (int)run->n_hosts};
    int r = store_run_begin(store, &begin, &run_id) | store_begin(store);
    for (size_t h = 0; r == 0 && h < run->n_hosts; h++)
        r |= recorded_host(store, run_id, run, h);
    r |= store_commit(store);
    r |= store_run_end(store, run_id, RUN_DONE, 0, RECORDED_WALL_NS + end, RECORDED_MONO_NS + end);
    return r;
}

/* The report of that run, after `change` (may be NULL) changed its file. */
static inline struct report *report_of_run(const struct recorded_run *run,
                                           void (*change)(const char *path, const void *ctx),
                                           const void *ctx) {
    char directory[] = "/tmp/chokepoint-recorded-XXXXXX", path[64], why[200];
    struct store *store;
    struct report *report;
    assert_non_null(mkdtemp(directory));
    snprintf(path, sizeof path, "%s/test.db", directory);
    assert_int_equal(store_open_write(path, &store, why, sizeof why), 0);
    assert_int_equal(record_run(store, run), 0);
    store_close(store);
    if (change)
        change(path, ctx);
    assert_int_equal(store_open_read(path, &store, why, sizeof why), 0);
    assert_int_equal(report_build(store, "last", &(struct caller){0}, &report), 0);
    store_close(store);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(rmdir(directory), 0);
    return report;
}

/* A measured ceiling of a host. */
static inline struct store_ceiling recorded_ceiling(const char *host, const char *peer,
                                                    const char *metric, double value) {
    return (struct store_ceiling){(char *)host,   (char *)peer, (char *)metric,
                                  (char *)"MB/s", value,        value - 1,
                                  value + 1,      1000000000,   (char *)"planned"};
}

#endif
