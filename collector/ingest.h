/* SPDX-License-Identifier: MIT */
/*
 * From the bytes of a push to checked frames, and from these to rows in the store.
 *
 * There are two steps, so that a bad byte costs its own body only: ingest_check walks all of the
 * body before the first row is written, and ingest_write meets no bad byte any more. The caller
 * puts store_begin and store_commit around the writes of any number of pushes.
 */
#ifndef CHOKEPOINT_COLLECTOR_INGEST_H
#define CHOKEPOINT_COLLECTOR_INGEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "collector/clock.h"
#include "collector/store.h"

#define INGEST_BODY_MAX (4u << 20)
#define INGEST_FRAMES_MAX 32768 /* in one body */
#define INGEST_HOSTS_MAX 4096   /* in one run */
#define INGEST_TABLES_MAX 128   /* in one run: twice what one agent can describe */

struct ingest;

struct ingest_push {
    const void *body; /* borrowed */
    size_t size;
    bool final; /* the stream's last push */
    bool have_clock;
    struct clock_estimate clock;
    char sender[INSTANCE_MAX + 1]; /* the host that the key belongs to; "": any */

    /* Results. */
    char host[INSTANCE_MAX + 1];   /* set by ingest_check */
    bool events;                   /* set by ingest_check: a stream of single events */
    uint64_t tables;               /* set by ingest_check: number of its tables, or 0 (wire.h) */
    uint64_t committed;            /* the stream's highest seq in the transaction */
    uint64_t host_number, n_hosts; /* index of the host in the run, and the number of hosts */
    uint64_t frames, rows, duplicates;
    uint64_t refused_rows; /* rows of tables that contradict the stored ones */
    char note[200];        /* one line worth telling, "" if none */
    char why[160];         /* one line after a failure */
};

int ingest_new(struct store *store, int64_t run, struct ingest **ret_ingest);
void ingest_free(struct ingest *ingest); /* takes NULL */

/* Checks the whole body. -EBADMSG, -ENOMEM; `why` says what is wrong. -ENODATA: the body names its
 * tables by an unknown number, so the agent must send them. */
int ingest_check(struct ingest *ingest, struct ingest_push *push);

/* Writes the body that ingest_check took last, inside the caller's transaction. A negative errno of
 * the store: the caller then rolls back. -EUSERS: the run has INGEST_HOSTS_MAX hosts already, or
 * the host has STORE_STREAMS_MAX streams; `why` says which. */
int ingest_write(struct ingest *ingest, struct ingest_push *push);

/* Call it after the commit: whether the host's first frames since ingest_new were committed. */
bool ingest_committed(struct ingest *ingest, const struct ingest_push *push);

#endif
