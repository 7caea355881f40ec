/* SPDX-License-Identifier: MIT */
/*
 * The intercepted functions, for programs of every binary interface. In all of them an argument is
 * one register or one word of the stack. So each function passes its words unchanged to the code
 * for the interface of this process: one load and one jump, and the program's return address stays
 * in place. There is no shim for machines on which a pointer has another size than a word.
 */
#include "agent/shim/shim.h"

#include <dlfcn.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))
#define ERROR_WITHOUT_MPI 16

typedef long word; /* NOLINT(google-runtime-int): a register */
_Static_assert(sizeof(word) == sizeof(void *) && sizeof(word) == 8, "arguments are words");

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

/* ---- the next library ---- */

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

/* ---- the target of a call ---- */

static int fail_without_mpi(void) {
    return ERROR_WITHOUT_MPI;
}

/* Calls of an unknown MPI go on as without the shim. */
static void *pass_by(enum call_function function, int profiled) {
    static bool told;
    void *next = shim_next_find(function, profiled);
    if (next && !__atomic_exchange_n(&told, true, __ATOMIC_RELAXED))
        shim_leave_reason("its MPI has a binary interface that is not known", "");
    return next;
}

/* The first call of a function finds its target. *ret_entry, to which later calls jump, stays
 * unchanged while there is no MPI. */
static void *entry_find(enum call_function function, int profiled, void **ret_entry) {
    const struct interface *interface = shim_interface_of_process();
    void *entry = interface ? interface->entries[profiled][function] : pass_by(function, profiled);
    if (!entry)
        return (void *)fail_without_mpi;
    __atomic_store_n(ret_entry, entry, __ATOMIC_RELAXED);
    return entry;
}

#include "agent/shim/call_entries.h" /* made from calls.def */
