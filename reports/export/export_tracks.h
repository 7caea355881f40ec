/* SPDX-License-Identifier: MIT */
/*
 * Slices on one thread track must lie beside or within each other; the viewer drops slices that
 * cross. These tracks ensure this: each slice goes to the first track of its strand (what one
 * process, or one thread of it, did) into which it fits.
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
    int64_t start_ns;          /* begin of the last slice */
    int64_t ends[TRACK_DEPTH]; /* ends of those open at it, the innermost last */
    size_t depth;
};

struct strand {
    int host;
    int64_t pid, thread;  /* thread -1: the process's own marks; else the thread of its calls */
    int rank;             /* -1: none */
    struct track *tracks; /* owned */
    size_t n_tracks;
};

struct strands {
    struct strand *items; /* owned */
    size_t n, last;       /* last: the one found last */
    unsigned next_tid;    /* unique over all processes, as in Linux */
    uint64_t left_out;    /* slices for which there was no track */
};

void strands_release(struct strands *strands);

/* The strand, made if it is new (*ret_new). NULL without memory. */
struct strand *strand_get(struct strands *strands, int host, int64_t pid, int64_t thread, int rank,
                          bool *ret_new);

/* The track that a slice fits into. Within a strand starts must not decrease, and of two that start
 * together the longer comes first. *ret_new: the track is new. NULL: the slice is left out.
 */
struct track *strand_place(struct strands *strands, struct strand *strand, int64_t start_ns,
                           int64_t end_ns, bool *ret_new);

#endif
