/* SPDX-License-Identifier: MIT */
/*
 * A run's last state as OpenMetrics text 1.0: every column of every table by what its descriptor
 * says, none by its name. Counters are what grew since the recording began (that is what is
 * stored), levels the last that is known; of events there is only their number. Nanoseconds become
 * seconds and 1e-9 plain numbers, because the standard wants base units.
 *
 * Samples carry the time of the instance's last row: they are of the past, and a reader that has
 * its own clock would take them for the present.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "common/error.h"
#include "common/text.h"
#include "reports/export/export.h"

#define PREFIX "chokepoint_"
#define FAMILY_MAX (sizeof PREFIX + 2 * TABLE_NAME_MAX + 16)

struct instance {
    int64_t host;
    char *name; /* owned */
    int64_t t_ns;
    uint64_t rows;
};

struct writer {
    FILE *out;
    int64_t started_wall_ns;
    const struct store_host *hosts;
    size_t n_hosts;
    const struct store_table_info *table;
    size_t n_columns; /* that are read: none of events */
    struct instance *items;
    int64_t *values; /* n_columns of each item */
    size_t n, capacity;
    char (*families)[FAMILY_MAX]; /* written so far: a name may stand but once */
    size_t n_families;
};

/* ---- gathering: the rows of an instance come together ---- */

static int add_instance(struct writer *w, const struct store_row_read *row) {
    if (w->n == w->capacity) {
        size_t capacity = w->capacity ? 2 * w->capacity : 64;
        struct instance *items = realloc(w->items, capacity * sizeof *items);
        if (items)
            w->items = items;
        int64_t *values = realloc(w->values, capacity * (w->n_columns + 1) * sizeof *values);
        if (values)
            w->values = values;
        if (!items || !values)
            return -ENOMEM;
        w->capacity = capacity;
    }
    w->items[w->n] = (struct instance){.host = row->host, .name = strdup(row->instance_name)};
    for (size_t c = 0; c < w->n_columns; c++)
        w->values[w->n * w->n_columns + c] = VALUE_ABSENT;
    if (!w->items[w->n].name)
        return -ENOMEM;
    w->n++;
    return 0;
}

static void take_value(int64_t *kept, int64_t value, enum column_kind kind) {
    int64_t sum;
    if (value == VALUE_ABSENT)
        return;
    if (kind == COLUMN_LEVEL || *kept == VALUE_ABSENT)
        *kept = value;
    else if (value > 0 && !__builtin_add_overflow(*kept, value, &sum))
        *kept = sum;
}

static int take_row(void *ctx, const struct store_row_read *row) {
    struct writer *w = ctx;
    struct instance *last = w->n ? &w->items[w->n - 1] : NULL;
    if (!last || last->host != row->host || strcmp(last->name, row->instance_name) != 0) {
        int r = add_instance(w, row);
        if (r < 0)
            return r;
        last = &w->items[w->n - 1];
    }
    last->t_ns = row->t_ns;
    last->rows++;
    for (size_t c = 0; c < w->n_columns; c++)
        take_value(&w->values[(w->n - 1) * w->n_columns + c], row->values[c],
                   w->table->columns[c].kind);
    return 0;
}

static void forget(struct writer *w) {
    for (size_t i = 0; i < w->n; i++)
        free(w->items[i].name);
    free(w->items);
    free(w->values);
    w->items = NULL;
    w->values = NULL;
    w->n = w->capacity = 0;
}

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

static const char *host_name(const struct writer *w, int64_t id) {
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

static void put_sample(const struct writer *w, const char *family, const char *suffix,
                       const struct instance *item, enum unit unit, int64_t value) {
    const char *label = strcmp(w->table->instance, "host") == 0 ? "instance" : w->table->instance;
    fprintf(w->out, "%s%s{host=\"", family, suffix);
    put_escaped(w->out, host_name(w, item->host));
    fprintf(w->out, "\",%s=\"", label);
    put_escaped(w->out, item->name);
    fputs("\"} ", w->out);
    if (unit == UNIT_NS || unit == UNIT_NANO)
        put_nano(w->out, value);
    else
        fprintf(w->out, "%" PRId64, value);
    int64_t t_ns;
    if (!__builtin_add_overflow(w->started_wall_ns, item->t_ns, &t_ns) && t_ns >= 0)
        fprintf(w->out, " %" PRId64 ".%03" PRId64, t_ns / NS_PER_S, t_ns % NS_PER_S / NS_PER_MS);
    fputc('\n', w->out);
}

/* False if the name stands already, from another table and column. */
static bool begin_family(struct writer *w, const char *family, const char *type, const char *unit,
                         const char *help) {
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

/* Length of the name without its suffix. */
static int stem(const char *name, const char *suffix) {
    size_t n = strlen(name), m = strlen(suffix);
    return (int)(n > m && strcmp(name + n - m, suffix) == 0 ? n - m : n);
}

/* "cpu" and "user_ns" are chokepoint_cpu_user_seconds. */
static void family_name(const struct store_table_info *table,
                        const struct store_column_info *column, char family[FAMILY_MAX]) {
    static const struct {
        const char *column, *family;
    } suffixes[UNIT_COUNT_] = {[UNIT_NONE] = {"_total", ""},
                               [UNIT_NS] = {"_ns", "_seconds"},
                               [UNIT_BYTES] = {"_bytes", "_bytes"},
                               [UNIT_EVENTS] = {"_total", ""},
                               [UNIT_NANO] = {"_nano", ""}};
    snprintf(family, FAMILY_MAX, PREFIX "%s_%.*s%s", table->name,
             stem(column->name, suffixes[column->unit].column), column->name,
             suffixes[column->unit].family);
}

static void put_column(struct writer *w, size_t c) {
    const struct store_column_info *column = &w->table->columns[c];
    bool counter = column->kind == COLUMN_COUNTER;
    const char *unit = column->unit == UNIT_NS      ? "seconds"
                       : column->unit == UNIT_BYTES ? "bytes"
                                                    : "";
    char family[FAMILY_MAX];
    bool begun = false;
    family_name(w->table, column, family);
    for (size_t i = 0; i < w->n; i++) {
        int64_t value = w->values[i * w->n_columns + c];
        if (value == VALUE_ABSENT || (counter && value < 0))
            continue;
        if (!begun && !begin_family(w, family, counter ? "counter" : "gauge", unit, column->help))
            return;
        begun = true;
        put_sample(w, family, counter ? "_total" : "", &w->items[i], column->unit, value);
    }
}

static void put_events(struct writer *w) {
    char family[FAMILY_MAX];
    snprintf(family, sizeof family, PREFIX "%s_events", w->table->name);
    if (w->n && begin_family(w, family, "counter", "", w->table->help))
        for (size_t i = 0; i < w->n; i++)
            put_sample(w, family, "_total", &w->items[i], UNIT_EVENTS, (int64_t)w->items[i].rows);
}

/* ---- all tables ---- */

static int put_table(struct store *store, int64_t run, const struct store_table_info *table,
                     struct writer *w) {
    const char *columns[TABLE_COLUMNS_MAX * 2];
    w->table = table;
    w->n_columns = table->kind == TABLE_EVENTS ? 0 : table->n_columns;
    for (size_t c = 0; c < w->n_columns; c++)
        columns[c] = table->columns[c].name;
    int r = store_each_row(store, run, table->name, columns, w->n_columns, take_row, w);
    if (r == 0 && table->kind == TABLE_EVENTS)
        put_events(w);
    for (size_t c = 0; r == 0 && c < w->n_columns; c++)
        put_column(w, c);
    forget(w);
    return r == -ENOENT ? 0 : r;
}

static void put_run(FILE *out, const struct store_run *run) {
    fputs("# TYPE chokepoint_run info\n# HELP chokepoint_run the run these are of\n"
          "chokepoint_run_info{",
          out);
    fprintf(out, "run=\"%" PRId64 "\",name=\"", run->id);
    put_escaped(out, run->name);
    fputs("\",command=\"", out);
    put_escaped(out, run->command);
    fputs("\"} 1\n", out);
    fputs("# TYPE chokepoint_run_duration_seconds gauge\n"
          "# UNIT chokepoint_run_duration_seconds seconds\n"
          "# HELP chokepoint_run_duration_seconds time from the start of the command to its end\n"
          "chokepoint_run_duration_seconds ",
          out);
    put_nano(out, run->duration_ns);
    fputc('\n', out);
}

static int write_openmetrics(struct store *store, const struct store_run *run, const char *only,
                             FILE *out) {
    struct writer w = {.out = out, .started_wall_ns = run->started_wall_ns};
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
        r = put_table(store, run->id, &tables[t], &w);
    if (r == 0)
        fputs("# EOF\n", out);
    store_tables_free(tables, n);
    store_hosts_free(hosts, w.n_hosts);
    free(w.families);
    return r ? r : ferror(out) ? -EIO : 0;
}

const struct export_format export_openmetrics = {"openmetrics", false, write_openmetrics};
