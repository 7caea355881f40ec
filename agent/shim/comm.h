/* SPDX-License-Identifier: MIT */
/*
 * Communicators, windows and files: the number of each, and its members' ranks in the world.
 *
 * The number is a hash of its parent's number, its members, and how many with the same parent and
 * members there were before: all members know all three alike, without a message.
 */
#ifndef CHOKEPOINT_AGENT_SHIM_COMM_H
#define CHOKEPOINT_AGENT_SHIM_COMM_H

#include "agent/shim/abi/abi.h"
#include "agent/shim/shim.h"

enum comm_kind { COMM_GROUP, COMM_WINDOW, COMM_FILE };

/* The communicator of a handle. */
struct comm {
    uint32_t id;
    int32_t rank;    /* mine among the local members */
    int32_t size;    /* local members */
    int32_t peers;   /* members a message can go to: of an intercommunicator the remote ones */
    int32_t in, out; /* neighbours, of a topology */
    bool is_inter;
    int32_t *world; /* of each peer its rank in the world, -1 outside; NULL: the same number */
};

/* After MPI_Init: the world and oneself. */
void comm_begin(void);
/* Before MPI_Finalize. */
void comm_end(void);

/* NULL if there is no room. An unknown handle is looked into: it must be valid. */
const struct comm *comm_find(void *handle, enum comm_kind kind);

/* As it is known by now, or NULL: the handle may be invalid. */
const struct comm *comm_peek(void *handle);

/*
 * A new one made of `parent`, which must be the same number at all members (CALL_COMM_UNKNOWN where
 * there is no such). Null handles are ignored.
 */
void comm_add(void *handle, enum comm_kind kind, uint32_t parent);

#define COMM_MEMBERS_MAX 64

/* Ranks in the world of members of a valid group from `first` on, CALL_NO_PEER outside; how many it
 * has told, at most n and COMM_MEMBERS_MAX. */
int comm_members(MPI_Group group, int first, int n, int32_t *ret_world);

/* World ranks of the neighbours that this rank receives from in a valid communicator with a
 * topology, and their number; the caller frees. NULL: none, or no memory. */
int32_t *comm_sources(MPI_Comm handle, int *ret_n);

/* Before the handle is freed: another thread may be given the same one right after. Returns the id.
 */
uint32_t comm_remove(void *handle);

/* Rank in the world, or CALL_NO_PEER. */
static inline int32_t comm_peer(const struct comm *comm, int rank) {
    if (rank < 0 || rank >= comm->peers)
        return CALL_NO_PEER;
    return comm->world ? comm->world[rank] : rank;
}

#endif
