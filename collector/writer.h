/* SPDX-License-Identifier: MIT */
/*
 * The one thread that writes. Pushes that arrive during a commit share the next transaction (group
 * commit), so the cost of a commit does not grow with the number of hosts. Each commit is synced to
 * the disk; some hundredths of a second pass between the beginnings of two.
 */
#ifndef CHOKEPOINT_COLLECTOR_WRITER_H
#define CHOKEPOINT_COLLECTOR_WRITER_H

#include "collector/ingest.h"

struct writer;

/* Reasons for a refusal; the store has a count of each. */
enum refusal {
    REFUSED_UNAUTHORIZED,
    REFUSED_BAD_FRAME,
    REFUSED_TOO_LARGE,
    REFUSED_BAD_REQUEST,
    REFUSED_BUSY,
    REFUSED_TABLE_ROWS, /* rows of a table that contradicts the stored one */
    REFUSED_COUNT_
};

/* Reports one line to a person or a parent process; called from any thread, one call at a time. */
typedef void (*writer_event_fn)(void *ctx, const char *line);

struct writer_options {
    struct store *store; /* borrowed; the writer alone uses it until writer_free */
    int64_t run;
    int64_t pack_after_ns; /* samples of the run are packed when they are that old; 0: never */
    writer_event_fn event;
    void *event_ctx;
};

/* A push on its way. The submitter owns it, and may touch it again from done() on. */
struct write_job {
    struct ingest_push push;
    bool soon; /* somebody waits for the answer: not held back for more pushes to share a commit */
    /* 0 committed; -EBADMSG refused for good; -ENODATA: send it again with its tables; another
     * negative errno: try again */
    int result;
    void (*done)(struct write_job *job); /* called on the writer's thread */
    struct write_job *next;              /* private to the writer */
};

int writer_start(const struct writer_options *options, struct writer **ret_writer);

/* Never blocks. -ESHUTDOWN after writer_drain. */
int writer_submit(struct writer *writer, struct write_job *job);

/* Counts a refusal; the counts are written to the store now and then. */
void writer_refused(struct writer *writer, enum refusal refusal);

/* Takes no more jobs, commits all jobs and counts, ends the thread. */
void writer_drain(struct writer *writer);
void writer_free(struct writer *writer); /* drains; takes NULL */

#endif
