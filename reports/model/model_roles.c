/* SPDX-License-Identifier: MIT */
/* T5: the results and the use of each rank, by its role. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/evidence/rank_use.h"
#include "reports/model/model_private.h"

/* The last value that the rank marked under that name; NAN: none. */
static double last_of_rank(const struct report *report, int rank, const char *name) {
    for (size_t i = 0; i < report->n_curves; i++) {
        const struct report_curve *curve = &report->curves[i];
        if (curve->rank == rank && curve->n && strcmp(curve->name, name) == 0)
            return curve->value[curve->n - 1];
    }
    return NAN;
}

/* Programs mark accuracy as a share of 1. */
static double accuracy_pct(const struct report *report, int rank) {
    double own = last_of_rank(report, rank, "own accuracy");
    return 100 * (isnan(own) ? last_of_rank(report, rank, "accuracy") : own);
}

/* The rank's iterations, in the order of the model's; NULL: none. */
static const struct report_rank *iterations_of(const struct report *report,
                                               const struct run_model *model,
                                               const struct rank_budget *of) {
    for (size_t i = 0; i < model->iterations.n && i < report->n_ranks; i++)
        if (model->iterations.ranks[i].host == of->host &&
            model->iterations.ranks[i].rank == of->rank)
            return &report->ranks[i];
    return NULL;
}

/* From the beginning of its first iteration to the end of its last. */
static bool iterating(const struct report_rank *its, struct window *ret_window) {
    if (!its || !its->n)
        return false;
    ret_window->begin_ns = llround(1e9 * (its->end_s[0] - its->duration_s[0]));
    ret_window->end_ns = llround(1e9 * its->end_s[its->n - 1]);
    return ret_window->end_ns > ret_window->begin_ns;
}

static const char *source_of(enum rank_bytes bytes) {
    return bytes == RANK_BYTES_UNKNOWN       ? NULL
           : bytes == RANK_BYTES_CONNECTIONS ? "connections"
                                             : "mpi";
}

static int fill_role(struct report *report, const struct run_model *model,
                     const struct process_traffic *traffic, const struct rank_budget *rank) {
    const struct report_rank *its = iterations_of(report, model, rank);
    struct window window = {0, 0};
    bool iterates = iterating(its, &window);
    struct rank_use use = rank_use_find(model, traffic, rank, iterates ? &window : NULL);
    double time = (double)(window.end_ns - window.begin_ns) / 1e9;
    const char *role = its ? its->role : report_role_name(model, ROLE_WITHOUT_ITERATIONS);
    struct report_role *to = &report->roles[report->n_roles++];
    *to = (struct report_role){.rank = rank->rank,
                               .host = rank->host,
                               .role = strdup(role),
                               .accuracy_pct = accuracy_pct(report, rank->rank),
                               .time_s = iterates ? time : use.lived_s,
                               .lived_s = use.lived_s,
                               .cpu_s = use.cpu_s,
                               .cpu_pct = 100 * use.cpu_share,
                               .peak_memory_gb = use.peak_bytes / 1e9,
                               .received_mb = use.received_bytes / 1e6,
                               .sent_mb = use.sent_bytes / 1e6,
                               .received_at_most = use.bytes == RANK_BYTES_MPI_AT_MOST,
                               .bytes_source = source_of(use.bytes)};
    return to->role ? 0 : -ENOMEM;
}

int report_fill_roles(struct report *report, const struct run_model *model,
                      const struct process_traffic *traffic) {
    int result = 0;
    report->roles = calloc(model->budgets.n + 1, sizeof *report->roles);
    if (!report->roles)
        return -ENOMEM;
    for (size_t r = 0; result == 0 && r < model->budgets.n; r++)
        if (model->budgets.items[r].rank >= 0)
            result = fill_role(report, model, traffic, &model->budgets.items[r]);
    return result;
}
