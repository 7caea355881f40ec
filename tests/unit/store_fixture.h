/* SPDX-License-Identifier: MIT */
/* For tests of the store: a database in a temporary directory, and frames written by hand. */
#ifndef CHOKEPOINT_TESTS_STORE_FIXTURE_H
#define CHOKEPOINT_TESTS_STORE_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/unit/files.h"
#include <sqlite3.h>

#include "collector/store.h"
#include "collector/store_read.h"
#include "common/clock.h"

#define BOOT_A "11111111-1111-1111-1111-111111111111"
#define BOOT_B "22222222-2222-2222-2222-222222222222"
#define RUN_WALL_NS (INT64_C(1700000000) * NS_PER_S)
#define RUN_MONO_NS (INT64_C(5000) * NS_PER_S)

struct fixture {
    char directory[64], path[96], why[256];
    struct store *store;
    int64_t run, host, stream;
};

static const struct column net_columns[] = {
    {"receive_bytes", UNIT_BYTES, COLUMN_COUNTER, "bytes received"},
    {"send_bytes", UNIT_BYTES, COLUMN_COUNTER, "bytes sent"},
};
__attribute__((unused)) static const struct table net_table = {.name = "net",
                                                               .instance = "interface",
                                                               .help = "interfaces",
                                                               .columns = net_columns,
                                                               .n_columns = 2};

static const struct column memory_columns[] = {
    {"free_bytes", UNIT_BYTES, COLUMN_LEVEL, "free"},
    {"load_nano", UNIT_NANO, COLUMN_LEVEL, "load"},
    {"user_ns", UNIT_NS, COLUMN_COUNTER, "time"},
};
__attribute__((unused)) static const struct table memory_table = {.name = "memory",
                                                                  .instance = "memory",
                                                                  .help = "memory",
                                                                  .columns = memory_columns,
                                                                  .n_columns = 3};

static inline void fixture_open(struct fixture *f) {
    int r = store_open_write(f->path, &f->store, f->why, sizeof f->why);
    if (r)
        fail_msg("%d %s", r, f->why);
}

static inline void fixture_stream_of(struct fixture *f, const char *host, const char *boot,
                                     uint64_t id, int64_t period_ns) {
    struct wire_stream stream = {.stream_id = id, .period_ns = period_ns};
    snprintf(stream.host, sizeof stream.host, "%s", host);
    snprintf(stream.boot_id, sizeof stream.boot_id, "%s", boot);
    assert_int_equal(store_stream(f->store, f->run, &stream, &f->host, &f->stream), 0);
}

static inline void fixture_stream(struct fixture *f, const char *host, const char *boot,
                                  uint64_t id) {
    fixture_stream_of(f, host, boot, id, 100 * NS_PER_MS);
}

static inline int fixture_setup(void **state) {
    struct fixture *f = calloc(1, sizeof *f);
    snprintf(f->directory, sizeof f->directory, "/tmp/chokepoint-store-XXXXXX");
    assert_non_null(mkdtemp(f->directory));
    snprintf(f->path, sizeof f->path, "%s/test.db", f->directory);
    fixture_open(f);
    struct run_begin begin = {.command = "/usr/bin/train --fast",
                              .wall_ns = RUN_WALL_NS,
                              .mono_ns = RUN_MONO_NS,
                              .period_ns = 100 * NS_PER_MS,
                              .n_hosts_expected = 1};
    assert_int_equal(store_run_begin(f->store, &begin, &f->run), 0);
    fixture_stream(f, "vm1", BOOT_A, 7);
    *state = f;
    return 0;
}

static inline int fixture_teardown(void **state) {
    struct fixture *f = *state;
    store_close(f->store);
    assert_int_equal(folder_remove(f->directory), 0);
    free(f);
    return 0;
}

/* A frame with seq, at t seconds of the host's clock, which is RUN_WALL_NS ahead. */
static inline int fixture_frame(struct fixture *f, uint64_t seq, double t) {
    int64_t t_ns = (int64_t)(t * 1e9 + 0.5);
    struct frame_head head = {.seq = seq, .mono_ns = t_ns, .wall_ns = RUN_WALL_NS + t_ns};
    return store_frame(f->store, f->stream, &head);
}

static inline int fixture_row_flags(struct fixture *f, const struct table *table, uint8_t flags,
                                    const char *name, const int64_t *values) {
    struct wire_row row = {.flags = flags, .name = {name, strlen(name)}};
    int64_t id = 0;
    int r = store_table(f->store, table, &id);
    if (r)
        return r;
    memcpy(row.values, values, table->n_columns * sizeof *values);
    return store_row(f->store, id, table, &row);
}

#define ROW(f, table, name, ...)                                                                   \
    assert_int_equal(fixture_row_flags(f, table, 0, name, (const int64_t[]){__VA_ARGS__}), 0)
#define ROW_NEW(f, table, name, ...)                                                               \
    assert_int_equal(fixture_row_flags(f, table, ROW_BORN, name, (const int64_t[]){__VA_ARGS__}), 0)

/* One number by SQL, through a separate connection, as a user would ask. */
static inline int64_t sql_number(struct fixture *f, const char *sql) {
    sqlite3 *db;
    sqlite3_stmt *statement;
    assert_int_equal(sqlite3_open_v2(f->path, &db, SQLITE_OPEN_READONLY, NULL), SQLITE_OK);
    if (sqlite3_prepare_v2(db, sql, -1, &statement, NULL) != SQLITE_OK)
        fail_msg("%s: %s", sql, sqlite3_errmsg(db));
    int64_t value = VALUE_ABSENT;
    if (sqlite3_step(statement) == SQLITE_ROW && sqlite3_column_type(statement, 0) != SQLITE_NULL)
        value = sqlite3_column_int64(statement, 0);
    sqlite3_finalize(statement);
    sqlite3_close(db);
    return value;
}

static inline void sql_change(struct fixture *f, const char *sql) {
    sqlite3 *db;
    char *error = NULL;
    assert_int_equal(sqlite3_open(f->path, &db), SQLITE_OK);
    if (sqlite3_exec(db, sql, NULL, NULL, &error) != SQLITE_OK)
        fail_msg("%s: %s", sql, error);
    sqlite3_close(db);
}

#endif
