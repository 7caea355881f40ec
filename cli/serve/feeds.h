/* SPDX-License-Identifier: MIT */
/*
 * Runs that are being watched. Each has one child, `chokepoint top RUN --format json`, which prints
 * the state of the run as a line of JSON each second until the run has ended; a watcher gets the
 * newest line as a server-sent event, and skips those that came while it was busy. So a slow reader
 * costs nobody anything, and one that comes back has all with the first event. A child that nobody
 * watches any more is ended.
 */
#ifndef CHOKEPOINT_CLI_SERVE_FEEDS_H
#define CHOKEPOINT_CLI_SERVE_FEEDS_H

#include <poll.h>
#include <stddef.h>
#include <stdint.h>

#define FEEDS_MAX 8 /* runs watched at a time */

struct feeds;

struct feeds_options {
    const char *program, *database;         /* borrowed; program: the command chokepoint */
    void (*news)(void *ctx, void *watcher); /* feeds_next has something for it */
    void *ctx;
};

/* -ENOMEM. */
int feeds_new(const struct feeds_options *options, struct feeds **ret_feeds);
void feeds_free(struct feeds *feeds); /* ends its children; nobody may watch. Takes NULL. */

/* last_id: of the last event that it has, as Last-Event-ID says; 0: none. -EBUSY: too many runs, or
 * watchers; -errno. */
int feeds_watch(struct feeds *feeds, const char *run, uint64_t last_id, void *watcher);
void feeds_forget(struct feeds *feeds, void *watcher); /* if it watches */

/* The next bytes of its events; 0: none now; -1: that was all. */
int feeds_next(struct feeds *feeds, void *watcher, char *to, size_t size);

/* Descriptors to poll, FEEDS_MAX at most; returns how many. */
size_t feeds_fds(const struct feeds *feeds, struct pollfd *fds);
/* Reads what there is, and looks after children and time. */
void feeds_check(struct feeds *feeds);
int64_t feeds_deadline_ns(const struct feeds *feeds); /* monotonic; INT64_MAX: none */

/* Tells all who watch that the server ends. */
void feeds_close(struct feeds *feeds);

#endif
