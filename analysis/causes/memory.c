/* SPDX-License-Identifier: MIT */
/* Memory: pages that do not fit are dropped and read back. A group at its own limit is short of
 * memory, too, however much the host has. */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "analysis/causes/causes_private.h"
#include "analysis/evidence/ended.h"

#define OWN_NUMBERS                                                                                \
    NUMBER(PSI_MEMORY_MIN, 0.03, "PSI memory some", "less is ordinary reclaim")                    \
    NUMBER(REFAULT_MIN_MB_S, 20.0, "MB/s", "pages read again soon after they were thrown out")     \
    NUMBER(HEADROOM_MIN, 0.15, "of memory", "more available than that is no shortage")             \
    NUMBER(LIMIT_NEAR, 0.90, "of a group's memory limit", "in use: at its limit")
#define OWN_REMARKS                                                                                \
    REMARK(OVER_GROUP_LIMIT, "the working set does not fit into its control group's limit",        \
           SLOTS(), SLOTS())                                                                       \
    REMARK(OVER_MEMORY, "the working set does not fit", SLOTS(), SLOTS())                          \
    REMARK(SWAPPING, "swapping", SLOTS(), SLOTS())                                                 \
    REMARK(PSI_MEMORY, "some task waited for memory %.0f %% of the time (PSI memory)",             \
           SLOTS("some task waited, %"), SLOTS())                                                  \
    REMARK(PAGES_READ_AGAIN, "%.0f MB/s of evicted pages were read back, %.0f MB/s were swapped",  \
           SLOTS("read again, MB/s", "swapped, MB/s"), SLOTS())                                    \
    REMARK(LIMIT_HIT,                                                                              \
           "the job's control group had %.0f %% of its memory limit in use and ran into it %.3g "  \
           "times a second",                                                                       \
           SLOTS("of the limit, %", "times a second"), SLOTS())                                    \
    REMARK(MEMORY_AVAILABLE, "%.0f %% of memory was available", SLOTS("available, %"), SLOTS())    \
    REMARK(MEMORY_FREE, "memory: %.0f %% free at least", SLOTS("free, %"), SLOTS())                \
    REMARK(MEMORY_FREE_BUT_WAITED,                                                                 \
           "memory: %.0f %% free at least, tasks waited for it %.1f %% of the time",               \
           SLOTS("free, %", "waited, %"), SLOTS())                                                 \
    REMARK(MEMORY_NEARLY_FREE, "memory: nearly all free", SLOTS(), SLOTS())                        \
    REMARK(MEMORY_NEARLY_FREE_BUT_WAITED,                                                          \
           "memory: nearly all free, tasks waited for it %.1f %% of the time", SLOTS("waited, %"), \
           SLOTS())                                                                                \
    REMARK(IT_SWAPS, "memory: it swaps", SLOTS(), SLOTS())                                         \
    REMARK(PAGES_READ_BACK, "memory: its pages have to be read back", SLOTS(), SLOTS())            \
    REMARK(ADVISE_RAISE_MEMORY_MAX,                                                                \
           "on %s, raise the memory limit of the control group %s (memory.max, or "                \
           "memory.limit_in_bytes of cgroup v1; it is %.4g MB), or give that host a smaller part " \
           "of the data",                                                                          \
           SLOTS("MB"), SLOTS("host", "group"))                                                    \
    REMARK(ADVISE_MORE_MEMORY,                                                                     \
           "run %[fewer ranks|less at a time] on %s, or give it more memory than its %.3g GB",     \
           SLOTS("1: it has ranks", "GB"), SLOTS("host"))
#include "analysis/causes/own.h"

struct shortage {
    double psi, available, refault_mb_s, swap_mb_s;
    double limit_used, limit_hits_s; /* of the job's control group; NAN: no limit */
    double demand;
};

/* The highest use: at its end a job has released its memory. */
static int64_t most_used(const struct series_set *set, const struct series *group) {
    int64_t most = 0;
    for (size_t row = 0; row < group->n; row++) {
        int64_t used = series_value(set, group, row, CGROUP_MEMORY);
        most = used != VALUE_ABSENT && used > most ? used : most;
    }
    return most;
}

/* Looks at the fullest group with a limit. */
static void look_at_limit(const struct run_model *model, int host, struct windows windows,
                          struct shortage *s) {
    const struct series_set *set = &model->recording->tables[RECORDING_CGROUP];
    s->limit_used = s->limit_hits_s = NAN;
    for (size_t i = 0; i < set->n; i++) {
        const struct series *group = &set->items[i];
        int64_t limit = series_last(set, group, CGROUP_MEMORY_LIMIT);
        int64_t used = most_used(set, group);
        if (group->host != host || limit <= 0 || used <= 0)
            continue;
        double share = (double)used / (double)limit;
        if (!isnan(s->limit_used) && share <= s->limit_used)
            continue;
        s->limit_used = share;
        s->limit_hits_s = series_growth(set, group, CGROUP_LIMIT_HITS, windows, NULL) /
                          ((double)windows_length(windows) / 1e9);
    }
}

static struct shortage measure(const struct run_model *model, size_t group, int host) {
    struct windows windows = phase_windows(&model->groups[group]);
    double seconds = (double)windows_length(windows) / 1e9;
    struct shortage s = {
        .psi = model_mean(model, host, METRIC_PSI_MEMORY, group),
        .available = model_mean(model, host, METRIC_MEM_FREE, group) / model->hosts[host].memory_gb,
        .refault_mb_s =
            model_growth(model, host, RECORDING_VMSTAT, VMSTAT_REFAULT, windows) / 1e6 / seconds,
        .swap_mb_s = (model_growth(model, host, RECORDING_VMSTAT, VMSTAT_SWAP_IN, windows) +
                      model_growth(model, host, RECORDING_VMSTAT, VMSTAT_SWAP_OUT, windows)) /
                     1e6 / seconds,
    };
    look_at_limit(model, host, windows, &s);
    double demand = model_demand(model, group, host, BUDGET_MEMORY);
    if (isnan(demand)) /* the kernel's pressure lacks what the budget of a process has */
        demand = fmax(s.psi / 100, model_worst_rank(model, group, host, BUDGET_MEMORY, NULL));
    s.demand = demand;
    return s;
}

static bool is_moving(const struct run_model *model, const struct shortage *s) {
    return s->refault_mb_s >= number_of(model, REFAULT_MIN_MB_S) ||
           s->swap_mb_s >= number_of(model, SWAP_MIN_MB_S);
}

/* Reading back pages that its own limit pushed out shows as a wait for a disk or for memory: if the
 * limit is reached again and again, memory causes both. */
static bool is_at_limit(const struct run_model *model, const struct shortage *s) {
    return s->limit_used >= number_of(model, LIMIT_NEAR) && s->limit_hits_s > 0;
}

static void say_memory(const struct run_model *model, const struct shortage *s,
                       struct candidate *c) {
    bool short_of_it = s->available < number_of(model, HEADROOM_MIN);
    remarks_add(&c->evidence, PSI_MEMORY, NUMBERS(s->psi), NAMES());
    remarks_add(&c->evidence, PAGES_READ_AGAIN, NUMBERS(s->refault_mb_s, s->swap_mb_s), NAMES());
    if (is_at_limit(model, s))
        remarks_add(&c->evidence, LIMIT_HIT, NUMBERS(100 * s->limit_used, s->limit_hits_s),
                    NAMES());
    else
        remarks_add(short_of_it ? &c->evidence : &c->against, MEMORY_AVAILABLE,
                    NUMBERS(100 * s->available), NAMES());
}

static int add_memory(const struct run_model *model, size_t group, int host,
                      const struct shortage *s, struct candidates *candidates) {
    bool swaps = s->swap_mb_s >= number_of(model, SWAP_MIN_MB_S), limited = is_at_limit(model, s);
    bool short_of_it = s->available < number_of(model, HEADROOM_MIN) || limited;
    struct candidate c = candidate_of(host, group, RESOURCE_MEMORY,
                                      swaps && !limited ? CAUSE_SWAP : CAUSE_MEMORY_LIMIT);
    c.blocked = fmin(1, s->demand);
    c.saturated = (s->psi >= 100 * number_of(model, PSI_MEMORY_MIN) || limited) &&
                  is_moving(model, s) && short_of_it;
    c.signals =
        (s->psi >= 100 * number_of(model, PSI_MEMORY_MIN)) + is_moving(model, s) + short_of_it;
    c.metric.signal = &model->hosts[host].metrics[METRIC_PSI_MEMORY];
    c.metric.factor = s->psi > 0 ? c.blocked / s->psi : 0;
    c.path.terms = 1u << BUDGET_MEMORY | (limited ? 1u << BUDGET_DISK : 0);
    c.can_remove = true;
    c.remove = (struct whatif_scenario){
        .kind = WHATIF_WITHOUT, .host = host, .rank = -1, .term = BUDGET_MEMORY};
    if (limited)
        remark_set(&c.cause, OVER_GROUP_LIMIT, NUMBERS(), NAMES());
    else if (swaps)
        remark_set(&c.cause, SWAPPING, NUMBERS(), NAMES());
    else
        remark_set(&c.cause, OVER_MEMORY, NUMBERS(), NAMES());
    say_memory(model, s, &c);
    return candidates_add(candidates, &c) ? 0 : -ENOMEM;
}

/* Includes the time charged to the disk, since processes sleep there. */
static double with_limit(const struct run_model *model, size_t group, int host,
                         const struct shortage *s) {
    double disk = model_demand(model, group, host, BUDGET_DISK);
    return is_at_limit(model, s) && is_moving(model, s) && disk > 0 ? s->demand + disk : s->demand;
}

static void rule_out_memory(double least, double psi, struct remarks *ruled_out) {
    bool little = least < 0.995, waited = psi >= 0.05;
    if (little && waited)
        remarks_add(ruled_out, MEMORY_FREE_BUT_WAITED, NUMBERS(100 * least, psi), NAMES());
    else if (little)
        remarks_add(ruled_out, MEMORY_FREE, NUMBERS(100 * least), NAMES());
    else if (waited)
        remarks_add(ruled_out, MEMORY_NEARLY_FREE_BUT_WAITED, NUMBERS(psi), NAMES());
    else
        remarks_add(ruled_out, MEMORY_NEARLY_FREE, NUMBERS(), NAMES());
}

static int detect(const struct run_model *model, size_t group, struct candidates *candidates) {
    size_t before = candidates->n;
    double most_psi = NAN, least = NAN;
    for (size_t h = 0; h < model->n_hosts; h++) {
        struct shortage s = measure(model, group, (int)h);
        s.demand = with_limit(model, group, (int)h, &s);
        most_psi = fmax(most_psi, s.psi);
        least = fmin(least, s.available);
        if (s.demand >= number_of(model, BLOCKED_MIN) &&
            (s.psi >= 100 * number_of(model, PSI_MEMORY_MIN) || is_at_limit(model, &s)) &&
            add_memory(model, group, (int)h, &s, candidates) < 0)
            return -ENOMEM;
    }
    struct memory_kill kill;
    if (found_none(model, group, candidates, before) && !isnan(least) &&
        !memory_kill_find(model, &kill))
        rule_out_memory(least, most_psi, &candidates->ruled_out);
    return 0;
}

static void explain_slow(const struct slowed *slowed, struct straggler *s) {
    const struct run_model *model = slowed->matrix->model;
    struct windows at = slowed->at;
    double swapped = model_growth(model, s->host, RECORDING_VMSTAT, VMSTAT_SWAP_IN, at);
    bool swaps =
        swapped >= number_of(model, SWAP_MIN_MB_S) * 1e6 * (double)windows_length(at) / 1e9;
    s->cause_kind = swaps ? CAUSE_SWAP : CAUSE_MEMORY_LIMIT;
    if (swaps)
        remark_set(&s->cause, IT_SWAPS, NUMBERS(), NAMES());
    else
        remark_set(&s->cause, PAGES_READ_BACK, NUMBERS(), NAMES());
}

static bool is_in_group(const struct series *group) {
    return group && strcmp(group->name, "/") != 0;
}

static void advise(const struct advised *advised) {
    const struct series *group = advised_most(advised, RECORDING_CGROUP, CGROUP_LIMIT_HITS, "//");
    double limit = group ? advised_level(advised, RECORDING_CGROUP, group, CGROUP_MEMORY_LIMIT) : 0;
    if (limit > 0 && is_in_group(group))
        remarks_add(advised->next, ADVISE_RAISE_MEMORY_MAX, NUMBERS(limit / 1e6),
                    NAMES(advised->host, group->name));
    else
        remarks_add(advised->next, ADVISE_MORE_MEMORY,
                    NUMBERS(model_has_ranks(advised->model) ? 1 : 2,
                            advised->model->hosts[advised->c->host].memory_gb),
                    NAMES(advised->host));
}

const struct cause cause_memory = {
    .name = "memory",
    .resource = RESOURCE_MEMORY,
    .kind = CAUSE_MEMORY_LIMIT,
    .numbers = own_numbers,
    .remarks = own_remarks,
    .reason = "pages that do not fit are thrown out and read back, and their readers wait",
    .detect = detect,
    .slows = BUDGET_MEMORY,
    .explain = explain_slow,
    .advise = advise,
};
