/* SPDX-License-Identifier: MIT */
/*
 * The one thread that writes. Pushes that arrive while a commit is running wait together and share
 * the next transaction (group commit), so the cost of a commit does not grow with the hosts. Each
 * commit is synced to the disk, and between two begins pass some hundredths of a second.
 */
#ifndef CHOKEPOINT_COLLECTOR_WRITER_H
#define CHOKEPOINT_COLLECTOR_WRITER_H

#include "collector/ingest.h"

struct writer;

/* Reasons for a refusal, each counted in the store. */
enum refusal {
    REFUSED_UNAUTHORIZED,
    REFUSED_BAD_FRAME,
    REFUSED_TOO_LARGE,
    REFUSED_BAD_REQUEST,
    REFUSED_BUSY,
    REFUSED_TABLE_ROWS, /* rows of a table that contradicts the one stored */
    REFUSED_COUNT_
};

/* One line for a person or a parent process; called from any thread, one call at a time. */
typedef void (*writer_event_fn)(void *ctx, const char *line);

struct writer_options {
    struct store *store; /* borrowed; used by nobody else until writer_free */
    int64_t run;
    writer_event_fn event;
    void *event_ctx;
};

/* A push on its way. Owned by whoever submitted it, who may touch it again once done() runs. */
struct write_job {
    struct ingest_push push;
    /* 0 committed; -EBADMSG refused for good; -ENODATA: to be sent with its tables; another
     * negative errno: try again */
    int result;
    void (*done)(struct write_job *job); /* called on the writer's thread */
    struct write_job *next;              /* the writer's own */
};

int writer_start(const struct writer_options *options, struct writer **ret_writer);

/* Never blocks. -ESHUTDOWN after writer_drain. */
int writer_submit(struct writer *writer, struct write_job *job);

/* Counted here, written to the store now and then. */
void writer_refused(struct writer *writer, enum refusal refusal);

/* Takes no more jobs, commits those there are and what was counted, ends the thread. */
void writer_drain(struct writer *writer);
void writer_free(struct writer *writer); /* drains; takes NULL */

#endif
