/* SPDX-License-Identifier: MIT */
/*
 * Communicators of this process. With several GPUs in a process, each is a member of the same
 * communicator, and they start an operation together: the first of them is recorded.
 */
#include "agent/nccl/nccl.h"

#include <pthread.h>
#include <stdlib.h>

#define OWNERS 256 /* communicators at once whose other members are known */

struct owner {
    uint64_t hash;
    const struct nccl_context *context; /* NULL: free */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct owner owners[OWNERS];

/* Returns whether another context of this process owns the communicator. */
static bool take(const struct nccl_context *context) {
    struct owner *room = NULL;
    bool taken = false;
    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < OWNERS && !taken; i++) {
        if (owners[i].context && owners[i].hash == context->hash)
            taken = true;
        else if (!owners[i].context && !room)
            room = &owners[i];
    }
    if (!taken && room)
        *room = (struct owner){context->hash, context};
    pthread_mutex_unlock(&lock);
    return taken;
}

static void leave(const struct nccl_context *context) {
    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < OWNERS; i++)
        if (owners[i].context == context)
            owners[i].context = NULL;
    pthread_mutex_unlock(&lock);
}

/* ---- ranks ---- */

/* The variable's number; -1: it is not set, or none. */
static int number_in(const char *name) {
    const char *text = getenv(name);
    char *end;
    if (!text || *text < '0' || *text > '9')
        return -1;
    long number = strtol(text, &end, 10);
    return *end || number > INT32_MAX ? -1 : (int)number;
}

/* The place in the world that torchrun or a launcher of MPI gave the process, if MPI did not tell
 * it; without any, the communicator's. */
static void find_place(const struct nccl_context *context) {
    static const char *const names[][2] = {{"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"},
                                           {"PMI_RANK", "PMI_SIZE"},
                                           {"RANK", "WORLD_SIZE"},
                                           {"SLURM_PROCID", "SLURM_NTASKS"}};
    struct call_file_header *file = shim_file;
    int rank = -1, world = -1;
    if (file->world_size != -1)
        return;
    for (size_t i = 0; i < sizeof names / sizeof *names && (rank < 0 || rank >= world); i++) {
        rank = number_in(names[i][0]);
        world = number_in(names[i][1]);
    }
    if (rank < 0 || rank >= world) {
        rank = context->ranks > 1 ? context->rank : -1;
        world = context->ranks;
    }
    if (rank < 0 || (file->rank >= 0 && file->rank != rank))
        return;
    file->rank = rank;
    file->world_size = world;
}

static void find_world(struct nccl_context *context) {
    find_place(context);
    context->is_world = context->ranks > 0 && context->ranks == shim_file->world_size &&
                        context->rank == shim_file->rank;
}

/* ---- life ---- */

struct nccl_context *nccl_context_new(const struct nccl_comm *comm) {
    struct nccl_context *context = calloc(1, sizeof *context);
    if (!context)
        return NULL;
    context->rank = -1;
    if (comm) {
        bool sane = comm->ranks > 0 && comm->rank >= 0 && comm->rank < comm->ranks;
        context->hash = comm->hash;
        context->rank = sane ? comm->rank : -1;
        context->ranks = sane ? comm->ranks : 0;
        context->is_other = take(context);
    }
    if (shim_open_shared() == 1)
        find_world(context);
    return context;
}

void nccl_context_learn(struct nccl_context *context, uint64_t hash, int rank) {
    if (context->hash == hash && context->rank >= 0)
        return;
    context->hash = hash;
    context->rank = rank < 0 ? 0 : rank;
    context->is_other = take(context);
}

void nccl_context_free(struct nccl_context *context) {
    if (context)
        leave(context);
    free(context);
}
