/* SPDX-License-Identifier: MIT */
/*
 * A run as series in OpenMetrics text 1.0: every column of every table by its descriptor, none by
 * its name. Counters are the growth since the recording began (which is what is stored), levels as
 * they are; of events only the number. Nanoseconds become seconds and 1e-9 plain numbers, because
 * the standard wants base units.
 *
 * Samples carry the time of their row: a reader with its own clock would otherwise take past
 * samples for present ones. The standard wants all samples of a family together, so a table is read
 * once for each column, and nothing of it is kept. Times are in ms: if two rows fall into one, only
 * the first is written, but a counter adds up both.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "common/error.h"
#include "common/table.h"
#include "common/text.h"
#include "reports/export/export.h"
#include "reports/export/family.h"

struct openmetrics {
    FILE *out;
    int64_t started_wall_ns;
    const struct store_host *hosts;
    size_t n_hosts;
    const struct store_table_info *table;
    char (*families)[FAMILY_NAME_MAX]; /* written so far: each name may appear only once */
    size_t n_families;
    /* the family that is being written, and its series, whose rows are adjacent */
    const struct store_column_info *column; /* NULL: a family of events */
    char family[FAMILY_NAME_MAX];
    bool begun, refused;
    bool in_series;
    int64_t host, sum, wall_ms; /* of the last sample; -1: none yet */
    char name[INSTANCE_MAX + 1];
};

/* ---- text ---- */

static void put_escaped(FILE *out, const char *text) {
    uint32_t code;
    for (size_t n; *text; text += n) {
        n = text_char(text, strnlen(text, 4), &code);
        if (*text == '\n')
            fputs("\\n", out);
        else if (code == '"' || code == '\\')
            fprintf(out, "\\%c", *text);
        else
            fprintf(out, "%.*s", code ? (int)n : 1, code ? text : "?");
    }
}

static const char *host_name(const struct openmetrics *w, int64_t id) {
    for (size_t i = 0; i < w->n_hosts; i++)
        if (w->hosts[i].id == id)
            return w->hosts[i].name;
    return "";
}

/* A number of 1e-9 units, exactly. */
static void put_nano(FILE *out, int64_t value) {
    uint64_t size = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
    fprintf(out, "%s%" PRIu64 ".%09" PRIu64, value < 0 ? "-" : "", size / 1000000000,
            size % 1000000000);
}

/* False if there is no such time. */
static bool wall_ms_of(const struct openmetrics *w, int64_t t_ns, int64_t *ret_ms) {
    int64_t wall_ns;
    if (__builtin_add_overflow(w->started_wall_ns, t_ns, &wall_ns) || wall_ns < 0)
        return false;
    *ret_ms = wall_ns / NS_PER_MS;
    return true;
}

static void put_sample_time(FILE *out, int64_t wall_ms) {
    fprintf(out, " %" PRId64 ".%03" PRId64 "\n", wall_ms / 1000, wall_ms % 1000);
}

static void put_sample(const struct openmetrics *w, int64_t value) {
    bool counts = !w->column || w->column->kind == COLUMN_COUNTER;
    enum unit unit = w->column ? w->column->unit : UNIT_EVENTS;
    fprintf(w->out, "%s%s{host=\"", w->family, counts ? "_total" : "");
    put_escaped(w->out, host_name(w, w->host));
    fprintf(w->out, "\",%s=\"", family_label(w->table->instance));
    put_escaped(w->out, w->name);
    fputs("\"} ", w->out);
    if (family_is_nano(unit))
        put_nano(w->out, value);
    else
        fprintf(w->out, "%" PRId64, value);
    put_sample_time(w->out, w->wall_ms);
}

/* False if the name is already used, by another table and column. */
static bool begin_family(struct openmetrics *w, const char *family, const char *type,
                         const char *unit, const char *help) {
    for (size_t i = 0; i < w->n_families; i++)
        if (strcmp(w->families[i], family) == 0)
            return false;
    void *grown = realloc(w->families, (w->n_families + 1) * sizeof *w->families);
    if (!grown)
        return false;
    w->families = grown;
    strcpy(w->families[w->n_families++], family);
    fprintf(w->out, "# TYPE %s %s\n", family, type);
    if (*unit)
        fprintf(w->out, "# UNIT %s %s\n", family, unit);
    fprintf(w->out, "# HELP %s ", family);
    put_escaped(w->out, help);
    fputc('\n', w->out);
    return true;
}

/* Writes the head of the family with its first sample. */
static bool begin_column(struct openmetrics *w) {
    const struct store_column_info *column = w->column;
    const char *unit = column ? family_unit(w->family) : "";
    bool counts = !column || column->kind == COLUMN_COUNTER;
    if (!w->begun && !w->refused) {
        w->begun = begin_family(w, w->family, counts ? "counter" : "gauge", unit,
                                column ? column->help : w->table->help);
        w->refused = !w->begun;
    }
    return w->begun;
}

/* Events have one sample, after the last event. */
static void end_series(struct openmetrics *w) {
    if (w->in_series && !w->column && w->wall_ms >= 0 && begin_column(w))
        put_sample(w, w->sum);
    w->in_series = false;
}

static void begin_series(struct openmetrics *w, const struct store_row_read *row) {
    if (w->in_series && w->host == row->host && strcmp(w->name, row->instance_name) == 0)
        return;
    end_series(w);
    w->in_series = true;
    w->host = row->host;
    w->sum = 0;
    w->wall_ms = -1;
    snprintf(w->name, sizeof w->name, "%s", row->instance_name);
}

static int take_event(void *ctx, const struct store_row_read *row) {
    struct openmetrics *w = ctx;
    int64_t ms;
    begin_series(w, row);
    w->sum++;
    if (wall_ms_of(w, row->t_ns, &ms))
        w->wall_ms = ms;
    return 0;
}

/* A counter begins at 0: the first row without growth is its first sample. */
static int take_series_row(void *ctx, const struct store_row_read *row) {
    struct openmetrics *w = ctx;
    int64_t value = row->values[0], ms;
    bool counter = w->column->kind == COLUMN_COUNTER;
    begin_series(w, row);
    if (value == VALUE_ABSENT && (!counter || w->wall_ms >= 0))
        return 0;
    if (counter && value > 0 && __builtin_add_overflow(w->sum, value, &w->sum))
        w->sum = INT64_MAX;
    if (!wall_ms_of(w, row->t_ns, &ms) || ms <= w->wall_ms || !begin_column(w))
        return 0;
    w->wall_ms = ms;
    put_sample(w, counter ? w->sum : value);
    return 0;
}

/* ---- all tables ---- */

static int put_family(struct store *store, int64_t run, struct openmetrics *w) {
    const char *name = w->column ? w->column->name : NULL;
    w->begun = w->refused = w->in_series = false;
    int r = store_each_row(store, run, w->table->name, &name, w->column ? 1 : 0,
                           w->column ? take_series_row : take_event, w);
    end_series(w);
    return r == -ENOENT ? 0 : r;
}

static int put_families(struct store *store, int64_t run, const struct store_table_info *table,
                        struct openmetrics *w) {
    int r = 0;
    w->table = table;
    w->column = NULL;
    if (table->kind == TABLE_EVENTS) {
        snprintf(w->family, sizeof w->family, FAMILY_PREFIX "%s_events", table->name);
        return put_family(store, run, w);
    }
    for (size_t c = 0; r == 0 && c < table->n_columns; c++) {
        w->column = &table->columns[c];
        family_name(table->name, w->column->name, w->column->unit, w->family);
        r = put_family(store, run, w);
    }
    return r;
}

static void put_info(FILE *out, const struct store_run *run, int64_t wall_ns) {
    fprintf(out, "chokepoint_run_info{run=\"%" PRId64 "\",name=\"", run->id);
    put_escaped(out, run->name);
    fputs("\",command=\"", out);
    put_escaped(out, run->command);
    fputs("\"} 1", out);
    put_sample_time(out, wall_ns / NS_PER_MS);
}

static void put_run(FILE *out, const struct store_run *run) {
    int64_t start_ns = run->started_wall_ns > 0 ? run->started_wall_ns : 0, end_ns;
    bool lasted = run->duration_ns >= NS_PER_MS &&
                  !__builtin_add_overflow(start_ns, run->duration_ns, &end_ns);
    end_ns = lasted ? end_ns : start_ns;
    fputs("# TYPE chokepoint_run info\n# HELP chokepoint_run the run these are of\n", out);
    put_info(out, run, start_ns);
    if (lasted)
        put_info(out, run, end_ns);
    fputs("# TYPE chokepoint_run_duration_seconds gauge\n"
          "# UNIT chokepoint_run_duration_seconds seconds\n"
          "# HELP chokepoint_run_duration_seconds time from the start of the command to its end\n"
          "chokepoint_run_duration_seconds ",
          out);
    put_nano(out, run->duration_ns);
    put_sample_time(out, end_ns / NS_PER_MS);
}

static int write_openmetrics(struct store *store, const struct store_run *run, const char *only,
                             FILE *out) {
    struct openmetrics w = {.out = out, .started_wall_ns = run->started_wall_ns};
    struct store_table_info *tables = NULL;
    struct store_host *hosts = NULL;
    size_t n = 0;
    (void)only;
    int r = store_list_hosts(store, run->id, &hosts, &w.n_hosts);
    w.hosts = hosts;
    if (r == 0)
        r = store_list_tables(store, run->id, &tables, &n);
    if (r == 0)
        put_run(out, run);
    for (size_t t = 0; r == 0 && t < n; t++)
        r = put_families(store, run->id, &tables[t], &w);
    if (r == 0)
        fputs("# EOF\n", out);
    store_tables_free(tables, n);
    store_hosts_free(hosts, w.n_hosts);
    free(w.families);
    return r ? r : ferror(out) ? -EIO : 0;
}

const struct export_format export_openmetrics = {.name = "openmetrics", .write = write_openmetrics};
