/* SPDX-License-Identifier: MIT */
/* A rank that a signal or a debugger has stopped. */
#include "analysis/causes/causes_private.h"

static const struct rank_pause stops = {CAUSE_STOPPED, BUDGET_STOPPED, REMARK_STOPPED,
                                        REMARK_SEEN_STOPPED};

static int detect(const struct run_model *model, size_t group, struct candidates *candidates) {
    double demand;
    size_t who = rank_pause_longest(model, group, BUDGET_STOPPED, &demand);
    return who == SIZE_MAX ? 0 : rank_pause_add(model, group, who, &stops, demand, candidates);
}

const struct cause cause_stop = {
    .name = "stop",
    .resource = RESOURCE_APPLICATION,
    .kind = CAUSE_STOPPED,
    .needs = 1u << SOURCE_CALLS,
    .reason = "peers wait for a rank that a signal or a debugger has stopped",
    .detect = detect,
};
