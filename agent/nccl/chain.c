/* SPDX-License-Identifier: MIT */
/*
 * The plug-in that the user has named, or that NCCL would have found by itself: it gets all calls
 * as without us. Its version may be an earlier one only where its descriptors are the same: version
 * 4 for 5 and 6, and 5 for 6. NCCL's log says where it cannot be served.
 */
#include "agent/nccl/nccl.h"

#include <dlfcn.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define USERS_CHOICE "CHOKEPOINT_NCCL_NEXT" /* as `run` hands it on */
#define LOG_WARN 2
#define LOG_INIT 1UL

extern const struct nccl_profiler ncclProfiler_v6;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static bool is_open;
static const char *chosen;
static const struct nccl_profiler *chain[NCCL_VERSIONS + 1];
static int chain_version[NCCL_VERSIONS + 1]; /* which of its versions serves that of NCCL */

/* The version of the tables of the user's plug-in that serves this one of NCCL; 0: none does. */
static int serving(int version) {
    return version >= 0 && version <= NCCL_VERSIONS ? chain_version[version] : 0;
}

/* NCCL takes a path, a name of a file, or the middle of one. */
static void *open_named(const char *name) {
    char file[PATH_MAX];
    if (strcasecmp(name, "none") == 0)
        return NULL;
    void *library =
        dlopen(strcasecmp(name, "STATIC_PLUGIN") == 0 ? NULL : name, RTLD_NOW | RTLD_LOCAL);
    int n = snprintf(file, sizeof file, "libnccl-profiler-%s.so", name);
    if (!library && !strchr(name, '/') && n > 0 && (size_t)n < sizeof file)
        library = dlopen(file, RTLD_NOW | RTLD_LOCAL);
    return library;
}

static void find_versions(void *library) {
    for (int version = 1; version <= NCCL_VERSIONS; version++) {
        char symbol[32];
        snprintf(symbol, sizeof symbol, "ncclProfiler_v%d", version);
        chain[version] = dlsym(library, symbol);
        chain_version[version] = version;
        if (!chain[version] && version >= 5) {
            chain[version] = chain[version - 1];
            chain_version[version] = chain_version[version - 1];
        }
    }
}

/* Its library is never closed: NCCL closes plug-ins once their last communicator is gone, and may
 * begin again. */
static void open_chain(void) {
    chosen = getenv(USERS_CHOICE);
    void *library = open_named(chosen && *chosen ? chosen : "libnccl-profiler.so");
    if (library && dlsym(library, "ncclProfiler_v6") != &ncclProfiler_v6)
        find_versions(library);
    dlerror();
    is_open = true;
}

const struct nccl_profiler *nccl_chain(int version) {
    return chain[version];
}

static int init_next(int version, struct nccl_context *context, const struct nccl_comm *comm) {
    const union nccl_init *init = &chain[version]->init;
    void **next = &context->next;
    int *mask = &context->next_mask;
    if (version <= 3)
        return init->v1(next, mask);
    if (serving(version) == 4)
        return init->v4(next, mask, comm->name, comm->hash, comm->nodes, comm->ranks, comm->rank,
                        comm->log);
    return init->v5(next, comm->hash, mask, comm->name, comm->nodes, comm->ranks, comm->rank,
                    comm->log);
}

void nccl_chain_init(int version, struct nccl_context *context, const struct nccl_comm *comm) {
    pthread_mutex_lock(&lock);
    if (!is_open)
        open_chain();
    pthread_mutex_unlock(&lock);
    if (!chain[version]) {
        if (chosen && *chosen && strcasecmp(chosen, "none") != 0 && comm && comm->log)
            comm->log(LOG_WARN, LOG_INIT, "chokepoint", 0,
                      "profiler plug-in %s has no version that can be called here", chosen);
        return;
    }
    if (init_next(version, context, comm) == 0)
        return;
    context->next = NULL;
    context->next_mask = 0;
}

/* Events that it would get without us: with any event of operations NCCL sends those above it. */
static bool wants(int version, const struct nccl_context *context, unsigned kind) {
    unsigned mask = (unsigned)context->next_mask;
    if (serving(version) == 4 && kind > NCCL_OLD_KINDS)
        return false;
    return kind & mask || mask & ~(unsigned)NCCL_PROXY_CONTROL;
}

/* In version 4 the parent of an operation is its group. */
static void *parent_in(int version, const struct nccl_event *event, unsigned kind) {
    void *parent = event->parent;
    if (version >= 5 && serving(version) == 4 && kind == NCCL_COLLECTIVE)
        parent = event->coll_v4.group;
    else if (version >= 5 && serving(version) == 4 && kind == NCCL_MESSAGE)
        parent = event->message_v4.group;
    struct nccl_flight *flight = nccl_flight_of(parent);
    return flight ? *nccl_flight_next(flight) : parent;
}

void *nccl_chain_start(int version, struct nccl_context *context, struct nccl_event *event) {
    unsigned kind = nccl_kind_of(version, event);
    void *handle = NULL, *parent = event->parent;
    if (!chain[version] || !wants(version, context, kind))
        return NULL;
    event->parent = parent_in(version, event, kind);
    chain[version]->start(context->next, &handle, event);
    event->parent = parent;
    return handle;
}

void nccl_chain_record(int version, void *handle, int state, void *arguments) {
    if (chain[version] && !(serving(version) == 4 && state >= NCCL_STATE_NEW))
        chain[version]->record(handle, state, arguments);
}
