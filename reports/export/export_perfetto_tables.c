/* SPDX-License-Identifier: MIT */
/*
 * Counters of all other tables of samples, by their descriptors, none by its name: counters in ns
 * as percent, others per second; levels as they are; plain numbers, which are ids, not at all. A
 * track begins with its first value other than zero, so that events that never happened take no
 * room.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "collector/store_read_tables.h"
#include "common/error.h"
#include "reports/export/export_perfetto.h"

#define TRACKS_MAX 4096 /* more make no useful picture, and viewers slow */

/* Shown by export_perfetto_counters.c as metrics, cores and processes; and the profiler's own cost.
 */
static const enum table_id shown[] = {TABLE_CPU,     TABLE_DISK, TABLE_MEMORY, TABLE_NET,
                                      TABLE_PROCESS, TABLE_PSI,  TABLE_SELF};

/* Growth within a counter's present step. */
struct step {
    int64_t value, interval_ns;
};

struct table_reader {
    struct perfetto *p;
    const struct store_table_info *table;
    size_t columns[TABLE_COLUMNS_MAX]; /* of the table, in the order in which they are read */
    size_t n_columns;
    int64_t host, instance;
    double last[TABLE_COLUMNS_MAX]; /* of the instance; 0 while its track has not begun */
    bool begun[TABLE_COLUMNS_MAX];
    int64_t begun_ns[TABLE_COLUMNS_MAX]; /* begin of the last written value */
    struct step steps[TABLE_COLUMNS_MAX];
    size_t n_tracks; /* over all tables */
};

static bool ends_with(const char *name, const char *suffix) {
    size_t n = strlen(name), m = strlen(suffix);
    return n > m && strcmp(name + n - m, suffix) == 0;
}

/* Units that a name tells: of levels, and of counters for a second. */
static const struct named_unit {
    const char *suffix, *unit;
    double scale;
} named_units[] = {{"watts_nano", "W", 1e-9},
                   {"joules_nano", "W", 1e-9},
                   {"_hz", "MHz", 1e-6},
                   {"celsius", "C", 1}};

static const struct named_unit *named_unit_of(const struct store_column_info *column) {
    size_t n = strlen(column->name);
    for (size_t i = 0; i < ARRAY_SIZE(named_units); i++) {
        size_t m = strlen(named_units[i].suffix);
        if (n >= m && strcmp(column->name + n - m, named_units[i].suffix) == 0)
            return &named_units[i];
    }
    return NULL;
}

/* A value in its displayed unit. */
static double convert(const struct store_column_info *column, int64_t value, int64_t interval_ns,
                      const char **ret_unit) {
    static const double scales[UNIT_COUNT_] = {1, 1e-6, 1e-6, 1, 1e-9};
    static const char *const units[UNIT_COUNT_] = {"", "ms", "MB", "", ""};
    static const char *const rates[UNIT_COUNT_] = {"", "%", "MB/s", "1/s", "1/s"};
    const struct named_unit *named = named_unit_of(column);
    double scaled = (double)value * (named ? named->scale : scales[column->unit]);
    bool rate = column->kind == COLUMN_COUNTER;
    *ret_unit = named                               ? named->unit
                : rate                              ? rates[column->unit]
                : ends_with(column->name, "_per_s") ? rates[UNIT_BYTES]
                                                    : units[column->unit];
    if (!rate)
        return scaled;
    if (interval_ns == VALUE_ABSENT || interval_ns <= 0)
        return NAN;
    return column->unit == UNIT_NS ? 100 * (double)value / (double)interval_ns
                                   : scaled * 1e9 / (double)interval_ns;
}

static void name_track(const struct table_reader *reader, const struct store_row_read *row,
                       const struct store_column_info *column, char name[2 * PERFETTO_NAME_SIZE]) {
    static const char *const suffixes[] = {"_ns", "_bytes", "_bytes_per_s", "_nano", "_hz"};
    int size = (int)strlen(column->name);
    for (size_t i = 0; i < ARRAY_SIZE(suffixes); i++)
        if (ends_with(column->name, suffixes[i]))
            size = (int)(strlen(column->name) - strlen(suffixes[i]));
    const char *table = reader->table->name;
    bool named =
        strncmp(row->instance_name, table, strlen(table)) == 0; /* an instance such as
                                                                   "rank 0" in table rank */
    snprintf(name, 2 * PERFETTO_NAME_SIZE, "%s%s%s %.*s", named ? "" : table, named ? "" : " ",
             row->instance_name, size, column->name);
}

static bool may_begin(struct table_reader *reader, size_t c) {
    if (reader->begun[c])
        return true;
    if (reader->n_tracks == TRACKS_MAX) {
        reader->p->tracks_left_out++;
        reader->last[c] = NAN; /* the track counts once */
        return false;
    }
    reader->n_tracks++;
    return reader->begun[c] = true;
}

/* Adds a row of a counter to its step. False if the step is not over yet. */
static bool take_step(struct table_reader *reader, const struct store_row_read *row, size_t c,
                      int64_t *ret_value, int64_t *ret_interval_ns) {
    struct step *step = &reader->steps[c];
    if (*ret_value == VALUE_ABSENT || row->interval_ns == VALUE_ABSENT || row->interval_ns <= 0 ||
        __builtin_add_overflow(step->value, *ret_value, &step->value) ||
        __builtin_add_overflow(step->interval_ns, row->interval_ns, &step->interval_ns)) {
        *step = (struct step){0};
        return true; /* the row is a step by itself */
    }
    if (step->interval_ns < perfetto_step_ns(reader->p))
        return false;
    *ret_value = step->value;
    *ret_interval_ns = step->interval_ns;
    *step = (struct step){0};
    return true;
}

static void put_step(struct table_reader *reader, const struct store_row_read *row, int host,
                     size_t c) {
    const struct store_column_info *column = &reader->table->columns[reader->columns[c]];
    char name[2 * PERFETTO_NAME_SIZE];
    const char *unit = "";
    bool counter = column->kind == COLUMN_COUNTER;
    int64_t raw = row->values[c], interval_ns = row->interval_ns, begin_ns = row->t_ns;
    if (counter && !take_step(reader, row, c, &raw, &interval_ns))
        return;
    double value = raw == VALUE_ABSENT ? NAN : convert(column, raw, interval_ns, &unit);
    if (counter && interval_ns != VALUE_ABSENT)
        begin_ns -= interval_ns;
    bool soon = !counter && reader->begun[c] &&
                begin_ns - reader->begun_ns[c] < perfetto_step_ns(reader->p);
    if (!isfinite(value) || row->t_ns <= 0 || isnan(reader->last[c]) || value == reader->last[c] ||
        soon || !may_begin(reader, c))
        return;
    name_track(reader, row, column, name);
    trace_put_counter(&reader->p->trace, perfetto_pid(host), begin_ns < 0 ? 0 : begin_ns, name,
                      unit, value);
    reader->last[c] = value;
    reader->begun_ns[c] = begin_ns;
}

static int take_table_row(void *ctx, const struct store_row_read *row) {
    struct table_reader *reader = ctx;
    int host = report_host_index(reader->p->input, row->host);
    if (host < 0 || !time_is_sane(row->t_ns))
        return 0;
    if (row->host != reader->host || row->instance != reader->instance) {
        memset(reader->last, 0, sizeof reader->last);
        memset(reader->begun, 0, sizeof reader->begun);
        memset(reader->steps, 0, sizeof reader->steps);
        reader->host = row->host;
        reader->instance = row->instance;
    }
    for (size_t c = 0; c < reader->n_columns; c++)
        put_step(reader, row, host, c);
    return 0;
}

static int put_tracks(struct table_reader *reader) {
    const char *names[TABLE_COLUMNS_MAX];
    reader->n_columns = 0;
    reader->host = reader->instance = -1;
    for (size_t c = 0; c < reader->table->n_columns && reader->n_columns < TABLE_COLUMNS_MAX; c++)
        if (reader->table->columns[c].unit != UNIT_NONE ||
            named_unit_of(&reader->table->columns[c])) {
            names[reader->n_columns] = reader->table->columns[c].name;
            reader->columns[reader->n_columns++] = c;
        }
    if (!reader->n_columns)
        return 0;
    int result = store_each_row(reader->p->store, reader->p->input->run.id, reader->table->name,
                                names, reader->n_columns, take_table_row, reader);
    return result == -ENOENT ? 0 : result;
}

static bool is_shown(const struct store_table_info *table) {
    for (size_t i = 0; i < ARRAY_SIZE(shown); i++)
        if (strcmp(table->name, all_tables[shown[i]].name) == 0)
            return true;
    return table->kind != TABLE_SAMPLES;
}

int perfetto_put_tables(struct perfetto *p) {
    struct table_reader reader = {.p = p};
    struct store_table_info *tables;
    size_t n;
    int result = store_list_tables(p->store, p->input->run.id, &tables, &n);
    if (result < 0)
        return result;
    for (size_t i = 0; i < n && result == 0; i++) {
        reader.table = &tables[i];
        if (!is_shown(&tables[i]))
            result = put_tracks(&reader);
    }
    store_tables_free(tables, n);
    return result;
}
