/* SPDX-License-Identifier: MIT */
/*
 * Backup workers (Chen, Pan, Monga, Bengio, Jozefowicz, "Revisiting Distributed Synchronous SGD",
 * 2016): a synchronous iteration takes the gradients that come first, and drops later ones, which
 * were computed from older weights.
 */
#ifndef CHOKEPOINT_WORKLOADS_SGD_SERVER_BACKUP_H
#define CHOKEPOINT_WORKLOADS_SGD_SERVER_BACKUP_H

#include "workloads/sgd/server.h"

struct backup {
    int64_t *left_ns;    /* by worker: when it became late; 0: it is not */
    uint64_t *left_at;   /* by worker: the update that made it late */
    uint64_t counted_at; /* the last update with a late gradient */
    double counted_s;    /* how late that gradient was */
};

int backup_init(struct backup *ret_backup, int n_channels);
void backup_release(struct backup *backup);

/* Answers pulls, and drops late gradients. False if a worker's request is invalid. */
bool backup_tend(struct backup *backup, struct server *server);

/* The workers whose gradients for the current weights are there, in the order of ranks. Returns
 * their number. */
int backup_list(const struct server *server, struct channel **used);

/* Call it after an update by so many gradients. */
void backup_note_update(struct backup *backup, const struct server *server, int n_gradients);

#endif
