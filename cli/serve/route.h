/* SPDX-License-Identifier: MIT */
/* The meaning of a path of the page. No part of a path reaches a file system or a database
 * unchecked. */
#ifndef CHOKEPOINT_CLI_SERVE_ROUTE_H
#define CHOKEPOINT_CLI_SERVE_ROUTE_H

#include <stdbool.h>

enum route_kind {
    ROUTE_NONE,
    ROUTE_RUNS,      /* /            the page with the list of runs */
    ROUTE_RUNS_JSON, /* /runs.json   the list */
    ROUTE_RUN,       /* /run/ID      the report of a run */
    ROUTE_COMPARE,   /* /compare     two runs, named by the arguments a and b */
    ROUTE_LIVE,      /* /live/ID     the page that follows a run */
    ROUTE_EVENTS,    /* /live/ID/events the events for that page */
    ROUTE_MOMENT,    /* /live/ID/at/SECONDS the picture of a moment of the run */
    ROUTE_ASSET,     /* /page/NAME   a style or a script of these pages */
    ROUTE_ENTER,     /* /enter/WORD once: gives the cookie to a browser with the word */
};

#define ROUTE_RUN_SIZE 20   /* number of a run, or "last" */
#define ROUTE_WORD_SIZE 129 /* name of an asset, or a word */

struct route {
    enum route_kind kind;
    char run[ROUTE_RUN_SIZE];
    char word[ROUTE_WORD_SIZE]; /* of a moment: its seconds, which are digits */
};

/* Parses a path without its arguments. */
struct route route_of(const char *path);

/* Whether the text names a run in these paths: a number from 1 without leading zeros, or "last". */
bool route_is_run(const char *text);

#endif
