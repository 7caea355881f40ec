/* SPDX-License-Identifier: MIT */
/*
 * Network: nothing recorded says what a link can carry, so its ceiling is at least the highest rate
 * it reached again and again. A host whose bytes mostly move at that rate uses its link in bursts
 * at full speed, and what those take of the time is what a faster link could save. A program that
 * sends steadily on its own account looks the same: never more than suspected.
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

static int add_link(const struct scene *scene, size_t group, int host, enum metric direction,
                    double ceiling, double at_ceiling, struct candidates *candidates) {
    bool send = direction == METRIC_NET_SEND;
    double mean = scene_mean(scene, host, direction, group);
    struct candidate c = {.host = host,
                          .group = group,
                          .resource = send ? "net-egress" : "net-ingress",
                          .blocked = fmin(1, mean / ceiling),
                          .signals = 1,
                          .signal = &scene->hosts[host].metrics[direction],
                          .factor = 1 / ceiling,
                          .ceiling = ceiling,
                          .cause = text_format("link")};
    text_list_add(&c.evidence,
                  "%s %.0f %% of its bytes within %.0f %% of %.4g MB/s (%.3g Gbit/s), the highest "
                  "rate it reached again and again; at that rate they take %.0f %% of the time",
                  send ? "sent" : "received", 100 * at_ceiling, 100 * PLATEAU_BAND, ceiling,
                  ceiling * 8e-3, 100 * c.blocked);
    add_arithmetic(
        arithmetic_find(candidates->arithmetic, candidates->n_arithmetic, host, direction, group),
        &c);
    add_cpu_side(scene, group, ranks_busy(scene, group), &c);
    text_list_add(&c.against,
                  "what the link can carry was not measured: %.4g MB/s is the most that "
                  "was seen, not a known limit",
                  ceiling);
    return candidates_add(candidates, &c) ? 0 : -ENOMEM;
}

/* Short bursts are cut by the samples' ends, so part of them moves in cells that look slower; a
 * link that is in use most of the time has few ends and must show its ceiling most of the time. */
static bool is_plateau(double at_ceiling, double duty) {
    return at_ceiling >= PLATEAU_AMOUNT_MIN && at_ceiling >= fmin(duty, 0.9);
}

int saturation_network(const struct scene *scene, size_t group, struct candidates *candidates) {
    static const enum metric directions[] = {METRIC_NET_SEND, METRIC_NET_RECV};
    size_t before = candidates->n;
    double highest = network_ceiling(scene), most = 0;
    for (size_t i = 0; highest >= NETWORK_MIN_MB_S && i < 2 * scene->n_hosts; i++) {
        int host = (int)(i / 2);
        enum metric direction = directions[i % 2];
        double own = network_ceiling_of(scene, host, direction);
        double mean = scene_mean(scene, host, direction, group);
        double at_ceiling =
            rate_amount_share_above(&scene->hosts[host].metrics[direction],
                                    phase_windows(&scene->groups[group]), (1 - PLATEAU_BAND) * own);
        most = fmax(most, mean);
        if (!(own >= PEER_CEILING_MIN * highest) || !(mean >= NETWORK_BLOCKED_MIN * own) ||
            !is_plateau(at_ceiling, mean / own))
            continue;
        if (add_link(scene, group, host, direction, own, at_ceiling, candidates) < 0)
            return -ENOMEM;
    }
    if (candidates->n > before || group != scene->main_group || isnan(highest))
        return 0;
    if (highest < NETWORK_MIN_MB_S)
        text_list_add(&candidates->ruled_out, "network: never more than %.2f MB/s for long",
                      highest);
    else
        text_list_add(
            &candidates->ruled_out,
            "network: no host stayed near the highest rate seen (%.4g MB/s); the mean was "
            "%.4g MB/s at most",
            highest, most);
    return 0;
}
