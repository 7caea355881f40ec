/* SPDX-License-Identifier: MIT */
/*
 * Links that a token bucket limits, as shapers do: tokens that gather while the link is idle, up to
 * its burst, let bytes pass at once later (the committed burst size of RFC 2697). Group calls and
 * small messages that take more than there is leave a debt, which delays later ones: the queue
 * before the shaper.
 */
#include <math.h>

#include "analysis/simulate/replay_run.h"

#define AT_ONCE 1e10 /* bytes/s while there are tokens */
#define PACKET 1500  /* a packet passes as a whole */

double replay_link_rate(const struct run *run, size_t link) {
    size_t hosts = run->p->model->n_hosts;
    return link < hosts ? run->egress[link] : run->ingress[link - hosts];
}

static bool is_bucket(const struct run *run, size_t link) {
    return run->burst && run->burst[link] >= 0;
}

void replay_buckets_advance(struct run *run, double seconds) {
    for (size_t link = 0; run->burst && link < 2 * run->p->model->n_hosts; link++)
        if (is_bucket(run, link)) {
            double more = (replay_link_rate(run, link) - run->crossing[link]) * seconds;
            run->tokens[link] = fmin(run->tokens[link] + more, run->burst[link]);
        }
}

/* A flow gets half of a link that has a queue. */
static double capacity(const struct run *run, size_t link) {
    double rate = replay_link_rate(run, link);
    if (!is_bucket(run, link))
        return rate;
    return run->tokens[link] >= PACKET ? fmax(rate, AT_ONCE)
           : run->tokens[link] < 0     ? rate / 2
                                       : rate;
}

void replay_buckets_open(struct run *run) {
    for (size_t link = 0; link < 2 * run->p->model->n_hosts; link++) {
        double is = capacity(run, link);
        if (is != run->capacity[link])
            replay_component_change(run, link);
        run->capacity[link] = is;
    }
}

double replay_buckets_until(struct run *run) {
    size_t hosts = run->p->model->n_hosts;
    double first = INFINITY;
    for (size_t link = 0; run->burst && link < 2 * hosts; link++)
        run->crossing[link] = 0;
    for (size_t i = 0; run->burst && i < run->n_active; i++) {
        run->crossing[run->active[i]->from_host] += run->active[i]->rate;
        run->crossing[hosts + run->active[i]->to_host] += run->active[i]->rate;
    }
    for (size_t link = 0; run->burst && link < 2 * hosts; link++) {
        double less = run->crossing[link] - replay_link_rate(run, link), t = run->tokens[link];
        if (is_bucket(run, link) && less != 0 && (t < 0 ? less < 0 : t >= PACKET && less > 0))
            first = fmin(first, t / less);
    }
    return first;
}

double replay_bucket_take(struct run *run, size_t link, double bytes) {
    double rate = replay_link_rate(run, link);
    if (!is_bucket(run, link))
        return bytes / rate;
    double had = run->tokens[link], left = had - bytes;
    run->tokens[link] = left;
    run->dirty |= (had >= PACKET && left < PACKET) || (had >= 0 && left < 0); /* the flows' rates
                                                                                 must be computed
                                                                                 anew */
    return left < 0 ? -left / rate : 0;
}
