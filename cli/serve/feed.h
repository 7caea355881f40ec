/* SPDX-License-Identifier: MIT */
/* The child that follows one run (feeds.h): its last complete line, and its state. */
#ifndef CHOKEPOINT_CLI_SERVE_FEED_H
#define CHOKEPOINT_CLI_SERVE_FEED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "cli/serve/route.h"
#include "common/buffer.h"

/* A line that may still be sent to somebody after a newer one has come. */
struct feed_line {
    unsigned users;
    uint64_t id;
    size_t size;
    char text[];
};

struct feed {
    char run[ROUTE_RUN_SIZE]; /* "": unused */
    pid_t pid;                /* 0: not running */
    int fd, said_fd;
    struct buffer partial; /* the incomplete line */
    bool too_long;
    struct feed_line *line; /* the newest; NULL: none yet */
    uint64_t last_id;
    bool ended;       /* the run has ended: the line is the last one */
    char why[200];    /* why it cannot be read now; "" while it can */
    int64_t again_ns; /* time of the next try; 0: none */
    int64_t alone_ns; /* time since nobody watches; 0: somebody does */
};

/* Begins to follow a run. Negative errno. */
int feed_start(struct feed *feed, const char *program, const char *database);
/* Takes the child's output, and checks whether it has ended. True: something is new. */
bool feed_read(struct feed *feed);
void feed_stop(struct feed *feed); /* ends the child and forgets everything */

struct feed_line *feed_line_keep(struct feed_line *line);
void feed_line_drop(struct feed_line *line); /* takes NULL */

#endif
