/* SPDX-License-Identifier: MIT */
/*
 * A database from outside. A small valid one is made once, half of its samples in blocks. An input
 * changes values in rows of its tables, including saved states of counters, and then bytes of its
 * pages. Everything that reads runs reads it or, if the two highest bits of the first byte are set,
 * it is written on as by a restarted collector: that costs three times as much.
 *
 * A piece is 12 bytes: kind, table or page, row, column, 8 bytes of value.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <sqlite3.h>

#include "collector/store.h"
#include "collector/store_cold.h"
#include "collector/store_query.h"
#include "collector/store_read.h"
#include "collector/store_tail.h"
#include "common/clock.h"

const char *__asan_default_options(void); /* NOLINT: the sanitizer's name */
int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define PIECE 12
#define PIECES_MAX 16

static char path[64];
static uint8_t *valid; /* the file as it was made */
static size_t valid_size;

static const struct column columns[] = {
    {"receive_bytes", UNIT_BYTES, COLUMN_COUNTER, "bytes received"},
    {"free_bytes", UNIT_BYTES, COLUMN_LEVEL, "free"},
};
static const struct table table = {
    .name = "net", .instance = "interface", .help = "h", .columns = columns, .n_columns = 2};

/* Freed memory stays in quarantine: with the default size, two thirds of the time went into fresh
 * pages for the half a megabyte that each input allocates.
 */
const char *__asan_default_options(void) {
    return "quarantine_size_mb=4:malloc_context_size=4:max_malloc_fill_size=0";
}

static void clean_up(void) {
    unlink(path);
    free(valid);
}

/* Frames first to last of the only stream, as they arrive. */
static int write_frames(struct store *store, int64_t run, uint64_t first, uint64_t last) {
    const struct wire_stream stream = {.host = "vm1",
                                       .boot_id = "11111111-1111-1111-1111-111111111111",
                                       .stream_id = 7,
                                       .period_ns = 100 * NS_PER_MS};
    int64_t host, id, table_id;
    int r = store_begin(store);
    if (!r)
        r = store_stream(store, run, &stream, &host, &id);
    for (uint64_t seq = first; !r && seq <= last; seq++) {
        struct frame_head head = {.seq = seq,
                                  .mono_ns = (int64_t)seq * 100 * NS_PER_MS,
                                  .wall_ns = (int64_t)seq * 100 * NS_PER_MS};
        struct wire_row row = {.name = {"eth0", 4}, .values = {(int64_t)seq * 1000, 5}};
        r = store_frame(store, id, &head);
        r = r ? r : store_table(store, &table, &table_id);
        r = r ? r : store_row(store, table_id, &table, &row);
    }
    return r ? r : store_commit(store);
}

static void keep_valid(void) {
    FILE *file = fopen(path, "rb");
    if (!file || fseek(file, 0, SEEK_END) < 0)
        abort();
    valid_size = (size_t)ftell(file);
    rewind(file);
    valid = malloc(valid_size);
    if (!valid || fread(valid, 1, valid_size, file) != valid_size)
        abort();
    fclose(file);
}

int LLVMFuzzerInitialize(int *argc, char ***argv) {
    (void)argc, (void)argv;
    const struct run_begin begin = {.command = "fuzz", .wall_ns = 1, .mono_ns = 1, .period_ns = 1};
    struct store *store;
    char why[256] = "";
    int64_t run;
    static char pages[64][8192]; /* SQLite's page cache, whose memory is not checked for faults */
    sqlite3_config(SQLITE_CONFIG_SINGLETHREAD);
    sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
    sqlite3_config(SQLITE_CONFIG_PAGECACHE, pages, (int)sizeof pages[0], 64);
    snprintf(path, sizeof path, "/dev/shm/fuzz-database-%ld.db", (long)getpid());
    if (store_open_write(path, &store, why, sizeof why) || store_run_begin(store, &begin, &run) ||
        write_frames(store, run, 1, 20) || store_begin(store) || cold_pack(store) ||
        store_commit(store) || write_frames(store, run, 21, 40)) {
        fprintf(stderr, "fuzz_database: %s\n", why);
        exit(1);
    }
    store_close(store);
    keep_valid();
    atexit(clean_up);
    return 0;
}

static void write_file(const uint8_t *bytes, size_t size) {
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (fd < 0 || write(fd, bytes, size) != (ssize_t)size)
        abort();
    close(fd);
}

/* The n-th name that a statement returns, modulo their number. */
static bool name_of(sqlite3 *db, const char *sql, unsigned n, char *ret_name, size_t size) {
    sqlite3_stmt *all;
    unsigned count = 0;
    if (sqlite3_prepare_v2(db, sql, -1, &all, NULL) != SQLITE_OK)
        return false;
    while (sqlite3_step(all) == SQLITE_ROW)
        count++;
    sqlite3_reset(all);
    for (unsigned i = 0; count && i <= n % count; i++)
        sqlite3_step(all);
    if (count)
        snprintf(ret_name, size, "%s", (const char *)sqlite3_column_text(all, 0));
    sqlite3_finalize(all);
    return count > 0;
}

static void bind_value(sqlite3_stmt *statement, const uint8_t *piece) {
    int64_t number;
    double real;
    memcpy(&number, piece + 4, 8);
    memcpy(&real, piece + 4, 8);
    switch (piece[0] >> 1 & 7) {
    case 0:
        sqlite3_bind_int64(statement, 1, number);
        break;
    case 1:
        sqlite3_bind_int64(statement, 1, (int8_t)piece[4]);
        break;
    case 2:
        sqlite3_bind_double(statement, 1, real);
        break;
    case 3:
        sqlite3_bind_null(statement, 1);
        break;
    case 4:
        sqlite3_bind_text(statement, 1, (const char *)piece + 4, 8, SQLITE_STATIC);
        break;
    default:
        sqlite3_bind_blob(statement, 1, piece + 4, piece[4] % 9, SQLITE_STATIC);
        break;
    }
}

static void change_value(sqlite3 *db, const uint8_t *piece) {
    char name[100], column[100], sql[600];
    sqlite3_stmt *statement;
    if (!name_of(db, "SELECT name FROM sqlite_master WHERE type='table' ORDER BY name", piece[1],
                 name, sizeof name))
        return;
    sqlite3_snprintf(sizeof sql, sql, "SELECT name FROM pragma_table_info('%q')", name);
    if (!name_of(db, sql, piece[3], column, sizeof column))
        return;
    sqlite3_snprintf(sizeof sql, sql,
                     "UPDATE \"%w\" SET \"%w\"=?1 WHERE rowid=(SELECT rowid FROM \"%w\" LIMIT 1 "
                     "OFFSET %d)",
                     name, column, name, piece[2] & 7);
    if (sqlite3_prepare_v2(db, sql, -1, &statement, NULL) != SQLITE_OK)
        return;
    bind_value(statement, piece);
    sqlite3_step(statement);
    sqlite3_finalize(statement);
}

static void change_page(const uint8_t *piece) {
    uint16_t at;
    memcpy(&at, piece + 2, 2);
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    off_t where = ((off_t)piece[1] << 12 | (at & 4095)) % (off_t)valid_size;
    if (fd < 0 || pwrite(fd, piece + 4, 1 + (piece[0] >> 1 & 7), where) < 0)
        abort();
    close(fd);
}

/* Nothing of it has to survive the process. */
static bool open_plain(sqlite3 **ret_db) {
    return sqlite3_open(path, ret_db) == SQLITE_OK &&
           sqlite3_exec(*ret_db, "PRAGMA synchronous=OFF; PRAGMA journal_mode=OFF", NULL, NULL,
                        NULL) == SQLITE_OK;
}

static void change(const uint8_t *data, size_t size) {
    size_t n = size / PIECE < PIECES_MAX ? size / PIECE : PIECES_MAX;
    sqlite3 *db = NULL;
    for (size_t i = 0; i < n; i++)
        if (!(data[i * PIECE] & 1) && (db || open_plain(&db)))
            change_value(db, data + i * PIECE);
    sqlite3_close(db);
    for (size_t i = 0; i < n; i++)
        if (data[i * PIECE] & 1)
            change_page(data + i * PIECE);
}

static int each_row(void *ctx, const struct store_row_read *row) {
    int64_t *sum = ctx;
    *sum ^= row->values[0] ^ row->values[1] ^ store_row_time(row, row->values[0]);
    return 0;
}

static int each_header(void *ctx, const char *const *names, size_t n) {
    (void)ctx, (void)names, (void)n;
    return 0;
}

static int each_cells(void *ctx, const struct store_cell *cells, size_t n) {
    int64_t *sum = ctx;
    *sum ^= n ? cells[0].integer : 0;
    return 0;
}

/* Blocks through the virtual table; nothing is asked of the store afterwards. */
static void read_by_query(struct store *store) {
    int64_t sum = 0;
    const struct store_view_reader reader = {each_header, each_cells, &sum};
    store_query(store, "SELECT n.* FROM frame f JOIN net n ON n.frame = f.frame", &reader, NULL, 0);
}

struct followed {
    struct store_tail *tail;
    int64_t sum;
};

static int each_new_row(void *ctx, size_t number, const struct store_row_read *row) {
    struct followed *followed = ctx;
    char name[INSTANCE_MAX + 1] = "";
    (void)number;
    store_tail_name(followed->tail, row->host, row->instance, name);
    followed->sum ^= name[0];
    return each_row(&followed->sum, row);
}

/* As a live view does: the second call finds what it knows. */
static void follow_run(struct store *store, int64_t run, const char *const *names) {
    const struct store_tail_table wanted = {"net", names, 2};
    const struct store_tail_host *hosts;
    struct followed followed = {0};
    if (store_tail_open(store, run, &wanted, 1, &followed.tail) < 0)
        return;
    store_tail_next(followed.tail, each_new_row, &followed);
    store_tail_next(followed.tail, each_new_row, &followed);
    for (size_t i = store_tail_hosts(followed.tail, &hosts); i-- > 0;)
        followed.sum ^= hosts[i].name[0] ^ hosts[i].last_ns;
    store_tail_close(followed.tail);
}

static void read_run(struct store *store, int64_t run) {
    const char *const names[] = {"receive_bytes", "free_bytes"};
    struct store_host *hosts;
    struct store_note *notes;
    int64_t sum = 0;
    size_t n;
    if (store_list_hosts(store, run, &hosts, &n) == 0)
        store_hosts_free(hosts, n);
    if (store_list_notes(store, run, &notes, &n) == 0)
        store_notes_free(notes, n);
    store_each_row(store, run, "net", names, 2, each_row, &sum);
    store_each_row_joined(store, run, "net", names, 2, each_row, &sum);
    follow_run(store, run, names);
}

static void read_all(void) {
    struct store *store;
    struct store_run *runs;
    struct store_ceiling *ceilings;
    char why[256] = "";
    size_t n;
    int r = store_open_read(path, &store, why, sizeof why);
    if (r) {
        if (!why[0])
            abort();
        return;
    }
    if (store_list_runs(store, &runs, &n) == 0) {
        for (size_t i = 0; i < n; i++)
            read_run(store, runs[i].id);
        store_runs_free(runs, n);
    }
    if (store_list_ceilings(store, &ceilings, &n) == 0)
        store_ceilings_free(ceilings, n);
    cold_check(store);
    read_by_query(store);
    store_close(store);
}

static void write_on(void) {
    struct store *store;
    if (store_open_write(path, &store, NULL, 0) == 0) {
        write_frames(store, 1, 41, 43);
        if (store_begin(store) == 0 && (cold_unpack(store) || store_commit(store)))
            store_rollback(store);
        store_close(store);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    write_file(valid, valid_size);
    change(data, size);
    if (size && data[0] >= 0xc0)
        write_on();
    else
        read_all();
    return 0;
}
