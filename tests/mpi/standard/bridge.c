/* SPDX-License-Identifier: MIT */
/*
 * libmpi_abi over OpenMPI: the functions that calls_standard.c and the shim call, in the standard
 * binary interface. Handles of both are addresses, so only constants are translated. The standard's
 * status is larger; OpenMPI's has the same begin and lies within it.
 */
#include <dlfcn.h>
#include <mpi.h>
#include <stdint.h>

#define STATUS_INTS 8 /* of the standard */

static void *find(const char *name) {
    static void *mpi;
    if (!mpi)
        mpi = dlopen("libmpi.so.40", RTLD_LAZY | RTLD_NOLOAD);
    return dlsym(mpi, name);
}
#define REAL(name) ((__typeof__(&P##name))find("P" #name))
#define ALSO(name) __typeof__(P##name) name __attribute__((alias("P" #name)));

/* ---- constants ---- */

static MPI_Comm comm_of(MPI_Comm comm) {
    uintptr_t number = (uintptr_t)comm;
    return number == 0x101   ? MPI_COMM_WORLD
           : number == 0x102 ? MPI_COMM_SELF
           : number == 0x100 ? MPI_COMM_NULL
                             : comm;
}

static MPI_Datatype type_of(MPI_Datatype type) {
    uintptr_t number = (uintptr_t)type;
    return number == 0x243   ? MPI_CHAR
           : number == 0x214 ? MPI_DOUBLE
           : number == 0x247 ? MPI_BYTE
                             : type;
}

static MPI_Op op_of(MPI_Op op) {
    return (uintptr_t)op == 0x21 ? MPI_SUM : op;
}

static MPI_Request request_of(MPI_Request request) {
    return (uintptr_t)request == 0x180 ? MPI_REQUEST_NULL : request;
}

static void tell_request(MPI_Request *request) {
    if (*request == MPI_REQUEST_NULL)
        *request = (MPI_Request)0x180;
}

static int rank_of(int rank) {
    return rank == -3 ? MPI_PROC_NULL : rank;
}

static int tag_of(int tag) {
    return tag == -2 ? MPI_ANY_TAG : tag;
}

static int tell_status(MPI_Status *status, int r) {
    if (status && status->MPI_SOURCE == MPI_PROC_NULL)
        status->MPI_SOURCE = -3;
    if (status && status->MPI_TAG == MPI_ANY_TAG)
        status->MPI_TAG = -2;
    return r;
}

/* ---- begin and end ---- */

int PMPI_Init_thread(int *argc, char ***argv, int required, int *provided) {
    int r = REAL(MPI_Init_thread)(argc, argv, required >= 4096 ? 3 : required / 1024, provided);
    *provided = *provided >= 3 ? 4096 : *provided * 1024;
    return r;
}

int PMPI_Finalize(void) {
    return REAL(MPI_Finalize)();
}

int PMPI_Abort(MPI_Comm comm, int code) {
    return REAL(MPI_Abort)(comm_of(comm), code);
}

/* ---- messages ---- */

int PMPI_Send(const void *out, int n, MPI_Datatype type, int dest, int tag, MPI_Comm comm) {
    return REAL(MPI_Send)(out, n, type_of(type), rank_of(dest), tag, comm_of(comm));
}

int PMPI_Recv(void *in, int n, MPI_Datatype type, int source, int tag, MPI_Comm comm,
              MPI_Status *status) {
    return tell_status(status, REAL(MPI_Recv)(in, n, type_of(type), rank_of(source), tag_of(tag),
                                              comm_of(comm), status));
}

int PMPI_Isend(const void *out, int n, MPI_Datatype type, int dest, int tag, MPI_Comm comm,
               MPI_Request *request) {
    return REAL(MPI_Isend)(out, n, type_of(type), rank_of(dest), tag, comm_of(comm), request);
}

int PMPI_Irecv(void *in, int n, MPI_Datatype type, int source, int tag, MPI_Comm comm,
               MPI_Request *request) {
    return REAL(MPI_Irecv)(in, n, type_of(type), rank_of(source), tag_of(tag), comm_of(comm),
                           request);
}

int PMPI_Cancel(MPI_Request *request) {
    return REAL(MPI_Cancel)(request);
}

int PMPI_Wait(MPI_Request *request, MPI_Status *status) {
    *request = request_of(*request);
    int r = REAL(MPI_Wait)(request, status);
    tell_request(request);
    return tell_status(status, r);
}

int PMPI_Waitall(int n, MPI_Request requests[], MPI_Status statuses[]) {
    int r = MPI_SUCCESS;
    for (int i = 0; i < n && r == MPI_SUCCESS; i++)
        r = PMPI_Wait(&requests[i],
                      statuses ? (MPI_Status *)((int *)statuses + (size_t)STATUS_INTS * (size_t)i)
                               : MPI_STATUS_IGNORE);
    return r;
}

int PMPI_Get_count_c(const MPI_Status *status, MPI_Datatype type, int64_t *count);
int PMPI_Get_count_c(const MPI_Status *status, MPI_Datatype type, int64_t *count) {
    MPI_Count n;
    int r = REAL(MPI_Get_elements_x)(status, type_of(type), &n);
    *count = n;
    return r;
}

/* ---- communicators ---- */

int PMPI_Allreduce(const void *in, void *out, int n, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
    return REAL(MPI_Allreduce)(in, out, n, type_of(type), op_of(op), comm_of(comm));
}

int PMPI_Barrier(MPI_Comm comm) {
    return REAL(MPI_Barrier)(comm_of(comm));
}

int PMPI_Comm_rank(MPI_Comm comm, int *rank) {
    return REAL(MPI_Comm_rank)(comm_of(comm), rank);
}

int PMPI_Comm_size(MPI_Comm comm, int *size) {
    return REAL(MPI_Comm_size)(comm_of(comm), size);
}

int PMPI_Comm_test_inter(MPI_Comm comm, int *flag) {
    return REAL(MPI_Comm_test_inter)(comm_of(comm), flag);
}

int PMPI_Comm_group(MPI_Comm comm, MPI_Group *group) {
    return REAL(MPI_Comm_group)(comm_of(comm), group);
}

int PMPI_Comm_dup(MPI_Comm comm, MPI_Comm *made) {
    return REAL(MPI_Comm_dup)(comm_of(comm), made);
}

int PMPI_Comm_free(MPI_Comm *comm) {
    int r = REAL(MPI_Comm_free)(comm);
    *comm = (MPI_Comm)0x100;
    return r;
}

int PMPI_Type_size(MPI_Datatype type, int *size) {
    return REAL(MPI_Type_size)(type_of(type), size);
}

int PMPI_Topo_test(MPI_Comm comm, int *kind) {
    int r = REAL(MPI_Topo_test)(comm_of(comm), kind);
    *kind = *kind == MPI_CART         ? 211
            : *kind == MPI_GRAPH      ? 212
            : *kind == MPI_DIST_GRAPH ? 213
                                      : *kind;
    return r;
}

ALSO(MPI_Abort)
ALSO(MPI_Allreduce)
ALSO(MPI_Barrier)
ALSO(MPI_Cancel)
ALSO(MPI_Comm_dup)
ALSO(MPI_Comm_free)
ALSO(MPI_Comm_rank)
ALSO(MPI_Comm_size)
ALSO(MPI_Finalize)
ALSO(MPI_Init_thread)
ALSO(MPI_Irecv)
ALSO(MPI_Isend)
ALSO(MPI_Recv)
ALSO(MPI_Send)
ALSO(MPI_Wait)
ALSO(MPI_Waitall)
