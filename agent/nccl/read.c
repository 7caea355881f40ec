/* SPDX-License-Identifier: MIT */
/* Reads the descriptors of all versions. */
#include "agent/nccl/nccl.h"

#include <string.h>

/* An operation as a descriptor tells it. */
struct told {
    enum call_function function;
    uint64_t comm; /* 0: the context knows it */
    uint64_t sequence;
    size_t count, element_bytes;
    int peer;
};

/* ---- words ---- */

static const struct {
    const char *name;
    enum call_function function;
} functions[] = {{"AllReduce", CALL_ncclAllReduce}, {"ReduceScatter", CALL_ncclReduceScatter},
                 {"AllGather", CALL_ncclAllGather}, {"Broadcast", CALL_ncclBroadcast},
                 {"Reduce", CALL_ncclReduce},       {"AlltoAll", CALL_ncclAlltoAll},
                 {"Gather", CALL_ncclGather},       {"Scatter", CALL_ncclScatter},
                 {"Send", CALL_ncclSend},           {"Recv", CALL_ncclRecv}};

static enum call_function function_named(const char *name) {
    for (size_t i = 0; name && i < sizeof functions / sizeof *functions; i++)
        if (strcmp(functions[i].name, name) == 0)
            return functions[i].function;
    return CALL_ncclOther;
}

static enum call_function function_numbered(uint8_t number) {
    static const enum call_function numbered[] = {
        CALL_ncclBroadcast, CALL_ncclReduce, CALL_ncclAllGather, CALL_ncclReduceScatter,
        CALL_ncclAllReduce, CALL_ncclOther,  CALL_ncclSend,      CALL_ncclRecv};
    return number < sizeof numbered / sizeof *numbered ? numbered[number] : CALL_ncclOther;
}

/* "ncclBfloat16" has 16 bits; 0: a type without a number. */
static size_t bytes_named(const char *type) {
    size_t bits = 0;
    while (type && *type && (*type < '0' || *type > '9'))
        type++;
    for (; type && *type >= '0' && *type <= '9' && bits <= 64; type++)
        bits = 10 * bits + (size_t)(*type - '0');
    return bits <= 64 ? bits / 8 : 0;
}

static size_t bytes_numbered(uint8_t type) {
    static const uint8_t bytes[] = {1, 1, 4, 4, 8, 8, 2, 4, 8, 2, 1, 1};
    return type < sizeof bytes ? bytes[type] : 0;
}

/* ---- descriptors ---- */

static struct told told_of_coll(int version, const struct nccl_event *e) {
    const struct nccl_coll_v1 *a = &e->coll_v1;
    const struct nccl_coll_v2 *b = &e->coll_v2;
    const struct nccl_coll_v4 *c = &e->coll_v4;
    if (version == 1)
        return (struct told){function_numbered(a->function), a->comm, a->sequence, a->count,
                             bytes_numbered(a->type),        a->root};
    if (version <= 3)
        return (struct told){function_named(b->function), b->comm, b->sequence, b->count,
                             bytes_named(b->type),        b->root};
    return (struct told){function_named(c->function), 0,      c->sequence, c->count,
                         bytes_named(c->type),        c->root};
}

static struct told told_of_message(int version, const struct nccl_event *e) {
    const struct nccl_message_v1 *a = &e->message_v1;
    const struct nccl_message_v2 *b = &e->message_v2;
    const struct nccl_message_v4 *c = &e->message_v4;
    if (version == 1)
        return (struct told){function_numbered(a->function), a->comm, 0, a->count,
                             bytes_numbered(a->type),        a->peer};
    if (version <= 3)
        return (struct told){function_named(b->function), b->comm, 0, b->count,
                             bytes_named(b->type),        b->peer};
    return (struct told){function_named(c->function), 0,      0, c->count,
                         bytes_named(c->type),        c->peer};
}

unsigned nccl_kind_of(int version, const struct nccl_event *event) {
    return version >= 5 ? (unsigned)event->kind.wide : event->kind.narrow;
}

/* ---- records ---- */

/* One number for all members; 0 and 1 are MPI's. */
static uint32_t comm_number(uint64_t hash) {
    uint32_t number = (uint32_t)(hash ^ hash >> 32) * UINT32_C(2654435761);
    return number < 2 || number == CALL_COMM_UNKNOWN ? 2 : number;
}

static bool is_message(enum call_function function) {
    return function == CALL_ncclSend || function == CALL_ncclRecv;
}

static bool has_peer(enum call_function function) {
    return is_message(function) || function == CALL_ncclBroadcast || function == CALL_ncclReduce ||
           function == CALL_ncclGather || function == CALL_ncclScatter;
}

/* The count is that of one member where each has its part. */
static bool is_in_parts(enum call_function function) {
    return function == CALL_ncclAllGather || function == CALL_ncclReduceScatter ||
           function == CALL_ncclAlltoAll || function == CALL_ncclGather ||
           function == CALL_ncclScatter;
}

static int64_t bytes_of(const struct told *told, const struct nccl_context *context) {
    uint64_t bytes,
        parts = is_in_parts(told->function) && context->ranks > 0 ? (uint64_t)context->ranks : 1;
    if (__builtin_mul_overflow((uint64_t)told->count, told->element_bytes * parts, &bytes) ||
        bytes > INT64_MAX)
        return 0;
    return (int64_t)bytes;
}

bool nccl_read(int version, const struct nccl_event *event, struct nccl_context *context,
               struct call_record *ret_record, bool *ret_gives, bool *ret_takes) {
    unsigned kind = nccl_kind_of(version, event);
    if (kind != NCCL_COLLECTIVE && kind != NCCL_MESSAGE)
        return false;
    struct told told =
        kind == NCCL_COLLECTIVE ? told_of_coll(version, event) : told_of_message(version, event);
    if (version <= 3)
        nccl_context_learn(context, told.comm, event->rank);
    if (context->is_other)
        return false;
    bool knows_peer = has_peer(told.function) && context->is_world && told.peer >= 0 &&
                      told.peer < context->ranks;
    *ret_record = (struct call_record){
        .function = (uint16_t)told.function,
        .flags = knows_peer ? 0 : CALL_UNKNOWN_PEER,
        .comm = comm_number(context->hash),
        .peer = knows_peer ? told.peer : CALL_NO_PEER,
        .tag = kind == NCCL_COLLECTIVE && !is_message(told.function)
                   ? (int32_t)(told.sequence & INT32_MAX)
                   : CALL_NO_TAG,
        .bytes = bytes_of(&told, context),
    };
    *ret_gives = told.function != CALL_ncclRecv;
    *ret_takes = told.function != CALL_ncclSend;
    return true;
}
