/* SPDX-License-Identifier: MIT */
/* The part of the standard binary interface's mpi.h (MPI 5.0) that tests/mpi/calls_standard.c
 * needs. Debian has no MPI library with that interface yet: bridge.c gives it to OpenMPI.
 */
#ifndef CHOKEPOINT_TESTS_MPI_STANDARD_MPI_H
#define CHOKEPOINT_TESTS_MPI_STANDARD_MPI_H

#include "agent/shim/abi/standard.h"

#define MPI_ANY_TAG (-2)
#define MPI_THREAD_MULTIPLE 4096
#define MPI_SUM ((MPI_Op)0x21)
#define MPI_CHAR ((MPI_Datatype)0x243)
#define MPI_DOUBLE ((MPI_Datatype)0x214)

int MPI_Abort(MPI_Comm comm, int code);
int MPI_Allreduce(const void *in, void *out, int count, MPI_Datatype type, MPI_Op op,
                  MPI_Comm comm);
int MPI_Barrier(MPI_Comm comm);
int MPI_Cancel(MPI_Request *request);
int MPI_Comm_dup(MPI_Comm comm, MPI_Comm *made);
int MPI_Comm_free(MPI_Comm *comm);
int MPI_Comm_rank(MPI_Comm comm, int *rank);
int MPI_Comm_size(MPI_Comm comm, int *size);
int MPI_Finalize(void);
int MPI_Init_thread(int *argc, char ***argv, int required, int *provided);
int MPI_Irecv(void *in, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm,
              MPI_Request *request);
int MPI_Isend(const void *out, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm,
              MPI_Request *request);
int MPI_Recv(void *in, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm,
             MPI_Status *status);
int MPI_Send(const void *out, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm);
int MPI_Wait(MPI_Request *request, MPI_Status *status);
int MPI_Waitall(int count, MPI_Request requests[], MPI_Status statuses[]);

#endif
