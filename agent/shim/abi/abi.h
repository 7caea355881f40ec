/* SPDX-License-Identifier: MIT */
/*
 * Binary interfaces of MPI (ABIs). An MPI program is compiled against one of a few, which
 * determines the width of a handle, the values of constants and the layout of a status. Each has a
 * file in this folder. Code that touches handles is compiled once for each interface with the names
 * below, and does not depend on any. A new interface is a new file here, its name in
 * CMakeLists.txt, and a line in choose.c.
 */
#ifndef CHOKEPOINT_AGENT_SHIM_ABI_ABI_H
#define CHOKEPOINT_AGENT_SHIM_ABI_ABI_H

#ifndef SHIM_ABI_HEADER /* default for tools that look at one file alone */
#define SHIM_ABI_HEADER "agent/shim/abi/openmpi.h"
#endif
#include SHIM_ABI_HEADER
#include "agent/shim/abi/names.h"

/* MPI functions that the shim calls, and constants that are symbols. If one is missing, the shim is
 * off. */
struct shim_mpi {
    int (*comm_rank)(MPI_Comm, int *);
    int (*comm_size)(MPI_Comm, int *);
    int (*comm_test_inter)(MPI_Comm, int *);
    int (*comm_group)(MPI_Comm, MPI_Group *);
    int (*comm_remote_group)(MPI_Comm, MPI_Group *);
    int (*win_get_group)(MPI_Win, MPI_Group *);
    int (*file_get_group)(MPI_File, MPI_Group *);
    int (*group_size)(MPI_Group, int *);
    int (*group_rank)(MPI_Group, int *);
    int (*group_translate_ranks)(MPI_Group, int, const int[], MPI_Group, int[]);
    int (*group_free)(MPI_Group *);
    int (*type_size)(MPI_Datatype, int *);
    int (*topo_test)(MPI_Comm, int *);
    int (*cartdim_get)(MPI_Comm, int *);
    int (*cart_shift)(MPI_Comm, int, int, int *, int *);
    int (*graph_neighbors_count)(MPI_Comm, int, int *);
    int (*graph_neighbors)(MPI_Comm, int, int, int[]);
    int (*dist_graph_neighbors_count)(MPI_Comm, int *, int *, int *);
    int (*dist_graph_neighbors)(MPI_Comm, int, int[], int[], int, int[], int[]);
#define MEMBER(name, symbol) void *name;
    ABI_CONSTANTS(MEMBER) ABI_CONSTANTS_OR_NULL(MEMBER)
#undef MEMBER
};

extern struct shim_mpi shim_mpi;

#endif
