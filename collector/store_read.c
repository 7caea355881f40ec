/* SPDX-License-Identifier: MIT */
/* Reads runs, hosts and notes. The file may come from anybody, so all values are checked. */
#include "collector/store_read.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "collector/store_private.h"
#include "common/clock.h"
#include "common/error.h"

#define NAME_MAX_BYTES 256
#define LINE_MAX_BYTES (64 * 1024)
#define LIST_MAX (1 << 20)
#define REPEATS_MAX 1000000 /* limit for files from outside */

/* Selects the columns of a store_run; the caller appends a condition. */
#define RUN_SELECT                                                                                 \
    "SELECT run, name, command, state, exit_status, started_wall_ns, period_ns, hosts_expected,"   \
    " coalesce(ended_mono_ns - started_mono_ns,"                                                   \
    "  (SELECT max(s.last_mono_ns + s.clock_offset_ns) FROM stream s JOIN host h USING(host)"      \
    "   WHERE h.run = run.run) - started_mono_ns, 0),"                                             \
    " CASE state WHEN 'not-started' THEN (SELECT text FROM run_note"                               \
    "  WHERE run_note.run = run.run ORDER BY n DESC LIMIT 1) END FROM run"

/* A run whose command never ran is found only by its number. */
#define RUN_STARTED " WHERE state <> 'not-started'"

static int64_t or_zero(int64_t value) {
    return value == VALUE_ABSENT ? 0 : value;
}

static uint64_t count_or_zero(sqlite3_stmt *row, int column) {
    int64_t value = sql_column(row, column);
    return value < 0 ? 0 : (uint64_t)value;
}

static int clamp_int(int64_t value) {
    return value < INT32_MIN ? INT32_MIN : value > INT32_MAX ? INT32_MAX : (int)value;
}

static enum run_state state_from_text(const char *text) {
    static const char *const texts[] = {"running", "done",        "failed",
                                        "killed",  "interrupted", "not-started"};
    for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
        if (strcmp(texts[i], text) == 0)
            return (enum run_state)i;
    return RUN_RUNNING;
}

static int fill_run(struct store *store, sqlite3_stmt *row, struct store_run *run) {
    char state[16];
    int64_t status = sql_column(row, 4), duration = sql_column(row, 8);
    sql_column_text(row, 3, state, sizeof state);
    *run = (struct store_run){
        .id = or_zero(sql_column(row, 0)),
        .name = sql_column_dup(row, 1, NAME_MAX_BYTES),
        .command = sql_column_dup(row, 2, LINE_MAX_BYTES),
        .state = state_from_text(state),
        .exit_status = status == VALUE_ABSENT ? -1 : clamp_int(status),
        .started_wall_ns = or_zero(sql_column(row, 5)),
        .duration_ns = duration < 0 ? 0 : duration,
        .period_ns = or_zero(sql_column(row, 6)),
        .n_hosts_expected = clamp_int(or_zero(sql_column(row, 7))),
    };
    bool has_refusal = sqlite3_column_type(row, 9) == SQLITE_TEXT;
    run->refusal = has_refusal ? sql_column_dup(row, 9, LINE_MAX_BYTES) : NULL;
    int r = run->name && run->command && (run->refusal || !has_refusal) ? 0 : -ENOMEM;
    if (r == 0)
        r = store_count_text(store,
                             strlen(run->command) + (has_refusal ? strlen(run->refusal) : 0));
    if (r < 0)
        store_run_release(run);
    return r;
}

void store_run_release(struct store_run *run) {
    free(run->name);
    free(run->command);
    free(run->refusal);
    *run = (struct store_run){0};
}

void store_runs_free(struct store_run *runs, size_t n) {
    for (size_t i = 0; i < n; i++)
        store_run_release(&runs[i]);
    free(runs);
}

/* Makes room for one more item; the caller zeroes it. */
static int list_grow(void **items, size_t n, size_t item_size) {
    if (n & (n - 1)) /* allocates when n is 0, 1, 2, 4, 8 ... */
        return 0;
    if (n >= LIST_MAX)
        return -E2BIG;
    void *grown = realloc(*items, (n ? 2 * n : 1) * item_size);
    if (!grown)
        return -ENOMEM;
    *items = grown;
    return 0;
}

static int repeat_number(sqlite3_stmt *row, int column) {
    int64_t value = sql_column(row, column);
    return value < 0 || value > REPEATS_MAX ? 0 : (int)value;
}

static int read_repeat(sqlite3_stmt *statement, struct store_run *run) {
    sqlite3_reset(statement);
    int r = sql_bind(statement, "i", run->id);
    int code = r ? SQLITE_DONE : sqlite3_step(statement);
    if (code == SQLITE_ROW && repeat_number(statement, 1) > 0 && repeat_number(statement, 2) > 0) {
        run->group = sql_column(statement, 0);
        run->repeat = repeat_number(statement, 1);
        run->repeats = repeat_number(statement, 2);
    }
    return r ? r : sql_errno(code);
}

/* Fills in which repeats the runs are; files of older versions have no repeats. */
static int fill_repeats(struct store *store, struct store_run *runs, size_t n) {
    AUTO(sql_finalize) sqlite3_stmt *statement = NULL;
    bool has;
    int r = sql_has_table(store, "run_repeat", &has);
    if (r || !has)
        return r;
    r = sql_prepare(store, "SELECT group_run, repeat, repeats FROM run_repeat WHERE run = ?",
                    &statement);
    for (size_t i = 0; i < n && r == 0; i++)
        r = read_repeat(statement, &runs[i]);
    return r;
}

int store_list_runs(struct store *store, struct store_run **ret_runs, size_t *ret_n) {
    AUTO(sql_finalize) sqlite3_stmt *statement = NULL;
    void *runs = NULL;
    size_t n = 0;
    int code = SQLITE_DONE, r = sql_prepare(store, RUN_SELECT " ORDER BY run", &statement);
    while (!r && (code = sqlite3_step(statement)) == SQLITE_ROW) {
        r = list_grow(&runs, n, sizeof(struct store_run));
        if (!r)
            r = fill_run(store, statement, (struct store_run *)runs + n);
        n += r == 0;
    }
    r = r ? r : sql_errno(code);
    if (!r)
        r = fill_repeats(store, runs, n);
    if (r) {
        store_runs_free(runs, n);
        return r;
    }
    *ret_runs = runs;
    *ret_n = n;
    return 0;
}

/* "last~2" is 2. False for other words. */
static bool parse_last(const char *which, uint64_t *ret_back) {
    *ret_back = 0;
    if (strncmp(which, "last", 4) != 0)
        return false;
    return which[4] == '\0' || (which[4] == '~' && text_parse_u64(which + 5, ret_back) == 0);
}

static int find_one(struct store *store, const char *sql, int64_t number, const char *name,
                    struct store_run *ret_run) {
    AUTO(sql_finalize) sqlite3_stmt *statement = NULL;
    int r = sql_prepare(store, sql, &statement);
    if (r)
        return r;
    r = name ? sql_bind(statement, "t", name) : sql_bind(statement, "i", number);
    if (r)
        return r;
    int code = sqlite3_step(statement);
    if (code != SQLITE_ROW)
        return code == SQLITE_DONE ? -ENOENT : sql_errno(code);
    r = fill_run(store, statement, ret_run);
    if (r)
        return r;
    r = fill_repeats(store, ret_run, 1);
    if (r)
        store_run_release(ret_run);
    return r;
}

int store_find_run(struct store *store, const char *which, struct store_run *ret_run) {
    uint64_t number;
    if (parse_last(which, &number))
        return number > INT64_MAX
                   ? -ENOENT
                   : find_one(store, RUN_SELECT RUN_STARTED " ORDER BY run DESC LIMIT 1 OFFSET ?",
                              (int64_t)number, NULL, ret_run);
    if (text_parse_u64(which, &number) == 0 && number <= INT64_MAX) {
        int r = find_one(store, RUN_SELECT " WHERE run = ?", (int64_t)number, NULL, ret_run);
        if (r != -ENOENT)
            return r;
    }
    return find_one(store, RUN_SELECT RUN_STARTED " AND name = ? ORDER BY run DESC LIMIT 1", 0,
                    which, ret_run);
}

/* ---- hosts ---- */

static int fill_host(sqlite3_stmt *row, struct store_host *host) {
    *host = (struct store_host){
        .id = or_zero(sql_column(row, 0)),
        .name = sql_column_dup(row, 1, NAME_MAX_BYTES),
        .clock_error_ns = VALUE_ABSENT,
        .clock_drift_ppm = NAN,
        .frames = count_or_zero(row, 2),
        .missed_slots = count_or_zero(row, 3),
        .lost_frames = count_or_zero(row, 4),
        .duplicates = count_or_zero(row, 5),
        .gaps = count_or_zero(row, 6),
        .machine = sql_column(row, 7),
    };
    return host->name ? 0 : -ENOMEM;
}

/* A host that sent only single events is listed, too, without samples. */
#define HOST_SELECT                                                                                \
    "SELECT h.host, h.name,"                                                                       \
    " sum(s.frames), sum(s.missed_slots), sum(s.lost_frames), sum(s.duplicates),"                  \
    " sum(s.gaps) + sum(s.restarts),"                                                              \
    " (SELECT min(x.host) FROM stream x JOIN host y ON y.host = x.host AND y.run = h.run"          \
    "  WHERE x.boot_id <> '' AND x.boot_id ="                                                      \
    "  (SELECT max(z.boot_id) FROM stream z WHERE z.host = h.host))"                               \
    " FROM host h LEFT JOIN stream s ON s.host = h.host AND s.period_ns <> 0"                      \
    " WHERE h.run = ? GROUP BY h.host ORDER BY h.host"

static int64_t larger(int64_t a, int64_t b) { /* VALUE_ABSENT is the least number */
    return a > b ? a : b;
}

/* The worst bound between two of the host's times. */
static int64_t worst_error(const struct store_clock_map *map, int64_t first_ns, int64_t last_ns) {
    int64_t worst = VALUE_ABSENT, error;
    clock_map_offset(map, first_ns, &worst);
    clock_map_offset(map, last_ns, &error);
    worst = larger(worst, error);
    for (size_t i = 0; i < map->n; i++)
        if (map->pieces[i].until_ns >= first_ns && map->pieces[i].from_ns <= last_ns)
            worst = larger(worst, map->pieces[i].error_ns);
    return worst;
}

/* Streams come in their order: the last one determines offset and drift, the worst one the
 * bound. */
static void merge_clock(struct store_host *host, const struct store_clock_map *map,
                        int64_t first_ns, int64_t last_ns, bool first_stream) {
    int64_t t_first = clock_map_time(map, first_ns), t_last = clock_map_time(map, last_ns);
    int64_t begin = clock_map_offset(map, first_ns, NULL),
            end = clock_map_offset(map, last_ns, NULL);
    if (t_first == VALUE_ABSENT || t_last == VALUE_ABSENT)
        return;
    host->clock_offset_ns = begin;
    host->clock_error_ns = larger(host->clock_error_ns, worst_error(map, first_ns, last_ns));
    host->clock_drift_ppm = map->n && last_ns > first_ns ? 1e6 * ((double)end - (double)begin) /
                                                               ((double)last_ns - (double)first_ns)
                                                         : NAN;
    host->first_ns = first_stream || t_first < host->first_ns ? t_first : host->first_ns;
    host->last_ns = first_stream || t_last > host->last_ns ? t_last : host->last_ns;
}

static int load_clocks(struct store *store, struct store_host *host) {
    AUTO(sql_finalize) sqlite3_stmt *row = NULL;
    int code = SQLITE_DONE, r = sql_prepare(store,
                                            "SELECT stream, first_mono_ns, last_mono_ns FROM stream"
                                            " WHERE host = ?1 AND (period_ns <> 0 OR NOT EXISTS"
                                            " (SELECT 1 FROM stream x WHERE x.host = ?1 AND"
                                            " x.period_ns <> 0)) ORDER BY stream",
                                            &row);
    bool first = true;
    if (!r)
        r = sql_bind(row, "i", host->id);
    while (!r && (code = sqlite3_step(row)) == SQLITE_ROW) {
        struct store_clock_map map;
        r = clock_map_load(store, sqlite3_column_int64(row, 0), &map);
        if (!r && sql_column(row, 1) >= 0 && sql_column(row, 2) >= sql_column(row, 1)) {
            merge_clock(host, &map, sql_column(row, 1), sql_column(row, 2), first);
            first = false;
        }
        clock_map_release(&map);
    }
    return r ? r : sql_errno(code);
}

int store_list_hosts(struct store *store, int64_t run, struct store_host **ret_hosts,
                     size_t *ret_n) {
    AUTO(sql_finalize) sqlite3_stmt *statement = NULL;
    void *hosts = NULL;
    size_t n = 0;
    int code = SQLITE_DONE, r = sql_prepare(store, HOST_SELECT, &statement);
    if (!r)
        r = sql_bind(statement, "i", run);
    while (!r && (code = sqlite3_step(statement)) == SQLITE_ROW) {
        r = list_grow(&hosts, n, sizeof(struct store_host));
        if (!r)
            r = fill_host(statement, (struct store_host *)hosts + n);
        n += r == 0;
        if (!r)
            r = load_clocks(store, (struct store_host *)hosts + n - 1);
    }
    r = r ? r : sql_errno(code);
    if (r) {
        store_hosts_free(hosts, n);
        return r;
    }
    *ret_hosts = hosts;
    *ret_n = n;
    return 0;
}

void store_hosts_free(struct store_host *hosts, size_t n) {
    for (size_t i = 0; i < n; i++)
        free(hosts[i].name);
    free(hosts);
}
