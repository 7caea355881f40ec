/* SPDX-License-Identifier: MIT */
/*
 * The last state of every instance of a table in a stream. Rows come in nearly the same order in
 * every sample, so the item after the one found last is tried before the hash.
 */
#include "collector/store_private.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define SAMPLES_REMEMBERED 600 /* an instance that so many samples lack is forgotten */

static uint32_t hash_name(const char *name, size_t size) {
    uint64_t h = UINT64_C(0xcbf29ce484222325);
    for (size_t i = 0; i < size; i++)
        h = (h ^ (uint8_t)name[i]) * UINT64_C(0x100000001b3);
    return (uint32_t)(h ^ (h >> 32));
}

struct series *series_new(struct data_table *table) {
    struct series *series = calloc(1, sizeof *series);
    if (!series)
        return NULL;
    series->table = table;
    series->stride = table->n_columns;
    series->sample_ns = series->previous_ns = VALUE_ABSENT;
    return series;
}

void series_free(struct series *series) {
    if (!series)
        return;
    free(series->items);
    free(series->values);
    free(series->slots);
    free(series->joined);
    free(series->joined_values);
    free(series);
}

void series_clear(struct series *series) {
    joined_clear(series);
    series->n = 0;
    series->guess = 0;
    series->sample = 0;
    series->sample_ns = series->previous_ns = VALUE_ABSENT;
    if (series->n_slots)
        memset(series->slots, 0, series->n_slots * sizeof *series->slots);
}

void series_begin_sample(struct series *series, int64_t frame, int64_t mono_ns) {
    series->frame = frame;
    series->previous_ns = series->sample_ns;
    series->sample_ns = mono_ns;
    series->sample++;
    series->guess = 0;
}

static bool base_is(const struct base *base, const char *name, size_t size) {
    return memcmp(base->name, name, size) == 0 && base->name[size] == '\0';
}

struct base *series_find(struct series *series, const char *name, size_t size) {
    if (size > INSTANCE_MAX || series->n_slots == 0)
        return NULL;
    size_t guess = series->guess;
    if (guess < series->n && base_is(&series->items[guess], name, size)) {
        series->guess = guess + 1;
        return &series->items[guess];
    }
    uint32_t hash = hash_name(name, size);
    for (size_t i = hash;; i++) {
        uint32_t slot = series->slots[i & (series->n_slots - 1)];
        if (!slot)
            return NULL;
        struct base *base = &series->items[slot - 1];
        if (base->hash == hash && base_is(base, name, size)) {
            series->guess = slot;
            return base;
        }
    }
}

static void slot_put(struct series *series, size_t item) {
    size_t i = series->items[item].hash;
    while (series->slots[i & (series->n_slots - 1)])
        i++;
    series->slots[i & (series->n_slots - 1)] = (uint32_t)(item + 1);
}

static void rebuild_slots(struct series *series) {
    memset(series->slots, 0, series->n_slots * sizeof *series->slots);
    for (size_t i = 0; i < series->n; i++)
        slot_put(series, i);
}

/* Twice as many slots as items. */
static bool grow_series(struct series *series) {
    size_t capacity = series->capacity ? series->capacity * 2 : 16;
    struct base *items = realloc(series->items, capacity * sizeof *items);
    if (items)
        series->items = items;
    int64_t *values = realloc(series->values, capacity * series->stride * sizeof *values);
    if (values)
        series->values = values;
    uint32_t *slots = realloc(series->slots, 2 * capacity * sizeof *slots);
    if (slots)
        series->slots = slots;
    if (!items || !values || !slots)
        return false;
    series->capacity = capacity;
    series->n_slots = 2 * capacity;
    rebuild_slots(series);
    return true;
}

struct base *series_add(struct series *series, int64_t instance, const char *name, size_t size) {
    if (series->n == series->capacity && !grow_series(series))
        return NULL;
    size_t item = series->n++;
    struct base *base = &series->items[item];
    *base = (struct base){.instance = instance,
                          .seen_ns = VALUE_ABSENT,
                          .stored_ns = VALUE_ABSENT,
                          .hash = hash_name(name, size)};
    memcpy(base->name, name, size);
    slot_put(series, item);
    series->guess = item + 1;
    int64_t *values = series_values(series, base);
    for (size_t i = 0; i < series->stride; i++)
        values[i] = VALUE_ABSENT;
    return base;
}

/* A copy of n rows with room for `capacity`; added columns are absent. */
static int64_t *widened(const int64_t *values, size_t n, size_t capacity, size_t from, size_t to) {
    int64_t *wide = malloc((capacity ? capacity : 1) * to * sizeof *wide);
    for (size_t i = 0; wide && i < n; i++)
        for (size_t c = 0; c < to; c++)
            wide[i * to + c] = c < from ? values[i * from + c] : VALUE_ABSENT;
    return wide;
}

int series_widen(struct series *series) {
    size_t from = series->stride, to = series->table->n_columns;
    if (from == to)
        return 0;
    int64_t *values = widened(series->values, series->n, series->capacity, from, to);
    int64_t *joined =
        widened(series->joined_values, series->n_joined, series->joined_capacity, from, to);
    if (!values || !joined) {
        free(values);
        free(joined);
        return -ENOMEM;
    }
    free(series->values);
    free(series->joined_values);
    series->values = values;
    series->joined_values = joined;
    series->stride = to;
    return 0;
}

void series_prune(struct series *series) {
    size_t kept = 0;
    for (size_t i = 0; i < series->n; i++) {
        if (series->sample - series->items[i].seen_sample > SAMPLES_REMEMBERED)
            continue;
        if (kept != i) {
            series->items[kept] = series->items[i];
            memcpy(series->values + kept * series->stride, series->values + i * series->stride,
                   series->stride * sizeof *series->values);
        }
        kept++;
    }
    if (kept == series->n)
        return;
    series->n = kept;
    series->guess = 0;
    rebuild_slots(series);
}
