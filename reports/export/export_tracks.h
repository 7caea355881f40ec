/* SPDX-License-Identifier: MIT */
/*
 * Slices of one thread track must lie beside or within each other; the viewer drops slices that
 * cross. These tracks keep this: each slice goes to the first track of its strand (what one
 * process, or one thread of it, did) in which it fits.
 */
#ifndef CHOKEPOINT_REPORTS_EXPORT_TRACKS_H
#define CHOKEPOINT_REPORTS_EXPORT_TRACKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TRACK_DEPTH 64
#define TRACKS_OF_STRAND 64

struct track {
    unsigned tid;
    int64_t start_ns;          /* of the last slice */
    int64_t ends[TRACK_DEPTH]; /* of those open at it, the innermost last */
    size_t depth;
};

struct strand {
    int host;
    int64_t pid, thread;  /* thread -1: what the process says of itself; else of its calls */
    int rank;             /* -1: none */
    struct track *tracks; /* owned */
    size_t n_tracks;
};

struct strands {
    struct strand *items; /* owned */
    size_t n, last;       /* the one found last */
    unsigned next_tid;    /* unique over all processes, as Linux has it */
    uint64_t left_out;    /* slices for which there was no track */
};

void strands_release(struct strands *strands);

/* The strand, made if it is new: *ret_new. NULL without memory. */
struct strand *strand_get(struct strands *strands, int host, int64_t pid, int64_t thread, int rank,
                          bool *ret_new);

/* The track a slice fits into; within a strand starts should not step back, and of two that start
 * together the longer comes first. *ret_new: a track that was not there before. NULL: left out. */
struct track *strand_place(struct strands *strands, struct strand *strand, int64_t start_ns,
                           int64_t end_ns, bool *ret_new);

#endif
