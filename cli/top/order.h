/* SPDX-License-Identifier: MIT */
/*
 * The part of a picture that a view shows, and its order. If the letters of the filter occur in a
 * host's name, they select hosts with their GPUs, pairs and processes. Else they select processes.
 */
#ifndef CHOKEPOINT_CLI_TOP_ORDER_H
#define CHOKEPOINT_CLI_TOP_ORDER_H

#include "cli/top/view.h"

/* Name of the order: "name", "cpu", ... */
const char *top_sort_name(enum top_sort sort);

/* Finds out whether the filter selects hosts; before any of the functions below, when the filter or
 * the picture has changed. */
void top_filter_look(struct top_view *view, const struct live_snapshot *snapshot);
bool top_shows_host(const struct top_view *view, const struct live_snapshot *snapshot, size_t host);
/* A picture of the processes, ranks and pairs that are shown. All hosts stay, since indices point
 * to them. Valid as long as the picture; -ENOMEM. */
int top_select(struct top_view *view, const struct live_snapshot *snapshot,
               struct live_snapshot *ret_selected);
void top_selection_release(struct live_snapshot *selected);

/* Indices of the hosts that are shown, in order; owned by the caller, NULL without memory. */
size_t *top_hosts_in_order(const struct top_view *view, const struct live_snapshot *snapshot,
                           size_t *ret_n);
/* The position of the marked host in such an order. */
size_t top_marked(const struct top_view *view, const struct live_snapshot *snapshot,
                  const size_t *order, size_t n);

enum top_branch { TOP_NO_BRANCH, TOP_BRANCH, TOP_LAST_BRANCH };

/* A line of the list of processes. */
struct top_process {
    struct live_process process; /* of a program: the sums of its processes, as far as known */
    size_t n;                    /* a program of so many processes; 0: a process */
    bool many_hosts;             /* of a program */
    enum top_branch branch;      /* a process below its program */
    size_t place;                /* in the picture */
};

/* Processes of one host (-1: of all) in order; owned by the caller, NULL without memory. */
struct top_process *top_processes_in_order(const struct top_view *view,
                                           const struct live_snapshot *snapshot, int host,
                                           size_t *ret_n);

#endif
