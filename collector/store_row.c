/* SPDX-License-Identifier: MIT */
/*
 * Rows: absolute counters come in, their growth is stored.
 *
 * The stored intervals of an instance tile the time from its first row to its last: all growth of a
 * stretch is in its rows, and sum(growth) / sum(interval) is the exact mean. If all counters of a
 * row stood still and its table has no levels, the row is held back. Such a stretch becomes one row
 * of zeros when it ends, reaches a second, or the transaction ends. So an idle disk costs a tenth,
 * and readers need not fill gaps.
 *
 * A process that rests has no row for longer: while its levels stay as well, its row is held back
 * over transactions, for twice as long as the one before, and for REST_MOST_NS at most. So readers
 * that watch a run know that it is there, and one that is missing from a sample gets its row with
 * that sample. The state of the stream has what is held back (store_state.c).
 */
#include "collector/store_private.h"

#include <errno.h>

#include "common/clock.h"

#define IDLE_MAX_NS NS_PER_S
#define REST_MOST_NS (10 * NS_PER_S)

/* Stores a row that ends at the instance's time t. */
static int put_sample(struct store *store, struct stream *stream, struct series *series,
                      struct base *base, const struct shape *shape, int64_t frame, int64_t t_ns,
                      int64_t interval_ns, const int64_t *values) {
    int r = batch_add(store, shape, frame, base->instance, interval_ns, values);
    if (r || !stream->joins)
        return r;
    return joined_add(store, stream, series, base, shape, t_ns, interval_ns, values);
}

/* Values of a row without a change, by the shape. */
static void still_values(const struct series *series, const struct base *base,
                         const struct shape *shape, int64_t *ret_values) {
    const int64_t *last = series_values(series, base);
    for (size_t i = 0; i < shape->n_columns; i++) {
        int64_t value = last[shape->ordinals[i]];
        ret_values[i] = value != VALUE_ABSENT && shape->counters[i] ? 0 : value;
    }
}

/* Stores the stretch without a change, up to the instance's last row; `values` as still_values
 * gives them before a further row changes the state. */
static int flush_idle(struct store *store, struct stream *stream, struct series *series,
                      struct base *base, const int64_t *values) {
    if (!base->idle)
        return 0;
    int r = put_sample(store, stream, series, base, base->idle, base->frame, base->seen_ns,
                       base->seen_ns - base->stored_ns, values);
    if (r)
        return r;
    base->idle = NULL;
    base->stored_ns = base->seen_ns;
    return 0;
}

static int flush_series(struct store *store, struct stream *stream, struct series *series) {
    bool rests = series->table->rests && !stream->settles;
    int64_t values[TABLE_COLUMNS_MAX];
    int r = 0;
    for (size_t i = 0; !r && i < series->n; i++) {
        struct base *base = &series->items[i];
        if (!base->idle || (rests && base->seen_sample == series->sample))
            continue;
        still_values(series, base, base->idle, values);
        r = flush_idle(store, stream, series, base, values);
    }
    return r;
}

int flush_stream(struct store *store, struct stream *stream) {
    int r = 0;
    for (size_t t = 0; !r && t < store->n_tables; t++) {
        struct series *series = stream->series[t];
        if (series && (series->dirty || stream->settles))
            r = flush_series(store, stream, series);
        if (series && stream->settles)
            series->dirty = true;
    }
    stream->settles = false;
    return r;
}

int store_settle(struct store *store, int64_t id) {
    int r = 0;
    struct stream *stream = stream_get(store, id, &r);
    if (stream)
        stream->settles = stream->dirty = true;
    return r;
}

void store_settle_all(struct store *store) {
    for (size_t i = 0; i < store->n_streams; i++)
        store->streams[i]->settles = store->streams[i]->dirty = true;
}

/* ---- growth ---- */

struct growth {
    int64_t interval_ns;
    int64_t values[TABLE_COLUMNS_MAX];
    int64_t still[TABLE_COLUMNS_MAX]; /* of the row that was held back before it, if there is one */
    int64_t resets;                   /* bit set of columns that stepped back */
    bool idle;                        /* all values are known, and none grew */
};

static int64_t interval_of(const struct series *series, const struct base *base, bool born) {
    int64_t since = born ? series->previous_ns : base->seen_ns;
    if (since == VALUE_ABSENT || series->sample_ns <= since)
        return VALUE_ABSENT;
    return series->sample_ns - since;
}

static int64_t count_growth(int64_t now, int64_t before, bool born, int64_t *resets) {
    if (born)
        return now;
    if (before == VALUE_ABSENT)
        return VALUE_ABSENT;
    if (now >= before)
        return now - before;
    (*resets)++;
    return now; /* the counter restarted at zero */
}

/* A level of a table whose instances may rest is kept as counters are. */
static bool stays(int64_t *last, int64_t now) {
    bool same = *last == now;
    *last = now;
    return same;
}

static void measure(const struct series *series, const struct base *base, const struct shape *shape,
                    const struct wire_row *row, struct growth *growth) {
    bool born = row->flags & ROW_BORN;
    int64_t *last = series_values(series, base);
    bool rests = series->table->rests;
    if (base->idle)
        still_values(series, base, base->idle, growth->still);
    growth->interval_ns = interval_of(series, base, born);
    growth->resets = 0;
    growth->idle = growth->interval_ns != VALUE_ABSENT && !born;
    for (size_t i = 0; i < shape->n_columns; i++) {
        int64_t now = row->values[i], before = last[shape->ordinals[i]];
        growth->values[i] = now;
        if (!shape->counters[i]) {
            growth->idle &= rests && stays(&last[shape->ordinals[i]], now);
            continue;
        }
        last[shape->ordinals[i]] = now = now < 0 ? VALUE_ABSENT : now;
        growth->values[i] = now == VALUE_ABSENT || growth->interval_ns == VALUE_ABSENT
                                ? VALUE_ABSENT
                                : count_growth(now, before, born, &growth->resets);
        bool absent = rests && now == VALUE_ABSENT && before == VALUE_ABSENT;
        growth->idle &= absent || growth->values[i] == 0;
    }
}

/* ---- instances ---- */

struct series *series_of(struct store *store, const struct shape *shape, int *ret_error) {
    struct stream *stream = store->stream;
    struct series *series = stream->series[shape->table->index];
    if (!series) {
        series = series_new(shape->table);
        bool samples = shape->table->kind == TABLE_SAMPLES;
        *ret_error = !series ? -ENOMEM : samples ? state_load(store, stream, shape, series) : 0;
        if (*ret_error) {
            series_free(series);
            return NULL;
        }
        stream->series[shape->table->index] = series;
    }
    *ret_error = series_widen(series);
    if (*ret_error)
        return NULL;
    if (series->frame != store->frame)
        series_begin_sample(series, store->frame, store->mono_ns);
    return series;
}

static struct base *base_new(struct store *store, struct series *series, struct span name,
                             int *ret_error) {
    char text[INSTANCE_MAX + 1];
    int64_t host = store->stream->host, table = series->table->id, instance = 0;
    text_sanitize(text, sizeof text, name.data, name.size);
    int r = sql_get(store, SQL_INSTANCE_FIND, &instance, "iit", host, table, text);
    if (r == 0) {
        r = sql_run(store, SQL_INSTANCE_INSERT, "iit", host, table, text);
        instance = sqlite3_last_insert_rowid(store->db);
    }
    struct base *base = r < 0 ? NULL : series_add(series, instance, text, name.size);
    *ret_error = r < 0 ? r : base ? 0 : -ENOMEM;
    return base;
}

struct base *base_of(struct store *store, struct series *series, struct span name, int *ret_error) {
    struct base *base = series_find(series, name.data, name.size);
    *ret_error = 0;
    if (base || !instance_name_valid(name.data, name.size) || series->n >= STORE_INSTANCES_MAX)
        return base;
    return base_new(store, series, name, ret_error);
}

/* How long rows without a change are held back. */
static int64_t hold_most_ns(const struct series *series, const struct base *base) {
    int64_t twice = 2 * base->rested_ns;
    if (!series->table->rests || twice < IDLE_MAX_NS)
        return IDLE_MAX_NS;
    return twice < REST_MOST_NS ? twice : REST_MOST_NS;
}

static int store_sample(struct store *store, struct series *series, struct base *base,
                        struct shape *shape, const struct wire_row *row) {
    struct growth growth;
    bool again = base->frame == store->frame;
    if (again) { /* a second row of an instance in one frame */
        store->stream->dropped_rows++;
        return 0;
    }
    measure(series, base, shape, row, &growth);
    bool hold = growth.idle && series->sample_ns - base->stored_ns < hold_most_ns(series, base);
    int r = growth.idle ? 0 : flush_idle(store, store->stream, series, base, growth.still);
    if (growth.idle) /* the stretch continues, or ends with this row */
        growth.interval_ns = series->sample_ns - base->stored_ns;
    if (!r && growth.resets)
        r = sql_run(store, SQL_RESET_INSERT, "iii", store->frame, base->instance, growth.resets);
    if (!r && !hold)
        r = put_sample(store, store->stream, series, base, shape, store->frame, series->sample_ns,
                       growth.interval_ns, growth.values);
    base->idle = hold ? shape : NULL;
    if (!hold)
        base->rested_ns = growth.idle ? growth.interval_ns : 0;
    base->frame = store->frame;
    base->seen_ns = series->sample_ns;
    base->seen_sample = series->sample;
    if (!hold)
        base->stored_ns = series->sample_ns;
    return r;
}

static int store_event(struct store *store, struct series *series, struct base *base,
                       const struct shape *shape, const struct wire_row *row) {
    base->next_n = base->frame == store->frame ? base->next_n + 1 : 0;
    base->frame = store->frame;
    base->seen_ns = series->sample_ns;
    base->seen_sample = series->sample;
    return batch_add(store, shape, store->frame, base->instance, base->next_n, row->values);
}

int store_sampled(struct store *store, int64_t table_id) {
    int r = 0;
    struct shape *shape = shape_get(store, table_id);
    if (!shape || !store->stream)
        return -EINVAL;
    struct series *series = series_of(store, shape, &r);
    if (series && series->table->rests) /* all of them may be gone */
        series->dirty = true;
    return r;
}

int store_row(struct store *store, int64_t table_id, const struct table *table,
              const struct wire_row *row) {
    int r = 0;
    struct shape *shape = shape_get(store, table_id);
    if (!shape || !store->stream || shape->n_columns != table->n_columns)
        return -EINVAL;
    struct series *series = series_of(store, shape, &r);
    if (!series)
        return r;
    series->dirty = true;
    struct base *base = base_of(store, series, row->name, &r);
    if (!base && !r)
        store->stream->dropped_rows++;
    if (!base)
        return r;
    return shape->table->kind == TABLE_EVENTS ? store_event(store, series, base, shape, row)
                                              : store_sample(store, series, base, shape, row);
}
