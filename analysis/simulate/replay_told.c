/* SPDX-License-Identifier: MIT */
/*
 * Tells whether the recorded calls suffice for a replay. If it is not known for whom ranks wait, a
 * replay that keeps the waits as they were reproduces any run and reacts to no change. So this file
 * names the kinds of waiting that a replay cannot follow.
 */
#include <string.h>

#include "analysis/run_model.h"
#include "analysis/simulate/replay_private.h"
#include "common/error.h"

#define UNTOLD_MAX 0.05 /* of the ranks' time: the error that a replay may have */
#define POLL_BYTES 16   /* bytes of a counter or a flag; larger fetches are data */
#define POLLS_MIN 100   /* in a row, with nothing else between them */

/* Processes that join later are in no world that the others know. */
static const char *const newcomers[] = {"MPI_Comm_spawn", "MPI_Comm_spawn_multiple",
                                        "MPI_Comm_accept", "MPI_Comm_connect", "MPI_Comm_join"};

static const char *newcomer(const struct mpi_log *log) {
    for (size_t f = 0; f < log->n_functions; f++)
        for (size_t i = 0; i < ARRAY_SIZE(newcomers); i++)
            if (strcmp(log->names[f], newcomers[i]) == 0)
                return newcomers[i];
    return NULL;
}

/* ---- time of which nobody knows whom it waited for ---- */

struct untold {
    double ns[MPI_FUNCTIONS_MAX], all_ns;
};

/* Small fetches from windows in a row: the rank waits for a value that another one changes, or it
 * just fetches much.
 */
struct polls {
    int64_t begin_ns, end_ns;
    uint64_t n;
    uint16_t function;
};

static void end_polls(struct polls *polls, struct untold *untold) {
    if (polls->n >= POLLS_MIN)
        untold->ns[polls->function] += (double)(polls->end_ns - polls->begin_ns);
    *polls = (struct polls){.n = 0};
}

static void note_polls(const struct mpi_event *e, const struct mpi_function *f, struct polls *polls,
                       struct untold *untold) {
    bool poll = f->fetches && e->bytes <= POLL_BYTES * (int64_t)e->calls;
    bool computed = e->flags & MPI_FLAG_HAS_GAP_CPU && e->gap_cpu_ns >= MPI_LONG_NS;
    if (computed || !(poll || f->completes))
        end_polls(polls, untold);
    if (poll && !polls->n) {
        polls->begin_ns = e->enter_ns;
        polls->function = e->function;
    }
    polls->n += poll ? e->calls : 0;
    polls->end_ns = e->exit_ns;
}

static double untold_ns(const struct mpi_event *e, const struct mpi_function *f,
                        const struct call_need *need) {
    bool may_wait = need->asked || f->kind == MPI_KIND_RMA_SYNC || f->kind == MPI_KIND_COMM;
    bool is_long = e->exit_ns - e->enter_ns >= MPI_LONG_NS && !(e->flags & MPI_FLAG_FOLDED);
    return is_long && may_wait && need->ready_ns == VALUE_ABSENT
               ? (double)(e->exit_ns - e->enter_ns)
               : 0;
}

static void add_rank(const struct run_model *model, size_t r, struct untold *untold) {
    const struct mpi_log *log = &model->recording->calls;
    const struct mpi_rank *rank = &log->ranks[r];
    struct polls polls = {.n = 0};
    int64_t end = INT64_MIN;
    for (size_t i = 0; i < rank->n; i++) {
        const struct mpi_event *e = &rank->events[i];
        const struct mpi_function *f = mpi_event_function(log, e);
        end = e->exit_ns > end ? e->exit_ns : end;
        if (!mpi_event_is_call(e))
            continue;
        untold->ns[e->function] += untold_ns(e, f, &model->matches.needs[r][i]);
        note_polls(e, f, &polls, untold);
    }
    end_polls(&polls, untold);
    untold->all_ns += rank->n ? (double)(end - rank->events[0].enter_ns) : 0;
}

static struct refusal waits_untold(const struct run_model *model) {
    const struct mpi_log *log = &model->recording->calls;
    struct untold untold = {.all_ns = 0};
    double sum = 0;
    size_t most = 0;
    for (size_t r = 0; r < log->n; r++)
        add_rank(model, r, &untold);
    for (size_t f = 0; f < log->n_functions; f++) {
        most = untold.ns[f] > untold.ns[most] ? f : most;
        sum += untold.ns[f];
    }
    if (sum <= UNTOLD_MAX * untold.all_ns)
        return (struct refusal){.code = REFUSAL_NONE};
    return (struct refusal){.code = REFUSAL_WAITS_UNTOLD, .call = log->names[most]};
}

/* ---- all of it ---- */

static enum refusal_code too_little(const struct run_model *model) {
    const struct call_matches *m = &model->matches;
    if (!model->recording->calls.n)
        return REFUSAL_NO_CALLS;
    for (size_t r = 0; r < model->recording->calls.n; r++)
        if (model->recording->calls.ranks[r].lost_ns != INT64_MAX)
            return REFUSAL_CALLS_LOST;
    if (!m->messages && !m->groups && !m->n_signals)
        return REFUSAL_NOTHING_MATCHED;
    return REFUSAL_NONE;
}

struct refusal replay_refusal(const struct run_model *model) {
    enum refusal_code code = too_little(model);
    const char *later = newcomer(&model->recording->calls);
    if (code)
        return (struct refusal){.code = code};
    if (later)
        return (struct refusal){.code = REFUSAL_NEWCOMERS, .call = later};
    struct refusal waits = waits_untold(model);
    if (!waits.code && model->critical.unmatched > UNTOLD_MAX)
        waits.code = REFUSAL_MUCH_UNMATCHED;
    return waits;
}
