/* SPDX-License-Identifier: MIT */
#include "workloads/matmul/summary.h"

#include "workloads/matmul/blas.h"
#include "workloads/matmul/kernels.h"

double summary_gflops(const struct summary *s) {
    double flop = 0;
    for (int i = 0; i < s->n_ranks; i++)
        flop += s->accounts[i].flop;
    return s->outcome->duration_s > 0 ? flop * 1e-9 / s->outcome->duration_s : 0;
}

/* Advice for rank 0's host; other hosts are probably the same. */
static void advise(FILE *out) {
    enum kernels_width width = kernels_width_of_processor();
    const char *better = kernels_better(blas_kernels(), width);
    if (better)
        fprintf(out,
                "  this processor has %s, kernels for %s do not use it: try OPENBLAS_CORETYPE=%s\n",
                width == KERNELS_AVX512 ? "AVX-512" : "AVX2", blas_kernels(), better);
}

void summary_print(const struct summary *s, FILE *out) {
    const struct matmul_options *o = s->options;
    const struct outcome *r = s->outcome;
    fprintf(out, "chokepoint-matmul: %u x %u, %s, blocks of %u, %s, %d rank%s\n", o->size, o->size,
            o->wide ? "double" : "single", o->block, o->trace_only ? "trace only" : "full product",
            s->n_ranks, s->n_ranks == 1 ? "" : "s");
    fprintf(out, "  %llu rounds in %.2f s%s: %.1f GFLOP/s (kernels: %s)\n",
            (unsigned long long)s->accounts[0].rounds, r->duration_s,
            r->out_of_time ? " (time limit)" : "", summary_gflops(s), blas_kernels());
    fprintf(out,
            "  rank  products  median round s  compute s  exchange s   sent MB  received MB\n");
    for (int i = 0; i < s->n_ranks; i++) {
        const struct matmul_account *a = &s->accounts[i];
        fprintf(out, "  %4d  %8llu  %14.4f  %9.2f  %10.2f  %8.1f  %11.1f\n", i,
                (unsigned long long)a->products, a->round_s, a->compute_s, a->exchange_s,
                (double)a->sent_bytes * 1e-6, (double)a->received_bytes * 1e-6);
    }
    if (r->whole)
        fprintf(out, "  trace %.0f, as A and B say%s\n", r->trace,
                r->checked ? "; all of C agrees with them" : "");
    else
        fprintf(out, "  no trace: the product was not finished\n");
    advise(out);
}
