/* SPDX-License-Identifier: MIT */
/*
 * Where the followed calls of a GPU's driver (agent/base/driver_calls.def) begin in the file of a
 * library. The file comes from a process of the job: nothing in it is trusted.
 */
#ifndef CHOKEPOINT_AGENT_WAIT_DRIVER_SYMBOLS_H
#define CHOKEPOINT_AGENT_WAIT_DRIVER_SYMBOLS_H

#include <stddef.h>
#include <stdint.h>

#define DRIVER_SYMBOLS_MAX 96 /* of one library: all versions of each call */

enum driver_library {
#define DRIVER_LIBRARY(ID, prefix) DRIVER_##ID,
#include "agent/base/driver_calls.def"
    DRIVER_LIBRARIES
};

struct driver_symbol {
    uint64_t offset; /* in the file: of the first instruction that does something */
    uint64_t cookie; /* the call's wait state, with flags (wait_shared.h) */
};

/* The library that a path names by its last component; DRIVER_LIBRARIES: none. */
enum driver_library driver_library_of(const char *path, size_t size);

/* Looks up each call by itself; one that the library lacks is left out. fd: the library, open for
 * reading. Returns how many were found, or negative errno (-ENOEXEC: no library of this machine).
 */
int driver_symbols_find(int fd, enum driver_library library,
                        struct driver_symbol ret_symbols[DRIVER_SYMBOLS_MAX]);

#endif
