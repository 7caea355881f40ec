/* SPDX-License-Identifier: MIT */
/*
 * Reads a run while it is recorded: the rows since the last call. Rows are joined to about a second
 * (store_read.h), so one short query per host finds them. Hosts that are sampled once a second or
 * less often have plain rows alone, which are read table by table. For faster recordings of
 * versions that did not join, it lists hosts and no rows.
 */
#ifndef CHOKEPOINT_COLLECTOR_STORE_TAIL_H
#define CHOKEPOINT_COLLECTOR_STORE_TAIL_H

#include "collector/store_read.h"

struct store_tail;

struct store_tail_table {
    const char *name;
    const char *const *columns; /* at most READ_COLUMNS_MAX, 128 */
    size_t n_columns;
};

struct store_tail_host {
    int64_t id;
    char *name;      /* owned by the tail */
    int64_t last_ns; /* the newest frame, since the command's start; VALUE_ABSENT: none */
    uint64_t frames;
    char boot_id[BOOT_ID_SIZE + 1]; /* id of its kernel */
};

/* Tables and their names must outlive the tail; tables without rows may get some later. The store
 * must outlive it, too, and may be used for other reading between polls. -ENOMEM, -EINVAL: too many
 * columns. */
int store_tail_open(struct store *store, int64_t run, const struct store_tail_table *tables,
                    size_t n_tables, struct store_tail **ret_tail);
void store_tail_close(struct store_tail *tail); /* takes NULL */

/* Calls each() for the rows committed since the last call, of each instance in the order of time.
 * The first call begins with the last STORE_TAIL_FIRST packed values or slow samples of each host,
 * which cover at least as many seconds if so much was recorded. instance_name is NULL: see
 * store_tail_name. `table` is the index in the tables of store_tail_open. A negative return of
 * each() ends the reading and is passed on. -EBADMSG: the file cannot be decoded. After a failure
 * rows of that call may be missing; the next call gives the next rows. */
#define STORE_TAIL_FIRST 16
int store_tail_next(struct store_tail *tail,
                    int (*each)(void *ctx, size_t table, const struct store_row_read *row),
                    void *ctx);

/* The hosts seen so far in the order of first appearance; the index of a host never changes. Valid
 * until the next poll. */
size_t store_tail_hosts(const struct store_tail *tail, const struct store_tail_host **ret_hosts);

/* The printable name of a row's instance. -ENOENT. */
int store_tail_name(struct store_tail *tail, int64_t host, int64_t instance,
                    char name[INSTANCE_MAX + 1]);

#endif
