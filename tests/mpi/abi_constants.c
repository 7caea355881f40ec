/* SPDX-License-Identifier: MIT */
/* Prints the facts of a binary interface that the shim relies on: by the mpi.h that it is compiled
 * with or, with OURS, by the header of agent/shim/abi/ that OURS names.
 */
#ifdef OURS
#include OURS
#else
#include <mpi.h>
#endif
#include <stddef.h>
#include <stdio.h>

#define NUMBER(name) printf(#name " %lld\n", (long long)(name))
#define ADDRESS(name) printf(#name " %p\n", (void *)(name))
#define SIZE(type) printf("sizeof " #type " %zu\n", sizeof(type))
#define OFFSET(member) printf("offset " #member " %zu\n", offsetof(MPI_Status, member))

int main(void) {
    NUMBER(MPI_SUCCESS);
    NUMBER(MPI_ERR_OTHER);
    NUMBER(MPI_ANY_SOURCE);
    NUMBER(MPI_PROC_NULL);
    NUMBER(MPI_ROOT);
    NUMBER(MPI_UNDEFINED);
    NUMBER(MPI_CART);
    NUMBER(MPI_GRAPH);
    NUMBER(MPI_DIST_GRAPH);
    NUMBER(MPI_LOCK_EXCLUSIVE);
    NUMBER(MPI_THREAD_SINGLE);
    ADDRESS(MPI_IN_PLACE);
    ADDRESS(MPI_STATUS_IGNORE);
    ADDRESS(MPI_STATUSES_IGNORE);
    SIZE(MPI_Comm);
    SIZE(MPI_Datatype);
    SIZE(MPI_File);
    SIZE(MPI_Group);
    SIZE(MPI_Info);
    SIZE(MPI_Message);
    SIZE(MPI_Op);
    SIZE(MPI_Request);
    SIZE(MPI_Win);
    SIZE(MPI_Aint);
    SIZE(MPI_Offset);
    SIZE(MPI_Status);
    OFFSET(MPI_SOURCE);
    OFFSET(MPI_TAG);
    OFFSET(MPI_ERROR);
#ifdef MPICH_FACTS
    OFFSET(count_lo);
    OFFSET(count_hi_and_cancelled);
    NUMBER(MPI_COMM_WORLD);
    NUMBER(MPI_COMM_SELF);
    NUMBER(MPI_COMM_NULL);
    NUMBER(MPI_WIN_NULL);
    ADDRESS(MPI_FILE_NULL);
    NUMBER(MPI_REQUEST_NULL);
    NUMBER(MPI_NO_OP);
#elif defined STANDARD_FACTS
    ADDRESS(MPI_COMM_WORLD);
    ADDRESS(MPI_COMM_SELF);
    ADDRESS(MPI_COMM_NULL);
    ADDRESS(MPI_WIN_NULL);
    ADDRESS(MPI_FILE_NULL);
    ADDRESS(MPI_REQUEST_NULL);
    ADDRESS(MPI_NO_OP);
    ADDRESS(MPI_BYTE);
#else
    OFFSET(_cancelled);
    OFFSET(_ucount);
#endif
    return 0;
}
