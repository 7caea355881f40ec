/* SPDX-License-Identifier: MIT */
/*
 * Processes of one role compared, where no call of MPI tells who waits for whom: one that computes
 * more than its peers (imbalance), or sleeps in its own code. Peers run the same program and move
 * about as many bytes; what they do adds up to one time, so that who never waits is waited for.
 * Computing at the same time must be certain, since a server and its client take turns and look
 * uneven by design. That a process sleeps and does not wait for a peer, totals cannot tell; the
 * kernel's clocks of connections can: what is sent to one who reads at once is acknowledged at
 * once, so data that stay under way towards one process, and not back, wait for it. That is a
 * suspicion and never more.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/saturation_private.h"
#include "analysis/stats.h"

struct peer {
    const struct rank_budget *who;
    const struct budget *budget;
    double cpu, idle, busy; /* shares of its life; busy: all that is no waiting for a peer */
    double late;            /* that data for its host were under way, s a byte */
    double late_share;      /* the same, of the time */
};

struct peers {
    struct peer *items;
    size_t n;
};

static double part(const struct budget *b, enum budget_term term) {
    return isnan(b->term_s[term]) ? 0 : b->term_s[term] / b->wall_s;
}

static struct peer peer_of(const struct rank_budget *who, size_t group) {
    const struct budget *b = &who->groups[group];
    struct peer p = {.who = who, .budget = b};
    if (b->wall_s <= 0 || isnan(b->term_s[BUDGET_CPU]) || isnan(b->term_s[BUDGET_IDLE]))
        return p;
    p.cpu = part(b, BUDGET_CPU);
    /* what it had to send while it was blocked may wait for a reader just as well */
    p.idle = part(b, BUDGET_IDLE) + part(b, BUDGET_TRANSFER);
    p.busy = p.cpu + part(b, BUDGET_RUN_QUEUE) + part(b, BUDGET_QUOTA) + part(b, BUDGET_STEAL) +
             part(b, BUDGET_DISK) + part(b, BUDGET_MEMORY);
    return p;
}

/* ---- who is a peer ---- */

/* "python3[4711]": the name of the program. */
static bool is_same_program(const char *a, const char *b) {
    size_t n = strcspn(a, "[");
    return n == strcspn(b, "[") && strncmp(a, b, n) == 0;
}

/* Of a job without ranks a host's busiest process speaks for it: others are its helpers. */
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

/* The busiest, and those that run the same program for as long, and compute as well. */
static void choose(struct peers *peers) {
    size_t n = peers->n;
    if (n)
        qsort(peers->items, n, sizeof *peers->items, compare_cpu);
    peers->n = n ? 1 : 0;
    for (size_t i = 1; i < n; i++) {
        const struct peer *first = &peers->items[0], *p = &peers->items[i];
        if (is_same_program(p->who->process, first->who->process) && stands_for(peers, p) &&
            p->cpu > 0 && p->cpu >= SKEW_PEER * first->cpu &&
            p->budget->wall_s >= PEER_LIFE * first->budget->wall_s)
            peers->items[peers->n++] = *p;
    }
}

/* ---- what they move ---- */

struct traffic {
    double bytes[2]; /* by enum flow_side */
    double under_way_s;
};

/* [host] */
static int traffic_make(const struct scene *scene, size_t group, struct traffic **ret_traffic) {
    struct traffic *traffic = calloc(scene->n_hosts + 1, sizeof *traffic);
    struct flows flows = {0};
    int result =
        traffic ? flows_make(scene, phase_windows(&scene->groups[group]), &flows) : -ENOMEM;
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

static bool is_alike(double bytes, double median) {
    return bytes > 0 && bytes <= PEER_TRAFFIC * median && median <= PEER_TRAFFIC * bytes;
}

/* Who moves more, or less, is no peer: a server of several, a process that takes no part. */
static int keep_alike(const struct scene *scene, size_t group, struct peers *peers) {
    double wall_s = (double)windows_length(phase_windows(&scene->groups[group])) / 1e9;
    double *room = malloc((peers->n + 1) * sizeof *room);
    struct traffic *traffic;
    int result = room ? traffic_make(scene, group, &traffic) : -ENOMEM;
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
        if (!is_alike(t->bytes[FLOW_SEND], sent) || !is_alike(t->bytes[FLOW_RECEIVE], received))
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

static int peers_make(const struct scene *scene, size_t group, struct peers *ret_peers) {
    struct peers peers = {.items = calloc(scene->budgets.n + 1, sizeof *peers.items)};
    if (!peers.items)
        return -ENOMEM;
    for (size_t r = 0; r < scene->budgets.n; r++)
        peers.items[peers.n++] = peer_of(&scene->budgets.items[r], group);
    choose(&peers);
    int result = keep_alike(scene, group, &peers);
    if (result < 0)
        free(peers.items);
    else
        *ret_peers = peers;
    return result;
}

static double cpu_of(const struct peer *p) {
    return p->cpu;
}
static double late_of(const struct peer *p) {
    return p->late;
}
static double busy_of(const struct peer *p) {
    return p->busy;
}

/* Over all but one; NAN without memory. */
static double others_median(const struct peers *peers, const struct peer *but,
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

static const struct peer *with_most(const struct peers *peers, double (*of)(const struct peer *)) {
    const struct peer *most = &peers->items[0];
    for (size_t i = 1; i < peers->n; i++)
        if (of(&peers->items[i]) > of(most))
            most = &peers->items[i];
    return most;
}

/* The one that is off its core least, of all others. */
static double others_least_idle(const struct peers *peers, const struct peer *but) {
    double least = INFINITY;
    for (size_t i = 0; i < peers->n; i++)
        if (&peers->items[i] != but)
            least = fmin(least, peers->items[i].idle);
    return least;
}

/* Data wait for it, and hardly for the others. */
static bool is_late(const struct peers *peers, const struct peer *p) {
    return p->late_share >= LATE_MIN && p->late >= LATE_RATIO * others_median(peers, p, late_of);
}

static void tell_late(const struct scene *scene, const struct peers *peers, const struct peer *p,
                      struct candidate *c) {
    double others = others_median(peers, p, late_of);
    if (others > 0)
        text_list_add(&c->evidence,
                      "data on their way to %s took %.1f times as long to be acknowledged as those "
                      "to its peer%s: they wait there for somebody to read them",
                      scene->hosts[c->host].name, p->late / others, peers->n > 2 ? "s" : "");
    c->signals++;
}

/* ---- more to compute ---- */

static int add_more(const struct scene *scene, size_t group, const struct peers *peers,
                    const struct peer *p, double median, struct core_speed core,
                    struct candidates *candidates) {
    struct candidate c = candidate_of(p->who->host, group, "imbalance", "skew");
    const char *whom = peers->n > 2 ? "its peers" : "its peer";
    c.rank = p->who->rank;
    c.blocked = p->cpu / core.slower - median;
    c.signals = 1 + (peers->n > 3);
    c.terms = 1u << BUDGET_CPU;
    c.cause = text_format("%s has %.2f times as much to compute as %s", p->who->process,
                          p->cpu / core.slower / median, whom);
    text_list_add(&c.evidence, "%s used the CPU %.0f %% of the time, %s %.0f %%%s", p->who->process,
                  100 * p->cpu, whom, 100 * median, peers->n > 2 ? " in the median" : "");
    text_list_add(&c.evidence, "it waited for nobody: %.0f %% of the time it ran, or could have",
                  100 * fmin(1, p->busy));
    if (is_late(peers, p))
        tell_late(scene, peers, p, &c);
    core_speed_tell(core, &c);
    return candidates_add(candidates, &c) ? 0 : -ENOMEM;
}

static bool is_more(const struct scene *scene, const struct peer *p, double cpu, double median) {
    double ratio = scene_shares_cores(scene, p->who->host) ? SKEW_RATIO_SHARED : SKEW_RATIO_PROCESS;
    return cpu - median >= (ratio - 1) * median && cpu - median >= BLOCKED_MIN;
}

static int look_for_more(const struct scene *scene, size_t group, const struct peers *peers,
                         struct candidates *candidates) {
    const struct peer *p = with_most(peers, cpu_of);
    double median = others_median(peers, p, cpu_of);
    bool together = p->cpu + median - 1 >= PEER_TOGETHER * median;
    if (!together || p->busy < BUSY_RANK ||
        candidates_short_of(candidates, p->who->host, group, ""))
        return 0;
    struct core_speed core = core_speed_of(scene, group, p->who->host);
    if (is_more(scene, p, p->cpu / core.slower, median))
        return add_more(scene, group, peers, p, median, core, candidates);
    core_speed_rule_out(scene, group, p->who, p->cpu / median, core, candidates);
    return 0;
}

/* ---- asleep ---- */

static int add_sleep(const struct scene *scene, size_t group, const struct peers *peers,
                     const struct peer *p, struct candidates *candidates) {
    struct candidate c = candidate_of(p->who->host, group, "application", "sleep");
    c.rank = p->who->rank;
    c.blocked = p->idle;
    c.signals = 1;
    c.terms = 1u << BUDGET_IDLE;
    c.cause = text_format("%s sleeps, or waits for something outside the job, in its own code",
                          p->who->process);
    text_list_add(
        &c.evidence,
        "%s was off its core %.0f %% of the time, and waited neither for a core nor for a "
        "disk nor for memory",
        p->who->process, 100 * p->idle);
    tell_late(scene, peers, p, &c);
    text_list_add(&c.against,
                  "its peer%s waited %.0f %% of the time as well: which of them the others wait "
                  "for, only the connections tell",
                  peers->n > 2 ? "s" : "", 100 * fmax(0, 1 - others_median(peers, p, busy_of)));
    c.next = "mark what the processes do in an iteration (chokepoint.h): a sleep then has a place";
    return candidates_add(candidates, &c) ? 0 : -ENOMEM;
}

/* What the host waited for I/O may be what the process was off its core for. */
static bool is_for_disk(const struct scene *scene, size_t group, const struct peer *p) {
    return scene_mean(scene, p->who->host, METRIC_PSI_IO, group) / 100 >= p->idle / 2;
}

static int look_for_sleep(const struct scene *scene, size_t group, const struct peers *peers,
                          struct candidates *candidates) {
    const struct peer *p = with_most(peers, late_of);
    bool alike = p->cpu < SKEW_RATIO * others_median(peers, p, cpu_of);
    /* all others wait for a sleeper; one of them that hardly does is waited for itself */
    bool awaited = others_least_idle(peers, p) >= p->idle;
    /* MPI reads what came only when it is called: data wait for a rank that computes as well */
    if (p->who->rank >= 0 || p->idle < LATE_IDLE_MIN || !alike || !awaited || !is_late(peers, p) ||
        is_for_disk(scene, group, p))
        return 0;
    for (size_t h = 0; h < scene->n_hosts; h++) /* a full link holds up data as well */
        if (candidates_short_of(candidates, (int)h, group, "net-"))
            return 0;
    if (candidates_short_of(candidates, p->who->host, group, ""))
        return 0;
    return add_sleep(scene, group, peers, p, candidates);
}

int saturation_processes(const struct scene *scene, size_t group, struct candidates *candidates) {
    struct peers peers = {0};
    int result = peers_make(scene, group, &peers);
    if (result == 0 && peers.n > 1)
        result = look_for_more(scene, group, &peers, candidates);
    if (result == 0 && peers.n > 1)
        result = look_for_sleep(scene, group, &peers, candidates);
    free(peers.items);
    return result;
}
