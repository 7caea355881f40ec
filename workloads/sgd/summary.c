/* SPDX-License-Identifier: MIT */
#include "workloads/sgd/summary.h"

double summary_examples_per_s(const struct summary *s) {
    double seconds = s->outcome->duration_s - s->outcome->test_s - s->outcome->checkpoint_s;
    uint64_t own = s->outcome->examples - s->trainer->resumed.examples;
    return seconds > 0 ? (double)own / seconds : 0;
}

/* "sync dense", "sync dense all-reduce", "async dense, server apart, prefetch", "single" */
static void print_mode(const struct sgd_options *o, FILE *out) {
    fputs(sgd_mode_names[o->mode], out);
    if (o->mode != SGD_SINGLE)
        fprintf(out, " %s%s%s", sgd_transfer_name(o),
                o->allreduce ? " all-reduce"
                : o->apart   ? ", server apart"
                             : "",
                o->prefetch ? ", prefetch" : "");
    if (o->backup)
        fprintf(out, ", %llu backup", (unsigned long long)o->backup);
}

static void print_ranks(const struct summary *s, FILE *out) {
    fprintf(out, "  rank  iterations  median s   sent MB  received MB\n");
    for (int i = 0; i < s->trainer->group->n_ranks; i++)
        fprintf(out, "  %4d  %10llu  %8.4f  %8.1f  %11.1f\n", i,
                (unsigned long long)s->accounts[i].iterations, s->accounts[i].iteration_s,
                (double)s->accounts[i].sent_bytes * 1e-6,
                (double)s->accounts[i].received_bytes * 1e-6);
}

void summary_print(const struct summary *s, FILE *out) {
    const struct trainer *t = s->trainer;
    const struct sgd_options *o = t->options;
    const struct outcome *r = s->outcome;
    int n_ranks = t->group->n_ranks;
    fprintf(out, "chokepoint-sgd: %s", o->softmax ? "softmax, " : "");
    print_mode(o, out);
    fprintf(out, ", %d rank%s, %u features, batch %llu, rate %g%s%s\n", n_ranks,
            n_ranks == 1 ? "" : "s", t->n_features, (unsigned long long)o->batch, o->rate,
            t->origin[0] ? ", " : "", t->origin);
    fprintf(out,
            "  %llu updates, %llu examples in %.2f s%s, %.2f s of it tests: %.2f updates/s, %.0f "
            "examples/s\n",
            (unsigned long long)r->updates, (unsigned long long)r->examples, r->duration_s,
            r->out_of_time ? " (time limit)" : "", r->test_s,
            (double)(r->updates - t->resumed.updates) / r->duration_s, summary_examples_per_s(s));
    if (t->resumed.updates)
        fprintf(out, "  resumed after %llu updates\n", (unsigned long long)t->resumed.updates);
    if (r->checkpoints)
        fprintf(out, "  %llu checkpoint%s of %.1f MB took %.2f s\n",
                (unsigned long long)r->checkpoints, r->checkpoints == 1 ? "" : "s",
                (double)t->n_weights * sizeof(float) * 1e-6, r->checkpoint_s);
    if (o->backup)
        fprintf(
            out,
            "  %llu gradients came late and were dropped; to wait for these alone would have taken "
            "%.2f s more\n",
            (unsigned long long)r->dropped, r->spared_s);
    print_ranks(s, out);
    fprintf(out, "  loss %.4f, staleness of updates %.2f on average, %llu at most", r->loss,
            r->staleness, (unsigned long long)r->most_stale);
    if (r->tested)
        fprintf(out, "; accuracy %.2f %%, loss %.4f on %llu held-out examples", 100 * r->accuracy,
                r->test_loss, (unsigned long long)r->n_tested);
    fputc('\n', out);
}
