/* SPDX-License-Identifier: MIT */
/*
 * Cold samples: rows that nobody adds to any more, as blocks of columns (store_block.h), by stream
 * and table. Rows of a block are sorted by instance and frame, so values
 * of one instance follow each other. It has no time (store_block_times.h says why), and in
 * BLOCK_THIRD what is kept of intervals.
 *
 * Packed databases have such blocks, and those that are packed as they age (store_age.h). Neither
 * is a file that other programs read (store_mark.h): one that knows no blocks cannot mistake it for
 * one with fewer samples.
 */
#ifndef CHOKEPOINT_COLLECTOR_STORE_COLD_H
#define CHOKEPOINT_COLLECTOR_STORE_COLD_H

#include <stdint.h>

struct store;

/* Within a transaction of the caller, in a file that nobody else reads: turns all samples into
 * blocks, or blocks of samples into rows again. -ERANGE: rows have values that blocks cannot hold;
 * the transaction has to be rolled back. */
int cold_pack(struct store *store);
int cold_unpack(struct store *store);

/* Within a transaction of the caller: turns rows of a table of samples into blocks, some frames of
 * a stream after the other. */
struct cooling;
/* -EBADMSG: there is no such table. */
int cooling_new(struct store *store, const char *table, struct cooling **ret_cooling);
void cooling_free(struct cooling *cooling); /* takes NULL */
/* Those above `after` and not above `until`; the number of rows. -ERANGE as above. */
int cooling_frames(struct cooling *cooling, int64_t stream, int64_t after, int64_t until,
                   int64_t *ret_rows);

/* Unpacks all columns of all blocks. -EBADMSG: one cannot be. */
int cold_check(struct store *store);

#endif
