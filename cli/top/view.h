/* SPDX-License-Identifier: MIT */
/* The part of a run that is shown, and its order: changed by keys, read by the drawing code. */
#ifndef CHOKEPOINT_CLI_TOP_VIEW_H
#define CHOKEPOINT_CLI_TOP_VIEW_H

#include "reports/live/live.h"

/* The smallest screen. A screen below the usual size has fewer columns, and less beside the limit,
 * hosts and processes. */
#define TOP_ROWS_MIN 10
#define TOP_COLUMNS_MIN 40
#define TOP_ROWS_USUAL 24
#define TOP_COLUMNS_USUAL 80
#define TOP_DELAY_MIN_S 0.1
#define TOP_DELAY_MAX_S 3600.0
#define TOP_AT_MAX_S 1e8

enum top_mode { TOP_ALL, TOP_HOST, TOP_PROCESSES, TOP_HELP };

/* Orders of hosts and of processes; `<` and `>` step through them. */
enum top_sort { TOP_BY_NAME, TOP_BY_CPU, TOP_BY_MEMORY, TOP_BY_DISK, TOP_BY_NETWORK, TOP_SORTS };

/* Processes one by one, below their programs, or summed up by program; `t` steps through them. */
enum top_list { TOP_LIST, TOP_TREE, TOP_PROGRAMS, TOP_LISTS };

/* A line of the last minute below each host. */
enum top_history { TOP_HISTORY_IF_ROOM, TOP_HISTORY_ALWAYS, TOP_HISTORY_NEVER };

struct top_view {
    enum top_mode mode;
    enum top_mode before_help;
    enum top_sort sort;
    bool reversed;
    char host[96]; /* name of the marked host, since positions change; "": the first */
    size_t scroll; /* lines, of the list that fills the screen */
    size_t page;   /* lines of it that were shown; set by the drawing code */
    bool paused, quit;
    enum top_list list;
    enum top_history history;
    bool shows_history; /* set by the drawing code */
    bool job_only;      /* without processes that are not of the job */
    bool asks_filter;   /* `filter` is being typed */
    char filter[32];    /* letters of what is shown, in either case; "": everything */
    bool filters_hosts; /* set by top_filter_look */
    bool asks_delay;    /* `entry` is a delay that is being typed */
    char entry[12];     /* digits typed so far */
    double delay_s;
    bool own;            /* the agents belong to the view: no command is recorded */
    const char *message; /* message of own agents; NULL */
};

enum top_key {
    TOP_KEY_NONE = 0,
    /* other values are characters */
    TOP_KEY_UP = 0x110000, /* beyond Unicode */
    TOP_KEY_DOWN,
    TOP_KEY_PAGE_UP,
    TOP_KEY_PAGE_DOWN,
    TOP_KEY_HOME,
    TOP_KEY_END,
    TOP_KEY_ENTER,
    TOP_KEY_ESCAPE,
    TOP_KEY_ERASE
};

void top_view_init(struct top_view *view, double delay_s);
/* Handles a key that was pressed while that picture was shown. */
void top_view_key(struct top_view *view, const struct live_snapshot *snapshot, int key);

#endif
