/* SPDX-License-Identifier: MIT */
/*
 * Cold samples: rows of a packed database that nobody records into any more, as blocks of columns
 * (store_block.h), by stream and table. Rows of a block are sorted by instance and frame, so values
 * of one instance follow each other. It has no time (store_block_times.h says why), and in
 * BLOCK_THIRD what is kept of intervals.
 *
 * Only packed databases have such blocks, and what is packed is no file of SQLite: a program that
 * knows no blocks cannot mistake it for one with fewer samples.
 */
#ifndef CHOKEPOINT_COLLECTOR_STORE_COLD_H
#define CHOKEPOINT_COLLECTOR_STORE_COLD_H

struct store;

/* Within a transaction of the caller, in a file that nobody else reads: turns all samples into
 * blocks, or blocks of samples into rows again. -ERANGE: rows have values that blocks cannot hold;
 * the transaction has to be rolled back. */
int cold_pack(struct store *store);
int cold_unpack(struct store *store);

/* Unpacks all columns of all blocks. -EBADMSG: one cannot be. */
int cold_check(struct store *store);

#endif
