/* SPDX-License-Identifier: MIT */
/*
 * The three Fortran interfaces. Their entry points (mpi_send_ of mpif.h and `use mpi`;
 * mpi_send_f08_ of `use mpi_f08`, or mpi_send_f08ts_ where a compiler describes buffers) convert
 * handles to C and call MPI_Send or PMPI_Send, which the shim intercepts anyway. But all these
 * calls have a return address in MPI's library. The functions here only remember the program's
 * return address, and pass on their arguments.
 */
#include "agent/shim/shim.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#define EXPORT __attribute__((visibility("default")))

static void *find(const char *symbol) {
    const struct interface *interface = shim_interface_of_process();
    void *found = dlsym(RTLD_NEXT, symbol);
    for (size_t i = 0; interface && interface->fortran_libraries[i] && !found; i++) {
        void *library = dlopen(interface->fortran_libraries[i], RTLD_LAZY | RTLD_NOLOAD);
        found = library ? dlsym(library, symbol) : NULL;
    }
    if (!found) {
        fprintf(stderr,
                "libchokepoint-mpi: no %s in the MPI library of this program; "
                "run it with --no-shim\n",
                symbol);
        abort();
    }
    return found;
}

/* Returns the value that fortran_leave() restores: a call-back may call MPI, too. */
static inline const void *fortran_enter(void **next, const char *symbol, const void *site) {
    struct thread *t = &shim_thread;
    const void *outer = t->fortran_site;
    if (UNLIKELY(!__atomic_load_n(next, __ATOMIC_RELAXED)))
        __atomic_store_n(next, find(symbol), __ATOMIC_RELAXED);
    t->fortran_site = site;
    return outer;
}

static inline void fortran_leave(const void *outer) {
    shim_thread.fortran_site = outer;
}

#include "agent/shim/call_fortran.h" /* made from calls.def */
