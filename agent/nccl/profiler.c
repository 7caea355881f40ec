/* SPDX-License-Identifier: MIT */
/* The tables that NCCL looks for, one a version. */
#include "agent/nccl/nccl.h"

#include <errno.h>

#define EXPORT __attribute__((visibility("default")))
#define WANTED (NCCL_GROUP | NCCL_COLLECTIVE | NCCL_MESSAGE)

/* Without a listener nothing is asked for but what the other plug-in wants. */
static int begin(int version, void **ret_context, int *mask, const struct nccl_comm *comm) {
    int saved_errno = errno;
    struct nccl_context *context = ret_context ? nccl_context_new(comm) : NULL;
    if (ret_context)
        *ret_context = context;
    if (context)
        nccl_chain_init(version, context, comm);
    if (mask)
        *mask = context ? context->next_mask | (shim_open_shared() == 1 ? WANTED : 0) : 0;
    errno = saved_errno;
    return 0;
}

static int start(int version, void *of, void **ret_handle, struct nccl_event *event) {
    struct nccl_context *context = of;
    struct call_record record;
    bool gives, takes;
    if (!ret_handle)
        return 0;
    *ret_handle = NULL;
    if (!context || !event)
        return 0;
    void *next = nccl_chain_start(version, context, event);
    struct nccl_flight *flight = NULL;
    if (shim_file && nccl_read(version, event, context, &record, &gives, &takes))
        flight = nccl_flight_begin(&record, gives, takes);
    if (flight)
        *nccl_flight_next(flight) = next;
    *ret_handle = flight ? (void *)flight : next;
    return 0;
}

static int stop(int version, void *handle) {
    struct nccl_flight *flight = nccl_flight_of(handle);
    const struct nccl_profiler *chain = nccl_chain(version);
    void *next = flight ? *nccl_flight_next(flight) : handle;
    if (flight)
        nccl_flight_end(flight);
    if (chain && next)
        chain->stop(next);
    return 0;
}

static int record(int version, void *handle, int state, void *arguments) {
    struct nccl_flight *flight = nccl_flight_of(handle);
    void *next = flight ? *nccl_flight_next(flight) : handle;
    if (next)
        nccl_chain_record(version, next, state, arguments);
    return 0;
}

static int finalize(int version, void *of) {
    struct nccl_context *context = of;
    const struct nccl_profiler *chain = nccl_chain(version);
    if (context && context->next && chain)
        chain->finalize(context->next);
    nccl_context_free(context);
    return 0;
}

/* ---- one table a version ---- */

#define FUNCTIONS(n)                                                                               \
    static int start_v##n(void *context, void **handle, struct nccl_event *event) {                \
        return start(n, context, handle, event);                                                   \
    }                                                                                              \
    static int stop_v##n(void *handle) {                                                           \
        return stop(n, handle);                                                                    \
    }                                                                                              \
    static int record_v##n(void *handle, int state, void *arguments) {                             \
        return record(n, handle, state, arguments);                                                \
    }                                                                                              \
    static int finalize_v##n(void *context) {                                                      \
        return finalize(n, context);                                                               \
    }
#define TABLE(n, member)                                                                           \
    FUNCTIONS(n)                                                                                   \
    EXPORT const struct nccl_profiler ncclProfiler_v##n = {                                        \
        "chokepoint", {.member = init_v##n}, start_v##n, stop_v##n, record_v##n, finalize_v##n};
#define OLD_INIT(n)                                                                                \
    static int init_v##n(void **context, int *mask) {                                              \
        return begin(n, context, mask, NULL);                                                      \
    }
#define NEW_INIT(n)                                                                                \
    static int init_v##n(void **context, uint64_t hash, int *mask, const char *name, int nodes,    \
                         int ranks, int rank, nccl_log_fn *log) {                                  \
        return begin(n, context, mask, &(struct nccl_comm){name, hash, nodes, ranks, rank, log});  \
    }

static int init_v4(void **context, int *mask, const char *name, uint64_t hash, int nodes, int ranks,
                   int rank, nccl_log_fn *log) {
    return begin(4, context, mask, &(struct nccl_comm){name, hash, nodes, ranks, rank, log});
}

OLD_INIT(1)
OLD_INIT(2)
OLD_INIT(3)
NEW_INIT(5)
NEW_INIT(6)
TABLE(1, v1)
TABLE(2, v1)
TABLE(3, v1)
TABLE(4, v4)
TABLE(5, v5)
TABLE(6, v5)
