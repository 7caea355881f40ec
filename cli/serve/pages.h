/* SPDX-License-Identifier: MIT */
/*
 * Pages that other verbs make: a report, a comparison, the list of runs. Each is made by a child,
 * `chokepoint VERB ... --db FILE`, so that a crafted database, a long judgement or a fault costs
 * that page alone, and its memory is given back. A few at a time, of the others as many as there
 * are slots wait; one page is made once for all who ask for it. It is kept until the database has
 * changed or others need its place.
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
    PAGES_REFUSED, /* the verb said why not: there is no such run, or nothing to show of it */
    PAGES_GONE,    /* there is no database, or it cannot be read now */
    PAGES_FAILED,  /* the verb broke, or was given up */
    PAGES_CROWDED, /* too many are being made */
};

struct pages_result {
    enum pages_state state;
    int fd;          /* PAGES_MADE: a file to read from, the caller's */
    size_t size;     /* of it */
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

/* The output of a verb. words: of a verb, NULL-terminated, at most PAGES_WORDS_MAX, none of them
 * beginning with "-" that came from outside. */
struct pages_result pages_get(struct pages *pages, const char *const *words, void *waiter);
void pages_forget(struct pages *pages, void *waiter); /* it waits no more, if it did */

/* A child may have ended, or its time may have. */
void pages_check(struct pages *pages);
int64_t pages_deadline_ns(const struct pages *pages); /* monotonic; INT64_MAX: none */

/* Tells all who wait that it is over. */
void pages_close(struct pages *pages);

#endif
