/* SPDX-License-Identifier: MIT */
/*
 * The bytes of a push -> checked frames -> rows in the store.
 *
 * Two steps, so that a bad byte anywhere in a body costs that body and nothing else: ingest_check
 * walks all of it before the first row is written, ingest_write cannot meet a bad byte any more.
 * The caller puts store_begin and store_commit around the writes of any number of pushes.
 */
#ifndef CHOKEPOINT_COLLECTOR_INGEST_H
#define CHOKEPOINT_COLLECTOR_INGEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "collector/clock.h"
#include "collector/store.h"

#define INGEST_BODY_MAX (4u << 20)
#define INGEST_FRAMES_MAX 32768 /* of one body */
#define INGEST_HOSTS_MAX 4096   /* of one run */
#define INGEST_TABLES_MAX 128   /* of one run: twice what one agent can describe */

struct ingest;

struct ingest_push {
    const void *body; /* borrowed */
    size_t size;
    bool final; /* the stream's last */
    bool have_clock;
    struct clock_estimate clock;
    char sender[INSTANCE_MAX + 1]; /* the host it must be of; "": any */

    /* Results. */
    char host[INSTANCE_MAX + 1];   /* after the check */
    bool events;                   /* after the check: of a stream of single events */
    uint64_t tables;               /* after the check: a number for its tables, or 0 (wire.h) */
    uint64_t committed;            /* the stream's highest seq that the transaction holds */
    uint64_t host_number, n_hosts; /* which of the run's hosts it is, from 0, and how many */
    uint64_t frames, rows, duplicates;
    uint64_t refused_rows; /* of tables that contradict those stored */
    char note[200];        /* one line worth telling, "" if none */
    char why[160];         /* one line, after a failure */
};

int ingest_new(struct store *store, int64_t run, struct ingest **ret_ingest);
void ingest_free(struct ingest *ingest); /* takes NULL */

/* Walks the whole body. -EBADMSG, -ENOMEM; why says what is wrong with it. -ENODATA: it names
 * tables by a number that is not known here (any more): they are to be sent. */
int ingest_check(struct ingest *ingest, struct ingest_push *push);

/* Writes what was checked last, inside the caller's transaction. A negative errno of the store: the
 * caller then rolls back. -EUSERS: the run has INGEST_HOSTS_MAX hosts already, or the host has
 * STORE_STREAMS_MAX streams; why says which. */
int ingest_write(struct ingest *ingest, struct ingest_push *push);

/* After the commit: whether these were the first frames of their host since ingest_new. */
bool ingest_committed(struct ingest *ingest, const struct ingest_push *push);

#endif
