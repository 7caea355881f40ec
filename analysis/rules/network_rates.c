/* SPDX-License-Identifier: MIT */
/*
 * Network, by rates: the ceiling of a link is what it was measured to carry (`chokepoint
 * calibrate`), else at least the highest rate it reached again and again. Where the ceiling is only
 * a rate seen, a program that sends steadily on its own account looks the same: never more than
 * suspected.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/rules/network_private.h"

static double least_idle(const struct run_model *model, size_t group) {
    double least = NAN;
    for (size_t h = 0; h < model->n_hosts; h++)
        least = fmin(least, model_mean(model, (int)h, METRIC_CPU_IDLE, group));
    return least;
}

/* Of all hosts together: the same for every link, and found once. */
struct cpu_side {
    double busy; /* ranks_busy() */
    double idle; /* of the host that had least */
};

static void add_cpu_side(const struct cpu_side *cpu, struct candidate *c) {
    if (cpu->busy >= BUSY_RANK)
        text_list_add(&c->against, "the ranks keep their cores busy: they compute, or they spin "
                                   "while they wait; the kernel cannot tell");
    else if (cpu->idle >= 50) {
        text_list_add(&c->evidence, "every host had at least %.0f %% of its CPU idle meanwhile",
                      cpu->idle);
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

static int add_link(const struct run_model *model, size_t group, int host, enum flow_side side,
                    const struct network_limit *limit, double at_ceiling,
                    const struct cpu_side *cpu, struct candidates *candidates) {
    double mean = model_mean(model, host, link_metric(side), group), ceiling = limit->mb_s;
    double duty = fmin(1, mean / ceiling);
    double demand = link_demand(model, group, host, side);
    struct candidate c = link_of(model, group, host, side);
    c.blocked = isnan(demand) ? duty : fmin(demand, duty);
    c.signals = 1;
    c.factor = c.blocked / mean;
    c.supply = limit->measured && cpu->busy < BUSY_RANK; /* false for NAN */
    c.ceiling = ceiling;
    c.reached = limit->measured ? limit->seen_mb_s / ceiling : 0;
    c.ceiling_from = limit->measured ? "this link was measured to carry" : NULL;
    add_ceiling_side(limit, side == FLOW_SEND, at_ceiling, duty, &c);
    link_add_arithmetic(candidates, group, host, side, &c);
    add_cpu_side(cpu, &c);
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

static void say_ruled_out(const struct run_model *model, const struct flows *flows, double highest,
                          double most, const struct fullest *fullest, struct text_list *ruled_out) {
    if (flows->n && !flows->n_limited)
        text_list_add(ruled_out,
                      "network: none of %zu routes was held up by its path (%.4g MB/s at most)",
                      flows->n, most);
    else if (fullest->host >= 0)
        text_list_add(ruled_out,
                      "network: no link was full; the fullest, %s %s, carried %.0f %% of its %.4g "
                      "MB/s",
                      model->hosts[fullest->host].name,
                      fullest->side == FLOW_SEND ? "sending" : "receiving", 100 * fullest->share,
                      fullest->mb_s);
    else if (highest < NETWORK_MIN_MB_S)
        text_list_add(ruled_out, "network: never more than %.2f MB/s for long", highest);
    else
        text_list_add(ruled_out,
                      "network: no link stayed near the highest rate seen (%.4g MB/s; %.4g on "
                      "average)",
                      highest, most);
}

int link_by_rates(const struct run_model *model, size_t group, const struct flows *flows,
                  bool rule_out, struct candidates *candidates) {
    struct fullest fullest = {.share = -1, .host = -1};
    size_t before = candidates->n;
    double highest = network_ceiling(model), most = 0;
    struct cpu_side cpu = {ranks_busy(model, group), least_idle(model, group)};
    for (size_t i = 0; i < 2 * model->n_hosts; i++) {
        int host = (int)(i / 2);
        enum flow_side side = i % 2 ? FLOW_RECEIVE : FLOW_SEND;
        struct network_limit limit = network_limit_of(model, host, link_metric(side));
        double mean = model_mean(model, host, link_metric(side), group);
        double at_ceiling = rate_amount_share_above(&model->hosts[host].metrics[link_metric(side)],
                                                    phase_windows(&model->groups[group]),
                                                    (1 - PLATEAU_BAND) * limit.mb_s);
        most = fmax(most, mean);
        if (limit.measured && mean / limit.mb_s > fullest.share)
            fullest = (struct fullest){mean / limit.mb_s, host, side, limit.mb_s};
        bool full = limit.measured && mean >= NETWORK_FULL * limit.mb_s;
        double demand = link_demand(model, group, host, side);
        if (!is_of_a_link(&limit, highest) || !(mean >= NETWORK_BLOCKED_MIN * limit.mb_s) ||
            !(full || is_plateau(at_ceiling, mean / limit.mb_s)) || (flows->n && !limit.measured) ||
            demand < BLOCKED_MIN)
            continue;
        if (add_link(model, group, host, side, &limit, at_ceiling, &cpu, candidates) < 0)
            return -ENOMEM;
    }
    if (candidates->n == before && rule_out && !isnan(highest))
        say_ruled_out(model, flows, highest, most, &fullest, &candidates->ruled_out);
    return 0;
}
