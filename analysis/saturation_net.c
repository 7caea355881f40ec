/* SPDX-License-Identifier: MIT */
/*
 * Network: which side of which host's link holds up the run. Where connections were recorded, the
 * set of those that their path held up tells (saturation_flow.c). Between two hosts one connection
 * is explained by either end equally well: a sender's own full link shows a queue before its
 * interface, so without one it is the receiver's side, or something in between.
 *
 * Without connections the rates must do: the ceiling of a link is what it was measured to carry
 * (`chokepoint calibrate`), else at least the highest rate it reached again and again. Where the
 * ceiling is only a rate seen, a program that sends steadily on its own account looks the same:
 * never more than suspected.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/saturation_private.h"

static const enum metric metrics[] = {
    [FLOW_SEND] = METRIC_NET_SEND, [FLOW_RECEIVE] = METRIC_NET_RECV};
static const char *const resources[] = {[FLOW_SEND] = "net-egress", [FLOW_RECEIVE] = "net-ingress"};

/* ---- what a host's queues say ---- */

struct queues {
    bool known;
    double backlog, overlimits_s; /* of the interface where most waits */
    double rate_mb_s;             /* it is set to; NAN */
};

static double mean_level(const struct series_set *set, const struct series *series, size_t column,
                         struct windows windows) {
    double sum = 0, n = 0;
    for (size_t row = 0; row < series->n; row++)
        for (size_t w = 0; w < windows.n; w++)
            if (series->t_ns[row] > windows.items[w].begin_ns &&
                series->t_ns[row] <= windows.items[w].end_ns &&
                series_value(set, series, row, column) != VALUE_ABSENT) {
                sum += (double)series_value(set, series, row, column);
                n++;
            }
    return n > 0 ? sum / n : 0;
}

static struct queues queues_of(const struct scene *scene, size_t group, int host) {
    const struct series_set *set = &scene->recording->tables[RECORDING_QDISC];
    struct windows windows = phase_windows(&scene->groups[group]);
    double seconds = (double)windows_length(windows) / 1e9;
    struct queues most = {.rate_mb_s = NAN};
    for (size_t s = 0; s < set->n; s++) {
        const struct series *queue = &set->items[s];
        if (queue->host != host || strncmp(queue->name, "lo ", 3) == 0)
            continue;
        double backlog = mean_level(set, queue, QDISC_BACKLOG, windows);
        double over = series_growth(set, queue, QDISC_OVERLIMITS, windows, NULL) / seconds;
        most.known = true;
        if (backlog < most.backlog || (backlog == most.backlog && over <= most.overlimits_s))
            continue;
        int64_t rate = series_last(set, queue, QDISC_RATE);
        most.backlog = backlog;
        most.overlimits_s = over;
        most.rate_mb_s = rate > 0 ? (double)rate / 1e6 : NAN;
    }
    return most;
}

static bool is_backed_up(const struct queues *queues) {
    return queues->backlog >= BACKLOG_MIN;
}

/* ---- words that both ways share ---- */

static void add_arithmetic(const struct arithmetic *a, struct candidate *c) {
    if (!a)
        return;
    text_list_add(
        &c->evidence,
        "arithmetic: %.4g MB an iteration / %.4g MB/s = %.3g s of the %.3g s an iteration "
        "takes (%.0f %%)",
        a->bytes_per_iteration / 1e6, a->bandwidth_mb_s, a->bound_s, a->iteration_s,
        100 * a->share);
    c->signals += a->share >= 0.4;
}

static struct whatif_scenario faster(int host, enum flow_side side, double factor) {
    return (struct whatif_scenario){.kind = WHATIF_LINK,
                                    .host = host,
                                    .rank = -1,
                                    .direction = side == FLOW_SEND ? WHATIF_SEND : WHATIF_RECEIVE,
                                    .factor = factor};
}

#define UNLIMITED 1000.0 /* times as fast: as good as no limit */

static struct candidate link_of(const struct scene *scene, size_t group, int host,
                                enum flow_side side) {
    struct candidate c = candidate_of(host, group, resources[side], "path-limited");
    c.signal = &scene->hosts[host].metrics[metrics[side]];
    c.cause = text_format("link");
    c.can_remove = c.can_double = true;
    c.remove = faster(host, side, UNLIMITED);
    c.twice = faster(host, side, 2);
    if (scene_has_path(scene)) {
        c.terms = 1u << BUDGET_TRANSFER;
        c.all_hosts = true;
        c.part = flows_critical_part(scene, group, host, side);
    }
    return c;
}

/* Share of the path that is transfers through this side; NAN where the path is not known. */
static double link_demand(const struct scene *scene, size_t group, int host, enum flow_side side) {
    double all = 0;
    for (size_t h = 0; h < scene->n_hosts; h++)
        all += scene_demand(scene, group, (int)h, BUDGET_TRANSFER);
    double part = isnan(all) ? NAN : flows_critical_part(scene, group, host, side);
    return isnan(part) ? (isnan(all) ? NAN : 0) : all * part;
}

/* ---- by connections ---- */

struct culprit_side {
    int host;
    enum flow_side side;
    double f1;
    struct queues queues;
    struct network_limit limit;
    bool at_limit; /* near what it was measured to carry, while data moved */
};

static double side_rate(const struct flows *flows, int host, enum flow_side side) {
    double need = 0, bytes = 0;
    for (size_t i = 0; i < flows->n; i++) {
        const struct flow *f = &flows->items[i];
        if (!f->limited || (side == FLOW_SEND ? f->from : f->to) != host)
            continue;
        need = fmax(need, f->need_s); /* several at once share it */
        bytes += f->bytes;
    }
    return need > 0 ? bytes / need / 1e6 : NAN;
}

static struct culprit_side look_at_side(const struct scene *scene, size_t group,
                                        const struct flows *flows, int host, enum flow_side side) {
    struct culprit_side s = {.host = host,
                             .side = side,
                             .f1 = flows_f1(flows, host, side),
                             .limit = network_limit_of(scene, host, metrics[side])};
    s.queues = queues_of(scene, group, host);
    s.at_limit = s.limit.measured && (side_rate(flows, host, side) >= NETWORK_FULL * s.limit.mb_s ||
                                      s.limit.seen_mb_s >= NETWORK_FULL * s.limit.mb_s);
    return s;
}

/* Own evidence decides between sides that explain the set equally well: a queue before the
 * sender's interface, a measured ceiling; else the receiving side, since a sender's full link would
 * have shown a queue. */
static int standing(const struct culprit_side *s) {
    if (s->side == FLOW_SEND)
        return is_backed_up(&s->queues) ? 4 : s->at_limit ? 3 : s->queues.known ? 0 : 1;
    return s->at_limit ? 3 : 2;
}

static bool is_better(const struct culprit_side *a, const struct culprit_side *b) {
    return fabs(a->f1 - b->f1) > 1e-9 ? a->f1 > b->f1 : standing(a) > standing(b);
}

static struct culprit_side best_side(const struct scene *scene, size_t group,
                                     const struct flows *flows) {
    struct culprit_side best = {.host = -1};
    for (size_t i = 0; i < 2 * scene->n_hosts; i++) {
        struct culprit_side s =
            look_at_side(scene, group, flows, (int)(i / 2), i % 2 ? FLOW_RECEIVE : FLOW_SEND);
        if (s.f1 >= FLOW_F1_MIN && (best.host < 0 || is_better(&s, &best)))
            best = s;
    }
    return best;
}

static double queue_ms(const struct flows *flows, const struct culprit_side *s) {
    double longest = 0;
    for (size_t i = 0; i < flows->n; i++) {
        const struct flow *f = &flows->items[i];
        if (f->limited && (s->side == FLOW_SEND ? f->from : f->to) == s->host)
            longest = fmax(longest, f->queue_ns / 1e6);
    }
    return longest;
}

/* How much of what its interface carried was the job's, as far as connections tell. */
static double own_bytes(const struct scene *scene, size_t group, const struct flows *flows,
                        const struct culprit_side *s) {
    double bytes = 0, all = rate_amount(&scene->hosts[s->host].metrics[metrics[s->side]],
                                        phase_windows(&scene->groups[group]));
    for (size_t i = 0; i < flows->n; i++)
        if ((s->side == FLOW_SEND ? flows->items[i].from : flows->items[i].to) == s->host)
            bytes += flows->items[i].bytes;
    return all > 0 ? bytes / all : NAN;
}

static void say_limited(const struct flows *flows, const struct culprit_side *s, double wall_s,
                        struct candidate *c) {
    double longest = 0, need = 0;
    size_t mine = 0;
    for (size_t i = 0; i < flows->n; i++) {
        const struct flow *f = &flows->items[i];
        if (!f->limited || (s->side == FLOW_SEND ? f->from : f->to) != s->host)
            continue;
        mine++;
        longest = fmax(longest, f->limited_s);
        need = fmax(need, f->need_s);
    }
    text_list_add(&c->evidence,
                  "routes held up by their path: %zu of %zu, %zu of them %s this host; data were "
                  "under way %.0f %% of the time and needed %.0f %% at the rate they arrived",
                  flows->n_limited, flows->n, mine, s->side == FLOW_SEND ? "from" : "to",
                  100 * fmin(1, longest / wall_s), 100 * fmin(1, need / wall_s));
    c->signals++;
}

static void say_queues(const struct flows *flows, const struct culprit_side *s,
                       struct candidate *c) {
    double queue = queue_ms(flows, s);
    if (s->side == FLOW_SEND && is_backed_up(&s->queues)) {
        text_list_add(&c->evidence, "%.0f kB waited before its interface in the mean%s",
                      s->queues.backlog / 1e3,
                      s->queues.overlimits_s >= OVERLIMITS_MIN ? ", held back to a set rate" : "");
        c->signals++;
    }
    if (queue >= QUEUE_NS / 1e6) {
        text_list_add(&c->evidence,
                      "round trips took %.1f ms longer than the shortest: data queued on the way",
                      queue);
        c->signals++;
    }
    if (s->side == FLOW_RECEIVE && flows->n_limited == 1)
        text_list_add(&c->against,
                      "nothing queued at the sender, so the limit lies behind it: at this host's "
                      "link, or on the way to it");
}

static void say_ceiling(const struct scene *scene, const struct flows *flows,
                        const struct culprit_side *s, struct candidate *c) {
    double carried = side_rate(flows, s->host, s->side);
    bool set = !s->at_limit && s->side == FLOW_SEND && is_backed_up(&s->queues) &&
               s->queues.rate_mb_s > 0 && s->queues.rate_mb_s < 4 * carried;
    (void)scene;
    c->ceiling = set ? s->queues.rate_mb_s : s->at_limit ? s->limit.mb_s : carried;
    c->ceiling_from = set           ? "its interface is set to"
                      : s->at_limit ? "this link was measured to carry"
                                    : "arrived while data were under way";
    c->reached = set || s->at_limit ? fmin(1, carried / c->ceiling) : 0;
    if (set || s->at_limit) {
        if (c->reached >= 1) /* bursts of packets may arrive faster than the mean allows */
            text_list_add(&c->evidence, "data moved at the full %.4g MB/s (%.3g Gbit/s) %s",
                          c->ceiling, c->ceiling * 8e-3, c->ceiling_from);
        else
            text_list_add(&c->evidence, "data moved at %.4g MB/s; %s %.4g MB/s (%.3g Gbit/s)",
                          carried, c->ceiling_from, c->ceiling, c->ceiling * 8e-3);
        c->signals++;
    } else if (s->limit.measured) {
        text_list_add(&c->against,
                      "its link was measured to carry %.4g MB/s, far more than the %.4g MB/s that "
                      "moved: the limit may lie elsewhere on the way, or be new",
                      s->limit.mb_s, carried);
    }
}

/* twin: the other host that explains the same; -1: none. */
static int add_side(const struct scene *scene, size_t group, const struct flows *flows,
                    const struct culprit_side *s, double demand, int twin,
                    struct candidates *candidates) {
    struct candidate c = link_of(scene, group, s->host, s->side);
    double wall_s = (double)windows_length(phase_windows(&scene->groups[group])) / 1e9;
    double mean = scene_mean(scene, s->host, metrics[s->side], group);
    double own = own_bytes(scene, group, flows, s);
    c.blocked = fmin(1, demand);
    c.factor = mean > 0 ? c.blocked / mean : 0;
    c.supply = true;
    c.ambiguous = twin >= 0;
    if (c.ambiguous)
        text_list_add(&c.against,
                      "%s's link explains the same and shows as much: the limit may be there",
                      scene->hosts[twin].name);
    say_limited(flows, s, wall_s, &c);
    say_ceiling(scene, flows, s, &c);
    say_queues(flows, s, &c);
    if (own < OWN_BYTES_MIN) {
        double cores;
        const struct scene_process *other = busiest_foreign(scene, group, s->host, &cores);
        c.kind = "link-contention";
        free(c.cause);
        if (other && cores >= FOREIGN_SENDER_MIN)
            c.culprit = culprit_of(scene, other); /* who sends is not counted: the likeliest */
        c.cause = c.culprit.process
                      ? text_format("the link, shared with traffic of others, probably of %s",
                                    c.culprit.process)
                      : text_format("the link, shared with traffic of others");
        text_list_add(&c.evidence, "of what its interface carried only %.0f %% was the job's",
                      100 * own);
    }
    add_arithmetic(arithmetic_find(candidates->arithmetic, candidates->n_arithmetic, s->host,
                                   metrics[s->side], group),
                   &c);
    return candidates_add(candidates, &c) ? 0 : -ENOMEM;
}

/* Another host whose link explains the same set and shows as much for itself; -1: none. */
static int as_good(const struct scene *scene, size_t group, const struct flows *flows,
                   const struct culprit_side *best) {
    for (size_t h = 0; h < scene->n_hosts; h++) {
        struct culprit_side s = look_at_side(scene, group, flows, (int)h, best->side);
        if (s.host != best->host && fabs(s.f1 - best->f1) < 1e-9 &&
            standing(&s) == standing(best) && s.at_limit == best->at_limit)
            return s.host;
    }
    return -1;
}

/* Share of the path, else how long the longest of the limited routes was. */
static double side_demand(const struct scene *scene, size_t group, const struct flows *flows,
                          const struct culprit_side *s) {
    double demand = link_demand(scene, group, s->host, s->side), longest = 0;
    double wall_s = (double)windows_length(phase_windows(&scene->groups[group])) / 1e9;
    for (size_t i = 0; i < flows->n; i++)
        if (flows->items[i].limited)
            longest = fmax(longest, flows->items[i].limited_s / wall_s);
    return isnan(demand) ? longest : demand;
}

/* A link that is slow both ways: the other direction is a candidate, too, and never before the one
 * with the better evidence. */
static int add_other_side(const struct scene *scene, size_t group, const struct flows *flows,
                          const struct culprit_side *best, double most, int twin,
                          struct candidates *candidates) {
    enum flow_side side = best->side == FLOW_SEND ? FLOW_RECEIVE : FLOW_SEND;
    struct culprit_side other = look_at_side(scene, group, flows, best->host, side);
    double demand = side_demand(scene, group, flows, &other);
    if (isnan(side_rate(flows, best->host, side)) || demand < BLOCKED_MIN)
        return 0;
    return add_side(scene, group, flows, &other, fmin(demand, most), twin, candidates);
}

/* Positive: connections are known and none or no single side is to blame. */
static int by_connections(const struct scene *scene, size_t group, const struct flows *flows,
                          struct candidates *candidates) {
    struct culprit_side best = best_side(scene, group, flows);
    double demand = best.host < 0 ? 0 : side_demand(scene, group, flows, &best);
    if (demand < BLOCKED_MIN)
        return 1;
    int twin = as_good(scene, group, flows, &best);
    int result = add_side(scene, group, flows, &best, demand, twin, candidates);
    return result ? result : add_other_side(scene, group, flows, &best, demand, twin, candidates);
}

/* ---- by rates ---- */

static double least_idle(const struct scene *scene, size_t group) {
    double least = NAN;
    for (size_t h = 0; h < scene->n_hosts; h++)
        least = fmin(least, scene_mean(scene, (int)h, METRIC_CPU_IDLE, group));
    return least;
}

static void add_cpu_side(const struct scene *scene, size_t group, double busy,
                         struct candidate *c) {
    double idle = least_idle(scene, group);
    if (busy >= BUSY_RANK)
        text_list_add(&c->against, "the ranks keep their cores busy: they compute, or they spin "
                                   "while they wait; the kernel cannot tell");
    else if (idle >= 50) {
        text_list_add(&c->evidence, "every host had at least %.0f %% of its CPU idle meanwhile",
                      idle);
        c->signals++;
    }
}

/* What speaks for it, and what against it, as far as the ceiling goes. */
static void add_ceiling_side(const struct network_limit *limit, bool send, double at_ceiling,
                             double duty, struct candidate *c) {
    const char *did = send ? "sent" : "received";
    if (limit->measured) {
        text_list_add(&c->evidence,
                      "%s %.0f %% of its bytes within %.0f %% of the %.4g MB/s (%.3g Gbit/s) this "
                      "link was measured to carry; at that rate they take %.0f %% of the time",
                      did, 100 * at_ceiling, 100 * PLATEAU_BAND, c->ceiling, c->ceiling * 8e-3,
                      100 * duty);
        c->signals++;
        return;
    }
    text_list_add(&c->evidence,
                  "%s %.0f %% of its bytes within %.0f %% of %.4g MB/s (%.3g Gbit/s), the highest "
                  "rate it reached again and again; at that rate they take %.0f %% of the time",
                  did, 100 * at_ceiling, 100 * PLATEAU_BAND, c->ceiling, c->ceiling * 8e-3,
                  100 * duty);
    if (isnan(limit->outdated_mb_s))
        text_list_add(&c->against,
                      "what the link can carry was not measured: at least %.4g MB/s, the most that "
                      "was seen, which is not a known limit",
                      c->ceiling);
    else
        text_list_add(&c->against,
                      "the link was measured to carry %.4g MB/s, but carried %.4g MB/s: what it "
                      "can carry is not known any more",
                      limit->outdated_mb_s, c->ceiling);
}

static int add_link(const struct scene *scene, size_t group, int host, enum flow_side side,
                    const struct network_limit *limit, double at_ceiling,
                    struct candidates *candidates) {
    double mean = scene_mean(scene, host, metrics[side], group), ceiling = limit->mb_s;
    double duty = fmin(1, mean / ceiling), busy = ranks_busy(scene, group);
    double demand = link_demand(scene, group, host, side);
    struct candidate c = link_of(scene, group, host, side);
    c.blocked = isnan(demand) ? duty : fmin(demand, duty);
    c.signals = 1;
    c.factor = c.blocked / mean;
    c.supply = limit->measured && busy < BUSY_RANK; /* false for NAN */
    c.ceiling = ceiling;
    c.reached = limit->measured ? limit->seen_mb_s / ceiling : 0;
    c.ceiling_from = limit->measured ? "this link was measured to carry" : NULL;
    add_ceiling_side(limit, side == FLOW_SEND, at_ceiling, duty, &c);
    add_arithmetic(arithmetic_find(candidates->arithmetic, candidates->n_arithmetic, host,
                                   metrics[side], group),
                   &c);
    add_cpu_side(scene, group, busy, &c);
    return candidates_add(candidates, &c) ? 0 : -ENOMEM;
}

/* Short bursts are cut by the samples' ends, so part of them moves in cells that look slower; a
 * link that is in use most of the time has few ends and must show its ceiling most of the time. */
static bool is_plateau(double at_ceiling, double duty) {
    return at_ceiling >= PLATEAU_AMOUNT_MIN && at_ceiling >= fmin(duty, 0.9);
}

/* A ceiling that was only seen is one of a link if it is high, and near that of others. */
static bool is_of_a_link(const struct network_limit *limit, double highest) {
    return limit->measured ||
           (highest >= NETWORK_MIN_MB_S && limit->mb_s >= PEER_CEILING_MIN * highest);
}

/* The fullest of the links, as a share of what they were measured to carry. */
struct fullest {
    double share;
    int host;
    enum flow_side side;
    double mb_s;
};

static void rule_out(const struct scene *scene, const struct flows *flows, double highest,
                     double most, const struct fullest *fullest, struct text_list *ruled_out) {
    if (flows->n && !flows->n_limited)
        text_list_add(ruled_out,
                      "network: none of %zu routes was held up by its path for long; %.4g MB/s at "
                      "most",
                      flows->n, most);
    else if (fullest->host >= 0)
        text_list_add(ruled_out,
                      "network: no link was long near what it was measured to carry; the fullest, "
                      "%s %s, carried %.0f %% of its %.4g MB/s on average",
                      scene->hosts[fullest->host].name,
                      fullest->side == FLOW_SEND ? "sending" : "receiving", 100 * fullest->share,
                      fullest->mb_s);
    else if (highest < NETWORK_MIN_MB_S)
        text_list_add(ruled_out, "network: never more than %.2f MB/s for long", highest);
    else
        text_list_add(ruled_out,
                      "network: no host stayed near the highest rate seen (%.4g MB/s); the mean "
                      "was %.4g MB/s at most",
                      highest, most);
}

/* Where connections are known, a rate that was only seen is no sign of anything. */
static int by_rates(const struct scene *scene, size_t group, const struct flows *flows,
                    struct candidates *candidates) {
    struct fullest fullest = {.share = -1, .host = -1};
    size_t before = candidates->n;
    double highest = network_ceiling(scene), most = 0;
    for (size_t i = 0; i < 2 * scene->n_hosts; i++) {
        int host = (int)(i / 2);
        enum flow_side side = i % 2 ? FLOW_RECEIVE : FLOW_SEND;
        struct network_limit limit = network_limit_of(scene, host, metrics[side]);
        double mean = scene_mean(scene, host, metrics[side], group);
        double at_ceiling = rate_amount_share_above(&scene->hosts[host].metrics[metrics[side]],
                                                    phase_windows(&scene->groups[group]),
                                                    (1 - PLATEAU_BAND) * limit.mb_s);
        most = fmax(most, mean);
        if (limit.measured && mean / limit.mb_s > fullest.share)
            fullest = (struct fullest){mean / limit.mb_s, host, side, limit.mb_s};
        bool full = limit.measured && mean >= NETWORK_FULL * limit.mb_s;
        double demand = link_demand(scene, group, host, side);
        if (!is_of_a_link(&limit, highest) || !(mean >= NETWORK_BLOCKED_MIN * limit.mb_s) ||
            !(full || is_plateau(at_ceiling, mean / limit.mb_s)) || (flows->n && !limit.measured) ||
            demand < BLOCKED_MIN)
            continue;
        if (add_link(scene, group, host, side, &limit, at_ceiling, candidates) < 0)
            return -ENOMEM;
    }
    if (candidates->n == before && group == scene->main_group && !isnan(highest))
        rule_out(scene, flows, highest, most, &fullest, &candidates->ruled_out);
    return 0;
}

int saturation_network(const struct scene *scene, size_t group, struct candidates *candidates) {
    struct flows flows;
    int result = flows_make(scene, phase_windows(&scene->groups[group]), &flows);
    if (result < 0)
        return result;
    result = flows.n_limited ? by_connections(scene, group, &flows, candidates) : 1;
    if (result == 1)
        result = by_rates(scene, group, &flows, candidates);
    flows_release(&flows);
    return result;
}
