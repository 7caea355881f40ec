/* SPDX-License-Identifier: MIT */
/*
 * Backup workers (Chen, Pan, Monga, Bengio, Jozefowicz, "Revisiting Distributed Synchronous SGD",
 * 2016): a synchronous iteration takes the gradients that come first, and drops those that come
 * after it, which were made from weights of before.
 */
#ifndef CHOKEPOINT_WORKLOADS_SGD_SERVER_BACKUP_H
#define CHOKEPOINT_WORKLOADS_SGD_SERVER_BACKUP_H

#include "workloads/sgd/server.h"

struct backup {
    int64_t *left_ns;    /* of each worker: when it was left behind; 0: it was not */
    uint64_t *left_at;   /* ... by which update */
    uint64_t counted_at; /* the last update that a gradient was late for, */
    double counted_s;    /* and by how much of it */
};

int backup_init(struct backup *ret_backup, int n_channels);
void backup_release(struct backup *backup);

/* Answers those who ask, and drops what is late. False if a worker asked for nonsense. */
bool backup_tend(struct backup *backup, struct server *server);

/* The workers whose gradients of the present weights are there, in the order of ranks; how many. */
int backup_list(const struct server *server, struct channel **used);

/* After an update by so many gradients. */
void backup_note_update(struct backup *backup, const struct server *server, int n_gradients);

#endif
