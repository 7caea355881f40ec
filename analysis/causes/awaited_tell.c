/* SPDX-License-Identifier: MIT */
/* The longest wait of one process for another, as evidence of any verdict. */
#include <math.h>

#include "analysis/causes/causes_private.h"
#include "analysis/evidence/awaited.h"

void awaited_tell(const struct run_model *model, int host, struct remarks *to) {
    struct awaited_filter there = AWAITED_ANY;
    there.host = host;
    const struct process_wait *w = awaited_longest(model, there);
    if (!w)
        return;
    const struct rank_budget *who = &model->budgets.items[w->who],
                             *whom = &model->budgets.items[w->whom];
    double wall_s = who->groups[model->main_group].wall_s;
    if (wall_s > 0 && w->seconds >= number_of(model, BLOCKED_MIN) * wall_s)
        remarks_add(to, WAITED_FOR_PROCESS,
                    NUMBERS(100 * fmin(1, w->seconds / wall_s), w->kind + 1),
                    NAMES(who->process, model->hosts[who->host].name, whom->process,
                          model->hosts[whom->host].name));
}
