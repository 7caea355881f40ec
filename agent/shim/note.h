/* SPDX-License-Identifier: MIT */
/*
 * The functions named in calls.def: each takes a call's arguments and fills in struct call.
 * Functions of the third field run after the call succeeded, so its handles were valid.
 *
 * Sent bytes are those that this rank hands in, received bytes those that it takes out, by the
 * arguments, however MPI moves them. A part that stays in place (MPI_IN_PLACE) counts as handed in.
 */
#ifndef CHOKEPOINT_AGENT_SHIM_NOTE_H
#define CHOKEPOINT_AGENT_SHIM_NOTE_H

#include "agent/shim/comm.h"
#include "agent/shim/request.h"
#include "agent/shim/shim.h"

static inline uint64_t bytes_of(int64_t count, MPI_Datatype type) {
    int size = 0;
    if (count <= 0 || shim_mpi.type_size(type, &size) != MPI_SUCCESS || size < 0)
        return 0;
    return (uint64_t)count * (uint64_t)size;
}

/* Sets the peer of a call; NULL without room for this communicator. */
static inline const struct comm *about(struct call *c, void *handle, enum comm_kind kind,
                                       int rank) {
    const struct comm *comm = comm_find(handle, kind);
    if (UNLIKELY(!comm))
        return NULL;
    c->comm = comm->id;
    c->peer = comm_peer(comm, rank);
    c->flags &= (uint16_t)~CALL_UNKNOWN_PEER;
    if (UNLIKELY(c->peer < 0))
        c->flags |= CALL_UNKNOWN_PEER;
    return comm;
}

static inline int32_t tag_of(int tag) {
    return tag < 0 ? CALL_NO_TAG : tag;
}

/* ---- before the call ---- */

/* If the program ignores the status, the shim supplies one. Only for single statuses. */
static inline void note_status(struct call *c, MPI_Status **status) {
    if (*status == MPI_STATUS_IGNORE)
        *status = (MPI_Status *)(void *)c->status;
}
/* Remembers requests (or one message): the call sets them to null. */
static inline void note_handles(struct call *c, int n, const void *handles) {
    struct thread *t = c->thread;
    if (UNLIKELY(n > t->room))
        shim_more_handles(t, n);
    t->n_handles = n < 0 || !handles ? 0 : n < t->room ? n : t->room;
    for (int i = 0; i < t->n_handles; i++)
        t->handles[i] = abi_key(((const abi_handle *)handles)[i]);
}
/* Remembers a communicator or window that will be freed. */
static inline void note_forget(struct call *c, const abi_handle *handle) {
    if (handle)
        c->comm = comm_remove(abi_key(*handle));
}
static inline void note_forget_file(struct call *c, const MPI_File *file) {
    if (file)
        c->comm = comm_remove(*file);
}
void note_leave_world(struct call *c);

/* ---- life ---- */

void note_world(struct call *c, int thread_level);
void note_end(struct call *c);

/* ---- point to point ---- */

static inline void note_send(struct call *c, MPI_Comm comm, int dest, int tag, int count,
                             MPI_Datatype type) {
    about(c, abi_key(comm), COMM_GROUP, dest);
    c->tag = tag_of(tag);
    if (LIKELY(dest != MPI_PROC_NULL))
        c->sent = bytes_of(count, type);
}
static inline void note_recv(struct call *c, MPI_Comm comm, int source, int tag,
                             const MPI_Status *status) {
    (void)tag;
    about(c, abi_key(comm), COMM_GROUP, status->MPI_SOURCE);
    c->tag = tag_of(status->MPI_TAG);
    c->received = abi_status_bytes(status);
    if (source == MPI_ANY_SOURCE)
        c->flags |= CALL_WILDCARD;
}
void note_recv_part(struct call *c, MPI_Comm comm, int source, int tag, const MPI_Status *status);
void note_send_start(struct call *c, MPI_Comm comm, int dest, int tag, int count, MPI_Datatype type,
                     MPI_Request request);
void note_recv_start(struct call *c, MPI_Comm comm, int source, int tag, int count,
                     MPI_Datatype type, MPI_Request request);
void note_send_init(struct call *c, MPI_Comm comm, int dest, int tag, int count, MPI_Datatype type,
                    MPI_Request request);
void note_recv_init(struct call *c, MPI_Comm comm, int source, int tag, int count,
                    MPI_Datatype type, MPI_Request request);
void note_start(struct call *c, int n, MPI_Request *requests);
void note_probe(struct call *c, MPI_Comm comm, int source, int tag, int found,
                const MPI_Status *status);
void note_match(struct call *c, MPI_Message message);
void note_recv_matched(struct call *c, const MPI_Status *status);
void note_recv_matched_start(struct call *c, int count, MPI_Datatype type, MPI_Request request);

/* ---- waits and tests ---- */

/* index: the request that completed; -1: a test found none; MPI_UNDEFINED: none was active. */
void note_complete(struct call *c, int index, const MPI_Status *status);
/* count -1: a test found that not all were complete. */
void note_complete_all(struct call *c, int count, const MPI_Status *statuses);
void note_complete_some(struct call *c, int count, const int *indices, const MPI_Status *statuses);
static inline void note_poll(struct call *c, int found) {
    c->found_nothing = !found;
}
void note_free_request(struct call *c);
/* The result of a cancel is recorded when the request completes. */
void note_cancel(struct call *c, MPI_Request request);
/* Stores any other kind of call, with its bytes, until its request completes. */
void note_request(struct call *c, MPI_Request request);
void note_make_later(struct call *c, MPI_Comm parent, MPI_Comm *made, MPI_Request request);
void note_read_start(struct call *c, MPI_File file, int count, MPI_Datatype type,
                     MPI_Request request);
void note_write_start(struct call *c, MPI_File file, int count, MPI_Datatype type,
                      MPI_Request request);

/* ---- collectives (collective.c) ---- */

void note_barrier(struct call *c, MPI_Comm comm);
void note_bcast(struct call *c, MPI_Comm comm, int root, int count, MPI_Datatype type);
void note_gather(struct call *c, MPI_Comm comm, int root, const void *sendbuf, int sendcount,
                 MPI_Datatype sendtype, int recvcount, MPI_Datatype recvtype);
void note_gatherv(struct call *c, MPI_Comm comm, int root, const void *sendbuf, int sendcount,
                  MPI_Datatype sendtype, const int *recvcounts, MPI_Datatype recvtype);
void note_scatter(struct call *c, MPI_Comm comm, int root, int sendcount, MPI_Datatype sendtype,
                  const void *recvbuf, int recvcount, MPI_Datatype recvtype);
void note_scatterv(struct call *c, MPI_Comm comm, int root, const int *sendcounts,
                   MPI_Datatype sendtype, const void *recvbuf, int recvcount,
                   MPI_Datatype recvtype);
void note_allgather(struct call *c, MPI_Comm comm, const void *sendbuf, int sendcount,
                    MPI_Datatype sendtype, int recvcount, MPI_Datatype recvtype);
void note_allgatherv(struct call *c, MPI_Comm comm, const void *sendbuf, int sendcount,
                     MPI_Datatype sendtype, const int *recvcounts, MPI_Datatype recvtype);
void note_alltoall(struct call *c, MPI_Comm comm, const void *sendbuf, int sendcount,
                   MPI_Datatype sendtype, int recvcount, MPI_Datatype recvtype);
void note_alltoallv(struct call *c, MPI_Comm comm, const void *sendbuf, const int *sendcounts,
                    MPI_Datatype sendtype, const int *recvcounts, MPI_Datatype recvtype);
void note_alltoallw(struct call *c, MPI_Comm comm, const void *sendbuf, const int *sendcounts,
                    const MPI_Datatype *sendtypes, const int *recvcounts,
                    const MPI_Datatype *recvtypes);
void note_reduce(struct call *c, MPI_Comm comm, int root, int count, MPI_Datatype type);
void note_allreduce(struct call *c, MPI_Comm comm, int count, MPI_Datatype type);
void note_reduce_scatter(struct call *c, MPI_Comm comm, const int *recvcounts, MPI_Datatype type);
void note_reduce_scatter_block(struct call *c, MPI_Comm comm, int recvcount, MPI_Datatype type);
void note_neighbor_allgather(struct call *c, MPI_Comm comm, int sendcount, MPI_Datatype sendtype,
                             int recvcount, MPI_Datatype recvtype);
void note_neighbor_allgatherv(struct call *c, MPI_Comm comm, int sendcount, MPI_Datatype sendtype,
                              const int *recvcounts, MPI_Datatype recvtype);
void note_neighbor_alltoall(struct call *c, MPI_Comm comm, int sendcount, MPI_Datatype sendtype,
                            int recvcount, MPI_Datatype recvtype);
void note_neighbor_alltoallv(struct call *c, MPI_Comm comm, const int *sendcounts,
                             MPI_Datatype sendtype, const int *recvcounts, MPI_Datatype recvtype);
void note_neighbor_alltoallw(struct call *c, MPI_Comm comm, const int *sendcounts,
                             const MPI_Datatype *sendtypes, const int *recvcounts,
                             const MPI_Datatype *recvtypes);

/* ---- one-sided, communicators, files (object.c) ---- */

/* For calls without a counterpart on other ranks, whose handles are not used later. */
static inline void note_small(struct call *c) {
    c->may_fold = true;
}
void note_put(struct call *c, MPI_Win win, int target, int count, MPI_Datatype type);
void note_get(struct call *c, MPI_Win win, int target, int count, MPI_Datatype type);
void note_get_accumulate(struct call *c, MPI_Win win, int target, int count, MPI_Datatype type,
                         int result_count, MPI_Datatype result_type, MPI_Op op);
void note_window(struct call *c, MPI_Win win, int target);
/* Records one part for each member. */
void note_members(struct call *c, MPI_Group group);
static inline void note_lock_type(struct call *c, int lock_type) {
    if (lock_type == MPI_LOCK_EXCLUSIVE)
        c->flags |= CALL_EXCLUSIVE;
}
/* The tag tells a test that found the end of its epoch from others. */
static inline void note_epoch_test(struct call *c, int found) {
    note_poll(c, found);
    c->tag = found ? 0 : CALL_NO_TAG;
}
void note_make_window(struct call *c, MPI_Comm comm, MPI_Win win);
/* For a new communicator with a topology. */
void note_neighbours(const struct call *c, MPI_Comm made);
void note_make(struct call *c, MPI_Comm parent, MPI_Comm made);
/* For intercommunicators: its two sides have different parents. */
void note_make_between(struct call *c, MPI_Comm local, MPI_Comm made);
/* For communicators made by their members, and not by all members of the parent. */
void note_meet(struct call *c, MPI_Comm made);
void note_make_file(struct call *c, MPI_Comm comm, MPI_File file);
void note_file(struct call *c, MPI_File file);
void note_read(struct call *c, MPI_File file, const MPI_Status *status);
void note_write(struct call *c, MPI_File file, const MPI_Status *status);

#endif
