/* SPDX-License-Identifier: MIT */
/*
 * Rows a second into the store, beside SQLite alone in the same run: the same numbers inserted by
 * a prepared statement under the same key, and appended to a plain table. Every counter grows in
 * every row, so nothing is saved by idle instances.
 *
 *     bench_store_rate [FRAMES [INSTANCES]]       defaults 20000 frames of 50 rows; works in
 * $TMPDIR or /tmp
 */
#include <errno.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "collector/store.h"
#include "collector/store_read.h"
#include "common/clock.h"
#include "common/error.h"

#define N_COLUMNS 8
#define N_HOSTS 5
#define FRAMES_A_COMMIT 50

static const struct column columns[N_COLUMNS] = {
    {"user_ns", UNIT_NS, COLUMN_COUNTER, ""},   {"nice_ns", UNIT_NS, COLUMN_COUNTER, ""},
    {"system_ns", UNIT_NS, COLUMN_COUNTER, ""}, {"idle_ns", UNIT_NS, COLUMN_COUNTER, ""},
    {"iowait_ns", UNIT_NS, COLUMN_COUNTER, ""}, {"irq_ns", UNIT_NS, COLUMN_COUNTER, ""},
    {"soft_ns", UNIT_NS, COLUMN_COUNTER, ""},   {"steal_ns", UNIT_NS, COLUMN_COUNTER, ""},
};
static const struct table table = {
    .name = "cpu", .instance = "core", .help = "", .columns = columns, .n_columns = N_COLUMNS};

struct bench {
    char directory[256], path[300];
    int64_t frames, instances;
    double seconds;
    int64_t bytes;
};

static double cpu_now(void) {
    return (double)clock_ns(CLOCK_PROCESS_CPUTIME_ID) / 1e9;
}

static int64_t value_of(int64_t frame, int64_t instance, int column) {
    int64_t step = 10000000 + (frame * 7 + instance * 13 + column * 29) % 1000;
    return frame * 10001000 + step + column; /* grows by about 10 ms a frame */
}

static void die(const char *what, const char *why) {
    fprintf(stderr, "store_rate: %s: %s\n", what, why);
    exit(1);
}

static void finish(struct bench *bench, double start) {
    struct stat st;
    bench->seconds = cpu_now() - start;
    bench->bytes = stat(bench->path, &st) == 0 ? st.st_size : 0;
}

/* ---- the store ---- */

static void write_frame(struct store *store, int64_t stream, int64_t table_id, int64_t n,
                        int64_t instances) {
    static char names[1024][16];
    static size_t sizes[1024];
    struct frame_head head = {.seq = (uint64_t)n + 1,
                              .mono_ns = n * 100 * NS_PER_MS + NS_PER_S,
                              .wall_ns = n * 100 * NS_PER_MS + NS_PER_S};
    if (!sizes[0])
        for (int64_t i = 0; i < 1024; i++)
            sizes[i] = (size_t)snprintf(names[i], sizeof names[i], "cpu%d", (int)i);
    if (store_frame(store, stream, &head))
        die("frame", store_error(store));
    for (int64_t i = 0; i < instances; i++) {
        struct wire_row row;
        row.flags = 0;
        row.name = (struct span){names[i], sizes[i]};
        for (int c = 0; c < N_COLUMNS; c++)
            row.values[c] = value_of(n, i, c);
        if (store_row(store, table_id, &table, &row))
            die("row", store_error(store));
    }
}

static int64_t open_streams(struct store *store, int64_t *streams) {
    int64_t run, host;
    struct run_begin begin = {.command = "bench", .period_ns = 100 * NS_PER_MS};
    if (store_run_begin(store, &begin, &run))
        die("run", store_error(store));
    for (int h = 0; h < N_HOSTS; h++) {
        struct wire_stream stream = {.stream_id = 1, .period_ns = 100 * NS_PER_MS};
        snprintf(stream.host, sizeof stream.host, "vm%d", h + 1);
        if (store_stream(store, run, &stream, &host, &streams[h]))
            die("stream", store_error(store));
    }
    return run;
}

static int64_t bench_store(struct bench *bench) {
    struct store *store;
    char why[256] = "";
    int64_t streams[N_HOSTS], id;
    if (store_open_write(bench->path, &store, why, sizeof why))
        die("open", why);
    int64_t run = open_streams(store, streams);
    double start = cpu_now();
    for (int64_t i = 0; i < bench->frames; i++) {
        if (i % FRAMES_A_COMMIT == 0 && (store_begin(store) || store_table(store, &table, &id)))
            die("begin", store_error(store));
        write_frame(store, streams[i % N_HOSTS], id, i / N_HOSTS, bench->instances);
        if ((i % FRAMES_A_COMMIT == FRAMES_A_COMMIT - 1 || i + 1 == bench->frames) &&
            store_commit(store))
            die("commit", store_error(store));
    }
    store_close(store);
    finish(bench, start);
    return run;
}

/* ---- SQLite alone ---- */

static void run_sql(sqlite3 *db, const char *sql) {
    if (sqlite3_exec(db, sql, NULL, NULL, NULL) != SQLITE_OK)
        die(sql, sqlite3_errmsg(db));
}

static void insert_plain(sqlite3_stmt *statement, int64_t frame, int64_t instance) {
    sqlite3_bind_int64(statement, 1, frame);
    sqlite3_bind_int64(statement, 2, instance);
    sqlite3_bind_int64(statement, 3, 100 * NS_PER_MS);
    for (int c = 0; c < N_COLUMNS; c++)
        sqlite3_bind_int64(statement, 4 + c,
                           value_of(frame + N_HOSTS, instance, c) - value_of(frame, instance, c));
    if (sqlite3_step(statement) != SQLITE_DONE)
        die("insert", "failed");
    sqlite3_reset(statement);
}

static void bench_plain(struct bench *bench, const char *key, const char *options) {
    sqlite3 *db;
    sqlite3_stmt *statement;
    char sql[512];
    if (sqlite3_open(bench->path, &db) != SQLITE_OK)
        die("open", sqlite3_errmsg(db));
    run_sql(db, "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; PRAGMA cache_size=-16384;"
                "PRAGMA wal_autocheckpoint=4000");
    snprintf(sql, sizeof sql,
             "CREATE TABLE t(frame INTEGER, instance INTEGER, interval_ns INTEGER, a INTEGER,"
             " b INTEGER, c INTEGER, d INTEGER, e INTEGER, f INTEGER, g INTEGER, h INTEGER%s) %s",
             key, options);
    run_sql(db, sql);
    sqlite3_prepare_v2(db, "INSERT INTO t VALUES(?,?,?,?,?,?,?,?,?,?,?)", -1, &statement, NULL);
    double start = cpu_now();
    for (int64_t i = 0; i < bench->frames; i++) {
        if (i % FRAMES_A_COMMIT == 0)
            run_sql(db, "BEGIN");
        for (int64_t k = 0; k < bench->instances; k++)
            insert_plain(statement, i, k);
        if (i % FRAMES_A_COMMIT == FRAMES_A_COMMIT - 1 || i + 1 == bench->frames)
            run_sql(db, "COMMIT");
    }
    sqlite3_finalize(statement);
    sqlite3_close(db);
    finish(bench, start);
}

/* ---- reading back ---- */

static int sum_rows(void *ctx, const struct store_row_read *row) {
    int64_t *sum = ctx;
    sum[0]++;
    sum[1] += row->values[0] == VALUE_ABSENT ? 0 : row->values[0];
    return 0;
}

static void bench_read(struct bench *bench, int64_t run) {
    struct store *store;
    char why[256] = "";
    const char *const wanted[] = {"user_ns", "system_ns", "idle_ns", "iowait_ns"};
    int64_t sum[2] = {0};
    if (store_open_read(bench->path, &store, why, sizeof why))
        die("open", why);
    double start = cpu_now();
    if (store_each_row(store, run, "cpu", wanted, ARRAY_SIZE(wanted), sum_rows, sum))
        die("read", store_error(store));
    bench->seconds = cpu_now() - start;
    store_close(store);
    printf("%-34s %9.0f rows/s   (%lld rows in %.3f s)\n", "store, read back by instance",
           (double)sum[0] / bench->seconds, (long long)sum[0], bench->seconds);
}

static void report(const struct bench *bench, const char *what) {
    double rows = (double)(bench->frames * bench->instances);
    printf("%-34s %9.0f rows/s   %5.1f bytes/row\n", what, rows / bench->seconds,
           (double)bench->bytes / rows);
}

static int64_t number(int argc, char **argv, int at, int64_t otherwise) {
    return argc > at ? strtoll(argv[at], NULL, 10) : otherwise;
}

int main(int argc, char **argv) {
    struct bench bench = {.frames = number(argc, argv, 1, 20000),
                          .instances = number(argc, argv, 2, 50)};
    const char *tmp = getenv("TMPDIR");
    snprintf(bench.directory, sizeof bench.directory, "%s/store-rate-XXXXXX", tmp ? tmp : "/tmp");
    if (bench.frames < 1 || bench.instances < 1 || bench.instances > 1024 ||
        !mkdtemp(bench.directory))
        die("start", "1..1024 instances, a writable TMPDIR");
    snprintf(bench.path, sizeof bench.path, "%s/db", bench.directory);
    int64_t run = bench_store(&bench);
    report(&bench, "store, keyed by frame and instance");
    bench_read(&bench, run);
    unlink(bench.path);
    bench_plain(&bench, ", PRIMARY KEY(frame, instance)", "STRICT, WITHOUT ROWID");
    report(&bench, "SQLite alone, keyed insert");
    unlink(bench.path);
    bench_plain(&bench, "", "STRICT");
    report(&bench, "SQLite alone, append");
    unlink(bench.path);
    rmdir(bench.directory);
    return 0;
}
