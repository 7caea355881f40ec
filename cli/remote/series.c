/* SPDX-License-Identifier: MIT */
#include "cli/remote/series.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "common/error.h"
#include "common/text.h"
#include "reports/export/family.h"

#define INFO_MS 15000      /* the info series has a sample so often */
#define COMMAND_MAX 256    /* bytes of a command in its label */
#define INFO REMOTE_TABLES /* beside the tables: the info series of a host */
#define NAMES_MAX (INSTANCE_MAX + 1)

_Static_assert(REMOTE_COLUMNS_MAX <= 64, "columns are bits");
_Static_assert(GPU_COLUMNS < REMOTE_COLUMNS_MAX && CPU_COLUMNS + REMOTE_SUMS < REMOTE_COLUMNS_MAX,
               "room for all columns");

struct series {
    struct message_label labels[MESSAGE_LABELS_MAX];
    size_t n_labels;
    struct message_sample *samples; /* owned */
    size_t n, room;
};

/* An instance of a table on a host, with the series of its columns. */
struct instance {
    int64_t id, last_ms; /* id: as in the database; of a sum and of an info: the host's */
    uint32_t table, n_columns;
    struct host *host;
    char name[NAMES_MAX];
    bool left_out, ended;
    uint64_t begun;        /* columns that have had a sample */
    int64_t *sums;         /* owned, n_columns of them */
    struct series **items; /* owned, n_columns of them; NULL: no sample since the start */
};

struct host {
    int64_t id, last_ms;
    char name[NAMES_MAX];
    size_t n_series; /* room taken */
};

/* The rows of a summed table that are being added up. */
struct summing {
    bool some;
    uint32_t table;
    int64_t frame, host, wall_ns, values[REMOTE_COLUMNS_MAX];
};

struct remote_set {
    struct remote_run run;
    struct store_follow *follow;
    struct remote_table tables[REMOTE_TABLES];
    struct host **hosts;
    struct instance **instances; /* in the order of their first row */
    uint32_t *slots;             /* index of an instance plus 1, by table and id */
    struct series **touched;     /* with samples, in the order of their first one */
    struct message_series *list;
    size_t n_hosts, n_instances, n_slots, n_touched, touched_room, list_room, n_series, n_left_out;
    const struct host *left_out_host;
    struct summing summing;
    int64_t newest_ms;
    char run_id[24], run_name[NAMES_MAX], command[COMMAND_MAX + 1];
};

/* ---- lists ---- */

/* Makes room for one more item; room is the next power of two. */
static int grow(void *items, size_t n, size_t size) {
    if (n & (n - 1))
        return 0;
    void *grown = realloc(*(void **)items, (n ? 2 * n : 1) * size);
    if (!grown)
        return -ENOMEM;
    *(void **)items = grown;
    return 0;
}

static size_t slot_of(const struct remote_set *set, uint32_t table, int64_t id) {
    uint64_t hash = ((uint64_t)id * 31 + table) * UINT64_C(0x9e3779b97f4a7c15);
    return (size_t)(hash >> 32) & (set->n_slots - 1);
}

static struct instance *find_instance(const struct remote_set *set, uint32_t table, int64_t id) {
    if (!set->n_slots)
        return NULL;
    for (size_t at = slot_of(set, table, id); set->slots[at]; at = (at + 1) & (set->n_slots - 1)) {
        struct instance *instance = set->instances[set->slots[at] - 1];
        if (instance->id == id && instance->table == table)
            return instance;
    }
    return NULL;
}

static void put_slot(struct remote_set *set, size_t index) {
    const struct instance *instance = set->instances[index];
    size_t at = slot_of(set, instance->table, instance->id);
    while (set->slots[at])
        at = (at + 1) & (set->n_slots - 1);
    set->slots[at] = (uint32_t)index + 1;
}

static int make_slots(struct remote_set *set) {
    if (set->n_slots > 2 * (set->n_instances + 1))
        return 0;
    size_t n = set->n_slots ? 2 * set->n_slots : 1024;
    uint32_t *slots = calloc(n, sizeof *slots);
    if (!slots)
        return -ENOMEM;
    free(set->slots);
    set->slots = slots;
    set->n_slots = n;
    for (size_t i = 0; i < set->n_instances; i++)
        put_slot(set, i);
    return 0;
}

/* ---- hosts and instances ---- */

static int host_of(struct remote_set *set, int64_t id, struct host **ret_host) {
    for (size_t i = 0; i < set->n_hosts; i++)
        if (set->hosts[i]->id == id)
            return *ret_host = set->hosts[i], 0;
    int r = grow(&set->hosts, set->n_hosts, sizeof(struct host *));
    struct host *host = r ? NULL : calloc(1, sizeof *host);
    if (!host)
        return -ENOMEM;
    host->id = id;
    r = store_follow_host(set->follow, id, host->name);
    if (r) {
        free(host);
        return r;
    }
    set->hosts[set->n_hosts++] = host;
    *ret_host = host;
    return 0;
}

static void free_instance(struct instance *instance) {
    for (size_t c = 0; instance->items && c < instance->n_columns; c++) {
        if (instance->items[c])
            free(instance->items[c]->samples);
        free(instance->items[c]);
    }
    free(instance->items);
    free(instance->sums);
    free(instance);
}

/* Whether a host's room is left for the instance: all its series or none. */
static void take_room(struct remote_set *set, struct instance *instance) {
    size_t n = instance->table == INFO ? 1 : remote_table_columns(&set->tables[instance->table]);
    instance->left_out = instance->host->n_series + n > REMOTE_SERIES_MAX;
    if (!instance->left_out) {
        instance->host->n_series += n;
        return;
    }
    set->n_left_out += n;
    set->left_out_host = set->left_out_host ? set->left_out_host : instance->host;
}

static int name_instance(struct remote_set *set, struct instance *instance) {
    bool own = instance->table != INFO && !set->tables[instance->table].summed;
    strcpy(instance->name, "all");
    return own ? store_follow_instance(set->follow, instance->id, instance->name) : 0;
}

static int add_instance(struct remote_set *set, uint32_t table, int64_t id, struct host *host,
                        struct instance **ret_instance) {
    const struct remote_table *of = table == INFO ? NULL : &set->tables[table];
    int r = grow(&set->instances, set->n_instances, sizeof(struct instance *));
    if (!r)
        r = make_slots(set);
    struct instance *instance = r ? NULL : calloc(1, sizeof *instance);
    if (!instance)
        return -ENOMEM;
    instance->id = id;
    instance->table = table;
    instance->host = host;
    instance->n_columns =
        of ? (uint32_t)(of->table->n_columns + (of->summed ? REMOTE_SUMS : 0)) : 1;
    instance->sums = calloc(instance->n_columns, sizeof *instance->sums);
    instance->items = calloc(instance->n_columns, sizeof(struct series *));
    r = instance->sums && instance->items ? name_instance(set, instance) : -ENOMEM;
    if (r) { /* it has no series yet */
        free(instance->sums);
        free(instance->items);
        free(instance);
        return r;
    }
    take_room(set, instance);
    set->instances[set->n_instances++] = instance;
    put_slot(set, set->n_instances - 1);
    *ret_instance = instance;
    return 0;
}

static int instance_of(struct remote_set *set, uint32_t table, int64_t id, int64_t host_id,
                       struct instance **ret_instance) {
    struct host *host;
    if ((*ret_instance = find_instance(set, table, id)))
        return 0;
    int r = host_of(set, host_id, &host);
    return r ? r : add_instance(set, table, id, host, ret_instance);
}

/* ---- samples ---- */

/* Labels are sorted by name. An empty one means to engines that there is none. */
static void add_label(struct series *series, const char *name, const char *value) {
    size_t at = series->n_labels;
    if (!*value || at == MESSAGE_LABELS_MAX)
        return;
    for (; at && strcmp(series->labels[at - 1].name, name) > 0; at--)
        series->labels[at] = series->labels[at - 1];
    series->labels[at] = (struct message_label){name, value, strlen(name), strlen(value)};
    series->n_labels++;
}

static struct series *series_of(struct remote_set *set, struct instance *instance, size_t column) {
    if (instance->items[column])
        return instance->items[column];
    struct series *series = calloc(1, sizeof *series);
    if (!series)
        return NULL;
    instance->items[column] = series;
    add_label(series, "host", instance->host->name);
    if (instance->table == INFO) {
        add_label(series, "__name__", FAMILY_PREFIX "run_info");
        add_label(series, "run", set->run_id);
        add_label(series, "name", set->run_name);
        add_label(series, "command", set->command);
    } else {
        const struct remote_table *table = &set->tables[instance->table];
        add_label(series, "__name__", table->names[column]);
        add_label(series, family_label(table->table->instance), instance->name);
    }
    return series;
}

static int add_touched(struct remote_set *set, struct series *series) {
    if (set->n_touched == set->touched_room) {
        size_t room = set->touched_room ? 2 * set->touched_room : 1024;
        struct series **grown = realloc(set->touched, room * sizeof(struct series *));
        if (!grown)
            return -ENOMEM;
        set->touched = grown;
        set->touched_room = room;
    }
    set->touched[set->n_touched++] = series;
    return 0;
}

static int make_sample_room(struct series *series) {
    if (series->n < series->room)
        return 0;
    size_t room = series->room ? 2 * series->room : 8;
    struct message_sample *samples = realloc(series->samples, room * sizeof *samples);
    if (!samples)
        return -ENOMEM;
    series->samples = samples;
    series->room = room;
    return 0;
}

static int add_sample(struct remote_set *set, struct instance *instance, size_t column, int64_t ms,
                      double value) {
    struct series *series = series_of(set, instance, column);
    int r = series ? make_sample_room(series) : -ENOMEM;
    if (!r && series->n == 0)
        r = add_touched(set, series);
    if (r)
        return r;
    series->samples[series->n++] = (struct message_sample){ms, value};
    set->n_series += !(instance->begun >> column & 1);
    instance->begun |= UINT64_C(1) << column;
    return 0;
}

/* Columns that are made here are times. */
static double value_of(const struct column *column, int64_t value) {
    return !column || family_is_nano(column->unit) ? (double)value / 1e9 : (double)value;
}

static int take_value(struct remote_set *set, struct instance *instance, size_t c, int64_t ms,
                      int64_t value) {
    const struct table *table = set->tables[instance->table].table;
    const struct column *column = c < table->n_columns ? &table->columns[c] : NULL;
    bool counts = !column || column->kind == COLUMN_COUNTER;
    int r = 0;
    if (value == VALUE_ABSENT || (set->tables[instance->table].left_out >> c & 1))
        return 0;
    if (counts) {
        bool first = !(instance->begun >> c & 1);
        if (first && instance->last_ms && ms > instance->last_ms) /* it began with the row before */
            r = add_sample(set, instance, c, instance->last_ms, 0);
        if (value > 0 && __builtin_add_overflow(instance->sums[c], value, &instance->sums[c]))
            instance->sums[c] = INT64_MAX;
        value = instance->sums[c];
    }
    return r || ms <= instance->last_ms ? r
                                        : add_sample(set, instance, c, ms, value_of(column, value));
}

static int take_info(struct remote_set *set, struct host *host, int64_t ms) {
    struct instance *info;
    int r = instance_of(set, INFO, host->id, host->id, &info);
    if (r || (!info->ended && info->last_ms && ms < info->last_ms + INFO_MS) || ms <= info->last_ms)
        return r;
    info->last_ms = ms;
    info->ended = false;
    return add_sample(set, info, 0, ms, 1);
}

static int take_values(struct remote_set *set, struct instance *instance, int64_t wall_ns,
                       const int64_t *values) {
    int64_t ms = wall_ns / NS_PER_MS;
    int r = take_info(set, instance->host, ms);
    if (instance->left_out)
        return r;
    for (size_t c = 0; !r && c < instance->n_columns; c++)
        r = take_value(set, instance, c, ms, values[c]);
    if (ms > instance->last_ms) {
        instance->last_ms = ms;
        instance->ended = false;
    }
    instance->host->last_ms = ms > instance->host->last_ms ? ms : instance->host->last_ms;
    set->newest_ms = ms > set->newest_ms ? ms : set->newest_ms;
    return r;
}

/* ---- rows ---- */

static int end_sum(struct remote_set *set) {
    struct summing *sum = &set->summing;
    struct instance *instance;
    if (!sum->some)
        return 0;
    sum->some = false;
    remote_sum_cores(sum->values, sum->values + set->tables[sum->table].table->n_columns);
    int r = instance_of(set, sum->table, sum->host, sum->host, &instance);
    return r ? r : take_values(set, instance, sum->wall_ns, sum->values);
}

static int take_part(struct remote_set *set, const struct store_followed *row) {
    struct summing *sum = &set->summing;
    size_t n = set->tables[row->table].table->n_columns;
    int r = sum->some && (sum->frame != row->frame || sum->table != row->table) ? end_sum(set) : 0;
    if (!sum->some) {
        *sum = (struct summing){.some = true,
                                .table = (uint32_t)row->table,
                                .frame = row->frame,
                                .host = row->host,
                                .wall_ns = row->wall_ns};
        for (size_t c = 0; c < n; c++)
            sum->values[c] = VALUE_ABSENT;
    }
    for (size_t c = 0; c < n; c++)
        if (row->values[c] != VALUE_ABSENT)
            sum->values[c] = row->values[c] + (sum->values[c] == VALUE_ABSENT ? 0 : sum->values[c]);
    return r;
}

int remote_take(void *ctx, const struct store_followed *row) {
    struct remote_set *set = ctx;
    struct instance *instance;
    if (set->tables[row->table].summed)
        return take_part(set, row);
    int r = end_sum(set);
    if (!r)
        r = instance_of(set, (uint32_t)row->table, row->instance, row->host, &instance);
    return r ? r : take_values(set, instance, row->wall_ns, row->values);
}

int remote_taken(struct remote_set *set) {
    return end_sum(set);
}

/* ---- ends ---- */

static int end_instance(struct remote_set *set, struct instance *instance) {
    int r = 0;
    if (instance->ended || instance->left_out || !instance->begun)
        return 0;
    int64_t ms = (instance->table == INFO && instance->host->last_ms > instance->last_ms
                      ? instance->host->last_ms
                      : instance->last_ms) +
                 1;
    for (size_t c = 0; !r && c < instance->n_columns; c++)
        if (instance->begun >> c & 1)
            r = add_sample(set, instance, c, ms, message_stale());
    instance->last_ms = ms;
    instance->ended = true;
    return r;
}

int remote_end(struct remote_set *set, int64_t before_ms) {
    int r = 0;
    for (size_t i = 0; !r && i < set->n_instances; i++)
        if (set->instances[i]->host->last_ms < before_ms)
            r = end_instance(set, set->instances[i]);
    return r;
}

/* ---- what there is ---- */

int64_t remote_newest_ms(const struct remote_set *set) {
    return set->newest_ms;
}

size_t remote_list(struct remote_set *set, const struct message_series **ret_series) {
    if (set->n_touched > set->list_room) {
        void *grown = realloc(set->list, set->n_touched * sizeof *set->list);
        if (!grown)
            return 0;
        set->list = grown;
        set->list_room = set->n_touched;
    }
    for (size_t i = 0; i < set->n_touched; i++) {
        const struct series *series = set->touched[i];
        set->list[i] =
            (struct message_series){series->labels, series->samples, series->n_labels, series->n};
    }
    *ret_series = set->list;
    return set->n_touched;
}

void remote_clear(struct remote_set *set) {
    for (size_t i = 0; i < set->n_touched; i++)
        set->touched[i]->n = 0;
    set->n_touched = 0;
}

size_t remote_count(const struct remote_set *set) {
    return set->n_series;
}

size_t remote_left_out(const struct remote_set *set, const char **ret_host) {
    *ret_host = set->left_out_host ? set->left_out_host->name : NULL;
    return set->n_left_out;
}

/* ---- life ---- */

/* At most `size` bytes of a text, whole characters that can be shown. */
static void copy_text(char *to, size_t size, const char *from) {
    text_sanitize(to, size, from ? from : "", from ? strlen(from) : 0);
}

struct remote_set *remote_new(const struct remote_run *run, struct store_follow *follow) {
    struct remote_set *set = calloc(1, sizeof *set);
    if (!set)
        return NULL;
    set->run = *run;
    set->follow = follow;
    remote_tables_fill(set->tables);
    snprintf(set->run_id, sizeof set->run_id, "%lld", (long long)run->id);
    copy_text(set->run_name, sizeof set->run_name, run->name);
    copy_text(set->command, sizeof set->command, run->command);
    return set;
}

void remote_free(struct remote_set *set) {
    if (!set)
        return;
    for (size_t i = 0; i < set->n_instances; i++)
        free_instance(set->instances[i]);
    for (size_t i = 0; i < set->n_hosts; i++)
        free(set->hosts[i]);
    free(set->instances);
    free(set->hosts);
    free(set->slots);
    free(set->touched);
    free(set->list);
    free(set);
}

/* ---- saved and restored ---- */

void remote_save(const struct remote_set *set, struct buffer *to) {
    buffer_put_varint(to, set->n_instances);
    for (size_t i = 0; i < set->n_instances; i++) {
        const struct instance *instance = set->instances[i];
        buffer_put_varint(to, instance->table);
        buffer_put_zigzag(to, instance->id);
        buffer_put_zigzag(to, instance->host->id);
        buffer_put_zigzag(to, instance->last_ms);
        buffer_put_varint(to, instance->ended);
        buffer_put_varint(to, instance->begun);
        for (size_t c = 0; c < instance->n_columns; c++)
            buffer_put_zigzag(to, instance->sums[c]);
    }
}

static int restore_instance(struct remote_set *set, struct cursor *from) {
    uint64_t table = cursor_varint(from);
    int64_t id = cursor_zigzag(from), host = cursor_zigzag(from);
    struct instance *instance;
    if (from->bad || table > INFO || find_instance(set, (uint32_t)table, id))
        return -EBADMSG;
    int r = instance_of(set, (uint32_t)table, id, host, &instance);
    if (r)
        return r;
    instance->last_ms = cursor_zigzag(from);
    instance->ended = cursor_varint(from) != 0;
    instance->begun = cursor_varint(from);
    for (size_t c = 0; c < instance->n_columns; c++)
        instance->sums[c] = cursor_zigzag(from);
    set->n_series += (size_t)__builtin_popcountll(instance->begun);
    if (instance->table != INFO && instance->last_ms > instance->host->last_ms)
        instance->host->last_ms = instance->last_ms - instance->ended;
    if (instance->host->last_ms > set->newest_ms)
        set->newest_ms = instance->host->last_ms;
    return from->bad || instance->begun >> instance->n_columns ? -EBADMSG : 0;
}

int remote_restore(struct remote_set *set, struct cursor *from) {
    uint64_t n = cursor_varint(from);
    int r = from->bad ? -EBADMSG : 0;
    for (uint64_t i = 0; !r && i < n; i++)
        r = restore_instance(set, from);
    return r;
}
