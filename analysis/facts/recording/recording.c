/* SPDX-License-Identifier: MIT */
#include "analysis/facts/recording/recording.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "common/clock.h"
#include "common/error.h"

#define TABLE(ID, name, instance, kind, help) static const char *const names_of_##ID[] = {
#define COLUMN(ID, name, unit, kind, help) name,
#define END(ID)                                                                                    \
    }                                                                                              \
    ;
#include "tables/tables.def"

const struct recording_columns recording_columns[RECORDING_COUNT_] = {
#define TABLE(ID, name, instance, kind, help)                                                      \
    [RECORDING_##ID] = {name, names_of_##ID, ID##_COLUMNS_READ},
#include "tables/tables.def"
};

static uint64_t levels_of(const struct table *table) {
    uint64_t levels = 0;
    for (size_t c = 0; c < table->n_columns; c++)
        levels |= (uint64_t)(table->columns[c].kind == COLUMN_LEVEL) << c;
    return levels;
}

void recording_init(struct recording *recording) {
    *recording = (struct recording){.exit_status = -1};
    for (size_t i = 0; i < RECORDING_COUNT_; i++)
        recording->tables[i] = (struct series_set){.n_columns = recording_columns[i].n,
                                                   .levels = levels_of(&all_tables[i]),
                                                   .keys = key_form_of((enum table_id)i)};
}

int64_t recording_step_ns(uint64_t n, uint64_t max, int64_t period_ns) {
    static const int64_t digits[] = {2, 5, 10};
    if (n <= max || period_ns <= 0)
        return 0;
    for (int64_t ten = 1; ten < 1000000; ten *= 10)
        for (size_t i = 0; i < ARRAY_SIZE(digits); i++)
            if (n / (uint64_t)(digits[i] * ten) <= max)
                return digits[i] * ten * period_ns;
    return 10 * NS_PER_S;
}

void recording_release(struct recording *recording) {
    for (size_t i = 0; i < RECORDING_COUNT_; i++)
        series_set_release(&recording->tables[i]);
    for (size_t i = 0; i < recording->n_hosts; i++)
        free(recording->hosts[i]);
    free(recording->hosts);
    free(recording->marks);
    free(recording->clock_bound_ns);
    free(recording->machines);
    mpi_log_release(&recording->calls);
    free(recording->ceilings);
    recording_init(recording);
}

int recording_add_mark(struct recording *recording, const struct mark *mark) {
    if (recording->n_marks == recording->marks_capacity) {
        size_t capacity = recording->marks_capacity ? 2 * recording->marks_capacity : 64;
        struct mark *marks = realloc(recording->marks, capacity * sizeof *marks);
        if (!marks)
            return -ENOMEM;
        recording->marks = marks;
        recording->marks_capacity = capacity;
    }
    recording->marks[recording->n_marks++] = *mark;
    return 0;
}

int recording_add_ceiling(struct recording *recording, int host, enum metric metric, double value) {
    size_t n = recording->n_hosts * METRIC_COUNT_;
    if (!recording->ceilings) {
        recording->ceilings = calloc(n, sizeof *recording->ceilings);
        if (!recording->ceilings)
            return -ENOMEM;
        for (size_t i = 0; i < n; i++)
            recording->ceilings[i] = NAN;
    }
    double *ceiling = &recording->ceilings[(size_t)host * METRIC_COUNT_ + metric];
    *ceiling = fmax(*ceiling, value); /* fmax ignores NAN */
    return 0;
}

/* The agent has only a group's user and system time. */
bool recording_counts_group(const struct recording *recording, int host) {
    const struct series_set *set = &recording->tables[RECORDING_CPU];
    for (size_t s = 0; s < set->n; s++)
        if (set->items[s].host == host &&
            series_last(set, &set->items[s], CPU_NICE) != VALUE_ABSENT)
            return false;
    return true;
}

double recording_ceiling(const struct recording *recording, int host, enum metric metric) {
    return recording->ceilings ? recording->ceilings[(size_t)host * METRIC_COUNT_ + metric] : NAN;
}
