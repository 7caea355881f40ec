/* SPDX-License-Identifier: MIT */
/*
 * Communicators, windows and files: the number of each, and its members' ranks in the world.
 *
 * The number is a hash of three things: its parent's number, its members, and how many had the same
 * parent and members before. All members know these, so they need no message.
 */
#ifndef CHOKEPOINT_AGENT_SHIM_COMM_H
#define CHOKEPOINT_AGENT_SHIM_COMM_H

#include "agent/shim/abi/abi.h"
#include "agent/shim/shim.h"

enum comm_kind { COMM_GROUP, COMM_WINDOW, COMM_FILE };

/* The communicator of a handle. */
struct comm {
    uint32_t id;
    int32_t rank;    /* this process among the local members */
    int32_t size;    /* local members */
    int32_t peers;   /* possible receivers: in an intercommunicator the remote members */
    int32_t in, out; /* neighbours in a topology */
    bool is_inter;
    int32_t *world; /* world rank of each peer, -1 outside; NULL: peers are world ranks */
};

/* After MPI_Init: adds MPI_COMM_WORLD and MPI_COMM_SELF. */
void comm_begin(void);
/* Before MPI_Finalize. */
void comm_end(void);

/* NULL without room. An unknown handle is examined, so it must be valid. */
const struct comm *comm_find(void *handle, enum comm_kind kind);

/* The entry of a handle, which may be invalid; NULL: unknown. */
const struct comm *comm_peek(void *handle);

/*
 * Adds one made of `parent`, whose number must be the same at all members (CALL_COMM_UNKNOWN if
 * there is none). Null handles are ignored.
 */
void comm_add(void *handle, enum comm_kind kind, uint32_t parent);

#define COMM_MEMBERS_MAX 64

/* World ranks of the members of a valid group from `first` on, CALL_NO_PEER outside the world.
 * Returns their number, at most n and COMM_MEMBERS_MAX. */
int comm_members(MPI_Group group, int first, int n, int32_t *ret_world);

/* World ranks of the neighbours that this rank receives from in a valid communicator with a
 * topology, and their number; the caller frees them. NULL: none, or no memory. */
int32_t *comm_sources(MPI_Comm handle, int *ret_n);

/* Call it before the handle is freed: MPI may give the same handle to another thread right after.
 * Returns the id. */
uint32_t comm_remove(void *handle);

/* World rank, or CALL_NO_PEER. */
static inline int32_t comm_peer(const struct comm *comm, int rank) {
    if (rank < 0 || rank >= comm->peers)
        return CALL_NO_PEER;
    return comm->world ? comm->world[rank] : rank;
}

#endif
