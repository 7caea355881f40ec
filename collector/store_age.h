/* SPDX-License-Identifier: MIT */
/*
 * Packs samples as they age, beside recording: rows of a run that are older than some time become
 * blocks (store_cold.h), by stream and table, and its newer rows stay rows. Readers see both as
 * one. A block comes in the transaction that its rows go in, so a process that is killed loses
 * nothing; what it had not packed yet is packed by the next one.
 *
 * A row is as old as the time since it was stored: clocks of hosts do not matter. Rows are packed
 * for some minutes at a time, since each block tells again what does not change.
 */
#ifndef CHOKEPOINT_COLLECTOR_STORE_AGE_H
#define CHOKEPOINT_COLLECTOR_STORE_AGE_H

#include <stdbool.h>
#include <stdint.h>

struct store;
struct aging;

/* after_ns: how old rows get, above 0. store is borrowed. -ENOMEM. */
int aging_new(struct store *store, int64_t run, int64_t after_ns, struct aging **ret_aging);
void aging_free(struct aging *aging); /* takes NULL */

/* Whether there is something to pack at this time of the monotonic clock. */
bool aging_is_due(struct aging *aging, int64_t now_ns);

/* Packs for about that long, in a transaction of its own; the store is in none. Rows that no block
 * can hold stay rows. A negative errno of the store: nothing of this call was kept, and the next
 * one tries again. */
int aging_step(struct aging *aging, int64_t now_ns, int64_t budget_ns);

#endif
