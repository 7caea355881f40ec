/* SPDX-License-Identifier: MIT */
/*
 * The functions we stand before. The wrappers are made from calls.def; this file holds what they
 * need to find the next one in line.
 */
#include "agent/shim/note.h"

#include <dlfcn.h>

void *shim_next_[2][CALL_COUNT];

static const char *const symbols[] = {
#define SYMBOL(class, name) "PMPI_" #name,
    CALL_LIST(SYMBOL)
#undef SYMBOL
};

/* Threads that look at once find the same. NULL: there is no MPI behind us. */
void *shim_next_find(enum call_function function, int profiled) {
    const char *name = symbols[function];
    void *next = shim_symbol(profiled ? name : name + 1);
    if (!next)
        next = shim_symbol(name);
    __atomic_store_n(&shim_next_[profiled][function], next, __ATOMIC_RELAXED);
    return next;
}

#include "agent/shim/call_wrappers.h" /* made from calls.def */
