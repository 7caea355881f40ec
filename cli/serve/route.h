/* SPDX-License-Identifier: MIT */
/* The meaning of a path of the page. No part of it reaches a file system or a database as it came.
 */
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
    ROUTE_EVENTS,    /* /live/ID/events  what it follows it by */
    ROUTE_ASSET,     /* /page/NAME   a style or a script of these pages */
    ROUTE_ENTER,     /* /enter/WORD  once: the way in for who has the word */
};

#define ROUTE_RUN_SIZE 20   /* of a run's number, or "last" */
#define ROUTE_WORD_SIZE 129 /* of an asset's name, or a word */

struct route {
    enum route_kind kind;
    char run[ROUTE_RUN_SIZE];
    char word[ROUTE_WORD_SIZE];
};

/* A path without its arguments. */
struct route route_of(const char *path);

/* A run as these paths name it: a number from 1 without leading zeros, or "last". */
bool route_is_run(const char *text);

#endif
