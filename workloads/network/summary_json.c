/* SPDX-License-Identifier: MIT */
#include "workloads/network/summary.h"

#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "workloads/common/whole_file.h"

static json_t *ranks(const struct summary *s) {
    json_t *array = json_array();
    for (int i = 0; i < s->trainer->group->n_ranks; i++) {
        const struct network_account *a = &s->accounts[i];
        json_array_append_new(
            array, json_pack("{s:i, s:I, s:I, s:f, s:f, s:f, s:I, s:I}", "rank", i, "iterations",
                             (json_int_t)a->iterations, "examples", (json_int_t)a->images,
                             "iteration_s", a->iteration_s, "compute_s", a->compute_s, "exchange_s",
                             a->exchange_s, "sent_bytes", (json_int_t)a->sent_bytes,
                             "received_bytes", (json_int_t)a->received_bytes));
    }
    return array;
}

static json_t *json_of_test(const struct test_result *t) {
    return json_pack("{s:I, s:I, s:I, s:f, s:f, s:f}", "iterations", (json_int_t)t->iterations,
                     "updates", (json_int_t)t->updates, "examples", (json_int_t)t->images, "t_s",
                     t->t_s, "accuracy", t->accuracy, "loss", t->loss);
}

static json_t *tests(const struct outcome *r) {
    json_t *array = json_array();
    for (size_t i = 0; i < r->n_tests; i++)
        json_array_append_new(array, json_of_test(&r->tests[i]));
    return array;
}

int summary_write_json(const struct summary *s, const char *path) {
    const struct network_options *o = s->trainer->options;
    const struct outcome *r = &s->trainer->outcome;
    json_t *last = r->n_tests ? json_of_test(&r->tests[r->n_tests - 1]) : json_null();
    json_t *root = json_pack(
        "{s:s, s:s, s:s, s:o, s:o, s:s, s:i, s:I, s:f, s:f, s:I, s:I, s:f, s:f, s:b, s:f, s:f, "
        "s:f, s:f, s:o, s:o, s:o}",
        "program", s->trainer->program->name, "data", s->trainer->origin, "optimizer",
        optimizer_name(o->optimizer), "target", o->target > 0 ? json_real(o->target) : json_null(),
        "target_s", r->reached ? json_real(r->reached_s) : json_null(), "mode",
        o->async ? "async" : "sync", "ranks", s->trainer->group->n_ranks, "batch",
        (json_int_t)o->batch, "rate", o->rate, "momentum", o->momentum, "updates",
        (json_int_t)r->updates, "examples", (json_int_t)r->images, "duration_s", r->duration_s,
        "test_s", r->test_s, "out_of_time", r->out_of_time, "examples_per_s",
        summary_images_per_s(s), "iteration_s", s->accounts[0].iteration_s, "staleness",
        r->staleness, "loss", r->loss, "test", last, "tests", tests(r), "by_rank", ranks(s));
    char *text = root ? json_dumps(root, JSON_INDENT(2) | JSON_REAL_PRECISION(9)) : NULL;
    int result = text ? whole_file_write(path, text, strlen(text)) : -ENOMEM;
    free(text);
    json_decref(root);
    return result;
}
