/* SPDX-License-Identifier: MIT */
#include <math.h>

#include "analysis/simulate/replay_private.h"

static double lesser(double a, double b) {
    return b < a ? b : a;
}

static double fair(const double *left, const double *flows, size_t at) {
    return left[at] > 0 ? left[at] / flows[at] : 0;
}

struct shared { /* by host: remaining capacity of each link, and its number of flows */
    double *out, *in, *n_out, *n_in;
};

static void fill(struct replay_flow **flows, size_t n, const double *egress, const double *ingress,
                 struct shared *s) {
    for (size_t i = 0; i < n; i++) {
        struct replay_flow *f = flows[i];
        s->out[f->from_host] = egress[f->from_host];
        s->in[f->to_host] = ingress[f->to_host];
        s->n_out[f->from_host] = s->n_in[f->to_host] = 0;
    }
    for (size_t i = 0; i < n; i++) {
        s->n_out[flows[i]->from_host]++;
        s->n_in[flows[i]->to_host]++;
    }
}

static double fair_of(const struct shared *s, const struct replay_flow *f) {
    return lesser(fair(s->out, s->n_out, f->from_host), fair(s->in, s->n_in, f->to_host));
}

static void settle(struct shared *s, struct replay_flow *f, double rate) {
    f->rate = rate;
    if (isfinite(rate)) { /* otherwise the link has no limit */
        s->out[f->from_host] -= rate;
        s->in[f->to_host] -= rate;
    }
    s->n_out[f->from_host]--;
    s->n_in[f->to_host]--;
}

/* Settles flows whose own limit is below the fair share of both links: the share left to the others
 * never falls. Returns how many of flows[] are left; the settled ones are behind them.
 */
static size_t settle_below(struct replay_flow **flows, size_t n, struct shared *s,
                           double *ret_least) {
    size_t left = 0;
    *ret_least = INFINITY;
    for (size_t i = 0; i < n; i++) {
        struct replay_flow *f = flows[i];
        double rate = fair_of(s, f);
        if (f->limit <= rate) {
            settle(s, f, f->limit);
            continue;
        }
        *ret_least = lesser(*ret_least, rate);
        flows[left++] = f;
    }
    return left;
}

/* Links with the smallest share give it to each of their remaining flows. */
static size_t settle_at(struct replay_flow **flows, size_t n, struct shared *s, double least) {
    size_t left = 0;
    for (size_t i = 0; i < n; i++) {
        struct replay_flow *f = flows[i];
        if (fair_of(s, f) <= least * (1 + 1e-12))
            settle(s, f, least);
        else
            flows[left++] = f;
    }
    return left;
}

size_t replay_share(struct replay_flow **flows, size_t n, const double *egress,
                    const double *ingress, size_t n_hosts, double *room) {
    struct shared s = {room, room + n_hosts, room + 2 * n_hosts, room + 3 * n_hosts};
    size_t work = n;
    fill(flows, n, egress, ingress, &s);
    while (n > 0) {
        double least;
        size_t left = settle_below(flows, n, &s, &least);
        if (left == n)
            left = settle_at(flows, n, &s, least);
        work += n;
        n = left;
    }
    return work;
}
