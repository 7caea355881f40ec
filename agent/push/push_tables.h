/* SPDX-License-Identifier: MIT */
/*
 * The tables that a push describes, and the collector's number for them, which later pushes send
 * instead. A restarted collector does not know the number, and asks for the tables.
 */
#ifndef CHOKEPOINT_AGENT_PUSH_TABLES_H
#define CHOKEPOINT_AGENT_PUSH_TABLES_H

#include <stdbool.h>
#include <stdint.h>

#include "common/buffer.h"

struct push_tables {
    struct buffer block; /* owned: the last descriptions that were sent */
    uint64_t id;         /* the collector's number for them; 0: none */
    bool left_out;       /* the last body has only the number */
};

void push_tables_release(struct push_tables *tables);

/* Replaces the tables by their number, if the collector has given one for these. */
void push_tables_shorten(struct push_tables *tables, struct buffer *body);

/* Stores the number from a good answer to the last body; 0: none. */
void push_tables_learn(struct push_tables *tables, uint64_t id);

/* Forgets a number that the collector does not know. False: none was sent. */
bool push_tables_forget(struct push_tables *tables);

#endif
