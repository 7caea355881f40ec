/* SPDX-License-Identifier: MIT */
/* Packs the values of series column by column. Most columns of a host change little or not at all:
 * each takes as many bytes a row as its largest value is above its least.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/facts/series/series.h"

/* The bytes of a code for a column with values from least to most, of which some may be absent. */
static uint8_t width_of(int64_t least, int64_t most, bool some_absent) {
    uint64_t codes = (uint64_t)most - (uint64_t)least;
    if (codes == 0 && !some_absent)
        return 0;
    return codes < UINT8_MAX ? 1 : codes < UINT16_MAX ? 2 : codes < UINT32_MAX ? 4 : 8;
}

static struct series_column plan(const struct series_set *set, const struct series *series,
                                 size_t column) {
    int64_t least = INT64_MAX, most = INT64_MIN;
    size_t known = 0;
    for (size_t row = 0; row < series->n; row++) {
        int64_t value = series->values[row * set->n_columns + column];
        if (value == VALUE_ABSENT)
            continue;
        known++;
        least = value < least ? value : least;
        most = value > most ? value : most;
    }
    if (!known)
        return (struct series_column){.base = VALUE_ABSENT};
    return (struct series_column){.base = least, .width = width_of(least, most, known < series->n)};
}

static void put_codes(const struct series_set *set, const struct series *series, size_t column,
                      const struct series_column *c, uint8_t *to) {
    for (size_t row = 0; row < series->n; row++) {
        int64_t value = series->values[row * set->n_columns + column];
        uint64_t code = c->width == 8           ? (uint64_t)value
                        : value == VALUE_ABSENT ? 0
                                                : (uint64_t)value - (uint64_t)c->base + 1;
        switch (c->width) {
        case 1:
            to[row] = (uint8_t)code;
            break;
        case 2:
            ((uint16_t *)(void *)to)[row] = (uint16_t)code;
            break;
        case 4:
            ((uint32_t *)(void *)to)[row] = (uint32_t)code;
            break;
        default:
            ((uint64_t *)(void *)to)[row] = code;
        }
    }
}

/* Bytes of a column's codes, so that the next column's are aligned. */
static size_t room_of(const struct series_column *c, size_t n) {
    return (c->width * n + 7) / 8 * 8;
}

static void fit(int64_t **times, size_t n) {
    int64_t *moved = realloc(*times, (n + 1) * sizeof **times);
    if (moved)
        *times = moved;
}

static int pack(const struct series_set *set, struct series *series) {
    size_t head = set->n_columns * sizeof *series->columns, room = head;
    struct series_column *columns = malloc(head + 1);
    if (!columns)
        return -ENOMEM;
    for (size_t c = 0; c < set->n_columns; c++) {
        columns[c] = plan(set, series, c);
        columns[c].at = room;
        room += room_of(&columns[c], series->n);
    }
    struct series_column *all = realloc(columns, room + 1);
    if (!all) {
        free(columns);
        return -ENOMEM;
    }
    for (size_t c = 0; c < set->n_columns; c++)
        if (all[c].width)
            put_codes(set, series, c, &all[c], (uint8_t *)all + all[c].at);
    free(series->values);
    series->values = NULL;
    series->columns = all;
    series->capacity = series->n;
    fit(&series->t_ns, series->n);
    fit(&series->interval_ns, series->n);
    return 0;
}

int series_set_pack(struct series_set *set) {
    int result = 0;
    for (size_t i = 0; result == 0 && i < set->n; i++)
        if (set->items[i].values && set->items[i].n)
            result = pack(set, &set->items[i]);
    return result;
}
