/* SPDX-License-Identifier: MIT */
/*
 * Watched runs. Each has one child, `chokepoint top RUN --format json`, which prints the state of
 * the run as a line of JSON each second until the run has ended. A watcher gets the newest line as
 * a server-sent event, and skips lines that came while it was busy. So a slow reader costs nobody
 * anything, and one that reconnects has everything with the first event. A child without watchers
 * is ended.
 */
#ifndef CHOKEPOINT_CLI_SERVE_FEEDS_H
#define CHOKEPOINT_CLI_SERVE_FEEDS_H

#include <poll.h>
#include <stddef.h>
#include <stdint.h>

#define FEEDS_MAX 8 /* runs that can be watched at a time */

struct feeds;

struct feeds_options {
    const char *program, *database;         /* borrowed; program: the command chokepoint */
    void (*news)(void *ctx, void *watcher); /* feeds_next has something for it */
    void *ctx;
};

/* -ENOMEM. */
int feeds_new(const struct feeds_options *options, struct feeds **ret_feeds);
void feeds_free(struct feeds *feeds); /* ends its children; no watcher may be left. Takes NULL. */

/* last_id: the last event that the watcher has, from Last-Event-ID; 0: none. -EBUSY: too many runs,
 * or watchers; -errno. */
int feeds_watch(struct feeds *feeds, const char *run, uint64_t last_id, void *watcher);
void feeds_forget(struct feeds *feeds, void *watcher); /* the next two take watchers only */

/* The next bytes of its events; 0: none now; -1: that was all. */
int feeds_next(struct feeds *feeds, void *watcher, char *to, size_t size);

/* Fills in descriptors to poll, FEEDS_MAX at most; returns their number. */
size_t feeds_fds(const struct feeds *feeds, struct pollfd *fds);
/* Reads the children's output, and checks children and time. */
void feeds_check(struct feeds *feeds);
int64_t feeds_deadline_ns(const struct feeds *feeds); /* monotonic; INT64_MAX: none */

/* Tells all watchers that the server ends. */
void feeds_close(struct feeds *feeds);

#endif
