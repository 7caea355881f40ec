/* SPDX-License-Identifier: MIT */
/* A signal or a debugger has stopped a rank. */
#include "analysis/causes/causes_private.h"

#define OWN_REMARKS                                                                                \
    REMARK(SEEN_STOPPED, "rank %d was seen stopped %.0f %% of the time",                           \
           SLOTS("rank", "stopped, %"), SLOTS())                                                   \
    REMARK(WAS_STOPPED, "stopped by a signal or a debugger", SLOTS(), SLOTS())
#include "analysis/causes/own.h"

static const struct rank_pause stops = {CAUSE_STOPPED, BUDGET_STOPPED, &remark_STOPPED,
                                        &remark_SEEN_STOPPED};

static int detect(const struct run_model *model, size_t group, struct candidates *candidates) {
    double demand;
    size_t who = rank_pause_longest(model, group, BUDGET_STOPPED, &demand);
    return who == SIZE_MAX ? 0 : rank_pause_add(model, group, who, &stops, demand, candidates);
}

static void explain_slow(const struct slowed *slowed, struct straggler *s) {
    (void)slowed;
    s->cause_kind = CAUSE_STOPPED;
    remark_set(&s->cause, WAS_STOPPED, NUMBERS(), NAMES());
}

const struct cause cause_stop = {
    .name = "stop",
    .resource = RESOURCE_APPLICATION,
    .kind = CAUSE_STOPPED,
    .needs = 1u << SOURCE_CALLS,
    .remarks = own_remarks,
    .reason = "peers wait for a rank that a signal or a debugger has stopped",
    .detect = detect,
    .slows = BUDGET_STOPPED,
    .explain = explain_slow,
    .advise = advise_continue,
};
