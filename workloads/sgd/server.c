/* SPDX-License-Identifier: MIT */
#include "workloads/sgd/server.h"

#include <errno.h>
#include <stdlib.h>

static int open_channels(struct server *s) {
    int n = s->t->group->n_ranks - 1, r = 0;
    s->channels = calloc((size_t)n + 1, sizeof *s->channels);
    if (!s->channels)
        return -ENOMEM;
    for (s->n_channels = 0; r == 0 && s->n_channels < n; s->n_channels++)
        r = channel_init(&s->channels[s->n_channels], s->n_channels + 1, s->t->options,
                         s->t->n_features, s->t->width);
    for (int i = 0; r == 0 && i < n; i++)
        channel_listen(&s->channels[i]);
    return r;
}

/* A rank that sent an invalid message has no gradient that the server waits for. */
static bool has_ended(const struct channel *c) {
    bool is_deaf = c->state == CHANNEL_FAILED && c->request.kind != MESSAGE_FAILED;
    bool is_told = c->state == CHANNEL_CLOSED || c->state == CHANNEL_FAILED;
    return is_deaf || (is_told && c->intake.state == INTAKE_IDLE);
}

/* The rest of an arriving gradient is received, but not applied. */
static bool end_step(struct channel *c, enum message_kind kind) {
    c->intake.scale = 0;
    bool moved = channel_step(c);
    if (c->intake.state == INTAKE_TAKEN)
        c->intake.state = INTAKE_IDLE;
    if (c->state == CHANNEL_PULLED)
        channel_end(c, kind);
    else if (c->state == CHANNEL_OFFERED && c->intake.state == INTAKE_IDLE)
        channel_take_dense(c, NULL, 0);
    else if (c->state == CHANNEL_PUSHED)
        channel_listen(c);
    return moved;
}

/* Answers all pulls with the end, and applies no more gradients, until all workers have it. */
static void end_workers(struct server *s, bool failed) {
    for (int ended = 0; ended < s->n_channels;) {
        bool moved = false;
        ended = 0;
        for (int i = 0; i < s->n_channels; i++) {
            moved |= end_step(&s->channels[i], failed ? MESSAGE_GIVE_UP : MESSAGE_STOP);
            ended += has_ended(&s->channels[i]);
        }
        if (!moved)
            waiter_back_off(&s->t->group->waiter);
        else
            waiter_wake(&s->t->group->waiter);
    }
}

/* For a worker whose request cannot be answered: no memory, or an invalid request. */
static void abort_if_deaf(const struct server *s, const struct channel *c) {
    if (c->state != CHANNEL_FAILED || c->request.kind == MESSAGE_FAILED)
        return;
    rank_group_say(s->t->group, "cannot serve the request of rank %d (%u features); giving up",
                   c->peer, c->request.n);
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

int server_run(struct lead *lead) {
    struct server s = {.lead = lead, .t = lead->t};
    struct outcome *o = &lead->outcome;
    int r = open_channels(&s);
    if (r < 0) {
        /* workers wait for answers, and there are no channels to send them */
        rank_group_say(s.t->group, "not enough memory for the workers' buffers");
        MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
    }
    lead_begin(lead);
    r = s.t->options->mode == SGD_ASYNC ? server_run_async(&s) : server_run_sync(&s);
    if (r == 0) /* out of time */
        r = lead_save(lead);
    lead_end(lead);
    uint64_t own = o->updates - s.t->resumed.updates;
    o->staleness = own ? s.staleness_sum / (double)own : 0;
    end_workers(&s, r < 0);
    r = r == 0 && server_any(&s, CHANNEL_FAILED) ? -ECANCELED : r;
    for (int i = 0; i < s.n_channels; i++)
        abort_if_deaf(&s, &s.channels[i]);
    close_channels(&s);
    return r;
}
