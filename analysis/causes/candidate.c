/* SPDX-License-Identifier: MIT */
#include "analysis/causes/candidate.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/causes/cause.h"
#include "analysis/causes/causes_private.h"
#include "analysis/facts/series/stats.h"

static const struct rule rules[] = {
    {.name = "contention",
     .resource = RESOURCE_CPU,
     .cause = CAUSE_CONTENTION,
     .reason = "a task that is ready to run and waits in the run queue of a core makes no progress",
     .detect = saturation_cpu},
    {.name = "serial-process",
     .resource = RESOURCE_CPU,
     .cause = CAUSE_SERIAL,
     .instead = 1u << SOURCE_CALLS | 1u << SOURCE_WAITS,
     .reason = "one process computes on a full core while all others wait without using theirs",
     .detect = serial_process_detect},
    {.name = "quota",
     .resource = RESOURCE_CPU_QUOTA,
     .cause = CAUSE_QUOTA,
     .needs = 1u << SOURCE_CGROUP,
     .reason = "the kernel stops a control group that has used up its share of CPU time",
     .detect = saturation_quota},
    {.name = "steal",
     .resource = RESOURCE_STEAL,
     .cause = CAUSE_STEAL,
     .reason = "the hypervisor runs somebody else on the core",
     .detect = saturation_steal},
    {.name = "disk",
     .resource = RESOURCE_DISK,
     .cause = CAUSE_DISK_CONTENTION,
     .reason = "a task blocked on block I/O waits for a device, or for a throttle before it",
     .detect = saturation_disk},
    {.name = "memory",
     .resource = RESOURCE_MEMORY,
     .cause = CAUSE_MEMORY_LIMIT,
     .reason = "pages that do not fit are thrown out and read back, and their readers wait",
     .detect = saturation_memory},
    {.name = "machine-full",
     .resource = RESOURCE_CPU,
     .cause = CAUSE_MACHINE_FULL,
     .reason = "hosts that share the cores of one machine take turns on them once all are busy",
     .detect = machine_full_detect},
    {.name = "link-connections",
     .resource = RESOURCE_NET_EGRESS,
     .cause = CAUSE_PATH_LIMITED,
     .needs = 1u << SOURCE_CONNECTIONS,
     .reason = "connections through a full link have data under way that neither end holds up",
     .detect = link_connections_detect},
    {.name = "link-queue",
     .resource = RESOURCE_NET_EGRESS,
     .cause = CAUSE_PATH_LIMITED,
     .needs = 1u << SOURCE_QDISC,
     .reason = "packets wait before an interface that is set to a rate",
     .detect = link_queue_detect},
    {.name = "link-rate",
     .resource = RESOURCE_NET_EGRESS,
     .cause = CAUSE_PATH_LIMITED,
     .reason = "a link that carries what it was measured to carry can carry no more",
     .detect = link_rate_detect},
    {.name = "link-peers",
     .resource = RESOURCE_NET_EGRESS,
     .cause = CAUSE_PATH_LIMITED,
     .reason = "transfers that take one rank longer than its peers go through something slower",
     .detect = link_peers_detect},
    {.name = "latency",
     .resource = RESOURCE_APPLICATION,
     .cause = CAUSE_LATENCY,
     .needs = 1u << SOURCE_CALLS,
     .reason = "a small message takes its way between two hosts, whatever the rate of the link",
     .detect = message_latency_detect},
    {.name = "free-ranks",
     .resource = RESOURCE_IMBALANCE,
     .cause = CAUSE_SKEW,
     .needs = 1u << SOURCE_CALLS,
     .reason = "of ranks that run freely, the one with more to do for an iteration does fewer",
     .detect = saturation_free},
    {.name = "imbalance",
     .resource = RESOURCE_IMBALANCE,
     .cause = CAUSE_SKEW,
     .needs = 1u << SOURCE_CALLS,
     .reason = "ranks in step wait for the one that computes longest",
     .detect = imbalance_detect},
    {.name = "sleep",
     .resource = RESOURCE_APPLICATION,
     .cause = CAUSE_SLEEP,
     .needs = 1u << SOURCE_CALLS,
     .reason = "peers wait for a rank that sleeps, or waits for a lock, in its own code",
     .detect = sleep_detect},
    {.name = "stop",
     .resource = RESOURCE_APPLICATION,
     .cause = CAUSE_STOPPED,
     .needs = 1u << SOURCE_CALLS,
     .reason = "peers wait for a rank that a signal or a debugger has stopped",
     .detect = stop_detect},
    {.name = "buffers",
     .resource = RESOURCE_APPLICATION,
     .cause = CAUSE_RECEIVER,
     .needs = 1u << SOURCE_CALLS | 1u << SOURCE_CONNECTIONS,
     .reason = "a sender stops when its buffer is full or its receiver does not read",
     .detect = buffers_detect},
    {.name = "process-imbalance",
     .resource = RESOURCE_IMBALANCE,
     .cause = CAUSE_SKEW,
     .needs = 1u << SOURCE_CONNECTIONS,
     .instead = 1u << SOURCE_CALLS,
     .reason = "of processes of one role, the one that computes more and never waits is waited for",
     .detect = process_imbalance_detect},
    {.name = "process-sleep",
     .resource = RESOURCE_APPLICATION,
     .cause = CAUSE_SLEEP,
     .needs = 1u << SOURCE_CONNECTIONS,
     .instead = 1u << SOURCE_CALLS | 1u << SOURCE_WAITS,
     .reason = "data stay under way to a process that does not read them",
     .detect = process_sleep_detect},
    {.name = "awaited-pool",
     .resource = RESOURCE_APPLICATION,
     .cause = CAUSE_POOL,
     .needs = 1u << SOURCE_WAITS,
     .reason = "requests that a process hands on wait for its few connections, one after the other",
     .detect = awaited_pool_detect},
    {.name = "awaited-names",
     .resource = RESOURCE_APPLICATION,
     .cause = CAUSE_NAMES,
     .needs = 1u << SOURCE_WAITS,
     .reason = "a process that has asked a server of names goes on when the answer is there",
     .detect = awaited_names_detect},
    {.name = "awaited-sleep",
     .resource = RESOURCE_APPLICATION,
     .cause = CAUSE_SLEEP,
     .needs = 1u << SOURCE_WAITS,
     .reason = "processes wait for one that sleeps, by itself or with a lock in its hands",
     .detect = awaited_sleep_detect},
    {.name = "awaited-stop",
     .resource = RESOURCE_APPLICATION,
     .cause = CAUSE_STOPPED,
     .needs = 1u << SOURCE_WAITS,
     .reason = "processes wait for one that a signal or a debugger has stopped",
     .detect = awaited_stop_detect},
    {.name = "awaited-computing",
     .resource = RESOURCE_CPU,
     .cause = CAUSE_SERIAL,
     .needs = 1u << SOURCE_WAITS,
     .reason = "processes wait for one whose only busy thread fills a core",
     .detect = awaited_computing_detect},
    {.name = "awaited-input",
     .resource = RESOURCE_APPLICATION,
     .cause = CAUSE_INPUT,
     .needs = 1u << SOURCE_WAITS,
     .reason = "a rank waits for its helper, which makes or reads its data too slowly",
     .detect = awaited_input_detect},
    {.name = "compute-bound",
     .resource = RESOURCE_CPU,
     .cause = CAUSE_COMPUTE_BOUND,
     .reason = "a program that computes all the time ends sooner only on faster or more cores",
     .detect = compute_bound_detect},
};
#define RULES (sizeof rules / sizeof *rules)

const struct rule *rule_list(size_t *ret_n) {
    *ret_n = RULES;
    return rules;
}

/* Another rule says it, where its source is there; without what it needs it is blind. */
static bool applies(const struct run_model *model, const struct rule *rule) {
    unsigned there = model->observed.sources;
    return !rule_is_off(rule) && (there & rule->needs) == rule->needs && !(there & rule->instead);
}

struct candidate candidate_of(int host, size_t group, enum resource resource, enum cause kind) {
    return (struct candidate){.host = host,
                              .rank = -1,
                              .group = group,
                              .resource = resource,
                              .kind = kind,
                              .part = 1,
                              .own = NAN,
                              .gain = {.estimate = NAN, .low = NAN, .high = NAN},
                              .doubled = {.estimate = NAN, .low = NAN, .high = NAN},
                              .counted = {.estimate = NAN, .low = NAN, .high = NAN},
                              .lost = {.estimate = NAN, .low = NAN, .high = NAN},
                              .start_s = NAN,
                              .end_s = NAN};
}

static void release(struct candidate *candidate) {
    remark_release(&candidate->cause);
    remarks_release(&candidate->evidence);
    remarks_release(&candidate->against);
}

struct candidate *candidates_add(struct candidates *candidates, const struct candidate *candidate) {
    if (candidates->n == candidates->capacity) {
        size_t capacity = candidates->capacity ? 2 * candidates->capacity : 8;
        struct candidate *items = realloc(candidates->items, capacity * sizeof *items);
        if (!items) {
            struct candidate lost = *candidate;
            release(&lost);
            return NULL;
        }
        candidates->items = items;
        candidates->capacity = capacity;
    }
    struct candidate *added = &candidates->items[candidates->n++];
    *added = *candidate;
    return added;
}

void candidates_remove(struct candidates *candidates, size_t at) {
    release(&candidates->items[at]);
    candidates->n--;
    memmove(&candidates->items[at], &candidates->items[at + 1],
            (candidates->n - at) * sizeof *candidates->items);
}

bool candidates_any(const struct candidates *candidates, size_t group, unsigned resources) {
    for (size_t i = 0; i < candidates->n; i++)
        if (candidates->items[i].group == group && resources >> candidates->items[i].resource & 1)
            return true;
    return false;
}

int candidates_flows(const struct run_model *model, size_t group, struct candidates *candidates,
                     const struct flows **ret_flows) {
    if (!candidates->has_flows || candidates->flows_group != group) {
        flows_release(&candidates->flows);
        candidates->has_flows = false;
        int result = flows_make(model, phase_windows(&model->groups[group]), &candidates->flows);
        if (result < 0)
            return result;
        candidates->has_flows = true;
        candidates->flows_group = group;
    }
    *ret_flows = &candidates->flows;
    return 0;
}

enum subject candidate_subject(const struct candidate *c) {
    bool own = c->resource == RESOURCE_APPLICATION || c->resource == RESOURCE_IMBALANCE;
    if (c->subject != SUBJECT_NONE)
        return c->subject;
    if (c->everywhere)
        return SUBJECT_ALL_HOSTS;
    if (c->rank >= 0 && (own || c->kind == CAUSE_SERIAL))
        return SUBJECT_RANK;
    return own ? SUBJECT_PROCESS : SUBJECT_HOST;
}

double candidate_weight(const struct candidate *candidate) {
    return candidate->fallback
               ? 0
               : candidate->gain.estimate * (candidate->saturated ? 1 : UNSATURATED_WEIGHT);
}

bool candidate_is_alike(const struct candidate *first, const struct candidate *c) {
    return !c->repeated && c->group == first->group && c->host != first->host &&
           c->run_share >= 0.5 * first->run_share && first->run_share >= 0.5 * c->run_share &&
           c->resource == first->resource && c->kind == first->kind;
}

static int compare(const void *a, const void *b) {
    const struct candidate *p = a, *q = b;
    double x = candidate_weight(p), y = candidate_weight(q);
    if (x != y)
        return x < y ? 1 : -1;
    if (p->host != q->host)
        return (p->host > q->host) - (p->host < q->host);
    return p->other_way != q->other_way ? p->other_way - q->other_way
                                        : (p->resource > q->resource) - (p->resource < q->resource);
}

/* The greatest of the candidates of one host, rank and resource in several phases stands for all.
 */
static void mark_repeats(struct candidates *candidates) {
    for (size_t i = 0; i < candidates->n; i++)
        for (size_t k = 0; k < i && !candidates->items[i].repeated; k++)
            candidates->items[i].repeated =
                candidates->items[k].host == candidates->items[i].host &&
                candidates->items[k].rank == candidates->items[i].rank &&
                candidates->items[k].resource == candidates->items[i].resource;
}

int rules_detect(const struct run_model *model, size_t group, unsigned resources,
                 struct candidates *candidates) {
    int result = 0;
    for (size_t r = 0; result == 0 && r < RULES; r++)
        if (resources >> rules[r].resource & 1 && applies(model, &rules[r]))
            result = rules[r].detect(model, group, candidates);
    return result;
}

static int detect_all(const struct run_model *model, struct candidates *found) {
    int result = arithmetic_make(model, &found->arithmetic, &found->n_arithmetic);
    double run_ns = (double)windows_length(phase_windows(&model->groups[0]));
    for (size_t g = model->n_groups > 1 ? 1 : 0; result == 0 && g < model->n_groups; g++) {
        size_t first = found->n;
        int64_t length = windows_length(phase_windows(&model->groups[g]));
        if (length < GROUP_MIN_NS && g != model->main_group)
            continue;
        result = rules_detect(model, g, ~0u, found);
        if (result == 0)
            result = saturation_start(model, found);
        for (size_t i = first; i < found->n; i++) {
            struct candidate *c = &found->items[i];
            c->run_share = c->blocked * (double)length / run_ns;
        }
    }
    for (size_t i = 0; result == 0 && i < found->n; i++) {
        const struct candidate *c = &found->items[i];
        result = c->cause.code != REMARK_NONE ? c->evidence.error + c->against.error : -ENOMEM;
    }
    return result;
}

int saturation_find(const struct run_model *model, const struct whatif *whatif,
                    const struct stragglers *stragglers, struct candidates *ret_candidates) {
    struct candidates found = {.stragglers = stragglers};
    int result = detect_all(model, &found);
    if (result == 0)
        result = candidates_estimate(model, whatif, &found);
    if (result < 0) {
        candidates_release(&found);
        return result;
    }
    saturation_start_by_spans(model, &found);
    links_drop_unclear(model, &found);
    if (found.n)
        qsort(found.items, found.n, sizeof *found.items, compare);
    mark_repeats(&found);
    *ret_candidates = found;
    return 0;
}

void candidates_release(struct candidates *candidates) {
    for (size_t i = 0; i < candidates->n; i++)
        release(&candidates->items[i]);
    free(candidates->items);
    free(candidates->arithmetic);
    flows_release(&candidates->flows);
    remarks_release(&candidates->ruled_out);
    *candidates = (struct candidates){0};
}

struct loss candidate_loss(const struct candidate *c) {
    return (struct loss){.host = c->host,
                         .rank = c->rank,
                         .group = c->group,
                         .terms = c->terms,
                         .part = c->part,
                         .all_hosts = c->all_hosts,
                         .everywhere = c->everywhere,
                         .serves = c->kind == CAUSE_SERIAL,
                         .link = c->can_remove && c->remove.kind == WHATIF_LINK,
                         .change = c->remove};
}

double candidate_blocked(const struct candidate *candidate, struct windows windows) {
    double share = candidate->factor * rate_mean(candidate->signal, windows);
    return share > 1 ? 1 : share;
}
