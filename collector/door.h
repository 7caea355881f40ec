/* SPDX-License-Identifier: MIT */
/*
 * Stands before the HTTP server. A thread accepts connections at once, so that none waits in the
 * kernel's queue behind a crowd. It passes a connection on when the whole first message of a TLS
 * handshake is there, which a client sends at once. Other connections wait here for a few seconds,
 * and while slots are full (gate.h); a waiting connection costs a descriptor and a few bytes.
 */
#ifndef CHOKEPOINT_COLLECTOR_DOOR_H
#define CHOKEPOINT_COLLECTOR_DOOR_H

#include <stdbool.h>
#include <stddef.h>

#include "collector/gate.h"

#define DOOR_LISTENERS_MAX 16

struct door;

struct door_options {
    struct gate_limits waiting; /* limits of strangers alone */
    bool at_once;               /* no TLS: the door waits for no handshake */
    /* Whether a connection from this address may be let in now. If not, it waits, and door_room
     * asks again. NULL: always. */
    bool (*may_enter)(void *ctx, const struct sockaddr *from);
    /* Lets in a connection of the i-th listener and takes fd over; called on the door's thread. */
    void (*let_in)(void *ctx, size_t i, int fd, const struct sockaddr *from, socklen_t size);
    void *ctx;
};

/* -ENOMEM, -errno. */
int door_new(const struct door_options *options, struct door **ret_door);

/* Call it before the start; the door then owns fd. -ENOSPC, -errno. */
int door_listen(struct door *door, int fd);
int door_start(struct door *door);

/* A slot is free for a waiting guest. From any thread. */
void door_room(struct door *door);

/* Ends the thread, closes the listeners and all waiting connections. Takes NULL; a second call does
 * nothing. */
void door_stop(struct door *door);
void door_free(struct door *door); /* stops the door; no thread may call it any more; takes NULL */

#endif
