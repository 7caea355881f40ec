/* SPDX-License-Identifier: MIT */
/*
 * MPICH and the libraries with its binary interface: Intel MPI, MVAPICH, Cray MPICH. Handles are
 * integers with the kind of object in their upper bits; handles of files are addresses.
 * tests/mpi/abi_constants.c compares these constants with its mpi.h.
 */
#ifndef CHOKEPOINT_AGENT_SHIM_ABI_MPICH_H
#define CHOKEPOINT_AGENT_SHIM_ABI_MPICH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ABI_NAME mpich
#define ABI_MARKER "MPI_UNWEIGHTED" /* a macro in other interfaces */
#define ABI_LIBRARIES "libmpich.so.12", "libmpi.so.12"
#define ABI_FORTRAN_LIBRARIES "libmpichfort.so.12", "libmpifort.so.12"

typedef int MPI_Comm, MPI_Datatype, MPI_Group, MPI_Info, MPI_Message, MPI_Op, MPI_Request, MPI_Win;
typedef void *MPI_File;
typedef long MPI_Aint;
typedef long MPI_Offset;

typedef struct {
    int count_lo, count_hi_and_cancelled, MPI_SOURCE, MPI_TAG, MPI_ERROR;
} MPI_Status;

#define MPI_SUCCESS 0
#define MPI_ERR_OTHER 15
#define MPI_ANY_SOURCE (-2)
#define MPI_PROC_NULL (-1)
#define MPI_ROOT (-3)
#define MPI_UNDEFINED (-32766)
#define MPI_GRAPH 1
#define MPI_CART 2
#define MPI_DIST_GRAPH 3
#define MPI_LOCK_EXCLUSIVE 234
#define MPI_THREAD_SINGLE 0
#define MPI_IN_PLACE ((void *)-1)
#define MPI_STATUS_IGNORE ((MPI_Status *)1)
#define MPI_STATUSES_IGNORE ((MPI_Status *)1)

#define ABI_CONSTANTS(X) /* no constant is a symbol */
#define ABI_CONSTANTS_OR_NULL(X)

#define MPI_COMM_WORLD 0x44000000
#define MPI_COMM_SELF 0x44000001
#define MPI_COMM_NULL 0x04000000
#define MPI_WIN_NULL 0x20000000
#define MPI_FILE_NULL ((MPI_File)0)
#define MPI_REQUEST_NULL 0x2c000000
#define MPI_NO_OP 0x5800000e

/* Built-in requests stand for all operations that were complete at once. */
#define abi_is_shared_request(request)                                                             \
    ((request) == MPI_REQUEST_NULL || ((unsigned)(request) >> 26) == (0x6c000000U >> 26))

typedef int abi_handle;
static inline void *abi_key(abi_handle handle) {
    return (void *)(uintptr_t)(unsigned)handle; /* NOLINT(performance-no-int-to-ptr) */
}
static inline abi_handle abi_handle_of(void *key) {
    return (abi_handle)(uintptr_t)key;
}

/* The count has 63 bits without the lowest bit of the upper half, which means cancelled. */
static inline uint64_t abi_status_bytes(const MPI_Status *status) {
    return (uint64_t)((unsigned)status->count_hi_and_cancelled >> 1) << 32 |
           (unsigned)status->count_lo;
}
static inline bool abi_status_cancelled(const MPI_Status *status) {
    return status->count_hi_and_cancelled & 1;
}
static inline int abi_thread_level(int level) {
    return level;
}

#endif
