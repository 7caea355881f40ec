/* SPDX-License-Identifier: MIT */
/*
 * The standard binary interface of MPI 5.0, chapter 20: libmpi_abi of MPICH 4.3 and OpenMPI 6 and
 * later. Handles are addresses; handles that are constants are small numbers. Libraries store the
 * count of a status in different places, so MPI is asked for it.
 */
#ifndef CHOKEPOINT_AGENT_SHIM_ABI_STANDARD_H
#define CHOKEPOINT_AGENT_SHIM_ABI_STANDARD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ABI_NAME standard
#define ABI_MARKER NULL /* the library has standard names */
#define ABI_LIBRARIES "libmpi_abi.so.0", "libmpi_abi.so.1"
#define ABI_FORTRAN_LIBRARIES NULL /* Fortran is not standardized: its library calls C */

typedef void *MPI_Comm, *MPI_Datatype, *MPI_File, *MPI_Group, *MPI_Info, *MPI_Message, *MPI_Op,
    *MPI_Request, *MPI_Win;
typedef intptr_t MPI_Aint;
typedef int64_t MPI_Offset;

typedef struct {
    int MPI_SOURCE, MPI_TAG, MPI_ERROR, MPI_internal[5];
} MPI_Status;

#define MPI_SUCCESS 0
#define MPI_ERR_OTHER 16
#define MPI_ANY_SOURCE (-1)
#define MPI_PROC_NULL (-3)
#define MPI_ROOT (-4)
#define MPI_UNDEFINED (-32766)
#define MPI_CART 211
#define MPI_GRAPH 212
#define MPI_DIST_GRAPH 213
#define MPI_LOCK_EXCLUSIVE 301
#define MPI_THREAD_SINGLE 0
#define MPI_IN_PLACE ((void *)1)
#define MPI_STATUS_IGNORE ((MPI_Status *)0)
#define MPI_STATUSES_IGNORE ((MPI_Status *)0)

#define MPI_NO_OP ((MPI_Op)0x3d)
#define MPI_COMM_NULL ((MPI_Comm)0x100)
#define MPI_COMM_WORLD ((MPI_Comm)0x101)
#define MPI_COMM_SELF ((MPI_Comm)0x102)
#define MPI_WIN_NULL ((MPI_Win)0x110)
#define MPI_FILE_NULL ((MPI_File)0x118)
#define MPI_REQUEST_NULL ((MPI_Request)0x180)
#define MPI_BYTE ((MPI_Datatype)0x247)

/* Members of struct shim_mpi; all functions, since no constant is a symbol. */
#define ABI_CONSTANTS(X)                                                                           \
    X(get_count_c, "PMPI_Get_count_c")                                                             \
    X(test_cancelled, "PMPI_Test_cancelled")
#define ABI_CONSTANTS_OR_NULL(X)

#define abi_is_shared_request(request) ((request) == MPI_REQUEST_NULL)

typedef void *abi_handle;
static inline void *abi_key(abi_handle handle) {
    return handle;
}
static inline abi_handle abi_handle_of(void *key) {
    return key;
}

static inline uint64_t standard_status_bytes(void *get_count_c, const MPI_Status *status) {
    int (*get_count)(const MPI_Status *, MPI_Datatype, int64_t *);
    int64_t n = 0;
    *(void **)&get_count = get_count_c;
    return get_count(status, MPI_BYTE, &n) == MPI_SUCCESS && n > 0 ? (uint64_t)n : 0;
}
static inline bool standard_status_cancelled(void *test_cancelled, const MPI_Status *status) {
    int (*test)(const MPI_Status *, int *), cancelled = 0;
    *(void **)&test = test_cancelled;
    return test(status, &cancelled) == MPI_SUCCESS && cancelled;
}
#define abi_status_bytes(status) standard_status_bytes(shim_mpi.get_count_c, status)
#define abi_status_cancelled(status) standard_status_cancelled(shim_mpi.test_cancelled, status)

/* The levels of the standard are 0, 1024, 2048, 4096. */
static inline int abi_thread_level(int level) {
    return level >= 4096 ? 3 : level / 1024;
}

#endif
