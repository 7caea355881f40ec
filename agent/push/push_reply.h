/* SPDX-License-Identifier: MIT */
/* The text of a collector's good answer; it comes from the network, so it is checked. */
#ifndef CHOKEPOINT_AGENT_PUSH_REPLY_H
#define CHOKEPOINT_AGENT_PUSH_REPLY_H

#include <stdbool.h>
#include <stdint.h>

struct push_reply {
    uint64_t committed;
    int64_t received_ns, replied_ns; /* the collector's CLOCK_MONOTONIC */
    bool stop;
    uint64_t echo_key; /* key for common/echo.h; 0: not offered */
    int64_t next_ns;   /* wanted delay of the next push; 0: any */
    uint64_t tables;   /* the collector's number for the push's tables (common/wire.h); 0: none */
};

/* Parses lines of "word number"; unknown words of later versions are skipped. -EBADMSG unless all
 * are there; the last three may be missing. */
int push_reply_parse(const char *text, struct push_reply *ret_reply);

#endif
