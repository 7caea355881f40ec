/* SPDX-License-Identifier: MIT */
/* A process pauses, or is at work, while others wait for it. */
#include "analysis/causes/causes_private.h"

struct candidate pause_candidate(const struct run_model *model, size_t group, size_t who,
                                 enum cause_kind cause, enum budget_term term, double demand) {
    const struct rank_budget *b = &model->budgets.items[who];
    struct candidate c = candidate_of(b->host, group, RESOURCE_APPLICATION, cause);
    c.rank = b->rank;
    c.blocked = demand;
    c.saturated = true;
    c.signals = 2; /* its own time, and that of the processes that wait */
    c.path.terms = 1u << term;
    c.can_remove = true;
    c.remove =
        (struct whatif_scenario){.kind = WHATIF_WITHOUT, .host = b->host, .rank = -1, .term = term};
    return c;
}
