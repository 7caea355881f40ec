/* SPDX-License-Identifier: MIT */
/* Everything that is compiled for one binary interface, in one struct: the wrappers made from
 * calls.def, and the MPI functions that the shim calls. */
#include "agent/shim/note.h"

#include <dlfcn.h>
#include <string.h>

_Static_assert(sizeof(MPI_Status) <= SHIM_STATUS_BYTES, "a status has room in a call");

static const struct {
    const char *name;
    size_t offset;
} needs[] = {
#define NEED(member, name) {name, offsetof(struct shim_mpi, member)},
    ABI_CONSTANTS(NEED)
#undef NEED
        {"PMPI_Comm_rank", offsetof(struct shim_mpi, comm_rank)},
    {"PMPI_Comm_size", offsetof(struct shim_mpi, comm_size)},
    {"PMPI_Comm_test_inter", offsetof(struct shim_mpi, comm_test_inter)},
    {"PMPI_Comm_group", offsetof(struct shim_mpi, comm_group)},
    {"PMPI_Comm_remote_group", offsetof(struct shim_mpi, comm_remote_group)},
    {"PMPI_Win_get_group", offsetof(struct shim_mpi, win_get_group)},
    {"PMPI_File_get_group", offsetof(struct shim_mpi, file_get_group)},
    {"PMPI_Group_size", offsetof(struct shim_mpi, group_size)},
    {"PMPI_Group_rank", offsetof(struct shim_mpi, group_rank)},
    {"PMPI_Group_translate_ranks", offsetof(struct shim_mpi, group_translate_ranks)},
    {"PMPI_Group_free", offsetof(struct shim_mpi, group_free)},
    {"PMPI_Type_size", offsetof(struct shim_mpi, type_size)},
    {"PMPI_Topo_test", offsetof(struct shim_mpi, topo_test)},
    {"PMPI_Cartdim_get", offsetof(struct shim_mpi, cartdim_get)},
    {"PMPI_Cart_shift", offsetof(struct shim_mpi, cart_shift)},
    {"PMPI_Graph_neighbors", offsetof(struct shim_mpi, graph_neighbors)},
    {"PMPI_Graph_neighbors_count", offsetof(struct shim_mpi, graph_neighbors_count)},
    {"PMPI_Dist_graph_neighbors", offsetof(struct shim_mpi, dist_graph_neighbors)},
    {"PMPI_Dist_graph_neighbors_count", offsetof(struct shim_mpi, dist_graph_neighbors_count)},
};

static void *look_up(const char *name) {
    void *symbol = dlsym(RTLD_DEFAULT, name);
    return symbol ? symbol : shim_symbol(name);
}

static const char *find_mpi(void) {
    for (size_t i = 0; i < sizeof needs / sizeof *needs; i++) {
        void *symbol = look_up(needs[i].name);
        if (!symbol)
            return needs[i].name;
        memcpy((char *)&shim_mpi + needs[i].offset, &symbol, sizeof symbol);
    }
#define LOOK_UP(member, name) shim_mpi.member = look_up(name);
    ABI_CONSTANTS_OR_NULL(LOOK_UP)
#undef LOOK_UP
    return NULL;
}

#include "agent/shim/call_wrappers.h" /* made from calls.def */

static const char *const libraries[] = {ABI_LIBRARIES, NULL};
static const char *const fortran_libraries[] = {ABI_FORTRAN_LIBRARIES, NULL};

static void *const entries[2][CALL_COUNT] = {
#define ENTRY(class, name) (void *)enter_##name,
#define PROFILED(class, name) (void *)enter_P##name,
    {CALL_LIST(ENTRY)},
    {CALL_LIST(PROFILED)},
#undef ENTRY
#undef PROFILED
};

extern const struct interface shim_interface;
const struct interface shim_interface = {.marker = ABI_MARKER,
                                         .libraries = libraries,
                                         .fortran_libraries = fortran_libraries,
                                         .find_mpi = find_mpi,
                                         .entries = entries};
