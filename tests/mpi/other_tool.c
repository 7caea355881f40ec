/* SPDX-License-Identifier: MIT */
/*
 * Another profiler, preloaded or linked into a program: counts MPI_Send and MPI_Allreduce. With
 * -DNEXT it calls the next MPI_Send, otherwise PMPI_Send, as most do. It prints its counts at
 * MPI_Finalize.
 */
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>

#ifdef NEXT
#define REAL(name) ((__typeof__(&MPI_##name))dlsym(RTLD_NEXT, "MPI_" #name))
#else
#define REAL(name) (&PMPI_##name)
#endif

static int sends, reductions;

int MPI_Send(const void *buf, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm) {
    sends++;
    return REAL(Send)(buf, count, type, dest, tag, comm);
}

int MPI_Allreduce(const void *in, void *out, int count, MPI_Datatype type, MPI_Op op,
                  MPI_Comm comm) {
    reductions++;
    return REAL(Allreduce)(in, out, count, type, op, comm);
}

int MPI_Finalize(void) {
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    printf("other tool: rank %d sends %d reductions %d\n", rank, sends, reductions);
    fflush(stdout);
    return REAL(Finalize)();
}
