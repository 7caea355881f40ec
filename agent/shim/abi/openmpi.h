/* SPDX-License-Identifier: MIT */
/*
 * OpenMPI 4 and 5: handles are addresses of objects in the library, so its constants are symbols.
 * tests/mpi/abi_constants.c compares these constants with its mpi.h.
 */
#ifndef CHOKEPOINT_AGENT_SHIM_ABI_OPENMPI_H
#define CHOKEPOINT_AGENT_SHIM_ABI_OPENMPI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ABI_NAME openmpi
#define ABI_MARKER "ompi_mpi_comm_world"
#define ABI_LIBRARIES "libmpi.so.40"
#define ABI_FORTRAN_LIBRARIES "libmpi_mpifh.so.40", "libmpi_usempif08.so.40"

typedef void *MPI_Comm, *MPI_Datatype, *MPI_File, *MPI_Group, *MPI_Info, *MPI_Message, *MPI_Op,
    *MPI_Request, *MPI_Win;
typedef ptrdiff_t MPI_Aint;
typedef long long MPI_Offset;

typedef struct {
    int MPI_SOURCE, MPI_TAG, MPI_ERROR, _cancelled;
    size_t _ucount;
} MPI_Status;

#define MPI_SUCCESS 0
#define MPI_ERR_OTHER 16
#define MPI_ANY_SOURCE (-1)
#define MPI_PROC_NULL (-2)
#define MPI_ROOT (-4)
#define MPI_UNDEFINED (-32766)
#define MPI_CART 1
#define MPI_GRAPH 2
#define MPI_DIST_GRAPH 3
#define MPI_LOCK_EXCLUSIVE 1
#define MPI_THREAD_SINGLE 0
#define MPI_IN_PLACE ((void *)1)
#define MPI_STATUS_IGNORE ((MPI_Status *)0)
#define MPI_STATUSES_IGNORE ((MPI_Status *)0)

/* Members of struct shim_mpi, and the symbol of each. */
#define ABI_CONSTANTS(X)                                                                           \
    X(comm_world, "ompi_mpi_comm_world")                                                           \
    X(comm_self, "ompi_mpi_comm_self")                                                             \
    X(comm_null, "ompi_mpi_comm_null")                                                             \
    X(win_null, "ompi_mpi_win_null")                                                               \
    X(file_null, "ompi_mpi_file_null")                                                             \
    X(request_null, "ompi_request_null")                                                           \
    X(op_no_op, "ompi_mpi_op_no_op")
/* The request that all sends share that were complete at once; some versions lack it. */
#define ABI_CONSTANTS_OR_NULL(X) X(request_empty, "ompi_request_empty")

#define MPI_COMM_WORLD (shim_mpi.comm_world)
#define MPI_COMM_SELF (shim_mpi.comm_self)
#define MPI_COMM_NULL (shim_mpi.comm_null)
#define MPI_WIN_NULL (shim_mpi.win_null)
#define MPI_FILE_NULL (shim_mpi.file_null)
#define MPI_REQUEST_NULL (shim_mpi.request_null)
#define MPI_NO_OP (shim_mpi.op_no_op)

/* A null request, or one that stands for many. */
#define abi_is_shared_request(request)                                                             \
    ((request) == shim_mpi.request_null || (request) == shim_mpi.request_empty)

/* A handle as a key of tables, with NULL for null handles, and back. */
typedef void *abi_handle;
static inline void *abi_key(abi_handle handle) {
    return handle;
}
static inline abi_handle abi_handle_of(void *key) {
    return key;
}

static inline uint64_t abi_status_bytes(const MPI_Status *status) {
    return status->_ucount;
}
static inline bool abi_status_cancelled(const MPI_Status *status) {
    return status->_cancelled;
}
static inline int abi_thread_level(int level) {
    return level;
}

#endif
