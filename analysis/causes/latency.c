/* SPDX-License-Identifier: MIT */
/*
 * Latency: messages so small that the rate of a link does not matter. Each message crosses the
 * network, and the program waits for it, again and again.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "analysis/causes/causes_private.h"
#include "analysis/facts/series/stats.h"

#define OWN_NUMBERS                                                                                \
    NUMBER(SMALL_MESSAGE, 4096, "bytes",                                                           \
           "a message that fits into three packets takes its way, not its bytes over a rate")
#define OWN_REMARKS                                                                                \
    REMARK(MESSAGES_SMALL,                                                                         \
           "%.0f messages a second between hosts, most of them of at most %.0f bytes",             \
           SLOTS("messages a second", "bytes"), SLOTS())                                           \
    REMARK(MESSAGES_WENT,                                                                          \
           "%.0f messages went between hosts; half of all bytes went in messages of at most %.0f " \
           "bytes, for which the rate of a link does not matter",                                  \
           SLOTS("messages", "bytes"), SLOTS())                                                    \
    REMARK(ADVISE_LARGER_MESSAGES,                                                                 \
           "send fewer and larger messages (a larger batch, several values in one), or compute "   \
           "while they are on their way; %{calibrate --only net} measures what a "                 \
           "message takes on these hosts",                                                         \
           SLOTS(), SLOTS())
#include "analysis/causes/own.h"

struct messages {
    double n;            /* between hosts, in the group */
    double median_bytes; /* half of all bytes are in messages of at most this size */
};

static int host_of(const struct mpi_log *log, int32_t rank) {
    for (size_t r = 0; r < log->n; r++)
        if (log->ranks[r].rank == rank)
            return log->ranks[r].host;
    return -1;
}

/* A message counts where it is sent, or where a rank calls a collective. A row counts for all its
 * calls. */
static bool is_message(const struct mpi_log *log, const struct mpi_rank *rank,
                       const struct mpi_event *e) {
    const struct mpi_function *f = mpi_event_function(log, e);
    if (f->need != MPI_NEED_NOBODY)
        return e->bytes > 0;
    return f->sends && e->peer >= 0 && host_of(log, e->peer) != rank->host;
}

static int count_messages(const struct run_model *model, size_t group, struct messages *ret) {
    const struct mpi_log *log = &model->recording->calls;
    struct windows windows = phase_windows(&model->groups[group]);
    size_t n = 0, room = 1;
    for (size_t r = 0; r < log->n; r++)
        room += log->ranks[r].n;
    struct weighted *sizes = malloc(room * sizeof *sizes);
    *ret = (struct messages){0, NAN};
    if (!sizes)
        return -ENOMEM;
    for (size_t r = 0; r < log->n; r++)
        for (size_t i = 0; i < log->ranks[r].n; i++) {
            const struct mpi_event *e = &log->ranks[r].events[i];
            double calls = e->calls ? e->calls : 1;
            if (!mpi_event_is_call(e) || !windows_hold(windows, e->enter_ns) ||
                !is_message(log, &log->ranks[r], e))
                continue;
            sizes[n++] = (struct weighted){(double)e->bytes / calls, (double)e->bytes};
            ret->n += calls;
        }
    ret->median_bytes = stats_weighted_quantile(sizes, n, 0.5);
    free(sizes);
    return 0;
}

static int detect(const struct run_model *model, size_t group, struct candidates *candidates) {
    double share =
        critical_share_of_all(&model->critical.groups[group], model->n_hosts, BUDGET_TRANSFER);
    double seconds = (double)windows_length(phase_windows(&model->groups[group])) / 1e9;
    struct messages m;
    if (group != model->main_group || model_job_hosts(model) < 2 ||
        throughput_counts(model, group) || share < number_of(model, BLOCKED_MIN) ||
        candidates_any(candidates, group, SHORT_OF_NETWORK))
        return 0;
    int result = count_messages(model, group, &m);
    if (result < 0 || !(m.median_bytes < number_of(model, SMALL_MESSAGE)))
        return result;
    struct candidate c = candidate_of(0, group, RESOURCE_APPLICATION, CAUSE_LATENCY);
    c.subject = SUBJECT_MESSAGES;
    c.blocked = fmin(1, share);
    c.signals = 2; /* how long data were on their way, and how small the messages were */
    c.path.terms = 1u << BUDGET_TRANSFER;
    c.path.all_hosts = c.everywhere = true;
    c.can_remove = true;
    c.remove =
        (struct whatif_scenario){.kind = WHATIF_LATENCY, .host = -1, .rank = -1, .factor = 0.5};
    remark_set(&c.cause, MESSAGES_SMALL, NUMBERS(m.n / seconds, m.median_bytes), NAMES());
    remarks_add(&c.evidence, MESSAGES_WENT, NUMBERS(m.n, m.median_bytes), NAMES());
    return candidates_add(candidates, &c) ? 0 : -ENOMEM;
}

static void advise(const struct advised *advised) {
    remarks_add(advised->next, ADVISE_LARGER_MESSAGES, NUMBERS(), NAMES());
}

const struct cause cause_latency = {
    .name = "latency",
    .resource = RESOURCE_APPLICATION,
    .kind = CAUSE_LATENCY,
    .needs = 1u << SOURCE_CALLS,
    .numbers = own_numbers,
    .remarks = own_remarks,
    .reason = "a small message takes its way between two hosts, whatever the rate of the link",
    .yields_to = YIELDS_TO(&cause_link_connections, &cause_link_queue, &cause_link_rate,
                           &cause_link_fabric, &cause_link_peers),
    .detect = detect,
    .advise = advise,
};
