/* SPDX-License-Identifier: MIT */
#include "workloads/sgd/server.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/mark/chokepoint.h"
#include "workloads/sgd/logistic.h"

#define TEST_ROWS 4096

bool server_step(struct server *s) {
    bool moved = false;
    for (int i = 0; i < s->n_channels; i++)
        moved |= channel_step(&s->channels[i]);
    return moved;
}

bool server_all(const struct server *s, enum channel_state state) {
    for (int i = 0; i < s->n_channels; i++)
        if (s->channels[i].state != state)
            return false;
    return true;
}

bool server_any(const struct server *s, enum channel_state state) {
    for (int i = 0; i < s->n_channels; i++)
        if (s->channels[i].state == state)
            return true;
    return false;
}

bool server_is_out_of_time(const struct server *s) {
    double limit = s->t->options->time_limit_s;
    return limit > 0 && (double)(chokepoint_now_ns() - s->started_ns) * 1e-9 >= limit;
}

bool server_check_loss(struct server *s, double loss, uint64_t iteration) {
    char text[160];
    if (isfinite(loss))
        return true;
    snprintf(text, sizeof text,
             "the loss is %f in iteration %llu: the training diverges; try a smaller --rate", loss,
             (unsigned long long)iteration);
    trainer_say(s->t, text);
    return false;
}

void server_show(struct server *s, double done, double total) {
    char label[32], text[128];
    const struct sgd_options *o = s->t->options;
    int n = snprintf(text, sizeof text, "loss %.4f", s->outcome.loss);
    snprintf(label, sizeof label, "%s %s", o->async ? "async" : "sync",
             o->dense ? "dense" : "sparse");
    if (s->outcome.tested)
        snprintf(text + n, sizeof text - (size_t)n, "  accuracy %.2f %%",
                 100 * s->outcome.accuracy);
    progress_show(&s->progress, label, done, total, text,
                  s->outcome.tested && s->tested_at == s->outcome.updates);
}

/* ---- test ---- */

static int score_file(struct server *s, struct logistic_score *score) {
    struct libsvm_reader reader;
    struct libsvm_error error;
    struct batch batch = {0};
    int r = libsvm_open_file(&reader, s->test_path, s->t->options->n_features, &error);
    ssize_t n = r;
    while (n >= 0 && r == 0 && reader.epoch == 0) {
        batch_clear(&batch);
        n = libsvm_read(&reader, TEST_ROWS, &batch, &error);
        if (n > 0)
            logistic_score_add(score, &batch, s->t->weights);
    }
    batch_release(&batch);
    if (r == 0)
        libsvm_release(&reader);
    if (n < 0)
        trainer_say(s->t, error.text);
    return n < 0 ? (int)n : 0;
}

int server_test(struct server *s) {
    struct logistic_score score = {0};
    if (!s->test_path[0] || (s->outcome.tested && s->tested_at == s->outcome.updates))
        return 0;
    chokepoint_phase("testing");
    int r = score_file(s, &score);
    if (r == 0) {
        s->outcome.tested = true;
        s->tested_at = s->outcome.updates;
        s->outcome.n_tested = score.n;
        s->outcome.accuracy = (double)score.n_correct / (double)score.n;
        s->outcome.test_loss = score.loss_sum / (double)score.n;
        chokepoint_value("updates", (double)s->outcome.updates);
        chokepoint_value("examples trained", (double)s->outcome.examples);
        chokepoint_value("test loss", s->outcome.test_loss);
        chokepoint_value("accuracy", s->outcome.accuracy);
    }
    chokepoint_phase("training");
    chokepoint_iteration_begin();
    return r;
}

/* ---- beginning and end ---- */

/* Given, or test.libsvm beside the training files if there is one. */
static void find_test_data(struct server *s) {
    const struct sgd_options *o = s->t->options;
    struct stat st;
    int n;
    if (o->test_data)
        n = snprintf(s->test_path, sizeof s->test_path, "%s", o->test_data);
    else
        n = snprintf(s->test_path, sizeof s->test_path, "%s/test.libsvm", o->data);
    if (n >= (int)sizeof s->test_path ||
        (!o->test_data && (stat(s->test_path, &st) < 0 || !S_ISREG(st.st_mode))))
        s->test_path[0] = 0;
}

static int open_channels(struct server *s) {
    int n = s->t->n_ranks - 1, r = 0;
    s->channels = calloc((size_t)n + 1, sizeof *s->channels);
    if (!s->channels)
        return -ENOMEM;
    for (s->n_channels = 0; r == 0 && s->n_channels < n; s->n_channels++)
        r = channel_init(&s->channels[s->n_channels], s->n_channels + 1, s->t->options->dense,
                         s->t->options->n_features);
    for (int i = 0; r == 0 && i < n; i++)
        channel_listen(&s->channels[i]);
    return r;
}

static bool has_ended(const struct channel *c) {
    return c->state == CHANNEL_CLOSED || c->state == CHANNEL_FAILED;
}

/* A gradient under way is taken in (into nothing, if dense it is applied: the model is done with).
 */
static bool end_step(struct server *s, struct channel *c, enum message_kind kind) {
    bool moved = channel_step(c);
    if (c->state == CHANNEL_PULLED)
        channel_end(c, kind);
    else if (c->state == CHANNEL_OFFERED)
        channel_take_dense(c, s->t->weights, 0);
    else if (c->state == CHANNEL_PUSHED)
        channel_listen(c);
    return moved;
}

void server_end_workers(struct server *s, bool failed) {
    for (int ended = 0; ended < s->n_channels;) {
        bool moved = false;
        ended = 0;
        for (int i = 0; i < s->n_channels; i++) {
            moved |= end_step(s, &s->channels[i], failed ? MESSAGE_GIVE_UP : MESSAGE_STOP);
            ended += has_ended(&s->channels[i]);
        }
        if (!moved)
            waiter_nap(&s->t->waiter);
        else
            waiter_wake(&s->t->waiter);
    }
}

/* A worker that waits for an answer we cannot give, as memory is out or its request was nonsense.
 */
static void abort_if_deaf(const struct server *s, const struct channel *c) {
    char text[96];
    if (c->state != CHANNEL_FAILED || c->request.kind == MESSAGE_FAILED)
        return;
    snprintf(text, sizeof text, "cannot serve the request of rank %d (%u features); giving up",
             c->peer, c->request.n);
    trainer_say(s->t, text);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

static void close_channels(struct server *s) {
    for (int i = 0; i < s->n_channels; i++) {
        s->t->account.sent_bytes += s->channels[i].sent_bytes;
        s->t->account.received_bytes += s->channels[i].received_bytes;
        channel_release(&s->channels[i]);
    }
    free(s->channels);
}

int server_run(struct trainer *t, struct outcome *ret_outcome) {
    struct server s = {.t = t, .started_ns = chokepoint_now_ns()};
    find_test_data(&s);
    int r = open_channels(&s);
    if (r < 0) {
        trainer_say(t, "not enough memory for the workers' buffers");
        return r;
    }
    progress_start(&s.progress, t->options->quiet, t->options->time_limit_s);
    chokepoint_phase("training");
    chokepoint_iteration_begin();
    r = t->options->async ? server_run_async(&s) : server_run_sync(&s);
    s.outcome.duration_s = (double)(chokepoint_now_ns() - s.started_ns) * 1e-9;
    s.outcome.staleness = s.outcome.updates ? s.staleness_sum / (double)s.outcome.updates : 0;
    progress_end(&s.progress);
    server_end_workers(&s, r < 0);
    r = r == 0 && server_any(&s, CHANNEL_FAILED) ? -ECANCELED : r;
    for (int i = 0; i < s.n_channels; i++)
        abort_if_deaf(&s, &s.channels[i]);
    close_channels(&s);
    *ret_outcome = s.outcome;
    return r;
}
