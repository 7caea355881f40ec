/* SPDX-License-Identifier: MIT */
/*
 * In front of the HTTP server: a thread that accepts connections as fast as they come, so that none
 * waits in the kernel's queue behind a crowd, and lets those in that have sent the whole first
 * message of a TLS handshake, as a client does at once. All others wait here, where one costs a
 * descriptor and a few bytes, for a few seconds and as far as there are slots (gate.h).
 */
#ifndef CHOKEPOINT_COLLECTOR_DOOR_H
#define CHOKEPOINT_COLLECTOR_DOOR_H

#include <stdbool.h>
#include <stddef.h>

#include "collector/gate.h"

#define DOOR_LISTENERS_MAX 16

struct door;

struct door_options {
    struct gate_limits waiting; /* strangers: how many may wait, and how long; known ones: none */
    bool at_once;               /* no handshake is waited for: the server speaks plainly */
    /* Whether one from there may be let in now; else it waits on, and is asked about again after
     * door_room. NULL: always. */
    bool (*may_enter)(void *ctx, const struct sockaddr *from);
    /* Lets one in that came at the i-th listener, from the door's thread; fd is then its own. */
    void (*let_in)(void *ctx, size_t i, int fd, const struct sockaddr *from, socklen_t size);
    void *ctx;
};

/* -ENOMEM, -errno. */
int door_new(const struct door_options *options, struct door **ret_door);

/* Before the start; fd is then the door's. -ENOSPC, -errno. */
int door_listen(struct door *door, int fd);
int door_start(struct door *door);

/* From any thread: somebody who waits may be let in now. */
void door_room(struct door *door);

/* Ends the thread, closes the listeners and whatever waits. Takes NULL, and may come twice. */
void door_stop(struct door *door);
void door_free(struct door *door); /* stops it; nobody may call it any more; takes NULL */

#endif
