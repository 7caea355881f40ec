/* SPDX-License-Identifier: MIT */
#include "workloads/network/summary.h"

double summary_images_per_s(const struct summary *s) {
    const struct outcome *r = &s->trainer->outcome;
    double seconds = r->duration_s - r->test_s;
    return seconds > 0 ? (double)r->images / seconds : 0;
}

void summary_print(const struct summary *s, FILE *out) {
    const struct network_options *o = s->trainer->options;
    const struct outcome *r = &s->trainer->outcome;
    int n_ranks = s->trainer->group->n_ranks;
    fprintf(out, "%s: %s, %d rank%s, batch %llu, %s, rate %g, momentum %g, on %s\n",
            s->trainer->program->name, o->async ? "async" : "sync", n_ranks,
            n_ranks == 1 ? "" : "s", (unsigned long long)o->batch, optimizer_name(o->optimizer),
            o->rate, o->momentum, s->trainer->origin);
    fprintf(out, "  %llu updates, %llu images in %.2f s%s, %.2f s of it tests: %.0f images/s\n",
            (unsigned long long)r->updates, (unsigned long long)r->images, r->duration_s,
            r->out_of_time ? " (time limit)" : "", r->test_s, summary_images_per_s(s));
    fprintf(out, "  rank  iterations  median s  compute s  exchange s   sent MB  received MB\n");
    for (int i = 0; i < n_ranks; i++) {
        const struct network_account *a = &s->accounts[i];
        fprintf(out, "  %4d  %10llu  %8.4f  %9.2f  %10.2f  %8.1f  %11.1f\n", i,
                (unsigned long long)a->iterations, a->iteration_s, a->compute_s, a->exchange_s,
                (double)a->sent_bytes * 1e-6, (double)a->received_bytes * 1e-6);
    }
    fprintf(out, "  loss %.4f, mean staleness %.2f updates", r->loss, r->staleness);
    if (r->n_tests)
        fprintf(out, "; accuracy %.2f %%, loss %.4f on %zu test images",
                100 * r->tests[r->n_tests - 1].accuracy, r->tests[r->n_tests - 1].loss,
                s->trainer->test.n);
    fputc('\n', out);
    if (o->target > 0 && r->reached)
        fprintf(out, "  %g %% reached after %.2f s, %.2f s of it tests\n", 100 * o->target,
                r->reached_s, r->test_s);
    else if (o->target > 0)
        fprintf(out, "  %g %% not reached\n", 100 * o->target);
}
