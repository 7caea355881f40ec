/* SPDX-License-Identifier: MIT */
/*
 * Sends a run to an engine: what was recorded, and while it is recorded what comes. A round reads
 * frames, makes bodies, saves them with the place behind them, and sends them one after the other.
 */
#ifndef CHOKEPOINT_CLI_REMOTE_SENDER_H
#define CHOKEPOINT_CLI_REMOTE_SENDER_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/remote/post.h"
#include "collector/store_read.h"

struct sender_config {
    const char *database;
    const struct store_run *run;
    struct post_config post;
    bool follows; /* waits for the run's end however long nothing comes */
};

/* Takes a line for people, without its end. */
typedef void sender_say(const char *line);

#define SENDER_STOPPED 1 /* the engine takes nothing from us; it was said, and nothing is lost */
#define SENDER_REFUSED 2 /* all was sent, and the engine refused a part for good; it was said */
#define SENDER_IN_USE 3

struct sender_sent {
    uint64_t samples; /* of the run, those that were sent by earlier processes among them */
    size_t series;    /* 0: earlier processes had sent all */
};

/* Returns when all was sent. Negative errno: of the store, or of the file that keeps the place,
 * whose path `why` then has. */
int sender_run(const struct sender_config *config, struct store *store, sender_say *say,
               struct sender_sent *ret_sent, char why[320]);

#endif
