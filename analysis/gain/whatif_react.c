/* SPDX-License-Identifier: MIT */
/*
 * Checks that a replay reacts. A replay that keeps every wait as long as it was reproduces any run,
 * and proves nothing. So no rank may spend a large part of its time in waits for nobody known; with
 * all ranks twice as fast, the replay must become shorter by as much as the critical path says; and
 * a change must have an effect if the path goes through it. Otherwise only the path's bound is
 * reported.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "analysis/evidence/flows.h"
#include "analysis/evidence/queues.h"
#include "analysis/gain/whatif_private.h"
#include "analysis/number.h"

/* ---- waits that stay as they were ---- */

/* Calls that need another rank, though the replay does not know which. */
static bool may_wait(const struct mpi_function *f) {
    switch (f->kind) {
    case MPI_KIND_RECV:
    case MPI_KIND_SENDRECV:
    case MPI_KIND_WAIT:
    case MPI_KIND_PROBE:
    case MPI_KIND_COLLECTIVE:
    case MPI_KIND_RMA_SYNC:
        return true;
    default:
        return f->need != MPI_NEED_NOBODY;
    }
}

static bool stays(const struct replay_op *op) {
    return op->ns >= CALL_SHORT_NS &&
           ((op->kind == REPLAY_FIXED && !op->n) || (op->kind == REPLAY_WAIT && !op->n));
}

/* The call that ends then, or NULL. Calls end in the order in which they begin, except between
 * threads.
 */
static const struct mpi_event *call_ending(const struct mpi_rank *rank, size_t *cursor,
                                           int64_t end_ns) {
    while (*cursor < rank->n && rank->events[*cursor].enter_ns < end_ns) {
        const struct mpi_event *e = &rank->events[(*cursor)++];
        if (e->exit_ns == end_ns && mpi_event_is_call(e))
            return e;
    }
    return NULL;
}

/* Adds the ns of the main phase in which rank r waits for nobody known, by function of the log. */
static void add_frozen(const struct whatif *w, size_t r, double *frozen_ns) {
    const struct mpi_log *log = &w->model->recording->calls;
    const struct replay_rank *rank = &w->replay->ranks[r];
    size_t cursor = 0;
    for (size_t i = 0; i < rank->n; i++) {
        const struct replay_op *op = &rank->ops[i];
        const struct mpi_event *e =
            stays(op) ? call_ending(&log->ranks[r], &cursor, op->end_ns) : NULL;
        if (e && may_wait(mpi_event_function(log, e)) && whatif_in_group(w, op->end_ns))
            frozen_ns[e->function] += (double)op->ns;
    }
}

/* ret_function: the function with the largest part. */
static double frozen_part(const struct whatif *w, size_t r, double *frozen_ns,
                          size_t *ret_function) {
    size_t n = w->model->recording->calls.n_functions, most = 0;
    double all = 0;
    for (size_t f = 0; f < n; f++)
        frozen_ns[f] = 0;
    add_frozen(w, r, frozen_ns);
    for (size_t f = 0; f < n; f++) {
        all += frozen_ns[f];
        most = frozen_ns[f] > frozen_ns[most] ? f : most;
    }
    *ret_function = most;
    return all / (1e9 * w->measured_s);
}

static int refuse_frozen(struct whatif *w) {
    const struct mpi_log *log = &w->model->recording->calls;
    double *frozen_ns = calloc(log->n_functions + 1, sizeof *frozen_ns);
    if (!frozen_ns)
        return -ENOMEM;
    for (size_t r = 0; r < w->replay->n_ranks; r++) {
        size_t function;
        double part = frozen_part(w, r, frozen_ns, &function);
        if (part < WHATIF_REACT_MIN || part * w->measured_s <= w->frozen_s)
            continue;
        w->refused = (struct refusal){REFUSAL_RANK_UNTOLD,
                                      .numbers = {w->replay->ranks[r].number, 100 * part},
                                      .call = log->names[function]};
        w->frozen_s = part * w->measured_s;
    }
    free(frozen_ns);
    return 0;
}

/* ---- all ranks twice as fast ---- */

/* The share of time that the critical path spends computing, or with anything else between calls.
 */
static double computing_part(const struct whatif *w) {
    const struct critical_part *part = &w->model->critical.groups[w->model->main_group];
    double sum = 0;
    for (size_t h = 0; h < w->model->n_hosts; h++)
        sum += critical_seconds(part, (int)h, BUDGET_CPU);
    return part->length_s > 0 ? sum / part->length_s : 0;
}

/* The length of the main phase after a change. */
static int changed_s(const struct whatif *w, const struct replay_change *change, double *ret_s) {
    int64_t *times = malloc((w->n_times + 1) * sizeof *times);
    if (!times)
        return -ENOMEM;
    int result = replay_run(w->replay, change, w->reference, w->times, w->n_times, times);
    *ret_s = result == 0 ? whatif_group_s(w, times) : NAN;
    free(times);
    return result;
}

static int twice_as_fast(const struct whatif *w, double *ret_gain) {
    struct replay_change change;
    double s;
    int result = whatif_change_init(w, &change);
    if (result < 0)
        return result;
    for (size_t r = 0; r < w->replay->n_ranks; r++)
        change.speed[r] = 2;
    result = changed_s(w, &change, &s);
    *ret_gain = 1 - s / w->replay_s;
    whatif_change_release(&change);
    return result;
}

int whatif_react(struct whatif *w) {
    int result = refuse_frozen(w);
    double most = computing_part(w) / 2, gain = 0;
    if (result < 0 || w->refused.code || most < WHATIF_REACT_MIN)
        return result;
    result = twice_as_fast(w, &gain);
    if (result < 0) {
        w->refused = whatif_why_not(result);
        return w->refused.code ? 0 : result;
    }
    if (gain < number_of(w->model, PATH_PART) * most)
        w->refused.code = REFUSAL_NO_REACTION;
    return 0;
}

/* ---- what is asked about ---- */

static bool gains_hardly(const struct run_model *model, const struct whatif_answer *a) {
    return a->replayed && a->gain < number_of(model, PATH_PART) * a->gain_max;
}

/* Whether the host (any host if none is named) throttles what it sends to a configured rate. */
static bool holds_back(const struct whatif *w, int host) {
    for (int h = 0; h < (int)w->model->n_hosts; h++) {
        if (host >= 0 && host != h)
            continue;
        struct queues queues = link_queues(w->model, w->model->main_group, h);
        if (queues.sent_mb_s >= number_of(w->model, NETWORK_HELD_MIN) * queues.rate_mb_s &&
            link_held_mb_s(&queues) >= number_of(w->model, NETWORK_HELD_TOLD) * queues.rate_mb_s)
            return true;
    }
    return false;
}

/* Transfers on the path may be slow for other reasons than the link, but a rank's own work must
 * react.
 */
static bool must_react(const struct whatif *w, const struct whatif_scenario *s,
                       const struct whatif_answer *a) {
    switch (s->kind) {
    case WHATIF_LINK:
        return whatif_asked_most(w, s) > 1 && holds_back(w, s->host);
    case WHATIF_CPU:
    case WHATIF_DISK:
    case WHATIF_RANK:
    case WHATIF_WITHOUT:
        return a->gain_max >= WHATIF_REACT_MIN;
    default:
        return false;
    }
}

static void refuse(struct whatif_answer *a, enum refusal_code code) {
    a->refused.code = code;
    a->replayed = false;
    a->predicted_s = a->calls_s = a->low_s = a->high_s = NAN;
    a->gain = a->gain_low = a->gain_high = NAN;
}

/* Whether neither that link nor all links together would gain much. */
static int links_hardly_gain(const struct whatif *w, const struct whatif_scenario *s,
                             const struct whatif_answer *a, bool *ret_hardly) {
    struct whatif_scenario all = {.kind = WHATIF_LINK,
                                  .host = -1,
                                  .direction = WHATIF_BOTH,
                                  .factor = whatif_asked_most(w, s)};
    struct whatif_answer of_all = *a;
    int result = whatif_predict(w, &all, 1, &of_all);
    *ret_hardly = gains_hardly(w->model, &of_all);
    return result;
}

#define NO_MATTER 1000 /* times as fast: then nobody waits for them */

static bool is_another(const struct whatif_scenario *s, const struct replay_rank *rank) {
    return s->kind == WHATIF_RANK ? rank->number != s->rank : s->host >= 0 && rank->host != s->host;
}

/* The length after the change that speeds all others up, which is the same for all questions about
 * that rank, or that host, and is kept.
 */
static int alone_s(const struct whatif *whatif, const struct whatif_scenario *s,
                   const struct replay_change *change, double *ret_s) {
    struct whatif *w = (struct whatif *)whatif; /* remembers */
    struct whatif_alone alone = {s->kind == WHATIF_RANK ? WHATIF_RANK : WHATIF_CPU,
                                 s->kind == WHATIF_RANK ? s->rank : s->host, NAN};
    for (size_t i = 0; i < w->n_alone; i++)
        if (w->alone[i].kind == alone.kind && w->alone[i].which == alone.which) {
            *ret_s = w->alone[i].s;
            return 0;
        }
    struct whatif_alone *more = reallocarray(w->alone, w->n_alone + 1, sizeof *more);
    if (!more)
        return -ENOMEM;
    w->alone = more;
    int result = changed_s(w, change, &alone.s);
    if (result == 0)
        w->alone[w->n_alone++] = alone;
    *ret_s = alone.s;
    return result;
}

/* Whether faster ranks would gain little, with all others so fast that nobody waits for them, since
 * those may have taken equally long at the same time.
 */
static int ranks_hardly_gain(const struct whatif *w, const struct whatif_scenario *s,
                             const struct whatif_answer *a, bool *ret_hardly) {
    struct replay_change change;
    double before_s = NAN, after_s = NAN;
    int result = whatif_change_init(w, &change);
    if (result < 0)
        return result;
    for (size_t r = 0; r < w->replay->n_ranks; r++)
        if (is_another(s, &w->replay->ranks[r]))
            change.speed[r] = NO_MATTER;
    result = alone_s(w, s, &change, &before_s);
    if (result == 0)
        result = whatif_change_add(w, s, &change);
    if (result == 0)
        result = changed_s(w, &change, &after_s);
    *ret_hardly = result == 0 &&
                  (before_s - after_s) / w->replay_s < number_of(w->model, PATH_PART) * a->gain_max;
    whatif_change_release(&change);
    return whatif_why_not(result).code ? 0 : result;
}

int whatif_doubt(const struct whatif *w, const struct whatif_scenario *s, struct whatif_answer *a) {
    bool link = s->kind == WHATIF_LINK, hardly;
    if (!gains_hardly(w->model, a) || !must_react(w, s, a))
        return 0;
    int result = (link ? links_hardly_gain : ranks_hardly_gain)(w, s, a, &hardly);
    if (result == 0 && hardly)
        refuse(a, link ? REFUSAL_NO_LINK_WAITS : REFUSAL_PATH_STAYS);
    return result;
}

/* ---- bounds ---- */

/* If no replay reproduces the run, the time that the path cannot explain may vanish, too: waits for
 * nobody known, and sleep.
 */
static double unexplained_s(const struct whatif *w) {
    const struct critical_part *part = &w->model->critical.groups[w->model->main_group];
    double sum = 0;
    for (size_t h = 0; h < w->model->n_hosts; h++)
        sum += critical_seconds(part, (int)h, BUDGET_IDLE) +
               critical_seconds(part, (int)h, BUDGET_PEER_WAIT) +
               critical_seconds(part, (int)h, BUDGET_UNSPLIT);
    return fmax(sum, w->frozen_s);
}

/* No answer is faster than the bound. NAN stays where nothing answers. */
static void hold_to(double least_s, struct whatif_answer *a) {
    a->bound_s = fmax(a->bound_s, least_s);
    if (isnan(a->predicted_s) || a->low_s >= least_s)
        return;
    a->predicted_s = fmax(a->predicted_s, least_s);
    a->low_s = fmax(a->low_s, least_s);
    a->high_s = fmax(a->high_s, a->predicted_s);
    a->gain = 1 - a->predicted_s / a->measured_s;
    a->gain_low = 1 - a->high_s / a->measured_s;
    a->gain_high = 1 - a->low_s / a->measured_s;
}

void whatif_sure_bound(const struct whatif *w, double least_s, struct whatif_answer *a) {
    if (w->model->critical.source != CRITICAL_FROM_EVENTS)
        a->bound_s = NAN;
    else if (!a->replayed)
        a->bound_s = isnan(a->bound_s) ? NAN : fmax(a->bound_s - unexplained_s(w), 0);
    if (least_s > 0)
        hold_to(least_s, a);
    a->gain_max = a->measured_s > 0 ? 1 - a->bound_s / a->measured_s : NAN;
}
