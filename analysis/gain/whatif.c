/* SPDX-License-Identifier: MIT */
#include "analysis/gain/whatif.h"
#include "analysis/facts/series/times.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "analysis/gain/sweep.h"
#include "analysis/gain/throughput.h"
#include "analysis/gain/whatif_private.h"
#include "analysis/run_model.h"

/* ---- the times that are asked for ---- */

static int collect_times(struct whatif *w) {
    struct windows group = phase_windows(&w->model->groups[w->model->main_group]);
    const struct critical_path *path = &w->model->critical;
    size_t room = 2 * (group.n + path->n_blocks) + 3;
    w->times = malloc(room * sizeof *w->times);
    w->replayed = malloc(room * sizeof *w->replayed);
    if (!w->times || !w->replayed)
        return -ENOMEM;
    for (size_t i = 0; i < group.n; i++) {
        w->times[w->n_times++] = group.items[i].begin_ns;
        w->times[w->n_times++] = group.items[i].end_ns;
    }
    for (size_t i = 0; i < path->n_blocks; i++) {
        w->times[w->n_times++] = path->block_windows[i].begin_ns;
        w->times[w->n_times++] = path->block_windows[i].end_ns;
    }
    qsort(w->times, w->n_times, sizeof *w->times, times_compare);
    return 0;
}

/* ---- who is who ---- */

static size_t rank_of(const struct replay *p, int host, int64_t pid) {
    for (size_t r = 0; r < p->n_ranks; r++)
        if (p->ranks[r].host == host && p->ranks[r].pid == pid && p->ranks[r].n)
            return r;
    return SIZE_MAX;
}

static int find_roles(struct whatif *w) {
    const struct iterations *its = &w->model->iterations;
    const struct replay *p = w->replay;
    w->roles = malloc((p->n_ranks + 1) * sizeof *w->roles);
    if (!w->roles)
        return -ENOMEM;
    for (size_t r = 0; r < p->n_ranks; r++)
        w->roles[r] = -1;
    w->reference = SIZE_MAX;
    for (size_t i = 0; i < its->n; i++) {
        size_t r = rank_of(p, its->ranks[i].host, its->ranks[i].pid);
        if (r == SIZE_MAX)
            continue;
        w->roles[r] = its->ranks[i].role;
        w->reference = w->reference == SIZE_MAX ? r : w->reference;
    }
    for (size_t r = 0; w->reference == SIZE_MAX && r < p->n_ranks; r++)
        w->reference = p->ranks[r].n ? r : w->reference;
    return 0;
}

/* Finds the rank that takes part in all messages. */
static void find_server_rank(struct whatif *w) {
    const struct replay *p = w->replay;
    size_t a = p->n_messages ? p->messages[0].from : SIZE_MAX;
    size_t b = p->n_messages ? p->messages[0].to : SIZE_MAX;
    for (size_t i = 1; i < p->n_messages; i++) {
        size_t from = p->messages[i].from, to = p->messages[i].to;
        a = a == from || a == to ? a : SIZE_MAX;
        b = b == from || b == to ? b : SIZE_MAX;
    }
    bool star = p->n_ranks > 2 && (a == SIZE_MAX) != (b == SIZE_MAX);
    w->server_rank = star ? (a == SIZE_MAX ? b : a) : SIZE_MAX;
    w->n_workers = (double)p->n_ranks - 1;
}

/* ---- as measured ---- */

static void judge_replay(struct whatif *w) {
    double off = w->measured_s > 0 ? w->replay_s / w->measured_s - 1 : NAN;
    if (!(fabs(off) <= WHATIF_REPLAY_TOLERANCE))
        w->refused =
            (struct refusal){.code = REFUSAL_UNLIKE_RUN, .numbers = {w->replay_s, w->measured_s}};
}

static int replay_with(struct whatif *w, double factor, double *ret_s) {
    replay_scale(w->replay, factor / w->scale);
    w->scale = factor;
    int result = replay_run(w->replay, NULL, w->reference, w->times, w->n_times, w->replayed);
    *ret_s = whatif_group_s(w, w->replayed);
    return result;
}

#define SCALE_MAX 1.2
#define SCALE_TRIES 4

static double within_scale(double factor) {
    return fmin(fmax(factor, 1 / SCALE_MAX), SCALE_MAX);
}

/* Links carry less than they can while messages begin and end, and shapers pass bursts, so the
 * rates are scaled, by at most a fifth, until the replay takes as long as the run did. The time is
 * about a + b / rate, so two tries give a third.
 */
static int calibrate(struct whatif *w) {
    double s, before_s = NAN, before = 1;
    w->measured_s = whatif_group_s(w, w->times);
    w->scale = 1;
    int result = replay_with(w, 1, &s);
    for (int i = 0;
         result == 0 && i < SCALE_TRIES && fabs(s / w->measured_s - 1) > WHATIF_CALIBRATED; i++) {
        double b = (before_s - s) / (1 / before - 1 / w->scale);
        double a = s - b / w->scale;
        double next = isfinite(b) && b > 0 && w->measured_s > a ? b / (w->measured_s - a)
                                                                : w->scale * s / w->measured_s;
        next = within_scale(next);
        if (fabs(next - w->scale) < 1e-6)
            break;
        before_s = s;
        before = w->scale;
        result = replay_with(w, next, &s);
    }
    w->replay_s = s;
    return result;
}

static int prepare(struct whatif *w) {
    if (throughput_counts(w->model, w->model->main_group)) {
        w->refused.code = REFUSAL_RANKS_FREE;
        return 0;
    }
    w->refused = replay_refusal(w->model);
    if (w->refused.code)
        return 0;
    int result = replay_new(w->model, &w->replay);
    if (result < 0)
        return result;
    result = find_roles(w);
    if (result == 0)
        result = collect_times(w);
    if (result < 0)
        return result;
    find_server_rank(w);
    if (w->reference == SIZE_MAX) {
        w->refused.code = REFUSAL_NO_RANK;
        return 0;
    }
    result = calibrate(w);
    w->refused = whatif_why_not(result);
    if (result == 0)
        judge_replay(w);
    if (result == 0 && !w->refused.code)
        result = whatif_react(w);
    return w->refused.code ? 0 : result;
}

int whatif_new(const struct run_model *model, struct whatif **ret_whatif) {
    struct whatif *w = calloc(1, sizeof *w);
    if (!w)
        return -ENOMEM;
    w->model = model;
    w->replay_s = NAN;
    w->server_rank = SIZE_MAX;
    *ret_whatif = w;
    return 0;
}

int whatif_prepare(const struct whatif *whatif) {
    struct whatif *w = (struct whatif *)whatif; /* made at the first question, then kept */
    if (!w->prepared)
        w->failed = prepare(w);
    w->prepared = true;
    return w->failed;
}

void whatif_tell(struct whatif *w, const struct whatif_told *told) {
    free(w->told.links);
    free(w->told.processes);
    whatif_sweep_free(w->sweep);
    w->sweep = NULL;
    w->told = *told;
}

void whatif_free(struct whatif *w) {
    if (!w)
        return;
    replay_free(w->replay);
    whatif_sweep_free(w->sweep);
    free(w->told.links);
    free(w->told.processes);
    free(w->roles);
    free(w->times);
    free(w->replayed);
    free(w->alone);
    free(w);
}
