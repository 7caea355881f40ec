/* SPDX-License-Identifier: MIT */
#include "workloads/matmul/summary.h"

#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "workloads/common/whole_file.h"
#include "workloads/matmul/blas.h"

static json_t *ranks(const struct summary *s) {
    json_t *array = json_array();
    for (int i = 0; i < s->n_ranks; i++) {
        const struct matmul_account *a = &s->accounts[i];
        json_array_append_new(
            array,
            json_pack("{s:i, s:I, s:I, s:f, s:f, s:f, s:I, s:I, s:I}", "rank", i, "rounds",
                      (json_int_t)a->rounds, "products", (json_int_t)a->products, "round_s",
                      a->round_s, "compute_s", a->compute_s, "exchange_s", a->exchange_s,
                      "sent_bytes", (json_int_t)a->sent_bytes, "received_bytes",
                      (json_int_t)a->received_bytes, "memory_bytes", (json_int_t)a->memory_bytes));
    }
    return array;
}

static json_t *trace(const struct outcome *r) {
    return r->whole ? json_integer((json_int_t)r->trace) : json_null();
}

int summary_write_json(const struct summary *s, const char *path) {
    const struct matmul_options *o = s->options;
    const struct outcome *r = s->outcome;
    json_t *root = json_pack(
        "{s:s, s:s, s:s, s:i, s:I, s:I, s:I, s:I, s:f, s:b, s:f, s:f, s:o, s:b, s:o}", "product",
        o->trace_only ? "trace" : "full", "precision", o->wide ? "double" : "single", "kernels",
        blas_kernels(), "ranks", s->n_ranks, "size", (json_int_t)o->size, "block",
        (json_int_t)o->block, "repeat", (json_int_t)o->repeat, "rounds",
        (json_int_t)s->accounts[0].rounds, "duration_s", r->duration_s, "out_of_time",
        r->out_of_time, "gflop_per_s", summary_gflops(s), "round_s", s->accounts[0].round_s,
        "trace", trace(r), "checked", r->checked, "by_rank", ranks(s));
    char *text = root ? json_dumps(root, JSON_INDENT(2) | JSON_REAL_PRECISION(9)) : NULL;
    int result = text ? whole_file_write(path, text, strlen(text)) : -ENOMEM;
    free(text);
    json_decref(root);
    return result;
}
