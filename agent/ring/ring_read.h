/* SPDX-License-Identifier: MIT */
/*
 * Reads a ring while its agent, or none, writes it. Files come in the order of writing, then the
 * frames that are in no file yet, then files that were made meanwhile: a frame may come twice, and
 * later numbers of a stream come later. All bytes may be anybody's: a file that cannot be read, or
 * is damaged, costs itself from there on, and is counted.
 */
#ifndef CHOKEPOINT_AGENT_RING_READ_H
#define CHOKEPOINT_AGENT_RING_READ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/ring/ring_block.h"

struct ring_reader;

struct ring_piece {
    enum ring_block_kind kind;
    uint8_t *data; /* until the next call; the caller may change it */
    size_t size;
};

struct ring_reading {
    size_t files, damaged, refused; /* refused: not the ring's owner's, or not to be read by us */
    size_t unpackable;              /* packed, which this program cannot unpack */
    int64_t first_ns, last_ns;      /* of all frames in files; first > last: there are none */
};

#define RING_END 1

/* from_ns, to_ns: wall times; blocks that have none of this time are left out. The directory is not
 * changed. -EPERM: others may write to the directory; -ELOOP: a symbolic link; -ENOMEM, or the
 * errno of opening it. */
int ring_reader_open(const char *dir, int64_t from_ns, int64_t to_ns,
                     struct ring_reader **ret_reader);
void ring_reader_close(struct ring_reader *reader); /* takes NULL */

/* How much of the time its files have, by their heads; the last minute may be in none. Call it
 * before the first piece is read. */
int64_t ring_reader_covered(const struct ring_reader *reader);

/* 0, RING_END, or negative errno. */
int ring_reader_next(struct ring_reader *reader, struct ring_piece *ret_piece);

const struct ring_reading *ring_reader_told(const struct ring_reader *reader);

#endif
