/* SPDX-License-Identifier: MIT */
/*
 * Pages that other verbs make: a report, a comparison, the list of runs. A child makes each,
 * `chokepoint VERB ... --db FILE`, so that a crafted database, a long judgement or a fault costs
 * that page alone, and its memory is returned. A few run at a time, and others wait while there are
 * slots; a page is made once for all who request it. It is kept until the database has changed or
 * its slot is needed.
 */
#ifndef CHOKEPOINT_CLI_SERVE_PAGES_H
#define CHOKEPOINT_CLI_SERVE_PAGES_H

#include <stddef.h>
#include <stdint.h>

#define PAGES_WORDS_MAX 6

struct pages;

enum pages_state {
    PAGES_MADE,
    PAGES_WAIT,    /* done() will be called */
    PAGES_REFUSED, /* the verb reported why not: the run does not exist, or has nothing to show */
    PAGES_GONE,    /* there is no database, or it cannot be read now */
    PAGES_FAILED,  /* the verb failed, or took too long */
    PAGES_CROWDED, /* too many pages are being made */
};

struct pages_result {
    enum pages_state state;
    int fd;          /* PAGES_MADE: a file to read, which the caller closes */
    size_t size;     /* size of the file */
    const char *why; /* otherwise: one line, borrowed until the next call */
};

struct pages_options {
    const char *program, *database; /* borrowed; program: the command chokepoint */
    void (*done)(void *ctx, void *waiter, const struct pages_result *result);
    void *ctx;
};

/* -ENOMEM. */
int pages_new(const struct pages_options *options, struct pages **ret_pages);
void pages_free(struct pages *pages); /* ends its children; nobody may wait. Takes NULL. */

/* The output of a verb. words: for the verb, NULL-terminated, at most PAGES_WORDS_MAX; words from
 * outside must not begin with "-". */
struct pages_result pages_get(struct pages *pages, const char *const *words, void *waiter);
void pages_forget(struct pages *pages, void *waiter); /* cancels a waiting request */

/* Handles children that have ended or exceeded their time. */
void pages_check(struct pages *pages);
int64_t pages_deadline_ns(const struct pages *pages); /* monotonic; INT64_MAX: none */

/* Tells all who wait that the server ends. */
void pages_close(struct pages *pages);

#endif
