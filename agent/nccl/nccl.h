/* SPDX-License-Identifier: MIT */
/*
 * A profiler plug-in of NCCL inside libchokepoint-mpi.so: it writes the collectives and messages
 * that a process starts on its GPUs into the file of MPI calls. NCCL loads it by the path in
 * NCCL_PROFILER_PLUGIN; a program that is not told of it never does.
 *
 * An event is the host's part: from the moment in which NCCL takes the operation up until it has
 * given it to the GPU. When the operation ends on the GPU is not told without events of kernels,
 * which cost up to an eighth of a program's speed. All members of a communicator give a collective
 * the same number, so that calls of different ranks are matched.
 *
 * Nothing here waits, and nothing fails for NCCL: what cannot be recorded is left out.
 */
#ifndef CHOKEPOINT_AGENT_NCCL_NCCL_H
#define CHOKEPOINT_AGENT_NCCL_NCCL_H

#include <stdbool.h>

#include "agent/nccl/interface.h"
#include "agent/shim/shim.h"

/* A communicator of this process. */
struct nccl_context {
    uint64_t hash; /* 0: not known before the first event */
    int rank;      /* in the communicator; -1: not known */
    int ranks;     /* 0: not known */
    bool is_world; /* ranks in it are those of the run */
    bool is_other; /* another GPU of this process is a member, too: that one is recorded */
    void *next;    /* of the other plug-in */
    int next_mask;
};

/* ---- context.c ---- */

/* NULL without memory. comm: NULL before version 4. */
struct nccl_context *nccl_context_new(const struct nccl_comm *comm);
void nccl_context_free(struct nccl_context *context);
/* Before version 4 an event tells which communicator it is of. */
void nccl_context_learn(struct nccl_context *context, uint64_t hash, int rank);

/* ---- read.c ---- */

/* Fills in what the event tells, but no times. False: it is none that is recorded. */
bool nccl_read(int version, const struct nccl_event *event, struct nccl_context *context,
               struct call_record *ret_record, bool *ret_gives, bool *ret_takes);
unsigned nccl_kind_of(int version, const struct nccl_event *event);

/* ---- flight.c: operations that have started and not stopped ---- */

struct nccl_flight;

/* The operation starts now; an earlier one of the thread that has not stopped ends for the host.
 * NULL: too many at once; then it is recorded as one without a duration. */
struct nccl_flight *nccl_flight_begin(struct call_record *record, bool gives, bool takes);
void nccl_flight_end(struct nccl_flight *flight);
/* The flight of a handle. NULL: the handle is not ours, or its operation has ended. */
struct nccl_flight *nccl_flight_of(void *handle);
/* The other plug-in's handle of it. */
void **nccl_flight_next(struct nccl_flight *flight);

/* ---- chain.c: the plug-in that the user has named ---- */

/* Its functions of this version, or of an earlier one that can be served; NULL: there is none. */
const struct nccl_profiler *nccl_chain(int version);
void nccl_chain_init(int version, struct nccl_context *context, const struct nccl_comm *comm);
/* Returns its handle. */
void *nccl_chain_start(int version, struct nccl_context *context, struct nccl_event *event);
void nccl_chain_record(int version, void *handle, int state, void *arguments);

#endif
