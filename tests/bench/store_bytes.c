/* SPDX-License-Identifier: MIT */
/*
 * bench_store_bytes DB SPOOL...: puts recorded spool files into a database as the collector does, a
 * transaction for each second of them, and prints what a sample costs there, table by table. A
 * table's bytes are its whole pages, divided by the frames; tables that grow with the names seen
 * and not with time are listed as fixed. Packed: the whole file by `chokepoint pack`, and its rows
 * compressed as they are.
 */
#include <errno.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "collector/store.h"
#include "collector/store_pack.h"
#include "common/buffer.h"
#include "common/clock.h"

#define COMMIT_NS NS_PER_S

static void die(const char *what, const char *why) {
    fprintf(stderr, "store_bytes: %s: %s\n", what, why);
    exit(1);
}

struct loader {
    struct store *store;
    int64_t run, stream, ids[TABLES_MAX], committed_ns;
    int64_t frames, rows;
};

static void read_file(const char *path, struct buffer *data) {
    char chunk[65536];
    size_t n;
    FILE *file = fopen(path, "rb");
    if (!file)
        die(path, strerror(errno));
    while ((n = fread(chunk, 1, sizeof chunk, file)) > 0)
        buffer_put(data, chunk, n);
    fclose(file);
}

static void load_frame(struct loader *l, const struct wire_reader *reader,
                       struct wire_record *record) {
    struct wire_row row;
    const struct table *table;
    unsigned index;
    if (record->head.mono_ns - l->committed_ns >= COMMIT_NS) {
        if (store_commit(l->store) || store_begin(l->store))
            die("commit", store_error(l->store));
        l->committed_ns = record->head.mono_ns;
    }
    int r = store_frame(l->store, l->stream, &record->head);
    if (r == -EALREADY)
        return;
    if (r)
        die("frame", store_error(l->store));
    l->frames++;
    for (; wire_frame_row(reader, record, &table, &index, &row); l->rows++)
        if (store_row(l->store, l->ids[index], table, &row))
            die("row", store_error(l->store));
}

static void load_file(struct loader *l, const char *path) {
    struct buffer data = {0};
    struct wire_reader reader;
    struct wire_record record;
    int64_t host;
    int r;
    read_file(path, &data);
    wire_reader_init(&reader, data.data, data.size);
    if (store_begin(l->store))
        die("begin", store_error(l->store));
    while ((r = wire_next(&reader, &record)) == 0) {
        if (record.type == WIRE_STREAM &&
            store_stream(l->store, l->run, &reader.stream, &host, &l->stream))
            die("stream", store_error(l->store));
        if (record.type == WIRE_TABLE &&
            store_table(l->store, &reader.tables[record.table]->table, &l->ids[record.table]))
            die("table", store_error(l->store));
        if (record.type == WIRE_FRAME)
            load_frame(l, &reader, &record);
    }
    if (r < 0)
        die(path, reader.why);
    store_settle_all(l->store);
    if (store_commit(l->store))
        die("commit", store_error(l->store));
    wire_reader_release(&reader);
    buffer_release(&data);
}

/* Tables sampled in each frame; "frame" with its index is part of every sample. */
static const char *const kinds =
    "CASE WHEN name IN ('frame', 'frame_of_stream', 'cpu', 'memory', 'vmstat', 'disk', 'net',"
    " 'psi', 'joined', 'joined_of_stream') THEN 'system sample' WHEN name IN (SELECT name FROM "
    "table_info) THEN 'other tables'"
    " ELSE 'fixed' END";

static double list_tables(sqlite3 *db, int64_t frames, double *ret_full) {
    char *sql = sqlite3_mprintf("SELECT %s AS kind, name, sum(pgsize), sum(unused), sum(ncell)"
                                " FROM dbstat GROUP BY name ORDER BY kind DESC, 3 DESC",
                                kinds);
    sqlite3_stmt *statement;
    double system_bytes = 0;
    *ret_full = 0;
    if (sqlite3_prepare_v2(db, sql, -1, &statement, NULL) != SQLITE_OK)
        die("dbstat", sqlite3_errmsg(db));
    while (sqlite3_step(statement) == SQLITE_ROW) {
        const char *kind = (const char *)sqlite3_column_text(statement, 0);
        double bytes = sqlite3_column_double(statement, 2);
        if (strcmp(kind, "system sample") == 0) {
            system_bytes += bytes;
            *ret_full += (bytes - sqlite3_column_double(statement, 3)) / (double)frames;
        }
        if (strcmp(kind, "fixed") != 0)
            printf("  %-14s %-18s %8.1f bytes/frame  %5.1f %% full\n", kind,
                   (const char *)sqlite3_column_text(statement, 1), bytes / (double)frames,
                   100 - 100 * sqlite3_column_double(statement, 3) / bytes);
    }
    sqlite3_finalize(statement);
    sqlite3_free(sql);
    return system_bytes / (double)frames;
}

/* The file with full pages, compressed as a whole: as older versions packed it. */
static size_t packed_rows(const char *path) {
    struct buffer file = {0};
    read_file(path, &file);
    size_t room = ZSTD_compressBound(file.size);
    void *to = malloc(room);
    size_t size = to ? ZSTD_compress(to, room, file.data, file.size, 9) : 0;
    free(to);
    buffer_release(&file);
    return size;
}

static void print_packed(sqlite3 *db, const char *path, int64_t frames) {
    struct pack_result result;
    char why[512];
    if (sqlite3_exec(db, "VACUUM", NULL, NULL, NULL) != SQLITE_OK)
        die("vacuum", sqlite3_errmsg(db));
    sqlite3_close(db);
    size_t rows = packed_rows(path);
    if (store_pack(path, &result, why, sizeof why))
        die("pack", why);
    printf("the whole file: %.0f bytes a sample, packed %.0f; with rows instead of columns %.0f\n",
           (double)result.plain_bytes / (double)frames,
           (double)result.packed_bytes / (double)frames, (double)rows / (double)frames);
}

int main(int argc, char **argv) {
    struct loader loader = {0};
    char why[256] = "";
    sqlite3 *db;
    struct run_begin begin = {.command = "bench", .period_ns = 100 * NS_PER_MS};
    if (argc < 3)
        die("usage", "bench_store_bytes DB SPOOL...");
    if (store_open_write(argv[1], &loader.store, why, sizeof why))
        die("open", why);
    if (store_run_begin(loader.store, &begin, &loader.run))
        die("run", store_error(loader.store));
    for (int i = 2; i < argc; i++)
        load_file(&loader, argv[i]);
    store_close(loader.store);
    if (sqlite3_open(argv[1], &db) != SQLITE_OK || loader.frames == 0)
        die(argv[1], "no frames");
    printf("%lld frames, %lld rows\n", (long long)loader.frames, (long long)loader.rows);
    double full, bytes = list_tables(db, loader.frames, &full);
    printf("system sample in SQLite: %.0f bytes, %.0f of them used\n", bytes, full);
    print_packed(db, argv[1], loader.frames);
    return 0;
}
