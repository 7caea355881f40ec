/* SPDX-License-Identifier: MIT */
/* A process is stopped while others wait for it. */
#include "analysis/causes/causes_private.h"

static int detect(const struct run_model *model, size_t group, struct candidates *candidates) {
    double demand;
    size_t who = awaited_most(model, group, BUDGET_STOPPED, &demand);
    return who == SIZE_MAX ? 0
                           : awaited_pause_add(model, group, who, BUDGET_STOPPED, CAUSE_STOPPED,
                                               demand, candidates);
}

const struct cause cause_awaited_stop = {
    .name = "awaited-stop",
    .resource = RESOURCE_APPLICATION,
    .kind = CAUSE_STOPPED,
    .needs = 1u << SOURCE_WAITS,
    .reason = "processes wait for one that a signal or a debugger has stopped",
    .detect = detect,
    .advise = advise_continue,
};
