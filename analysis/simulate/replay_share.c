/* SPDX-License-Identifier: MIT */
#include <math.h>

#include "analysis/simulate/replay_private.h"

static double fair(const double *left, const double *flows, size_t at) {
    return flows[at] > 0 ? fmax(left[at], 0) / flows[at] : INFINITY;
}

void replay_share(struct replay_flow **flows, size_t n, const double *egress, const double *ingress,
                  size_t n_hosts, double *room) {
    double *out = room, *in = room + n_hosts, *n_out = in + n_hosts, *n_in = n_out + n_hosts;
    for (size_t h = 0; h < n_hosts; h++) {
        out[h] = egress[h];
        in[h] = ingress[h];
        n_out[h] = n_in[h] = 0;
    }
    for (size_t i = 0; i < n; i++) {
        flows[i]->rate = -1;
        n_out[flows[i]->from_host]++;
        n_in[flows[i]->to_host]++;
    }
    for (size_t done = 0; done < n;) {
        double least = INFINITY;
        for (size_t i = 0; i < n; i++)
            if (flows[i]->rate < 0)
                least =
                    fmin(least, fmin(flows[i]->limit, fmin(fair(out, n_out, flows[i]->from_host),
                                                           fair(in, n_in, flows[i]->to_host))));
        size_t before = done;
        for (size_t i = 0; i < n; i++) {
            struct replay_flow *f = flows[i];
            if (f->rate >= 0)
                continue;
            if (fmin(f->limit, fmin(fair(out, n_out, f->from_host), fair(in, n_in, f->to_host))) >
                least * (1 + 1e-12))
                continue;
            f->rate = least;
            out[f->from_host] -= least;
            in[f->to_host] -= least;
            n_out[f->from_host]--;
            n_in[f->to_host]--;
            done++;
        }
        if (done == before)
            return;
    }
}
