/* SPDX-License-Identifier: MIT */
/* Random tables, rows and frames from a seed: the planted truth of tests of the byte form. */
#ifndef CHOKEPOINT_TESTS_RANDOM_FRAMES_H
#define CHOKEPOINT_TESTS_RANDOM_FRAMES_H

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "common/rows.h"
#include "common/wire.h"

static inline uint64_t random_next(uint64_t *state) { /* splitmix64 */
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

static inline uint64_t random_below(uint64_t *state, uint64_t n) {
    return random_next(state) % n;
}

/* Values of every varint length, and extreme values. */
static inline int64_t random_value(uint64_t *state) {
    static const int64_t edges[] = {0,   1,    -1,    63,        -64,       64,
                                    -65, 8191, -8192, INT64_MAX, INT64_MIN, INT64_MIN + 1};
    if (random_below(state, 4) == 0)
        return edges[random_below(state, sizeof edges / sizeof *edges)];
    return (int64_t)random_next(state) >> random_below(state, 64);
}

struct random_table {
    struct table table;
    struct column columns[TABLE_COLUMNS_MAX];
    char names[TABLE_COLUMNS_MAX][TABLE_NAME_MAX + 1];
    char name[TABLE_NAME_MAX + 1];
};

static inline void random_table_fill(uint64_t *state, unsigned index, size_t max_columns,
                                     struct random_table *t) {
    static const char *const helps[] = {"", "a line", "with \xc3\xa9 and \xe2\x82\xac"};
    size_t n = 1 + random_below(state, max_columns);
    for (size_t i = 0; i < n; i++) {
        snprintf(t->names[i], sizeof t->names[i], "c%zu_%x", i,
                 (unsigned)random_below(state, 1 << 16));
        t->columns[i] = (struct column){t->names[i], (enum unit)random_below(state, UNIT_COUNT_),
                                        (enum column_kind)random_below(state, COLUMN_COUNT_),
                                        helps[random_below(state, 3)]};
    }
    snprintf(t->name, sizeof t->name, "table_%u", index);
    t->table = (struct table){.name = t->name,
                              .instance = "thing",
                              .help = helps[random_below(state, 3)],
                              .kind = (enum table_kind)random_below(state, TABLE_COUNT_),
                              .columns = t->columns,
                              .n_columns = n};
}

static inline void random_rows_fill(uint64_t *state, struct rows *rows) {
    static const char *const words[] = {"cpu0", "a b", "\xc3\xa9t\xc3\xa9", "x", "eth0.100@if7"};
    rows_reset(rows);
    size_t n = random_below(state, rows->capacity + 1);
    for (size_t i = 0; i < n; i++) {
        char name[INSTANCE_MAX + 1];
        int size = random_below(state, 20)
                       ? snprintf(name, sizeof name, "%s", words[random_below(state, 5)])
                       : snprintf(name, sizeof name, "%0*d", INSTANCE_MAX, 7);
        struct row *row = rows_append(rows, name, (size_t)size);
        row->flags = (uint8_t)random_below(state, 2);
        for (size_t c = 0; c < rows->table->n_columns; c++)
            row->values[c] = random_value(state);
    }
}

static inline struct frame_head random_head(uint64_t *state, uint64_t seq) {
    return (struct frame_head){.seq = seq,
                               .wall_ns = (int64_t)(random_next(state) >> 1),
                               .mono_ns = (int64_t)(random_next(state) >> 1),
                               .slot_ns = random_value(state),
                               .late_ns = random_value(state),
                               .missed = random_next(state) >> (1 + random_below(state, 63)),
                               .lost = random_next(state) >> (1 + random_below(state, 63))};
}

#endif
