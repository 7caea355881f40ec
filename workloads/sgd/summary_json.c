/* SPDX-License-Identifier: MIT */
#include "workloads/sgd/summary.h"

#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "workloads/common/whole_file.h"

static json_t *ranks(const struct summary *s) {
    json_t *array = json_array();
    for (int i = 0; i < s->trainer->group->n_ranks; i++) {
        const struct account *a = &s->accounts[i];
        json_array_append_new(array,
                              json_pack("{s:i, s:I, s:I, s:f, s:f, s:I, s:I}", "rank", i,
                                        "iterations", (json_int_t)a->iterations, "examples",
                                        (json_int_t)a->examples, "iteration_s", a->iteration_s,
                                        "cpu_s", a->cpu_s, "sent_bytes", (json_int_t)a->sent_bytes,
                                        "received_bytes", (json_int_t)a->received_bytes));
    }
    return array;
}

static json_t *tested(const struct outcome *r) {
    if (!r->tested)
        return json_null();
    return json_pack("{s:f, s:f, s:I}", "accuracy", r->accuracy, "loss", r->test_loss, "examples",
                     (json_int_t)r->n_tested);
}

int summary_write_json(const struct summary *s, const char *path) {
    const struct trainer *t = s->trainer;
    const struct sgd_options *o = t->options;
    const struct outcome *r = s->outcome;
    json_t *root = json_pack(
        "{s:s, s:s?, s:s, s:s, s:s, s:s, s:b, s:i, s:I, s:I, s:f, s:f, s:I, s:I, s:f, s:f, s:f, "
        "s:b, "
        "s:f, "
        "s:f, s:I, s:f, s:I, s:I, s:f, s:I, s:I, s:f, s:o, s:o}",
        "model", o->softmax ? "softmax" : "binary", "data", t->origin[0] ? t->origin : NULL, "mode",
        sgd_mode_names[o->mode], "transfer", sgd_transfer_name(o), "exchange",
        o->allreduce ? "allreduce" : "server", "server", o->apart ? "apart" : "shared", "prefetch",
        o->prefetch, "ranks", t->group->n_ranks, "features", (json_int_t)t->n_features, "batch",
        (json_int_t)o->batch, "rate", o->rate, "decay", o->decay, "updates", (json_int_t)r->updates,
        "examples", (json_int_t)r->examples, "duration_s", r->duration_s, "test_s", r->test_s,
        "examples_per_s", summary_examples_per_s(s), "out_of_time", r->out_of_time, "iteration_s",
        s->accounts[0].iteration_s, "staleness", r->staleness, "most_stale",
        (json_int_t)r->most_stale, "loss", r->loss, "resumed_updates",
        (json_int_t)t->resumed.updates, "checkpoints", (json_int_t)r->checkpoints, "checkpoint_s",
        r->checkpoint_s, "backup", (json_int_t)o->backup, "dropped_gradients",
        (json_int_t)r->dropped, "spared_s", r->spared_s, "test", tested(r), "by_rank", ranks(s));
    char *text = root ? json_dumps(root, JSON_INDENT(2) | JSON_REAL_PRECISION(9)) : NULL;
    int result = text ? whole_file_write(path, text, strlen(text)) : -ENOMEM;
    free(text);
    json_decref(root);
    return result;
}
