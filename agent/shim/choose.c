/* SPDX-License-Identifier: MIT */
/* The binary interface of the MPI in this process, and the functions of the next library. */
#include "agent/shim/shim.h"

#include <dlfcn.h>

extern const struct interface shim_interface_standard, shim_interface_openmpi, shim_interface_mpich;

/* The standard's library may call one with another interface, so it comes first. */
static const struct interface *const interfaces[] = {
    &shim_interface_standard, &shim_interface_openmpi, &shim_interface_mpich};
#define N_INTERFACES (sizeof interfaces / sizeof *interfaces)

void *shim_next_[2][CALL_COUNT];

static const struct interface *chosen;

static const char *const symbols[] = {
#define SYMBOL(class, name) "PMPI_" #name,
    CALL_LIST(SYMBOL)
#undef SYMBOL
};

/* If a program loads MPI as a plug-in (Python), only the plug-in's scope has its symbols. */
static void *find_in(const struct interface *interface, const char *name) {
    void *symbol = NULL;
    for (const char *const *library = interface->libraries; *library && !symbol; library++) {
        void *mpi = dlopen(*library, RTLD_LAZY | RTLD_NOLOAD);
        symbol = mpi ? dlsym(mpi, name) : NULL;
    }
    return symbol;
}

static bool is_loaded(const struct interface *interface) {
    return find_in(interface, interface->marker ? interface->marker : symbols[0]) != NULL;
}

const struct interface *shim_interface_of_process(void) {
    const struct interface *found = __atomic_load_n(&chosen, __ATOMIC_RELAXED);
    for (size_t i = 0; i < N_INTERFACES && !found; i++)
        if (interfaces[i]->marker ? dlsym(RTLD_NEXT, interfaces[i]->marker) != NULL
                                  : is_loaded(interfaces[i]))
            found = interfaces[i];
    for (size_t i = 0; i < N_INTERFACES && !found; i++)
        if (is_loaded(interfaces[i]))
            found = interfaces[i];
    __atomic_store_n(&chosen, found, __ATOMIC_RELAXED);
    return found;
}

void *shim_symbol(const char *name) {
    void *symbol = dlsym(RTLD_NEXT, name);
    const struct interface *interface = symbol ? NULL : shim_interface_of_process();
    return interface ? find_in(interface, name) : symbol;
}

/* Threads that look at the same time find the same. NULL: there is no MPI. */
void *shim_next_find(enum call_function function, int profiled) {
    const char *name = symbols[function];
    void *next = shim_symbol(profiled ? name : name + 1);
    if (!next)
        next = shim_symbol(name);
    __atomic_store_n(&shim_next_[profiled][function], next, __ATOMIC_RELAXED);
    return next;
}
