/* SPDX-License-Identifier: MIT */
/*
 * Another plug-in of NCCL, as a user may have one: it wants operations and those of the proxy, and
 * writes to the file in NCCL_OTHER how many it has started and stopped of each, and whether the
 * parents were its own. Built with OTHER_OLD it has version 4 alone.
 */
#include <stdio.h>
#include <stdlib.h>

#include "tests/gpu/nccl_layout.h"

#define EXPORT __attribute__((visibility("default")))

static struct { uint64_t type; } marks[4096];
static int n_marks, stops, strangers, groups, colls, p2ps;

static int start(void *context, void **handle, uint64_t type, void *parent) {
    bool mine =
        !parent || ((char *)parent >= (char *)marks && (char *)parent < (char *)(marks + 4096));
    strangers += !mine || context != marks;
    groups += type == GROUP;
    colls += type == COLL;
    p2ps += type == P2P;
    *handle = &marks[n_marks++ % 4096];
    return 0;
}
static int stop(void *handle) {
    strangers += (char *)handle < (char *)marks || (char *)handle >= (char *)(marks + 4096);
    stops++;
    return 0;
}
static int record(void *handle, int state, void *arguments) {
    (void)handle, (void)state, (void)arguments;
    return 0;
}
static int finalize(void *context) {
    const char *path = getenv("NCCL_OTHER");
    FILE *file = path && context == marks ? fopen(path, "ae") : NULL;
    if (file) {
        fprintf(file, "groups %d colls %d p2ps %d stops %d strangers %d\n", groups, colls, p2ps,
                stops == n_marks, strangers);
        fclose(file);
    }
    return 0;
}
static int start_v4(void *context, void **handle, void *event) {
    struct v4 *e = event;
    return start(context, handle, e->type, e->parent);
}
static int init_v4_(void **context, int *mask, const char *name, uint64_t comm, int nodes, int n,
                    int rank, log_fn *log) {
    (void)name, (void)comm, (void)nodes, (void)n, (void)rank, (void)log;
    *context = marks;
    *mask = COLL | P2P;
    return 0;
}
EXPORT struct table ncclProfiler_v4 = {"other", init_v4_, start_v4, stop, record, finalize};

#ifndef OTHER_OLD
static int start_v5(void *context, void **handle, void *event) {
    struct v5 *e = event;
    return start(context, handle, e->type, e->parent);
}
static int init_v5_(void **context, uint64_t comm, int *mask, const char *name, int nodes, int n,
                    int rank, log_fn *log) {
    return init_v4_(context, mask, name, comm, nodes, n, rank, log);
}
EXPORT struct table ncclProfiler_v5 = {"other", init_v5_, start_v5, stop, record, finalize};

static int init_v1_(void **context, int *mask) {
    return init_v4_(context, mask, NULL, 0, 0, 0, 0, NULL);
}
EXPORT struct table ncclProfiler_v1 = {"other", init_v1_, start_v4, stop, record, finalize};
EXPORT struct table ncclProfiler_v2 = {"other", init_v1_, start_v4, stop, record, finalize};
EXPORT struct table ncclProfiler_v3 = {"other", init_v1_, start_v4, stop, record, finalize};
#endif
