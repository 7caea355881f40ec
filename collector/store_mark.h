/* SPDX-License-Identifier: MIT */
/*
 * A database that is recorded into, some of whose samples are blocks (store_age.h), has a mark that
 * no other program can overlook: an entry of its schema that is no SQL. SQLite then refuses every
 * statement and names the entry, which tells what to read the file with. So no program that knows
 * no blocks can take such a file for one with fewer samples. The mark comes with the transaction
 * that has the first block, and does no harm to the file's log.
 *
 * Connections of the store pass over it, also those that were opened before. A file whose schema
 * has another fault when it is opened is refused as ever.
 */
#ifndef CHOKEPOINT_COLLECTOR_STORE_MARK_H
#define CHOKEPOINT_COLLECTOR_STORE_MARK_H

struct store;

/* SQLite prints the name in its refusal. */
#define MARK_NAME "some samples are packed: read this file with chokepoint"
#define MARK_SQL "CREATE TABLE of packed samples"

/* For a connection that was opened just now: passes over the mark, if the file has it or gets it.
 */
int mark_pass(struct store *store);

/* Within a transaction of the caller. */
int mark_set(struct store *store);
int mark_remove(struct store *store);

#endif
