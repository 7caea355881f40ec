/* SPDX-License-Identifier: MIT */
/*
 * Reads the rows of a run in the order in which they were stored, from a place on: for what is sent
 * elsewhere, also while it is recorded, and may neither miss a row nor take one twice. The place is
 * the number of a frame, which only grows, and all rows of a frame are committed with it.
 */
#ifndef CHOKEPOINT_COLLECTOR_STORE_FOLLOW_H
#define CHOKEPOINT_COLLECTOR_STORE_FOLLOW_H

#include "collector/store_read.h"

struct store_follow;

/* A row, valid during the call only. */
struct store_followed {
    size_t table; /* index in the tables of store_follow_open */
    int64_t frame, host, instance;
    int64_t wall_ns;       /* time of the frame, by the run's clock */
    const int64_t *values; /* one for each column, as stored: growth, and levels */
};

/* The tables are read with the columns that they name here, at most 128; those that the file lacks
 * get rows later or never. Store and tables must outlive it. */
int store_follow_open(struct store *store, int64_t run, const struct table *const *tables, size_t n,
                      struct store_follow **ret_follow);
void store_follow_close(struct store_follow *follow); /* takes NULL */

/* Calls each() for the rows of the next frames behind `after`, at most n_frames of them, table by
 * table and within a table by frame. ret_until: the last of these frames, or `after` if there is
 * none. A negative return of each() ends the reading and is passed on. */
int store_follow_next(struct store_follow *follow, int64_t after, size_t n_frames,
                      int (*each)(void *ctx, const struct store_followed *row), void *ctx,
                      int64_t *ret_until);

/* The printable name of an instance, or of a host of the run. -ENOENT. */
int store_follow_instance(struct store_follow *follow, int64_t instance,
                          char name[INSTANCE_MAX + 1]);
int store_follow_host(struct store_follow *follow, int64_t host, char name[INSTANCE_MAX + 1]);

/* The id of the run's first stream, which no other run has, since it was drawn; 0: none yet. */
int store_follow_identity(struct store_follow *follow, int64_t *ret_identity);

/* Whether the run's command has ended. */
int store_follow_has_ended(struct store_follow *follow, bool *ret_ended);

#endif
