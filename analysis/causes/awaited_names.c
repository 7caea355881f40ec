/* SPDX-License-Identifier: MIT */
/*
 * Addresses of names that come too late: a process is idle most of its time, since it has asked a
 * name server that has not answered yet. Neither the process nor another one of the job is to
 * blame: with a known address it would not wait.
 */
#include <errno.h>
#include <math.h>

#include "analysis/causes/causes_private.h"
#include "analysis/evidence/awaited.h"

#define OWN_NUMBERS                                                                                \
    NUMBER(NAMES_PART, 0.5, "of its idle time", "for answers of a server of names: most of it")
#define OWN_REMARKS                                                                                \
    REMARK(NAMES_COME_LATE, "%s waits for name look-ups", SLOTS(), SLOTS("process"))               \
    REMARK(NAMES_WAITED_FOR,                                                                       \
           "%s waited %.0f %% of the time for answers of a server of names (port 53)",             \
           SLOTS("of the time, %"), SLOTS("process"))                                              \
    REMARK(ADVISE_NAMES,                                                                           \
           "see how long a look-up takes on %s (`time getent ahosts NAME`) and which servers "     \
           "/etc/resolv.conf names, in which order; keep answers (systemd-resolved, nscd), put "   \
           "the names of the hosts into /etc/hosts, or keep connections open",                     \
           SLOTS(), SLOTS("host"))
#include "analysis/causes/own.h"

bool awaited_is_for_names(const struct run_model *model, size_t who, size_t group) {
    return awaited_names_part(model, who, group) >= number_of(model, NAMES_PART); /* most of it */
}

static int add_names(const struct run_model *model, size_t group, size_t who, double demand,
                     struct candidates *candidates) {
    const struct rank_budget *b = &model->budgets.items[who];
    double part = awaited_names_part(model, who, group), wall_s = b->groups[group].wall_s;
    double share = wall_s > 0 ? budget_sum(&b->groups[group], 1u << BUDGET_IDLE) / wall_s : 0;
    double of_host = model_demand(model, group, b->host, BUDGET_IDLE);
    struct candidate c =
        pause_candidate(model, group, who, CAUSE_NAMES, BUDGET_IDLE, part * demand);
    c.path.part = of_host > 0 ? fmin(1, part * demand / of_host) : part;
    remark_set(&c.cause, NAMES_COME_LATE, NUMBERS(), NAMES(b->process));
    remarks_add(&c.evidence, NAMES_WAITED_FOR, NUMBERS(100 * part * share), NAMES(b->process));
    return candidates_add(candidates, &c) ? 0 : -ENOMEM;
}

/* If processes wait for each other, one without waiters holds up only itself. */
static bool holds_up(const struct run_model *model, size_t group, size_t who, double demand) {
    const struct process_wait *longest = awaited_longest(model, AWAITED_ANY);
    double length_s = (double)windows_length(phase_windows(&model->groups[group])) / 1e9;
    return group != model->main_group || awaited_share(model, who) >= demand / 2 || !longest ||
           longest->seconds < demand / 2 * length_s;
}

/* Finds the process with most of such time on the path. */
static int detect(const struct run_model *model, size_t group, struct candidates *candidates) {
    size_t who = SIZE_MAX;
    double most = 0;
    for (size_t r = 0; r < model->budgets.n; r++) {
        double demand = model_rank_demand(model, group, r, BUDGET_IDLE);
        if (demand > most && holds_up(model, group, r, demand) &&
            awaited_is_for_names(model, r, group)) {
            most = demand;
            who = r;
        }
    }
    return who == SIZE_MAX ||
                   most * awaited_names_part(model, who, group) < number_of(model, BLOCKED_MIN)
               ? 0
               : add_names(model, group, who, most, candidates);
}

static void advise(const struct advised *advised) {
    remarks_add(advised->next, ADVISE_NAMES, NUMBERS(), NAMES(advised->host));
}

const struct cause cause_awaited_names = {
    .name = "awaited-names",
    .resource = RESOURCE_APPLICATION,
    .kind = CAUSE_NAMES,
    .needs = 1u << SOURCE_WAITS,
    .numbers = own_numbers,
    .remarks = own_remarks,
    .reason = "a process that has asked a server of names goes on when the answer is there",
    .detect = detect,
    .advise = advise,
};
