/* SPDX-License-Identifier: MIT */
#include "reports/export/export_lanes.h"

#include <stdlib.h>

#define STRANDS_MAX 65536

void strands_release(struct strands *strands) {
    for (size_t i = 0; i < strands->n; i++)
        free(strands->items[i].lanes);
    free(strands->items);
    *strands = (struct strands){0};
}

static bool is(const struct strand *strand, int host, int64_t pid, int64_t thread, int rank) {
    return strand->host == host && strand->pid == pid && strand->thread == thread &&
           strand->rank == rank;
}

/* Grows at 0, 1, 2, 4 ... */
static void *grown(void *items, size_t n, size_t size) {
    return n & (n - 1) ? items : realloc(items, (n ? 2 * n : 1) * size);
}

/* Slices of one come in a row, mostly. */
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
        (struct strand){.host = host, .pid = pid, .thread = thread, .rank = rank, .lanes = NULL};
    *ret_new = true;
    return &items[strands->last = strands->n++];
}

static bool fits(struct lane *lane, int64_t start_ns, int64_t end_ns) {
    if (start_ns < lane->start_ns)
        return false;
    size_t depth = lane->depth;
    while (depth && lane->ends[depth - 1] <= start_ns)
        depth--;
    if (depth == LANE_DEPTH || (depth && lane->ends[depth - 1] < end_ns))
        return false;
    lane->start_ns = start_ns;
    lane->ends[depth] = end_ns;
    lane->depth = depth + 1;
    return true;
}

static struct lane *add_lane(struct strands *strands, struct strand *strand) {
    struct lane *lanes = strand->n_lanes < LANES_OF_STRAND
                             ? grown(strand->lanes, strand->n_lanes, sizeof *lanes)
                             : NULL;
    if (!lanes)
        return NULL;
    strand->lanes = lanes;
    lanes[strand->n_lanes] = (struct lane){.tid = strands->next_tid++};
    return &lanes[strand->n_lanes++];
}

struct lane *strand_place(struct strands *strands, struct strand *strand, int64_t start_ns,
                          int64_t end_ns, bool *ret_new) {
    *ret_new = false;
    for (size_t i = 0; i < strand->n_lanes; i++)
        if (fits(&strand->lanes[i], start_ns, end_ns))
            return &strand->lanes[i];
    struct lane *lane = add_lane(strands, strand);
    if (!lane || !fits(lane, start_ns, end_ns)) {
        strands->left_out++;
        return NULL;
    }
    *ret_new = true;
    return lane;
}
