/* SPDX-License-Identifier: MIT */
/*
 * A road that frames go: the tables whose rows make them, and how far its sequence has come.
 * Samples go one road, single events too many to be sent while the job runs go another (see
 * probe.h).
 */
#ifndef CHOKEPOINT_AGENT_LANE_H
#define CHOKEPOINT_AGENT_LANE_H

#include "common/wire.h"

struct frame_sink;

struct lane {
    struct rows *rows;           /* owned, by table: n of capacity */
    struct rows **frame_rows;    /* by table: pointers into rows, as the encoder takes them */
    const struct table **tables; /* by table */
    unsigned *indexes;           /* by table: 0, 1, 2 ... */
    size_t n, capacity;
    struct buffer frame, scratch;
    struct frame_head head; /* of the last frame */
    bool packed;            /* frames of the packed form */
};

/* Room for `capacity` tables. -ENOMEM, -E2BIG; release it in any case. */
int lane_init(struct lane *lane, size_t capacity);
void lane_release(struct lane *lane);

/* Adds a table with room for max_rows. -ENOMEM. */
int lane_add(struct lane *lane, const struct table *table, size_t max_rows);

/* Takes the memory its frames need at most: afterwards nothing is allocated. -ENOMEM. */
int lane_reserve(struct lane *lane);

/* Makes the next frame of the rows there are and gives it to the sink; rows stay. `head`: its
 * sequence number is the lane's. 0 or the sink's error. */
int lane_send(struct lane *lane, const struct frame_head *head, const struct frame_sink *sink);

/* Forgets the rows of tables from the first-th on. */
void lane_reset(struct lane *lane, size_t first);

#endif
