/* SPDX-License-Identifier: MIT */
#include "workloads/sgd/lead.h"

#include <math.h>
#include <stdio.h>

#include "agent/mark/chokepoint.h"

int lead_init(struct lead *ret, struct trainer *t) {
    struct source_error error;
    *ret = (struct lead){.t = t};
    int r = tester_open(&ret->tester, t->options, t->n_features, t->width, &error);
    if (r < 0)
        rank_group_say(t->group, "%s", error.text);
    return r;
}

void lead_release(struct lead *l) {
    tester_release(&l->tester);
}

static double seconds_since(int64_t start_ns) {
    return (double)(chokepoint_now_ns() - start_ns) * 1e-9;
}

void lead_begin(struct lead *l) {
    l->started_ns = chokepoint_now_ns();
    bool quiet = l->t->options->quiet || l->t->group->rank != 0;
    progress_start(&l->progress, quiet, l->t->options->time_limit_s);
    l->outcome.updates = l->saved_at = l->t->resumed.updates;
    l->outcome.examples = l->t->resumed.examples;
    l->outcome.loss = l->t->resumed.loss;
    chokepoint_phase("training");
    chokepoint_iteration_begin();
}

void lead_end(struct lead *l) {
    l->outcome.duration_s = seconds_since(l->started_ns);
    progress_end(&l->progress);
}

bool lead_is_out_of_time(const struct lead *l) {
    double limit = l->t->options->time_limit_s;
    return limit > 0 && seconds_since(l->started_ns) >= limit;
}

bool lead_check_loss(const struct lead *l, double loss, uint64_t iteration) {
    if (isfinite(loss))
        return true;
    rank_group_say(l->t->group,
                   "the loss is %f in iteration %llu: the training diverges; try a smaller --rate",
                   loss, (unsigned long long)iteration);
    return false;
}

void lead_show(struct lead *l, double done, double total) {
    char label[32], text[128];
    const struct sgd_options *o = l->t->options;
    int n = snprintf(text, sizeof text, "loss %.4f", l->outcome.loss);
    snprintf(label, sizeof label, "%s %s", sgd_mode_names[o->mode], sgd_transfer_name(o));
    if (l->outcome.tested)
        snprintf(text + n, sizeof text - (size_t)n, "  accuracy %.2f %%",
                 100 * l->outcome.accuracy);
    progress_show(&l->progress, o->mode == SGD_SINGLE ? "single" : label, done, total, text,
                  l->outcome.tested && l->tested_at == l->outcome.updates);
}

/* ---- checkpoint ---- */

bool lead_saves_after(const struct trainer *t, uint64_t iterations) {
    uint64_t every = t->options->checkpoint_every;
    return t->options->checkpoint && iterations > 0 &&
           (iterations == t->iterations || (every && iterations % every == 0));
}

static int save_checkpoint(const struct lead *l) {
    const struct trainer *t = l->t;
    struct checkpoint_head head =
        checkpoint_head_of(t->options, t->group->n_ranks, t->n_shares, t->n_features, t->width);
    head.updates = l->outcome.updates;
    head.examples = l->outcome.examples;
    head.loss = l->outcome.loss;
    return checkpoint_write(t->options->checkpoint, &head, t->batches, t->weights);
}

int lead_save(struct lead *l) {
    const struct trainer *t = l->t;
    if (!t->options->checkpoint || l->saved_at == l->outcome.updates)
        return 0;
    int64_t start = chokepoint_now_ns();
    chokepoint_phase("checkpoint");
    int r = rank_group_wrote(t->group, t->options->checkpoint, save_checkpoint(l));
    chokepoint_operator("write checkpoint", (int64_t)(t->n_weights * sizeof *t->weights), start,
                        chokepoint_now_ns() - start);
    l->saved_at = l->outcome.updates;
    l->outcome.checkpoints += r == 0;
    l->outcome.checkpoint_s += seconds_since(start);
    chokepoint_phase("training");
    chokepoint_iteration_begin();
    return r;
}

/* ---- test ---- */

bool lead_tests_after(const struct trainer *t, uint64_t iterations) {
    uint64_t every = t->options->test_every;
    return iterations == 0 || (every && iterations % every == 0) || iterations == t->iterations;
}

static void keep_score(struct lead *l, const struct logistic_score *score) {
    struct outcome *o = &l->outcome;
    o->tested = true;
    l->tested_at = o->updates;
    o->n_tested = score->n;
    o->accuracy = (double)score->n_correct / (double)score->n;
    o->test_loss = score->loss_sum / (double)score->n;
    chokepoint_value("updates", (double)o->updates);
    chokepoint_value("examples trained", (double)o->examples);
    chokepoint_value("test loss", o->test_loss);
    chokepoint_value("accuracy", o->accuracy);
    if (l->t->options->mode == SGD_SYNC) /* 0 by definition; async marks it for each update */
        chokepoint_value("staleness", 0);
}

int lead_test(struct lead *l) {
    struct logistic_score score;
    struct source_error error;
    if (!l->tester.is_on || (l->outcome.tested && l->tested_at == l->outcome.updates))
        return 0;
    int64_t start = chokepoint_now_ns();
    chokepoint_phase("testing");
    int r = tester_score(&l->tester, l->t->weights, &score, &error);
    if (r == 0)
        keep_score(l, &score);
    else
        rank_group_say(l->t->group, "%s", error.text);
    l->outcome.test_s += seconds_since(start);
    chokepoint_phase("training");
    chokepoint_iteration_begin();
    return r;
}

int lead_test_own(struct lead *l) {
    struct logistic_score score;
    struct source_error error;
    chokepoint_phase("testing");
    int r = tester_score(&l->tester, l->t->weights, &score, &error);
    if (r == 0)
        chokepoint_value("own accuracy", (double)score.n_correct / (double)score.n);
    else
        rank_group_say(l->t->group, "%s", error.text);
    return r;
}

void lead_share_accuracy(const struct lead *l) {
    double found[] = {l->outcome.tested, l->outcome.accuracy}; /* the others have not tested */
    rank_group_sum(l->t->group, found, 2);
    if (l->t->group->rank != 0 && found[0] > 0)
        chokepoint_value("own accuracy", found[1]);
}
