/* SPDX-License-Identifier: MIT */
/*
 * Network: the ceiling of a link is what it was measured to carry (`chokepoint calibrate`), else at
 * least the highest rate it reached again and again. A host whose bytes mostly move at that rate
 * uses its link in bursts at full speed, and what those take of the time is what a faster link
 * could save. Where the ceiling is only a rate seen, a program that sends steadily on its own
 * account looks the same: never more than suspected. At a ceiling that was measured the supply has
 * run out; that the job waits for it shows in ranks that are off their cores.
 */
#include <errno.h>
#include <math.h>

#include "analysis/saturation.h"

static double least_idle(const struct scene *scene, size_t group) {
    double least = NAN;
    for (size_t h = 0; h < scene->n_hosts; h++)
        least = fmin(least, scene_mean(scene, (int)h, METRIC_CPU_IDLE, group));
    return least;
}

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
                             struct candidate *c) {
    const char *did = send ? "sent" : "received";
    if (limit->measured) {
        text_list_add(&c->evidence,
                      "%s %.0f %% of its bytes within %.0f %% of the %.4g MB/s (%.3g Gbit/s) this "
                      "link was measured to carry; at that rate they take %.0f %% of the time",
                      did, 100 * at_ceiling, 100 * PLATEAU_BAND, c->ceiling, c->ceiling * 8e-3,
                      100 * c->blocked);
        c->signals++;
        return;
    }
    text_list_add(&c->evidence,
                  "%s %.0f %% of its bytes within %.0f %% of %.4g MB/s (%.3g Gbit/s), the highest "
                  "rate it reached again and again; at that rate they take %.0f %% of the time",
                  did, 100 * at_ceiling, 100 * PLATEAU_BAND, c->ceiling, c->ceiling * 8e-3,
                  100 * c->blocked);
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

static int add_link(const struct scene *scene, size_t group, int host, enum metric direction,
                    const struct network_limit *limit, double at_ceiling,
                    struct candidates *candidates) {
    bool send = direction == METRIC_NET_SEND;
    double mean = scene_mean(scene, host, direction, group), ceiling = limit->mb_s;
    double busy = ranks_busy(scene, group);
    struct candidate c = {.host = host,
                          .group = group,
                          .resource = send ? "net-egress" : "net-ingress",
                          .blocked = fmin(1, mean / ceiling),
                          .signals = 1,
                          .signal = &scene->hosts[host].metrics[direction],
                          .factor = 1 / ceiling,
                          .supply = limit->measured && busy < BUSY_RANK, /* false for NAN */
                          .ceiling = ceiling,
                          .reached = limit->measured ? limit->seen_mb_s / ceiling : 0,
                          .cause = text_format("link")};
    add_ceiling_side(limit, send, at_ceiling, &c);
    add_arithmetic(
        arithmetic_find(candidates->arithmetic, candidates->n_arithmetic, host, direction, group),
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
    enum metric direction;
    double mb_s;
};

static void rule_out(const struct scene *scene, double highest, double most,
                     const struct fullest *fullest, struct text_list *ruled_out) {
    if (fullest->host >= 0)
        text_list_add(ruled_out,
                      "network: no link was long near what it was measured to carry; the fullest, "
                      "%s %s, carried %.0f %% of its %.4g MB/s on average",
                      scene->hosts[fullest->host].name,
                      fullest->direction == METRIC_NET_SEND ? "sending" : "receiving",
                      100 * fullest->share, fullest->mb_s);
    else if (highest < NETWORK_MIN_MB_S)
        text_list_add(ruled_out, "network: never more than %.2f MB/s for long", highest);
    else
        text_list_add(ruled_out,
                      "network: no host stayed near the highest rate seen (%.4g MB/s); the mean "
                      "was %.4g MB/s at most",
                      highest, most);
}

int saturation_network(const struct scene *scene, size_t group, struct candidates *candidates) {
    static const enum metric directions[] = {METRIC_NET_SEND, METRIC_NET_RECV};
    struct fullest fullest = {.share = -1, .host = -1};
    size_t before = candidates->n;
    double highest = network_ceiling(scene), most = 0;
    for (size_t i = 0; i < 2 * scene->n_hosts; i++) {
        int host = (int)(i / 2);
        enum metric direction = directions[i % 2];
        struct network_limit limit = network_limit_of(scene, host, direction);
        double mean = scene_mean(scene, host, direction, group);
        double at_ceiling = rate_amount_share_above(&scene->hosts[host].metrics[direction],
                                                    phase_windows(&scene->groups[group]),
                                                    (1 - PLATEAU_BAND) * limit.mb_s);
        most = fmax(most, mean);
        if (limit.measured && mean / limit.mb_s > fullest.share)
            fullest = (struct fullest){mean / limit.mb_s, host, direction, limit.mb_s};
        bool full = limit.measured && mean >= NETWORK_FULL * limit.mb_s;
        if (!is_of_a_link(&limit, highest) || !(mean >= NETWORK_BLOCKED_MIN * limit.mb_s) ||
            !(full || is_plateau(at_ceiling, mean / limit.mb_s)))
            continue;
        if (add_link(scene, group, host, direction, &limit, at_ceiling, candidates) < 0)
            return -ENOMEM;
    }
    if (candidates->n == before && group == scene->main_group && !isnan(highest))
        rule_out(scene, highest, most, &fullest, &candidates->ruled_out);
    return 0;
}
