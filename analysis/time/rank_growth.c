/* SPDX-License-Identifier: MIT */
/* How much counters of a process, and of its host, grew in windows of time. */
#include <math.h>

#include "analysis/time/rank_counters_private.h"

double counters_growth(const struct source *s, size_t column, struct windows w) {
    return series_last(s->set, s->series, column) != VALUE_ABSENT
               ? series_growth(s->set, s->series, column, w, NULL)
               : NAN;
}

double counters_cpu(const struct source *s, struct windows w) {
    double sum = 0;
    for (size_t c = 0; c < s->set->n_columns; c++)
        if (s->cpu >> c & 1)
            sum += counters_growth(s, c, w);
    return sum;
}

double counters_of_host(const struct process_part *p, enum recording_table table, size_t column,
                        struct windows w) {
    const struct series_set *set = &p->model->recording->tables[table];
    double sum = 0;
    for (size_t s = p->at[table].begin; s < p->at[table].end; s++)
        if (set->items[s].host == p->host)
            sum += series_growth(set, &set->items[s], column, w, NULL);
    return sum;
}

struct windows counters_around(const struct window *w, struct window *ret_wide) {
    int64_t length = w->end_ns - w->begin_ns;
    *ret_wide = (struct window){w->begin_ns - length, w->end_ns + length};
    return (struct windows){ret_wide, 1};
}
