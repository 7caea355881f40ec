/* SPDX-License-Identifier: MIT */
/* The part of a run that is shown, and its order: changed by keys, read by the drawing code. */
#ifndef CHOKEPOINT_CLI_TOP_VIEW_H
#define CHOKEPOINT_CLI_TOP_VIEW_H

#include "reports/live/live.h"

#define TOP_ROWS_MIN 24
#define TOP_COLUMNS_MIN 80
#define TOP_DELAY_MIN_S 0.1
#define TOP_DELAY_MAX_S 3600.0

enum top_mode { TOP_ALL, TOP_HOST, TOP_PROCESSES, TOP_HELP };

/* Orders of hosts and of processes; `<` and `>` step through them. */
enum top_sort { TOP_BY_NAME, TOP_BY_CPU, TOP_BY_MEMORY, TOP_BY_DISK, TOP_BY_NETWORK, TOP_SORTS };

struct top_view {
    enum top_mode mode;
    enum top_mode before_help;
    enum top_sort sort;
    bool reversed;
    char host[96]; /* name of the marked host, since positions change; "": the first */
    size_t scroll; /* lines, of the list that fills the screen */
    size_t page;   /* lines of it that were shown; set by the drawing code */
    bool paused, quit;
    bool asks_delay; /* `entry` is a delay that is being typed */
    char entry[12];  /* digits typed so far */
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

/* Name of the order: "name", "cpu", ... */
const char *top_sort_name(enum top_sort sort);
/* Indices of hosts in the order of the view; owned by the caller, NULL without memory. */
size_t *top_hosts_in_order(const struct top_view *view, const struct live_snapshot *snapshot);
/* Indices of processes of one host (-1: of all); *ret_n is their number. */
size_t *top_processes_in_order(const struct top_view *view, const struct live_snapshot *snapshot,
                               int host, size_t *ret_n);
/* The position of the marked host in such an order. */
size_t top_marked(const struct top_view *view, const struct live_snapshot *snapshot,
                  const size_t *order);

#endif
