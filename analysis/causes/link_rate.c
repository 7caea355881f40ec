/* SPDX-License-Identifier: MIT */
/*
 * Network, by rates: a link that carries what it was measured to carry (`chokepoint calibrate`) is
 * full. The highest rate that was seen is only a floor of what it can carry, and no ceiling: a
 * program that sends steadily by itself looks the same. Where a host's own queue is set to a rate,
 * a steady stream of just that rate that it receives is no chance: the other end of the link is set
 * alike, and its queue is not this host's to see.
 *
 * Connections that come and go between two samples are counted in one row, which does not say where
 * they lead. If they moved most of the bytes, the path cannot tell which waits were for the link.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/causes/link_private.h"
#include "analysis/evidence/flow_ends.h"
#include "analysis/facts/series/stats.h"

#define OWN_NUMBERS                                                                                \
    NUMBER(PLATEAU_BAND, 0.10, "below a ceiling", "a rate so close is at it")                      \
    NUMBER(PLATEAU_AMOUNT_MIN, 0.40, "of the bytes",                                               \
           "moved there; of random rates a fifth would be")                                        \
    NUMBER(NETWORK_BLOCKED_MIN, 0.20, "of a ceiling",                                              \
           "a busy link is no proof that anybody waits for it")                                    \
    NUMBER(NETWORK_MIN_MB_S, 5.0, "MB/s", "a lower ceiling is no link we know")                    \
    NUMBER(PLATEAU_MOST, 0.9, "of the bytes", "moved there by a link that is in use all the time")
#define OWN_REMARKS                                                                                \
    REMARK(NEAR_MEASURED,                                                                          \
           "%[sent|received] %.0f %% of its bytes within %.0f %% of the %.4g MB/s (%.3g Gbit/s) "  \
           "this link was measured to carry; at that rate they take %.0f %% of the time",          \
           SLOTS("1: sent", "of its bytes, %", "band, %", "MB/s", "Gbit/s", "at that rate, %"),    \
           SLOTS())                                                                                \
    REMARK(RECEIVED_NEAR_SET,                                                                      \
           "received %.0f %% of its bytes within %.0f %% of the %.4g MB/s (%.3g Gbit/s) that its " \
           "interface is set to for sending: the other end of the link is set alike",              \
           SLOTS("of its bytes, %", "band, %", "MB/s", "Gbit/s"), SLOTS())                         \
    REMARK(                                                                                        \
        LINK_WAITS_UNSEEN,                                                                         \
        "its connections end between two samples, so nothing shows which waits were for it: this " \
        "is the most that it can take",                                                            \
        SLOTS(), SLOTS())                                                                          \
    REMARK(RANKS_COMPUTE_OR_SPIN,                                                                  \
           "the ranks keep their cores busy: they compute, or they spin while they wait; the "     \
           "kernel cannot tell",                                                                   \
           SLOTS(), SLOTS())                                                                       \
    REMARK(CPU_IDLE, "every host had at least %.0f %% of its CPU idle meanwhile",                  \
           SLOTS("idle, %"), SLOTS())                                                              \
    REMARK(ROUTES_FREE,                                                                            \
           "network: no connection was limited by its path (%d routes, %.4g MB/s at most)",        \
           SLOTS("routes", "MB/s"), SLOTS())                                                       \
    REMARK(FULLEST_LINK,                                                                           \
           "network: no link was full; the fullest, %s %[sending|receiving], carried %.0f %% of "  \
           "its %.4g MB/s",                                                                        \
           SLOTS("1: sending", "carried, %", "MB/s"), SLOTS("host"))                               \
    REMARK(NETWORK_QUIET, "network: never more than %.2f MB/s for long", SLOTS("MB/s"), SLOTS())   \
    REMARK(NO_PLATEAU,                                                                             \
           "network: no link stayed near the highest rate seen (%.4g MB/s; %.4g on average)",      \
           SLOTS("highest, MB/s", "mean, MB/s"), SLOTS())
#include "analysis/causes/own.h"

static double least_idle(const struct run_model *model, size_t group) {
    double least = NAN;
    for (size_t h = 0; h < model->n_hosts; h++)
        least = fmin(least, model_mean(model, (int)h, METRIC_CPU_IDLE, group));
    return least;
}

/* Values over all hosts: equal for every link, and computed once. */
struct cpu_side {
    double busy; /* ranks_busy() */
    double idle; /* of the host with the least */
};

static void add_cpu_side(const struct run_model *model, const struct cpu_side *cpu,
                         struct candidate *c) {
    if (cpu->busy >= number_of(model, BUSY_RANK))
        remarks_add(&c->against, RANKS_COMPUTE_OR_SPIN, NUMBERS(), NAMES());
    else if (cpu->idle >= 50) {
        remarks_add(&c->evidence, CPU_IDLE, NUMBERS(cpu->idle), NAMES());
        c->signals++;
    }
}

/* The capacity of one side of a link. */
struct side_limit {
    struct network_limit link;
    double mb_s; /* measured, or set; NAN */
    bool set;    /* for receiving, from the rate of the host's own queue */
};

/* Whether the connections of the host's processes were looked for, and may be asked. */
static bool knows_connections(const struct run_model *model, int host) {
    return !judge_withholds(model->judge, SOURCE_CONNECTIONS) &&
           series_named(&model->recording->tables[RECORDING_SELF], host, "connection");
}

/* The rate of the other end is inferred, so the job's own connections must tell of the stream. */
static struct side_limit side_limit_of(const struct run_model *model, int host,
                                       enum flow_side side) {
    struct network_limit link = network_limit_of(model, host, link_metric(side));
    double set = side == FLOW_RECEIVE && knows_connections(model, host)
                     ? network_set_receiving(model, host)
                     : NAN;
    return (struct side_limit){link, link.measured ? link.mb_s : set, !isnan(set)};
}

/* The share of the path on which nobody computes, lacks a core or waits for a disk: no link can
 * have taken more. NAN: the path is not known. */
static double asleep_part(const struct run_model *model, size_t group) {
    static const enum budget_term terms[] = {BUDGET_IDLE, BUDGET_PEER_WAIT, BUDGET_TRANSFER};
    double all = 0;
    for (size_t h = 0; h < model->n_hosts; h++)
        for (size_t t = 0; t < sizeof terms / sizeof *terms; t++)
            all += model_demand(model, group, (int)h, terms[t]);
    return all;
}

/* Whether the path cannot know of the link: its host's connections were too short to be seen. */
static bool is_unseen(const struct run_model *model, size_t group, const struct flows *flows,
                      int host, enum flow_side side) {
    return model_has_path(model) && !throughput_counts(model, group) &&
           !(link_own_bytes(model, group, flows, host, side) >= number_of(model, OWN_BYTES_MIN));
}

static double rate_demand(const struct run_model *model, size_t group, const struct flows *flows,
                          int host, enum flow_side side, const struct side_limit *limit) {
    return limit->set && is_unseen(model, group, flows, host, side)
               ? asleep_part(model, group)
               : link_demand(model, group, flows, host, side);
}

static void say_limit(const struct run_model *model, enum flow_side side,
                      const struct side_limit *limit, double at_ceiling, double duty,
                      struct candidate *c) {
    double band = 100 * number_of(model, PLATEAU_BAND);
    if (limit->set)
        remarks_add(&c->evidence, RECEIVED_NEAR_SET,
                    NUMBERS(100 * at_ceiling, band, limit->mb_s, limit->mb_s * 8e-3), NAMES());
    else
        remarks_add(&c->evidence, NEAR_MEASURED,
                    NUMBERS(side == FLOW_SEND, 100 * at_ceiling, band, limit->mb_s,
                            limit->mb_s * 8e-3, 100 * duty),
                    NAMES());
}

static int add_link(const struct run_model *model, size_t group, const struct flows *flows,
                    int host, enum flow_side side, const struct side_limit *limit,
                    double at_ceiling, const struct cpu_side *cpu, struct candidates *candidates) {
    double mean = model_mean(model, host, link_metric(side), group), ceiling = limit->mb_s;
    double duty = fmin(1, mean / ceiling);
    double demand = rate_demand(model, group, flows, host, side, limit);
    struct candidate c = link_of(model, group, flows, host, side);
    if (limit->set && is_unseen(model, group, flows, host, side)) {
        c.can_remove = c.can_double = false; /* the path has no transfers to take away */
        c.path.terms = 0;
        remarks_add(&c.against, LINK_WAITS_UNSEEN, NUMBERS(), NAMES());
    }
    c.blocked = isnan(demand) ? duty : fmin(demand, duty);
    c.signals = 2;
    c.metric.factor = c.blocked / mean;
    c.saturated = cpu->busy < number_of(model, BUSY_RANK); /* false if NAN */
    c.inferred = limit->set; /* the rate of the other end is taken to be this one's */
    c.ceiling = ceiling;
    c.reached = limit->link.seen_mb_s / ceiling;
    c.ceiling_from = limit->set ? CEILING_SET : CEILING_MEASURED;
    say_limit(model, side, limit, at_ceiling, duty, &c);
    link_add_arithmetic(candidates, group, host, side, &c);
    add_cpu_side(model, cpu, &c);
    link_name_interface(model, &c);
    return candidates_add(candidates, &c) ? 0 : -ENOMEM;
}

/* The ends of samples cut short bursts, so part of their bytes falls into cells that look slower. A
 * link in use most of the time has few ends, and must be at its ceiling most of the time. */
static bool is_plateau(const struct run_model *model, double at_ceiling, double duty) {
    return at_ceiling >= number_of(model, PLATEAU_AMOUNT_MIN) &&
           at_ceiling >= fmin(duty, number_of(model, PLATEAU_MOST));
}

/* Bytes that the other hosts of the job moved the other way. */
static double moved_elsewhere(const struct run_model *model, int host, enum flow_side side,
                              struct windows windows) {
    enum metric way = link_metric(side == FLOW_SEND ? FLOW_RECEIVE : FLOW_SEND);
    double bytes = 0;
    for (size_t h = 0; h < model->n_hosts; h++)
        if ((int)h != host && model->hosts[h].has_job)
            bytes += stats_or_zero(rate_amount(&model->hosts[h].metrics[way], windows));
    return bytes;
}

/* MB/s of the job's own connections to other hosts; INFINITY where nobody looked for them. A job
 * that has none may move data in another way, but its interface alone is no sign of that: another
 * program's download looks the same. Connections too short to be seen by themselves lead to hosts
 * of the job as far as these moved as much. */
static double own_rate(const struct run_model *model, size_t group, int host, enum flow_side side) {
    const struct series_set *set = &model->recording->tables[RECORDING_CONNECTION];
    struct windows windows = phase_windows(&model->groups[group]);
    size_t column = side == FLOW_SEND ? CONNECTION_SEND_BYTES : CONNECTION_RECEIVE_BYTES;
    double bytes = 0, unseen = 0;
    if (!knows_connections(model, host))
        return INFINITY;
    for (size_t s = 0; s < set->n; s++) {
        const struct series *c = &set->items[s];
        if (c->host == host && flow_far_end(&c->key))
            bytes += series_growth(set, c, column, windows, NULL);
        else if (c->host == host && c->key.form == KEY_UNKNOWN)
            unseen += series_growth(set, c, column, windows, NULL);
    }
    bytes += fmin(unseen, moved_elsewhere(model, host, side, windows));
    return bytes * 1e3 / fmax(1, (double)windows_length(windows));
}

/* The fullest link, as a share of its measured ceiling. */
struct fullest {
    double share;
    int host;
    enum flow_side side;
    double mb_s;
};

static void say_ruled_out(const struct run_model *model, const struct flows *flows, double highest,
                          double most, const struct fullest *fullest, struct remarks *ruled_out) {
    if (flows->n && !flows->n_limited)
        remarks_add(ruled_out, ROUTES_FREE, NUMBERS(flows->n, most), NAMES());
    else if (fullest->host >= 0)
        remarks_add(ruled_out, FULLEST_LINK,
                    NUMBERS(fullest->side == FLOW_SEND, 100 * fullest->share, fullest->mb_s),
                    NAMES(model->hosts[fullest->host].name));
    else if (highest < number_of(model, NETWORK_MIN_MB_S))
        remarks_add(ruled_out, NETWORK_QUIET, NUMBERS(highest), NAMES());
    else
        remarks_add(ruled_out, NO_PLATEAU, NUMBERS(highest, most), NAMES());
}

static int link_by_rates(const struct run_model *model, size_t group, const struct flows *flows,
                         bool rule_out, struct candidates *candidates) {
    struct fullest fullest = {.share = -1, .host = -1};
    size_t before = candidates->n;
    double highest = network_ceiling(model), most = 0;
    struct cpu_side cpu = {ranks_busy(model, group), least_idle(model, group)};
    for (size_t i = 0; i < 2 * model->n_hosts; i++) {
        int host = (int)(i / 2);
        enum flow_side side = i % 2 ? FLOW_RECEIVE : FLOW_SEND;
        struct side_limit limit = side_limit_of(model, host, side);
        double mean = model_mean(model, host, link_metric(side), group);
        double at_ceiling = rate_amount_share_above(
            &model->hosts[host].metrics[link_metric(side)], phase_windows(&model->groups[group]),
            (1 - number_of(model, PLATEAU_BAND)) * limit.mb_s);
        most = fmax(most, mean);
        if (limit.link.measured && mean / limit.mb_s > fullest.share)
            fullest = (struct fullest){mean / limit.mb_s, host, side, limit.mb_s};
        bool full = limit.link.measured && mean >= number_of(model, NETWORK_FULL) * limit.mb_s;
        double demand = rate_demand(model, group, flows, host, side, &limit);
        if (isnan(limit.mb_s) ||
            !(fmin(mean, own_rate(model, group, host, side)) >=
              number_of(model, NETWORK_BLOCKED_MIN) * limit.mb_s) ||
            !(full || is_plateau(model, at_ceiling, mean / limit.mb_s)) ||
            demand < number_of(model, BLOCKED_MIN))
            continue;
        if (add_link(model, group, flows, host, side, &limit, at_ceiling, &cpu, candidates) < 0)
            return -ENOMEM;
    }
    if (candidates->n == before && rule_out && !isnan(highest))
        say_ruled_out(model, flows, highest, most, &fullest, &candidates->ruled_out);
    return 0;
}

static int detect(const struct run_model *model, size_t group, struct candidates *candidates) {
    const struct flows *flows;
    int result = candidates_flows(model, group, candidates, &flows);
    return result < 0 || link_is_found(candidates, group)
               ? result
               : link_by_rates(model, group, flows, group == model->main_group, candidates);
}

const struct cause cause_link_rate = {
    .name = "link-rate",
    .resource = RESOURCE_NET_EGRESS,
    .kind = CAUSE_PATH_LIMITED,
    .numbers = own_numbers,
    .remarks = own_remarks,
    .reason = "a link that carries what it was measured to carry can carry no more",
    .yields_to = YIELDS_TO(&cause_link_connections, &cause_link_queue),
    .detect = detect,
    .advise = link_advise,
};
