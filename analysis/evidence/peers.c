/* SPDX-License-Identifier: MIT */
#include "analysis/evidence/peers.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "analysis/evidence/flows.h"
#include "analysis/evidence/processes.h"
#include "analysis/facts/series/stats.h"
#include "analysis/number.h"

static double part(const struct budget *b, enum budget_term term) {
    return isnan(b->term_s[term]) ? 0 : b->term_s[term] / b->wall_s;
}

/* Sums over all its threads; NAN if it was not seen. */
static struct process_use use_of(const struct run_model *model, const struct rank_budget *who,
                                 size_t group) {
    for (size_t i = 0; i < model->n_processes; i++)
        if (model->processes[i].host == who->host &&
            model->processes[i].series->name == who->process)
            return model_group_use(model, &model->processes[i], group);
    return (struct process_use){.user_s = NAN, .run_queue_s = NAN};
}

/* Run-queue time of its threads by the kernel, beyond the budget's, as a share. */
static double crowded(const struct budget *b, const struct process_use *use) {
    double beyond =
        use->run_queue_s / b->wall_s - part(b, BUDGET_RUN_QUEUE) - part(b, BUDGET_QUOTA);
    return fmax(0, beyond); /* if one of them is NAN, the other */
}

static struct peer peer_of(const struct run_model *model, const struct rank_budget *who,
                           size_t group) {
    const struct budget *b = &who->groups[group];
    struct peer p = {.who = who, .budget = b};
    if (b->wall_s <= 0 || isnan(b->term_s[BUDGET_CPU]) || isnan(b->term_s[BUDGET_IDLE]))
        return p;
    struct process_use use = use_of(model, who, group);
    p.cpu = part(b, BUDGET_CPU);
    p.user = use.user_s / b->wall_s;
    /* while it was blocked, data to send may have waited for a reader */
    p.idle = part(b, BUDGET_IDLE) + part(b, BUDGET_TRANSFER);
    p.busy = p.cpu + part(b, BUDGET_RUN_QUEUE) + part(b, BUDGET_QUOTA) + part(b, BUDGET_STEAL) +
             part(b, BUDGET_DISK) + part(b, BUDGET_MEMORY);
    p.crowded = crowded(b, &use);
    return p;
}

/* ---- who is a peer ---- */

/* Without ranks a host's busiest process stands for it: the others are its helpers. */
static bool stands_for(const struct peers *peers, const struct peer *p) {
    for (size_t i = 0; p->who->rank < 0 && i < peers->n; i++)
        if (peers->items[i].who->host == p->who->host)
            return false;
    return true;
}

static int compare_cpu(const void *a, const void *b) {
    const struct peer *x = a, *y = b;
    if (x->cpu != y->cpu)
        return x->cpu > y->cpu ? -1 : 1;
    return (x->who > y->who) - (x->who < y->who);
}

/* Chooses the busiest process, and those that run the same program for as long and also compute. */
static void choose(const struct run_model *model, struct peers *peers) {
    size_t n = peers->n;
    if (n)
        qsort(peers->items, n, sizeof *peers->items, compare_cpu);
    peers->n = n ? 1 : 0;
    for (size_t i = 1; i < n; i++) {
        const struct peer *first = &peers->items[0], *p = &peers->items[i];
        if (key_same_program(p->who->key, first->who->key) && stands_for(peers, p) && p->cpu > 0 &&
            p->cpu >= number_of(model, SKEW_PEER) * first->cpu &&
            p->budget->wall_s >= number_of(model, PEER_LIFE) * first->budget->wall_s)
            peers->items[peers->n++] = *p;
    }
}

/* ---- what they move ---- */

struct traffic {
    double bytes[2]; /* by enum flow_side */
    double under_way_s;
};

/* Fills in the traffic of each host. */
static int traffic_make(const struct run_model *model, size_t group, struct traffic **ret_traffic) {
    struct traffic *traffic = calloc(model->n_hosts + 1, sizeof *traffic);
    struct flows flows = {0};
    int result =
        traffic ? flows_make(model, phase_windows(&model->groups[group]), &flows) : -ENOMEM;
    for (size_t i = 0; result == 0 && i < flows.n; i++) {
        const struct flow *f = &flows.items[i];
        traffic[f->from].bytes[FLOW_SEND] += f->bytes;
        traffic[f->to].bytes[FLOW_RECEIVE] += f->bytes;
        traffic[f->to].under_way_s += f->limited_s + f->receiver_s + f->send_buffer_s;
    }
    flows_release(&flows);
    if (result < 0)
        free(traffic);
    else
        *ret_traffic = traffic;
    return result;
}

static double median_bytes(const struct peers *peers, const struct traffic *traffic,
                           enum flow_side side, double *room) {
    for (size_t i = 0; i < peers->n; i++)
        room[i] = traffic[peers->items[i].who->host].bytes[side];
    return stats_median(room, peers->n);
}

static bool is_alike(const struct run_model *model, double bytes, double median) {
    return bytes > 0 && bytes <= number_of(model, PEER_TRAFFIC) * median &&
           median <= number_of(model, PEER_TRAFFIC) * bytes;
}

/* A process that moves many more or fewer bytes is no peer: a server of several, or one that takes
 * no part.
 */
static int keep_alike(const struct run_model *model, size_t group, struct peers *peers) {
    double wall_s = (double)windows_length(phase_windows(&model->groups[group])) / 1e9;
    double *room = malloc((peers->n + 1) * sizeof *room);
    struct traffic *traffic;
    int result = room ? traffic_make(model, group, &traffic) : -ENOMEM;
    size_t kept = 0;
    if (result < 0) {
        free(room);
        return result;
    }
    double sent = median_bytes(peers, traffic, FLOW_SEND, room);
    double received = median_bytes(peers, traffic, FLOW_RECEIVE, room);
    for (size_t i = 0; i < peers->n; i++) {
        struct peer *p = &peers->items[i];
        const struct traffic *t = &traffic[p->who->host];
        if (!is_alike(model, t->bytes[FLOW_SEND], sent) ||
            !is_alike(model, t->bytes[FLOW_RECEIVE], received))
            continue;
        p->late = t->under_way_s / t->bytes[FLOW_RECEIVE];
        p->late_share = t->under_way_s / wall_s;
        peers->items[kept++] = *p;
    }
    peers->n = kept;
    free(traffic);
    free(room);
    return 0;
}

int peers_make(const struct run_model *model, size_t group, struct peers *ret_peers) {
    struct peers peers = {.items = calloc(model->budgets.n + 1, sizeof *peers.items)};
    if (!peers.items)
        return -ENOMEM;
    for (size_t r = 0; r < model->budgets.n; r++)
        peers.items[peers.n++] = peer_of(model, &model->budgets.items[r], group);
    choose(model, &peers);
    int result = keep_alike(model, group, &peers);
    if (result < 0)
        free(peers.items);
    else
        *ret_peers = peers;
    return result;
}

double peer_cpu(const struct peer *p) {
    return p->cpu;
}
double peer_user(const struct peer *p) {
    return p->user;
}
double peer_late(const struct peer *p) {
    return p->late;
}
double peer_busy(const struct peer *p) {
    return p->busy;
}
double peer_crowded(const struct peer *p) {
    return p->crowded;
}

double peers_median_but(const struct peers *peers, const struct peer *but,
                        double (*of)(const struct peer *)) {
    double *values = malloc((peers->n + 1) * sizeof *values);
    size_t n = 0;
    for (size_t i = 0; values && i < peers->n; i++)
        if (&peers->items[i] != but)
            values[n++] = of(&peers->items[i]);
    double median = stats_median(values, n);
    free(values);
    return median;
}

const struct peer *peers_with_most(const struct peers *peers, double (*of)(const struct peer *)) {
    const struct peer *most = &peers->items[0];
    for (size_t i = 1; i < peers->n; i++)
        if (of(&peers->items[i]) > of(most))
            most = &peers->items[i];
    return most;
}

double peers_least_idle_but(const struct peers *peers, const struct peer *but) {
    double least = INFINITY;
    for (size_t i = 0; i < peers->n; i++)
        if (&peers->items[i] != but)
            least = fmin(least, peers->items[i].idle + fmax(0, peers->items[i].cpu - but->cpu));
    return least;
}
