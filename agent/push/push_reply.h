/* SPDX-License-Identifier: MIT */
/* The text of a collector's good answer, which comes from the network and is checked like it. */
#ifndef CHOKEPOINT_AGENT_PUSH_REPLY_H
#define CHOKEPOINT_AGENT_PUSH_REPLY_H

#include <stdbool.h>
#include <stdint.h>

struct push_reply {
    uint64_t committed;
    int64_t received_ns, replied_ns; /* the collector's CLOCK_MONOTONIC */
    bool stop;
    uint64_t echo_key; /* of common/echo.h; 0: it offers none */
    int64_t next_ns;   /* until the next push is wanted; 0: when the agent likes */
    uint64_t tables;   /* its number for the tables of the push (common/wire.h); 0: none */
};

/* Lines of "word number"; words of later versions are passed over. -EBADMSG unless all are there
 * but the last three. */
int push_reply_parse(const char *text, struct push_reply *ret_reply);

#endif
