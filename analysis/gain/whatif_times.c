/* SPDX-License-Identifier: MIT */
/* Times of the main phase, measured and replayed. */
#include <stdlib.h>

#include "analysis/facts/series/times.h"
#include "analysis/gain/whatif_private.h"
#include "analysis/run_model.h"

bool whatif_in_group(const struct whatif *w, int64_t t_ns) {
    struct windows windows = phase_windows(&w->model->groups[w->model->main_group]);
    if (w->replay->part)
        return t_ns > w->replay->begin_ns && t_ns <= w->replay->end_ns;
    for (size_t i = 0; i < windows.n; i++)
        if (t_ns > windows.items[i].begin_ns && t_ns <= windows.items[i].end_ns)
            return true;
    return false;
}

bool whatif_is_replayed(const struct whatif *w, struct window x) {
    return !w->replay->part || (x.begin_ns >= w->replay->begin_ns && x.end_ns <= w->replay->end_ns);
}

static int64_t replayed_at(const struct whatif *w, const int64_t *replayed, int64_t t) {
    const int64_t *at = bsearch(&t, w->times, w->n_times, sizeof t, times_compare);
    return at ? replayed[at - w->times] : t;
}

double whatif_length_s(const struct whatif *w, const int64_t *replayed, struct window x) {
    return (double)(replayed_at(w, replayed, x.end_ns) - replayed_at(w, replayed, x.begin_ns)) /
           1e9;
}

double whatif_group_s(const struct whatif *w, const int64_t *replayed) {
    struct windows group = phase_windows(&w->model->groups[w->model->main_group]);
    const struct critical_path *path = &w->model->critical;
    double sum = 0;
    for (size_t i = 0; !w->replay->part && i < group.n; i++)
        sum += whatif_length_s(w, replayed, group.items[i]);
    for (size_t i = 0; w->replay->part && i < path->n_blocks; i++)
        if (whatif_is_replayed(w, path->block_windows[i]))
            sum += whatif_length_s(w, replayed, path->block_windows[i]);
    return sum;
}
