/* SPDX-License-Identifier: MIT */
/*
 * A table of handles in buckets of four. Readers need no lock. Changes take one, and happen only
 * where communicators are made or freed: memory may be allocated there. It calls only local MPI
 * functions, through PMPI, with handles that MPI has just accepted.
 */
#include "agent/shim/comm.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define BUCKETS 512
#define WAYS 4
#define HISTORY 4096 /* different pairs (parent, members) whose repetitions are counted */

struct shim_mpi shim_mpi; /* filled by interface.c */

struct slot {
    void *handle; /* NULL: free; stored last */
    struct comm comm;
};

static struct slot slots[BUCKETS][WAYS];
static struct { uint32_t base, n; } history[HISTORY];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static MPI_Group world_group;
static int world_size;

static struct slot *comm_bucket(const void *handle) {
    uint64_t h = (uint64_t)(uintptr_t)handle * UINT64_C(0x9e3779b97f4a7c15);
    return slots[h >> 32 & (BUCKETS - 1)];
}

static struct slot *find_slot(const void *handle) {
    struct slot *bucket = comm_bucket(handle);
    for (int i = 0; i < WAYS; i++)
        if (__atomic_load_n(&bucket[i].handle, __ATOMIC_ACQUIRE) == handle)
            return &bucket[i];
    return NULL;
}

static uint32_t mix(uint32_t hash, uint32_t n) {
    for (int i = 0; i < 4; i++, n >>= 8)
        hash = (hash ^ (n & 255)) * 16777619U;
    return hash;
}

/* Spreads the bits of a sum of hashes. */
static uint32_t finish(uint32_t h) {
    h = (h ^ h >> 16) * 0x85ebca6bU;
    h = (h ^ h >> 13) * 0xc2b2ae35U;
    return h ^ h >> 16;
}

/* ---- members ---- */

/* World ranks of a group's members; NULL without memory. The caller frees them. */
static int32_t *members_of(MPI_Group group, int n) {
    int *from = malloc(2 * sizeof *from * (size_t)(n ? n : 1)), *to = from + n;
    if (!from)
        return NULL;
    for (int i = 0; i < n; i++)
        from[i] = i;
    shim_mpi.group_translate_ranks(group, n, from, world_group, to);
    int32_t *world = malloc(sizeof *world * (size_t)(n ? n : 1));
    for (int i = 0; i < n && world; i++)
        world[i] = to[i] < 0 ? CALL_NO_PEER : to[i];
    free(from);
    return world;
}

int comm_members(MPI_Group group, int first, int n, int32_t *ret_world) {
    int size = 0, from[COMM_MEMBERS_MAX];
    shim_mpi.group_size(group, &size);
    n = n < size - first ? n : size - first;
    n = n < COMM_MEMBERS_MAX ? n : COMM_MEMBERS_MAX;
    for (int i = 0; i < n; i++)
        from[i] = first + i;
    if (n <= 0 || !world_group)
        return 0;
    shim_mpi.group_translate_ranks(group, n, from, world_group, ret_world);
    for (int i = 0; i < n; i++)
        ret_world[i] = ret_world[i] < 0 ? CALL_NO_PEER : ret_world[i];
    return n;
}

static uint32_t hash_members(const int32_t *world, int n) {
    uint32_t h = 2166136261U;
    for (int i = 0; i < n; i++)
        h = mix(h, (uint32_t)world[i]);
    return h;
}

static bool is_identity(const int32_t *world, int n) {
    for (int i = 0; i < n; i++)
        if (world[i] != i)
            return false;
    return n <= world_size;
}

/* Sets the peers of `comm` to the members of `group`; returns their hash. Frees the group. */
static uint32_t take_group(struct comm *comm, MPI_Group group, bool peers) {
    int n = 0;
    shim_mpi.group_size(group, &n);
    int32_t *world = members_of(group, n);
    uint32_t h = world ? hash_members(world, n) : 0;
    shim_mpi.group_free(&group);
    if (!peers || !world || is_identity(world, n)) {
        free(world);
        world = NULL;
    }
    if (peers)
        comm->peers = n;
    if (world)
        comm->world = world;
    return h;
}

/* A sum, so that both sides of an intercommunicator compute the same hash. */
static uint32_t learn_members(struct comm *comm, void *key, enum comm_kind kind) {
    abi_handle handle = abi_handle_of(key);
    MPI_Group group;
    int inter = 0;
    if (kind == COMM_WINDOW)
        shim_mpi.win_get_group(handle, &group);
    else if (kind == COMM_FILE)
        shim_mpi.file_get_group(key, &group);
    else {
        shim_mpi.comm_test_inter(handle, &inter);
        shim_mpi.comm_group(handle, &group);
    }
    shim_mpi.group_rank(group, &comm->rank);
    shim_mpi.group_size(group, &comm->size);
    uint32_t h = take_group(comm, group, !inter);
    comm->is_inter = inter;
    if (inter) {
        shim_mpi.comm_remote_group(handle, &group);
        h += take_group(comm, group, true);
    }
    return finish(h + (uint32_t)kind);
}

static void learn_neighbours(struct comm *comm, MPI_Comm handle) {
    int topology = MPI_UNDEFINED, n = 0, weighted;
    if (comm->is_inter || shim_mpi.topo_test(handle, &topology) != MPI_SUCCESS)
        return;
    if (topology == MPI_CART && shim_mpi.cartdim_get(handle, &n) == MPI_SUCCESS)
        comm->in = comm->out = 2 * n;
    else if (topology == MPI_GRAPH &&
             shim_mpi.graph_neighbors_count(handle, comm->rank, &n) == MPI_SUCCESS)
        comm->in = comm->out = n;
    else if (topology == MPI_DIST_GRAPH)
        shim_mpi.dist_graph_neighbors_count(handle, &comm->in, &comm->out, &weighted);
}

/* ---- neighbours ---- */

static void cart_sources(MPI_Comm handle, int n_dimensions, int *ranks) {
    for (int d = 0; d < n_dimensions; d++)
        shim_mpi.cart_shift(handle, d, 1, &ranks[2 * d], &ranks[2 * d + 1]);
}

static void dist_graph_sources(MPI_Comm handle, const struct comm *comm, int *ranks) {
    int n = comm->in + 2 * comm->out;
    int *room = malloc(sizeof *room * (size_t)(n ? n : 1));
    for (int i = 0; i < comm->in && !room; i++)
        ranks[i] = -1;
    if (room)
        shim_mpi.dist_graph_neighbors(handle, comm->in, ranks, room, comm->out, room + comm->in,
                                      room + comm->in + comm->out);
    free(room);
}

int32_t *comm_sources(MPI_Comm handle, int *ret_n) {
    const struct comm *comm = comm_peek(abi_key(handle));
    int topology = MPI_UNDEFINED;
    if (!comm || comm->in < 1 || shim_mpi.topo_test(handle, &topology) != MPI_SUCCESS)
        return NULL;
    int32_t *ranks = malloc(sizeof *ranks * (size_t)comm->in);
    if (!ranks)
        return NULL;
    if (topology == MPI_CART)
        cart_sources(handle, comm->in / 2, ranks);
    else if (topology == MPI_GRAPH)
        shim_mpi.graph_neighbors(handle, comm->rank, comm->in, ranks);
    else
        dist_graph_sources(handle, comm, ranks);
    for (int i = 0; i < comm->in; i++)
        ranks[i] = comm_peer(comm, ranks[i]);
    *ret_n = comm->in;
    return ranks;
}

/* ---- numbers ---- */

/* How often this parent had these members before. */
static uint32_t repetition(uint32_t base) {
    for (uint32_t i = 0, at = base; i < HISTORY; i++, at++) {
        at &= HISTORY - 1;
        if (history[at].n && history[at].base != base)
            continue;
        history[at].base = base;
        return history[at].n++;
    }
    shim_add(&shim_file->lost_comms, 1);
    return 0;
}

static uint32_t number(uint32_t parent, uint32_t members) {
    uint32_t base = finish(mix(members, parent));
    uint32_t id = finish(mix(base, repetition(base)));
    return id <= CALL_COMM_SELF || id == CALL_COMM_UNKNOWN ? id ^ 0x5bd1e995U : id;
}

/* ---- the table ---- */

static struct slot *room_for(const void *handle) {
    struct slot *found = find_slot(handle), *bucket = comm_bucket(handle);
    for (int i = 0; i < WAYS && !found; i++)
        if (!bucket[i].handle)
            found = &bucket[i];
    return found;
}

/* A handle that is in the table already was freed without the shim's knowledge, or reused. */
static const struct comm *insert(void *handle, const struct comm *comm) {
    struct slot *slot = room_for(handle);
    if (!slot) {
        shim_add(&shim_file->lost_comms, 1);
        free(comm->world);
        return NULL;
    }
    int32_t *old = slot->handle ? slot->comm.world : NULL;
    __atomic_store_n(&slot->handle, NULL, __ATOMIC_RELEASE);
    slot->comm = *comm;
    __atomic_store_n(&slot->handle, handle, __ATOMIC_RELEASE);
    free(old);
    return &slot->comm;
}

static bool is_null(const void *handle) {
    return !handle || handle == abi_key(MPI_COMM_NULL) || handle == abi_key(MPI_WIN_NULL) ||
           handle == MPI_FILE_NULL;
}

static const struct comm *add(void *handle, enum comm_kind kind, uint32_t parent) {
    struct comm comm = {.in = 0};
    if (!world_group)
        return NULL;
    uint32_t members = learn_members(&comm, handle, kind);
    if (kind == COMM_GROUP)
        learn_neighbours(&comm, abi_handle_of(handle));
    comm.id = handle == abi_key(MPI_COMM_WORLD)  ? CALL_COMM_WORLD
              : handle == abi_key(MPI_COMM_SELF) ? CALL_COMM_SELF
                                                 : number(parent, members);
    return insert(handle, &comm);
}

void comm_add(void *handle, enum comm_kind kind, uint32_t parent) {
    if (is_null(handle))
        return;
    pthread_mutex_lock(&lock);
    add(handle, kind, parent);
    pthread_mutex_unlock(&lock);
}

const struct comm *comm_find(void *handle, enum comm_kind kind) {
    struct slot *slot = find_slot(handle);
    if (LIKELY(slot != NULL))
        return &slot->comm;
    if (is_null(handle))
        return NULL;
    pthread_mutex_lock(&lock);
    slot = find_slot(handle);
    const struct comm *comm = slot ? &slot->comm : add(handle, kind, CALL_COMM_UNKNOWN);
    pthread_mutex_unlock(&lock);
    return comm;
}

const struct comm *comm_peek(void *handle) {
    struct slot *slot = handle ? find_slot(handle) : NULL;
    return slot ? &slot->comm : NULL;
}

uint32_t comm_remove(void *handle) {
    uint32_t id = CALL_COMM_UNKNOWN;
    if (is_null(handle) || handle == abi_key(MPI_COMM_WORLD) || handle == abi_key(MPI_COMM_SELF))
        return id;
    pthread_mutex_lock(&lock);
    struct slot *slot = find_slot(handle);
    if (slot) {
        id = slot->comm.id;
        __atomic_store_n(&slot->handle, NULL, __ATOMIC_RELEASE);
        free(slot->comm.world);
    }
    pthread_mutex_unlock(&lock);
    return id;
}

void comm_begin(void) {
    MPI_Group group;
    pthread_mutex_lock(&lock);
    if (!world_group && shim_mpi.comm_group(MPI_COMM_WORLD, &group) == MPI_SUCCESS) {
        shim_mpi.group_size(group, &world_size);
        world_group = group;
        add(abi_key(MPI_COMM_WORLD), COMM_GROUP, CALL_COMM_UNKNOWN);
        add(abi_key(MPI_COMM_SELF), COMM_GROUP, CALL_COMM_UNKNOWN);
    }
    pthread_mutex_unlock(&lock);
}

void comm_end(void) {
    pthread_mutex_lock(&lock);
    if (world_group)
        shim_mpi.group_free(&world_group);
    world_group = 0;
    pthread_mutex_unlock(&lock);
}
