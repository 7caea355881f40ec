/* SPDX-License-Identifier: MIT */
/*
 * The profiler plug-in interface of NCCL, versions 1 to 6, as far as collectives, messages and
 * groups need it. RCCL has the same. NCCL takes the highest version that it and a plug-in know; one
 * that knows later ones takes 6. The layouts are facts of NCCL's public headers; these declarations
 * are ours.
 *
 * Later versions add fields at the end of descriptors, which are not read here. Versions 5 and 6
 * have a wider type than those before, at the same place.
 */
#ifndef CHOKEPOINT_AGENT_NCCL_INTERFACE_H
#define CHOKEPOINT_AGENT_NCCL_INTERFACE_H

#include <stddef.h>
#include <stdint.h>

#define NCCL_VERSIONS 6

/* Kinds of events, and bits of the mask of those that a plug-in wants. */
enum nccl_kind {
    NCCL_GROUP = 1 << 0,
    NCCL_COLLECTIVE = 1 << 1,
    NCCL_MESSAGE = 1 << 2,
    NCCL_PROXY_CONTROL = 1 << 5,
    NCCL_OLD_KINDS = 0xff, /* those before version 5 */
};

/* The first state of an event that version 4 does not know. */
#define NCCL_STATE_NEW 23

struct nccl_coll_v1 {
    const char *name;
    uint64_t comm, sequence;
    uint8_t function;
    const void *send;
    void *receive;
    size_t count;
    int root;
    uint8_t type;
};

struct nccl_coll_v2 { /* 3, too */
    const char *name;
    uint64_t comm, sequence;
    const char *function;
    const void *send;
    void *receive;
    size_t count;
    int root;
    const char *type;
};

struct nccl_coll_v4 {
    uint64_t sequence;
    const char *function;
    const void *send;
    void *receive;
    size_t count;
    int root;
    const char *type;
    uint8_t channels, warps;
    const char *algorithm, *protocol;
    void *group; /* from 5 on */
};

struct nccl_message_v1 {
    const char *name;
    uint64_t comm;
    uint8_t function;
    void *buffer;
    uint8_t type;
    size_t count;
    int peer;
};

struct nccl_message_v2 { /* 3, too */
    const char *name;
    uint64_t comm;
    const char *function;
    void *buffer;
    const char *type;
    size_t count;
    int peer;
};

struct nccl_message_v4 {
    const char *function;
    void *buffer;
    const char *type;
    size_t count;
    int peer;
    uint8_t channels;
    void *group; /* from 5 on */
};

struct nccl_event {
    union {
        uint8_t narrow; /* until 4 */
        uint64_t wide;
    } kind;
    void *parent;
    int rank; /* in the communicator */
    union {
        struct nccl_coll_v1 coll_v1;
        struct nccl_coll_v2 coll_v2;
        struct nccl_coll_v4 coll_v4;
        struct nccl_message_v1 message_v1;
        struct nccl_message_v2 message_v2;
        struct nccl_message_v4 message_v4;
    };
};

_Static_assert(offsetof(struct nccl_event, coll_v1) == 24, "as NCCL has it");
_Static_assert(offsetof(struct nccl_coll_v1, type) == 60, "as NCCL has it");
_Static_assert(offsetof(struct nccl_coll_v2, type) == 64, "as NCCL has it");
_Static_assert(offsetof(struct nccl_coll_v4, group) == 80, "as NCCL has it");
_Static_assert(offsetof(struct nccl_message_v1, peer) == 48, "as NCCL has it");
_Static_assert(offsetof(struct nccl_message_v4, group) == 40, "as NCCL has it");

typedef void nccl_log_fn(int level, unsigned long flags, const char *file, int line,
                         const char *format, ...); /* NOLINT(google-runtime-int): as NCCL has it */

/* The communicator as a plug-in is told of it; before version 4 it is told nothing. */
struct nccl_comm {
    const char *name;
    uint64_t hash;
    int nodes, ranks, rank;
    nccl_log_fn *log;
};

union nccl_init {
    int (*v1)(void **context, int *mask);
    int (*v4)(void **context, int *mask, const char *name, uint64_t hash, int nodes, int ranks,
              int rank, nccl_log_fn *log);
    int (*v5)(void **context, uint64_t hash, int *mask, const char *name, int nodes, int ranks,
              int rank, nccl_log_fn *log);
};

/* A plug-in exports one as ncclProfiler_vN. Functions return 0, or an error code. */
struct nccl_profiler {
    const char *name;
    union nccl_init init;
    int (*start)(void *context, void **handle, struct nccl_event *event);
    int (*stop)(void *handle);
    int (*record)(void *handle, int state, void *arguments);
    int (*finalize)(void *context);
};

#endif
