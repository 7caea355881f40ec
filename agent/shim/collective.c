/* SPDX-License-Identifier: MIT */
/*
 * Bytes of collectives, by the meaning of counts in MPI-3.1 chapter 5: in an intercommunicator they
 * count for members of the remote group.
 */
#include "agent/shim/note.h"

static const struct comm *all(struct call *c, MPI_Comm comm) {
    return about(c, abi_key(comm), COMM_GROUP, MPI_PROC_NULL);
}

static const struct comm *rooted(struct call *c, MPI_Comm comm, int root) {
    return about(c, abi_key(comm), COMM_GROUP, root);
}

static bool is_root(const struct comm *comm, int root) {
    return comm->is_inter ? root == MPI_ROOT : root == comm->rank;
}

/* All ranks except, in an intercommunicator, the root's own group. */
static bool is_leaf(const struct comm *comm, int root) {
    return !comm->is_inter || root >= 0;
}

static uint64_t sum(const int *counts, int n, MPI_Datatype type) {
    int64_t all_counts = 0;
    for (int i = 0; i < n; i++)
        all_counts += counts[i];
    return bytes_of(all_counts, type);
}

static uint64_t sum_types(const int *counts, int n, const MPI_Datatype *types) {
    uint64_t bytes = 0;
    for (int i = 0; i < n; i++)
        bytes += bytes_of(counts[i], types[i]);
    return bytes;
}

void note_barrier(struct call *c, MPI_Comm comm) {
    all(c, comm);
}

void note_bcast(struct call *c, MPI_Comm comm, int root, int count, MPI_Datatype type) {
    const struct comm *g = rooted(c, comm, root);
    if (!g)
        return;
    if (is_root(g, root))
        c->sent = bytes_of(count, type);
    else if (is_leaf(g, root))
        c->received = bytes_of(count, type);
}

void note_gather(struct call *c, MPI_Comm comm, int root, const void *sendbuf, int sendcount,
                 MPI_Datatype sendtype, int recvcount, MPI_Datatype recvtype) {
    const struct comm *g = rooted(c, comm, root);
    if (!g)
        return;
    if (is_root(g, root))
        c->received = bytes_of((int64_t)recvcount * g->peers, recvtype);
    if (is_leaf(g, root))
        c->sent =
            sendbuf == MPI_IN_PLACE ? bytes_of(recvcount, recvtype) : bytes_of(sendcount, sendtype);
}

void note_gatherv(struct call *c, MPI_Comm comm, int root, const void *sendbuf, int sendcount,
                  MPI_Datatype sendtype, const int *recvcounts, MPI_Datatype recvtype) {
    const struct comm *g = rooted(c, comm, root);
    if (!g)
        return;
    if (is_root(g, root))
        c->received = sum(recvcounts, g->peers, recvtype);
    if (is_leaf(g, root))
        c->sent = sendbuf == MPI_IN_PLACE ? bytes_of(recvcounts[g->rank], recvtype)
                                          : bytes_of(sendcount, sendtype);
}

void note_scatter(struct call *c, MPI_Comm comm, int root, int sendcount, MPI_Datatype sendtype,
                  const void *recvbuf, int recvcount, MPI_Datatype recvtype) {
    const struct comm *g = rooted(c, comm, root);
    if (!g)
        return;
    if (is_root(g, root))
        c->sent = bytes_of((int64_t)sendcount * g->peers, sendtype);
    if (is_leaf(g, root))
        c->received =
            recvbuf == MPI_IN_PLACE ? bytes_of(sendcount, sendtype) : bytes_of(recvcount, recvtype);
}

void note_scatterv(struct call *c, MPI_Comm comm, int root, const int *sendcounts,
                   MPI_Datatype sendtype, const void *recvbuf, int recvcount,
                   MPI_Datatype recvtype) {
    const struct comm *g = rooted(c, comm, root);
    if (!g)
        return;
    if (is_root(g, root))
        c->sent = sum(sendcounts, g->peers, sendtype);
    if (is_leaf(g, root))
        c->received = recvbuf == MPI_IN_PLACE ? bytes_of(sendcounts[g->rank], sendtype)
                                              : bytes_of(recvcount, recvtype);
}

void note_allgather(struct call *c, MPI_Comm comm, const void *sendbuf, int sendcount,
                    MPI_Datatype sendtype, int recvcount, MPI_Datatype recvtype) {
    const struct comm *g = all(c, comm);
    if (!g)
        return;
    c->sent =
        sendbuf == MPI_IN_PLACE ? bytes_of(recvcount, recvtype) : bytes_of(sendcount, sendtype);
    c->received = bytes_of((int64_t)recvcount * g->peers, recvtype);
}

void note_allgatherv(struct call *c, MPI_Comm comm, const void *sendbuf, int sendcount,
                     MPI_Datatype sendtype, const int *recvcounts, MPI_Datatype recvtype) {
    const struct comm *g = all(c, comm);
    if (!g)
        return;
    c->sent = sendbuf == MPI_IN_PLACE ? bytes_of(recvcounts[g->rank], recvtype)
                                      : bytes_of(sendcount, sendtype);
    c->received = sum(recvcounts, g->peers, recvtype);
}

void note_alltoall(struct call *c, MPI_Comm comm, const void *sendbuf, int sendcount,
                   MPI_Datatype sendtype, int recvcount, MPI_Datatype recvtype) {
    const struct comm *g = all(c, comm);
    if (!g)
        return;
    c->received = bytes_of((int64_t)recvcount * g->peers, recvtype);
    c->sent =
        sendbuf == MPI_IN_PLACE ? c->received : bytes_of((int64_t)sendcount * g->peers, sendtype);
}

void note_alltoallv(struct call *c, MPI_Comm comm, const void *sendbuf, const int *sendcounts,
                    MPI_Datatype sendtype, const int *recvcounts, MPI_Datatype recvtype) {
    const struct comm *g = all(c, comm);
    if (!g)
        return;
    c->received = sum(recvcounts, g->peers, recvtype);
    c->sent = sendbuf == MPI_IN_PLACE ? c->received : sum(sendcounts, g->peers, sendtype);
}

void note_alltoallw(struct call *c, MPI_Comm comm, const void *sendbuf, const int *sendcounts,
                    const MPI_Datatype *sendtypes, const int *recvcounts,
                    const MPI_Datatype *recvtypes) {
    const struct comm *g = all(c, comm);
    if (!g)
        return;
    c->received = sum_types(recvcounts, g->peers, recvtypes);
    c->sent = sendbuf == MPI_IN_PLACE ? c->received : sum_types(sendcounts, g->peers, sendtypes);
}

void note_reduce(struct call *c, MPI_Comm comm, int root, int count, MPI_Datatype type) {
    const struct comm *g = rooted(c, comm, root);
    if (!g)
        return;
    if (is_root(g, root))
        c->received = bytes_of(count, type);
    if (is_leaf(g, root))
        c->sent = bytes_of(count, type);
}

void note_allreduce(struct call *c, MPI_Comm comm, int count, MPI_Datatype type) {
    all(c, comm);
    c->sent = c->received = bytes_of(count, type);
}

void note_reduce_scatter(struct call *c, MPI_Comm comm, const int *recvcounts, MPI_Datatype type) {
    const struct comm *g = all(c, comm);
    if (!g)
        return;
    c->sent = sum(recvcounts, g->size, type);
    c->received = bytes_of(recvcounts[g->rank], type);
}

void note_reduce_scatter_block(struct call *c, MPI_Comm comm, int recvcount, MPI_Datatype type) {
    const struct comm *g = all(c, comm);
    if (!g)
        return;
    c->sent = bytes_of((int64_t)recvcount * g->size, type);
    c->received = bytes_of(recvcount, type);
}

/* ---- neighbours: their number is the topology's ---- */

void note_neighbor_allgather(struct call *c, MPI_Comm comm, int sendcount, MPI_Datatype sendtype,
                             int recvcount, MPI_Datatype recvtype) {
    const struct comm *g = all(c, comm);
    if (!g)
        return;
    c->sent = bytes_of(sendcount, sendtype);
    c->received = bytes_of((int64_t)recvcount * g->in, recvtype);
}

void note_neighbor_allgatherv(struct call *c, MPI_Comm comm, int sendcount, MPI_Datatype sendtype,
                              const int *recvcounts, MPI_Datatype recvtype) {
    const struct comm *g = all(c, comm);
    if (!g)
        return;
    c->sent = bytes_of(sendcount, sendtype);
    c->received = sum(recvcounts, g->in, recvtype);
}

void note_neighbor_alltoall(struct call *c, MPI_Comm comm, int sendcount, MPI_Datatype sendtype,
                            int recvcount, MPI_Datatype recvtype) {
    const struct comm *g = all(c, comm);
    if (!g)
        return;
    c->sent = bytes_of((int64_t)sendcount * g->out, sendtype);
    c->received = bytes_of((int64_t)recvcount * g->in, recvtype);
}

void note_neighbor_alltoallv(struct call *c, MPI_Comm comm, const int *sendcounts,
                             MPI_Datatype sendtype, const int *recvcounts, MPI_Datatype recvtype) {
    const struct comm *g = all(c, comm);
    if (!g)
        return;
    c->sent = sum(sendcounts, g->out, sendtype);
    c->received = sum(recvcounts, g->in, recvtype);
}

void note_neighbor_alltoallw(struct call *c, MPI_Comm comm, const int *sendcounts,
                             const MPI_Datatype *sendtypes, const int *recvcounts,
                             const MPI_Datatype *recvtypes) {
    const struct comm *g = all(c, comm);
    if (!g)
        return;
    c->sent = sum_types(sendcounts, g->out, sendtypes);
    c->received = sum_types(recvcounts, g->in, recvtypes);
}
