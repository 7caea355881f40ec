/* SPDX-License-Identifier: MIT */
/*
 * Times of the rows in blocks of samples (store_cold.h), which their frames tell: samples of all
 * tables end with their frame, so a block has neither a time of its own nor, mostly, an interval.
 */
#ifndef CHOKEPOINT_COLLECTOR_STORE_BLOCK_TIMES_H
#define CHOKEPOINT_COLLECTOR_STORE_BLOCK_TIMES_H

#include <stddef.h>
#include <stdint.h>

struct sqlite3;
struct sqlite3_stmt;

/* The frames of one stream; zeroed before its first use. */
struct block_times {
    struct sqlite3_stmt *list; /* owned, as are the others */
    int64_t stream;            /* 0: none yet */
    int64_t *frames, *times;   /* by rising frame; the ends, on the host's clock */
    size_t n, capacity;
};

/* Loads the frames of a stream, if it is another one than before. A result code of SQLite. */
int block_times_load(struct block_times *times, struct sqlite3 *db, int64_t stream);
void block_times_release(struct block_times *times);

/* The ends of rows; VALUE_ABSENT where the stream has no such frame. */
void block_times_of(const struct block_times *times, const int64_t *frames, size_t n,
                    int64_t *ret_times);

/* In place: what a block keeps of intervals, and the intervals of it. Rows are sorted by instance
 * and time. A row keeps by how much its interval is longer than the time since the row of its
 * instance before it; the first one in the block keeps it whole, and so does a row where that
 * cannot be said. */
void block_intervals_shorten(const int64_t *instances, const int64_t *times, size_t n,
                             int64_t *intervals);
void block_intervals_restore(const int64_t *instances, const int64_t *times, size_t n,
                             int64_t *intervals);

/* Fills in the order of rows by frame, and as they come within each. */
struct block_place {
    int64_t frame;
    uint32_t row;
};
void block_order_by_frame(const int64_t *frames, size_t n, struct block_place *ret_order);

#endif
