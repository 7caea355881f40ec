/* SPDX-License-Identifier: MIT */
/*
 * If there are two roles, one of them with a single rank, that rank is the server of the others. In
 * other cases the roles have no names.
 *
 * A server that does no work of its own ends no iteration. If the program marks iterations, its
 * ranks without marks are a role as well. If iterations were found in calls or counters, ranks
 * without iterations are not a role.
 */
#include "reports/model/model_private.h"

static bool iterates(const struct iterations *iterations, const struct rank_budget *rank) {
    for (size_t i = 0; i < iterations->n; i++)
        if (iterations->ranks[i].host == rank->host && iterations->ranks[i].rank == rank->rank)
            return true;
    return false;
}

static size_t ranks_without(const struct run_model *model) {
    size_t n = 0;
    if (model->iterations.source != ITERATION_MARKER)
        return 0;
    for (size_t r = 0; r < model->budgets.n; r++)
        n += model->budgets.items[r].rank >= 0 &&
             !iterates(&model->iterations, &model->budgets.items[r]);
    return n;
}

const char *report_role_name(const struct run_model *model, int role) {
    const struct iterations *iterations = &model->iterations;
    size_t without = ranks_without(model), roles = without > 0;
    size_t all = iterations->n + without, same = role == ROLE_WITHOUT_ITERATIONS ? without : 0;
    int highest = -1;
    for (size_t i = 0; i < iterations->n; i++) {
        same += iterations->ranks[i].role == role;
        highest = iterations->ranks[i].role > highest ? iterations->ranks[i].role : highest;
    }
    roles += (size_t)(highest + 1);
    size_t others = all - same;
    if (roles != 2 || (same == 1) == (others == 1))
        return "";
    return same == 1 ? "server" : others == 1 ? "worker" : "";
}
