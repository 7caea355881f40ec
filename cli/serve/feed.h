/* SPDX-License-Identifier: MIT */
/* The child that follows one run (feeds.h): its last whole line, and what became of it. */
#ifndef CHOKEPOINT_CLI_SERVE_FEED_H
#define CHOKEPOINT_CLI_SERVE_FEED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "cli/serve/route.h"
#include "common/buffer.h"

/* A line that somebody may still be sending while a newer one is there. */
struct feed_line {
    unsigned users;
    uint64_t id;
    size_t size;
    char text[];
};

struct feed {
    char run[ROUTE_RUN_SIZE]; /* "": free */
    pid_t pid;                /* 0: does not run */
    int fd, said_fd;
    struct buffer partial; /* a line that has not ended yet */
    bool too_long;
    struct feed_line *line; /* the newest; NULL: none yet */
    uint64_t last_id;
    bool ended;       /* the run has: the line is its last */
    char why[200];    /* it cannot be read now; "" while all is well */
    int64_t again_ns; /* when it is tried again; 0: not */
    int64_t alone_ns; /* since when nobody watches; 0: somebody does */
};

/* Begins to follow. Negative errno. */
int feed_start(struct feed *feed, const char *program, const char *database);
/* Takes what it has printed, and looks whether it has ended. Whether anything is new. */
bool feed_read(struct feed *feed);
void feed_stop(struct feed *feed); /* ends the child and forgets all */

struct feed_line *feed_line_keep(struct feed_line *line);
void feed_line_drop(struct feed_line *line); /* takes NULL */

#endif
