/* SPDX-License-Identifier: MIT */
#include "workloads/sgd/server_backup.h"

#include <errno.h>
#include <stdlib.h>

#include "agent/mark/chokepoint.h"

int backup_init(struct backup *ret, int n_channels) {
    *ret = (struct backup){.left_ns = calloc((size_t)n_channels + 1, sizeof *ret->left_ns),
                           .left_at = calloc((size_t)n_channels + 1, sizeof *ret->left_at)};
    return ret->left_ns && ret->left_at ? 0 : -ENOMEM;
}

void backup_release(struct backup *backup) {
    free(backup->left_ns);
    free(backup->left_at);
}

static bool has_gradient(const struct channel *c) {
    return c->state == CHANNEL_PUSHED ||
           (c->state == CHANNEL_OFFERED && c->intake.state == INTAKE_IDLE);
}

static bool is_fresh(const struct server *s, const struct channel *c) {
    return has_gradient(c) && c->pulled_at == s->lead->outcome.updates;
}

/* The time that the iteration would have waited for its last gradient. */
static void count_late(struct backup *b, struct server *s, int worker) {
    double late_s = (double)(chokepoint_now_ns() - b->left_ns[worker]) * 1e-9;
    double counted_s = b->counted_at == b->left_at[worker] ? b->counted_s : 0;
    s->lead->outcome.dropped++;
    if (b->left_ns[worker] && late_s > counted_s) {
        s->lead->outcome.spared_s += late_s - counted_s;
        b->counted_at = b->left_at[worker];
        b->counted_s = late_s;
    }
    b->left_ns[worker] = 0;
}

static void drop(struct channel *c) {
    if (c->state == CHANNEL_OFFERED)
        channel_take_dense(c, NULL, 0);
    else
        channel_listen(c);
}

bool backup_tend(struct backup *b, struct server *s) {
    bool good = true;
    for (int i = 0; i < s->n_channels; i++) {
        struct channel *c = &s->channels[i];
        if (c->intake.state == INTAKE_TAKEN)
            c->intake.state = INTAKE_IDLE;
        if (c->state == CHANNEL_PULLED) {
            good &= channel_answer(c, s->t->weights, s->lead->outcome.updates, true);
        } else if (has_gradient(c) && !is_fresh(s, c)) {
            count_late(b, s, i);
            drop(c);
        }
    }
    return good;
}

int backup_list(const struct server *s, struct channel **used) {
    int n = 0;
    for (int i = 0; i < s->n_channels; i++)
        if (is_fresh(s, &s->channels[i]))
            used[n++] = &s->channels[i];
    return n;
}

/* Workers that pulled the weights before this update and have not pushed are late from now on. */
void backup_note_update(struct backup *b, const struct server *s, int n_gradients) {
    uint64_t updates = s->lead->outcome.updates;
    for (int i = 0; i < s->n_channels; i++) {
        const struct channel *c = &s->channels[i];
        if (c->pulls > 0 && c->pulled_at + 1 == updates) {
            b->left_ns[i] = chokepoint_now_ns();
            b->left_at[i] = updates;
        }
    }
    chokepoint_value("gradients of an update", n_gradients);
}
