/* SPDX-License-Identifier: MIT */
#include "reports/export/export_tracks.h"

#include <stdlib.h>

#define STRANDS_MAX 65536

void strands_release(struct strands *strands) {
    for (size_t i = 0; i < strands->n; i++)
        free(strands->items[i].tracks);
    free(strands->items);
    *strands = (struct strands){0};
}

static bool is(const struct strand *strand, int host, int64_t pid, int64_t thread, int rank) {
    return strand->host == host && strand->pid == pid && strand->thread == thread &&
           strand->rank == rank;
}

/* Grows when n is 0, 1, 2, 4 ... */
static void *grown(void *items, size_t n, size_t size) {
    return n & (n - 1) ? items : realloc(items, (n ? 2 * n : 1) * size);
}

/* Slices of one strand mostly come in a row. */
struct strand *strand_get(struct strands *strands, int host, int64_t pid, int64_t thread, int rank,
                          bool *ret_new) {
    *ret_new = false;
    for (size_t k = 0; k < strands->n; k++) {
        size_t i = (strands->last + k) % strands->n;
        if (is(&strands->items[i], host, pid, thread, rank))
            return &strands->items[strands->last = i];
    }
    struct strand *items =
        strands->n < STRANDS_MAX ? grown(strands->items, strands->n, sizeof *strands->items) : NULL;
    if (!items)
        return NULL;
    strands->items = items;
    items[strands->n] =
        (struct strand){.host = host, .pid = pid, .thread = thread, .rank = rank, .tracks = NULL};
    *ret_new = true;
    return &items[strands->last = strands->n++];
}

static bool fits(struct track *track, int64_t start_ns, int64_t end_ns) {
    if (start_ns < track->start_ns)
        return false;
    size_t depth = track->depth;
    while (depth && track->ends[depth - 1] <= start_ns)
        depth--;
    if (depth == TRACK_DEPTH || (depth && track->ends[depth - 1] < end_ns))
        return false;
    track->start_ns = start_ns;
    track->ends[depth] = end_ns;
    track->depth = depth + 1;
    return true;
}

static struct track *add_track(struct strands *strands, struct strand *strand) {
    struct track *tracks = strand->n_tracks < TRACKS_OF_STRAND
                               ? grown(strand->tracks, strand->n_tracks, sizeof *tracks)
                               : NULL;
    if (!tracks)
        return NULL;
    strand->tracks = tracks;
    tracks[strand->n_tracks] = (struct track){.tid = strands->next_tid++};
    return &tracks[strand->n_tracks++];
}

struct track *strand_place(struct strands *strands, struct strand *strand, int64_t start_ns,
                           int64_t end_ns, bool *ret_new) {
    *ret_new = false;
    for (size_t i = 0; i < strand->n_tracks; i++)
        if (fits(&strand->tracks[i], start_ns, end_ns))
            return &strand->tracks[i];
    struct track *track = add_track(strands, strand);
    if (!track || !fits(track, start_ns, end_ns)) {
        strands->left_out++;
        return NULL;
    }
    *ret_new = true;
    return track;
}
