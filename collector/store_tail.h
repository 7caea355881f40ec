/* SPDX-License-Identifier: MIT */
/*
 * Reading a run while it is recorded: the rows since the last call. Rows are those joined to about
 * a second each (store_read.h): one short query a host finds them, where the rows themselves would
 * take one a host and table. Versions that joined no rows left runs that have hosts here, and no
 * rows.
 */
#ifndef CHOKEPOINT_COLLECTOR_STORE_TAIL_H
#define CHOKEPOINT_COLLECTOR_STORE_TAIL_H

#include "collector/store_read.h"

struct store_tail;

struct store_tail_table {
    const char *name;
    const char *const *columns; /* as many as READ_COLUMNS_MAX, 128, at most */
    size_t n_columns;
};

struct store_tail_host {
    int64_t id;
    char *name;      /* owned by the tail */
    int64_t last_ns; /* of its newest frame, since the command started; VALUE_ABSENT: none yet */
    uint64_t frames;
    char boot_id[BOOT_ID_SIZE + 1]; /* of the kernel that sent it */
};

/* Tables and their names must outlive the tail; those that the run has no rows of may come later.
 * The store must outlive it, too, and may be used for other reading between two polls. -ENOMEM,
 * -EINVAL: too many columns. */
int store_tail_open(struct store *store, int64_t run, const struct store_tail_table *tables,
                    size_t n_tables, struct store_tail **ret_tail);
void store_tail_close(struct store_tail *tail); /* takes NULL */

/* Calls each() for the rows that were committed since the last call, of each instance in the order
 * of time; the first time for the last STORE_TAIL_FIRST values that each host's rows are packed in,
 * at least as many seconds where anything was recorded for so long. instance_name is NULL: see
 * store_tail_name. `table` counts those of store_tail_open. A negative return of each() ends the
 * reading and is passed on. -EBADMSG: the file's contents make no sense. After a failure the rows
 * of that call may be missing, and those of the next are given. */
#define STORE_TAIL_FIRST 16
int store_tail_next(struct store_tail *tail,
                    int (*each)(void *ctx, size_t table, const struct store_row_read *row),
                    void *ctx);

/* The hosts seen so far, in the order of first appearance: an index keeps its meaning. Valid until
 * the next poll. */
size_t store_tail_hosts(const struct store_tail *tail, const struct store_tail_host **ret_hosts);

/* The name of the instance of a row, printable. -ENOENT. */
int store_tail_name(struct store_tail *tail, int64_t host, int64_t instance,
                    char name[INSTANCE_MAX + 1]);

#endif
