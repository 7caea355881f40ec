/* SPDX-License-Identifier: MIT */
/*
 * The intercepted functions, for programs of every binary interface. In all of them an argument is
 * one register or one word of the stack. So each function passes its words unchanged to the code
 * for the interface of this process: one load and one jump, and the program's return address stays
 * in place. There is no shim for machines on which a pointer has another size than a word.
 */
#include "agent/shim/shim.h"

#define EXPORT __attribute__((visibility("default")))
#define ERROR_WITHOUT_MPI 16

typedef long word; /* NOLINT(google-runtime-int): a register */
_Static_assert(sizeof(word) == sizeof(void *) && sizeof(word) == 8, "arguments are words");

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
