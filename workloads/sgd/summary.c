/* SPDX-License-Identifier: MIT */
#include "workloads/sgd/summary.h"

void summary_print(const struct summary *s, FILE *out) {
    const struct sgd_options *o = s->options;
    const struct outcome *r = s->outcome;
    fprintf(out, "chokepoint-sgd: %s %s, %d rank%s, %u features, batch %llu, rate %g\n",
            o->async ? "async" : "sync", o->dense ? "dense" : "sparse", s->n_ranks,
            s->n_ranks == 1 ? "" : "s", o->n_features, (unsigned long long)o->batch, o->rate);
    fprintf(out, "  %llu updates, %llu examples in %.2f s%s: %.2f updates/s, %.0f examples/s\n",
            (unsigned long long)r->updates, (unsigned long long)r->examples, r->duration_s,
            r->out_of_time ? " (time limit)" : "", (double)r->updates / r->duration_s,
            (double)r->examples / r->duration_s);
    fprintf(out, "  rank  iterations  median s   sent MB  received MB\n");
    for (int i = 0; i < s->n_ranks; i++)
        fprintf(out, "  %4d  %10llu  %8.4f  %8.1f  %11.1f\n", i,
                (unsigned long long)s->accounts[i].iterations, s->accounts[i].iteration_s,
                (double)s->accounts[i].sent_bytes * 1e-6,
                (double)s->accounts[i].received_bytes * 1e-6);
    fprintf(out, "  loss %.4f, mean staleness %.2f updates", r->loss, r->staleness);
    if (r->tested)
        fprintf(out, "; accuracy %.2f %%, loss %.4f on %llu held-out examples", 100 * r->accuracy,
                r->test_loss, (unsigned long long)r->n_tested);
    fputc('\n', out);
}
