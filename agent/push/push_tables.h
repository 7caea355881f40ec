/* SPDX-License-Identifier: MIT */
/*
 * The tables that a push describes, and the collector's number for them: what it has read once is
 * not sent again. A collector that was started anew does not know the number, and asks for them.
 */
#ifndef CHOKEPOINT_AGENT_PUSH_TABLES_H
#define CHOKEPOINT_AGENT_PUSH_TABLES_H

#include <stdbool.h>
#include <stdint.h>

#include "common/buffer.h"

struct push_tables {
    struct buffer block; /* owned: as the last body that had them described them */
    uint64_t id;         /* the collector's number for the block; 0: it has given none */
    bool left_out;       /* the last body has the number */
};

void push_tables_release(struct push_tables *tables);

/* Puts the number in the place of the tables, if the collector has given one for these. */
void push_tables_shorten(struct push_tables *tables, struct buffer *body);

/* A good answer has come to the last body, with this number or 0. */
void push_tables_learn(struct push_tables *tables, uint64_t id);

/* The collector does not know the number. False: none was sent. */
bool push_tables_forget(struct push_tables *tables);

#endif
