/* SPDX-License-Identifier: MIT */
/*
 * The last question before a verdict says that nothing limits the run, or that nothing is known:
 * the engine is asked for each resource of each host. Its best answer is a suspicion even if no
 * source shows that the resource ran out, since the run waits for it.
 */
#include <errno.h>
#include <math.h>

#include "analysis/causes/causes_private.h"
#include "analysis/evidence/asked.h"
#include "analysis/gain/sweep.h"

#define OWN_REMARKS                                                                                \
    REMARK(NO_SOURCE_SHOWS_IT, "no source shows that it ran out", SLOTS(), SLOTS())                \
    REMARK(COMPUTES_MUCH, "the program computes for a good part of it", SLOTS(), SLOTS())          \
    REMARK(FASTER_CORES_TELL, "with cores twice as fast the run would take %.0f %% less time",     \
           SLOTS("gain, %"), SLOTS())                                                              \
    REMARK(RUN_WAITS_FOR_IT, "the run would take %.0f %% less time without it", SLOTS("gain, %"),  \
           SLOTS())
#include "analysis/causes/own.h"

static const struct {
    enum budget_term term;
    enum resource resource;
    enum cause_kind kind;
} resources[] = {
    {BUDGET_TRANSFER, RESOURCE_NET_EGRESS, CAUSE_PATH_LIMITED},
    {BUDGET_DISK, RESOURCE_DISK, CAUSE_UNKNOWN},
    {BUDGET_RUN_QUEUE, RESOURCE_CPU, CAUSE_CONTENTION},
    {BUDGET_QUOTA, RESOURCE_CPU_QUOTA, CAUSE_QUOTA},
    {BUDGET_STEAL, RESOURCE_STEAL, CAUSE_STEAL},
    {BUDGET_MEMORY, RESOURCE_MEMORY, CAUSE_UNKNOWN},
    {BUDGET_IDLE, RESOURCE_APPLICATION, CAUSE_SLEEP},
    {BUDGET_STOPPED, RESOURCE_APPLICATION, CAUSE_STOPPED},
};

/* The host whose part of the critical path has most of the term. */
static int host_with_most(const struct run_model *model, enum budget_term term) {
    int most = 0;
    for (size_t h = 1; model_has_path(model) && h < model->n_hosts; h++) {
        const struct critical_part *path = &model->critical.groups[model->main_group];
        if (critical_share(path, (int)h, term) > critical_share(path, most, term))
            most = (int)h;
    }
    return most;
}

static double share_of_path(const struct run_model *model, int host, enum budget_term term) {
    const struct critical_part *path = &model->critical.groups[model->main_group];
    if (!model_has_path(model))
        return 0;
    return host < 0 ? critical_share_of_all(path, model->n_hosts, term)
                    : critical_share(path, host, term);
}

static double part_of_run(const struct run_model *model) {
    double run = (double)windows_length(phase_windows(&model->groups[0]));
    return (double)windows_length(phase_windows(&model->groups[model->main_group])) / run;
}

/* A link's busier direction is named; the question is about both. */
static enum resource resource_of(const struct run_model *model, size_t i, int host) {
    if (resources[i].term != BUDGET_TRANSFER)
        return resources[i].resource;
    double sent = model_mean(model, host, METRIC_NET_SEND, model->main_group);
    return model_mean(model, host, METRIC_NET_RECV, model->main_group) > sent ? RESOURCE_NET_INGRESS
                                                                              : RESOURCE_NET_EGRESS;
}

/* The process of the host, or of all for -1, whose pauses take most of the path; SIZE_MAX: none. */
static size_t pausing_most(const struct run_model *model, int host, enum budget_term term) {
    size_t most = SIZE_MAX;
    double longest = 0;
    for (size_t r = 0; r < model->budgets.n; r++) {
        double share = model_rank_demand(model, model->main_group, r, term);
        if ((host < 0 || model->budgets.items[r].host == host) && share > longest) {
            longest = share;
            most = r;
        }
    }
    return most;
}

/* A pause is of a process, which is named; nothing of a host ran out. */
static void name_process(const struct run_model *model, const struct sweep_answer *best,
                         struct candidate *c) {
    size_t who = pausing_most(model, best->scenario.host, best->term);
    if (c->resource != RESOURCE_APPLICATION || who == SIZE_MAX) {
        remark_set(&c->cause, NO_SOURCE_SHOWS_IT, NUMBERS(), NAMES());
        return;
    }
    const struct rank_budget *b = &model->budgets.items[who];
    if (!c->everywhere)
        c->subject = SUBJECT_NONE; /* the process, or its rank */
    c->host = b->host;
    c->rank = b->rank;
    if (best->term == BUDGET_STOPPED)
        remark_set(&c->cause, PROCESS_STOPPED, NUMBERS(), NAMES(b->process));
    else
        remark_set(&c->cause, PROCESS_SLEEPS, NUMBERS(), NAMES(b->process));
}

static int suspect(const struct run_model *model, const struct sweep_answer *best, size_t i,
                   struct candidates *candidates) {
    bool all = best->scenario.host < 0;
    int host = all ? host_with_most(model, best->term) : best->scenario.host;
    struct candidate c =
        candidate_of(host, model->main_group, resource_of(model, i, host), resources[i].kind);
    c.subject = all ? SUBJECT_ALL_HOSTS : SUBJECT_HOST;
    c.everywhere = c.path.all_hosts = all;
    c.path.terms = 1u << best->term;
    c.blocked = fmax(share_of_path(model, best->scenario.host, best->term), best->answer.gain);
    c.run_share = fmax(c.blocked * part_of_run(model), best->answer.run_gain);
    c.can_remove = true;
    c.remove = best->scenario;
    name_process(model, best, &c);
    remarks_add(&c.evidence, RUN_WAITS_FOR_IT, NUMBERS(100 * best->answer.run_gain), NAMES());
    return candidates_add(candidates, &c) ? 0 : -ENOMEM;
}

/* The largest gain of a candidate that is worth naming, of all or of those that compute; 0: none.
 */
static double found_gain(const struct run_model *model, const struct candidates *candidates,
                         bool fallback) {
    double most = 0;
    for (size_t i = 0; i < candidates->n; i++) {
        const struct candidate *c = &candidates->items[i];
        if (c->fallback == fallback && candidate_is_worth_naming(model, c))
            most = fmax(most, candidate_gain(c)->estimate);
    }
    return most;
}

/* Whether the answer is a reason for suspicion. Counters alone cannot tell a job that waits for a
 * core from one that computes on all cores that it has; calls and chains of waits can.
 */
static bool is_open(const struct run_model *model, const struct sweep_answer *best,
                    double computing) {
    const struct whatif_answer *answer = &best->answer;
    bool fills = processes_fill_their_cores(model, model->main_group);
    bool core =
        best->term == BUDGET_RUN_QUEUE && (computing > 0 || fills || !model_has_path(model));
    return !core && answer->run_low > 0 &&
           answer->run_gain >= fmax(number_of(model, GAIN_MIN), computing);
}

/* Terms that an exact source denies: if connections tell that no path held data up, no link did. A
 * job that asks nothing of its hosts is idle: its sleep is no limit.
 */
static int denied_terms(const struct run_model *model, struct candidates *candidates,
                        unsigned *ret_terms) {
    const struct flows *flows;
    int result = candidates_flows(model, model->main_group, candidates, &flows);
    *ret_terms = result == 0 && flows->n && !flows->n_limited ? 1u << BUDGET_TRANSFER : 0;
    *ret_terms |= asks_nothing(model) ? 1u << BUDGET_IDLE : 0;
    return result;
}

/* Whether faster cores on all hosts would shorten a run for which nothing else is said: then it is
 * not balanced, though its computing is no more than a part of it.
 */
static int suspect_cores(const struct run_model *model, const struct whatif *whatif,
                         struct candidates *candidates) {
    struct whatif_answer answer;
    struct whatif_scenario twice = {.kind = WHATIF_CPU, .host = -1, .rank = -1, .factor = 2};
    int result = whatif_ask(whatif, &twice, 1, &answer);
    if (result < 0 || !(answer.run_low > 0) || !(answer.run_gain >= number_of(model, GAIN_MIN)))
        return result == -EINVAL ? 0 : result;
    struct candidate c = candidate_of(host_with_most(model, BUDGET_CPU), model->main_group,
                                      RESOURCE_CPU, CAUSE_COMPUTE_BOUND);
    c.subject = SUBJECT_ALL_HOSTS;
    c.fallback = c.everywhere = c.path.all_hosts = true;
    c.path.terms = 1u << BUDGET_CPU;
    c.blocked = fmax(share_of_path(model, -1, BUDGET_CPU), answer.gain);
    c.run_share = c.blocked * part_of_run(model);
    c.can_remove = true;
    c.remove = twice;
    remark_set(&c.cause, COMPUTES_MUCH, NUMBERS(), NAMES());
    remarks_add(&c.evidence, FASTER_CORES_TELL, NUMBERS(100 * answer.run_gain), NAMES());
    return candidates_add(candidates, &c) ? 0 : -ENOMEM;
}

static int detect_last(const struct run_model *model, const struct whatif *whatif,
                       struct candidates *candidates) {
    const struct whatif_sweep *sweep;
    double computing = found_gain(model, candidates, true);
    if (found_gain(model, candidates, false) > 0)
        return 0;
    unsigned denied;
    int result = denied_terms(model, candidates, &denied);
    if (result == 0)
        result = whatif_sweep_make(whatif, &sweep);
    const struct sweep_answer *best =
        result == 0 ? whatif_sweep_best(model, sweep, denied | 1u << BUDGET_CPU) : NULL;
    if (result == 0 && computing == 0 && (!best || !is_open(model, best, 0)))
        return suspect_cores(model, whatif, candidates);
    if (!best || !is_open(model, best, computing))
        return result;
    for (size_t i = 0; i < sizeof resources / sizeof *resources; i++)
        if (resources[i].term == best->term)
            result = suspect(model, best, i, candidates);
    return result;
}

static void advise(const struct advised *advised) {
    if (1u << advised->c->resource & SHORT_OF_NETWORK)
        remarks_add(advised->next, ADVISE_MEASURE_LINKS, NUMBERS(), NAMES());
    else if (advised->c->kind == CAUSE_STOPPED)
        advise_continue(advised);
    else if (advised->c->kind == CAUSE_SLEEP)
        advise_trace(advised);
    else if (advised->c->kind == CAUSE_COMPUTE_BOUND)
        remarks_add(advised->next, ADVISE_SEE_COMPUTING, NUMBERS(), NAMES());
    else
        remarks_add(advised->next, ADVISE_SEE_PAGE,
                    NUMBERS(model_has_ranks(advised->model) ? 1 : 2), NAMES());
}

const struct cause cause_swept = {
    .name = "swept",
    .resource = RESOURCE_NONE,
    .kind = CAUSE_UNKNOWN,
    .remarks = own_remarks,
    .reason = "a run that ends sooner without a wait was held up by it, whatever showed that",
    .detect_last = detect_last,
    .advise = advise,
};
