/* SPDX-License-Identifier: MIT */
/*
 * Garbage collection: threads of a runtime that do nothing else, told by their names, use the CPU
 * while the program's own threads stand still. The proof is a balance of two clocks: the process
 * ran for longer than its other threads had CPU time in sum, so in the rest only the collector ran.
 * A collector that works beside the program, on cores that would idle, leaves no such rest.
 */
#include <errno.h>
#include <math.h>

#include "analysis/causes/causes_private.h"
#include "analysis/time/process_waits.h"

#define OWN_NUMBERS                                                                                \
    NUMBER(                                                                                        \
        COLLECTING_MIN, 0.15, "of the time",                                                       \
        "spent collecting: JVMs grow their heap to stay below one part in 13, so this is twice "   \
        "what a heap with room takes")
#define OWN_REMARKS                                                                                \
    REMARK(COLLECTS_GARBAGE, "%s collects garbage instead of computing", SLOTS(),                  \
           SLOTS("process"))                                                                       \
    REMARK(COLLECTOR_USED,                                                                         \
           "its collector's threads took %.0f %% of its CPU time; in %.0f %% of the time, at "     \
           "least, no other thread of it ran",                                                     \
           SLOTS("of its CPU time, %", "alone, %"), SLOTS())                                       \
    REMARK(ADVISE_HEAP,                                                                            \
           "give that process on %s a larger heap (a JVM: -Xmx; .NET: DOTNET_GCHeapHardLimit and " \
           "the limit of its container), or let it allocate less; a JVM tells each collection "    \
           "with -Xlog:gc",                                                                        \
           SLOTS(), SLOTS("host"))
#include "analysis/causes/own.h"

/* Shares of a process's time. */
struct collecting {
    double run;   /* some thread of it ran */
    double alone; /* only its collector ran, at least */
    double share; /* of `run` that goes to collecting; of its CPU time, too */
};

/* -ENOMEM. */
static int find_collecting(const struct run_model *model, size_t group, size_t who,
                           struct collecting *ret_c) {
    const struct rank_budget *b = &model->budgets.items[who];
    const struct series_set *set = &model->recording->tables[RECORDING_PROCESS];
    const struct series *process = series_of_pid(set, b->host, PROCESS_PID, b->pid);
    struct windows windows = phase_windows(&model->groups[group]);
    double wall_ns = b->groups[group].wall_s * 1e9;
    struct process_waits of;
    *ret_c = (struct collecting){.run = 0};
    if (!process || !(wall_ns > 0) || series_last(set, process, PROCESS_COLLECTOR) == VALUE_ABSENT)
        return 0;
    double collector = process_waits_growth(set, process, PROCESS_COLLECTOR, windows);
    double cpu = process_waits_growth(set, process, PROCESS_USER, windows) +
                 process_waits_growth(set, process, PROCESS_SYSTEM, windows);
    int result = process_waits_find(model->recording, b->host, b->pid, &of);
    if (result < 0 || !(cpu > 0))
        return result;
    double run = process_waits_in(&of, windows).run;
    process_waits_release(&of);
    *ret_c = (struct collecting){.run = run / wall_ns,
                                 .alone = fmax(0, run - fmax(0, cpu - collector)) / wall_ns,
                                 .share = fmin(1, collector / cpu)};
    return 0;
}

static int add_collecting(const struct run_model *model, size_t group, size_t who,
                          const struct collecting *x, double demand,
                          struct candidates *candidates) {
    const struct rank_budget *b = &model->budgets.items[who];
    struct candidate c = pause_candidate(model, group, who, CAUSE_COLLECTING, BUDGET_CPU, demand);
    double part = fmin(x->share, 0.9);
    c.path.part = awaited_part(model, group, who, BUDGET_CPU, demand);
    c.path.own = x->share * x->run;
    /* the program without it is as fast as on cores that are faster by as much */
    c.remove = (struct whatif_scenario){
        .kind = WHATIF_CPU, .host = b->host, .rank = -1, .factor = 1 / (1 - part)};
    remark_set(&c.cause, COLLECTS_GARBAGE, NUMBERS(), NAMES(b->process));
    remarks_add(&c.evidence, COLLECTOR_USED, NUMBERS(100 * x->share, 100 * x->alone), NAMES());
    return candidates_add(candidates, &c) ? 0 : -ENOMEM;
}

static int detect(const struct run_model *model, size_t group, struct candidates *candidates) {
    size_t most = SIZE_MAX;
    struct collecting found = {.run = 0};
    double most_demand = 0;
    for (size_t r = 0; r < model->budgets.n; r++) {
        struct collecting x;
        int result = find_collecting(model, group, r, &x);
        if (result < 0)
            return result;
        double demand = x.share * model_rank_demand(model, group, r, BUDGET_CPU);
        if (x.alone >= number_of(model, BLOCKED_MIN) && demand > most_demand) {
            most = r;
            found = x;
            most_demand = demand;
        }
    }
    if (most == SIZE_MAX || most_demand < number_of(model, COLLECTING_MIN))
        return 0;
    return add_collecting(model, group, most, &found, most_demand, candidates);
}

static void advise(const struct advised *advised) {
    remarks_add(advised->next, ADVISE_HEAP, NUMBERS(), NAMES(advised->host));
}

const struct cause cause_collecting = {
    .name = "collecting",
    .resource = RESOURCE_APPLICATION,
    .kind = CAUSE_COLLECTING,
    .needs = 1u << SOURCE_WAITS,
    .numbers = own_numbers,
    .remarks = own_remarks,
    .reason = "a program stands still, or shares its cores, while its runtime frees memory",
    .detect = detect,
    .advise = advise,
};
