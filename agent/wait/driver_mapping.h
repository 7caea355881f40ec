/* SPDX-License-Identifier: MIT */
/*
 * The library of a GPU's driver that a process maps (/proc/PID/maps), and its file. The file is
 * opened below the root of the process, which may be a container's, and must be the one that the
 * list names: paths belong to the process.
 */
#ifndef CHOKEPOINT_AGENT_WAIT_DRIVER_MAPPING_H
#define CHOKEPOINT_AGENT_WAIT_DRIVER_MAPPING_H

#include <stdbool.h>
#include <stdint.h>

#include "agent/wait/driver_symbols.h"

#define DRIVER_MAPPING_PATH 4608 /* a path and what stands before it in a line */

struct driver_mapping {
    uint64_t device, inode;
    enum driver_library library;
    char path[DRIVER_MAPPING_PATH]; /* begins with '/' */
};

/* Finds the first library of a driver among the mappings. proc: root of /proc. */
bool driver_mapping_find(const char *proc, int32_t pid, struct driver_mapping *ret_mapping);

/* Returns a descriptor of the mapped file, or negative errno (-ESTALE: the path now leads to
 * another file). */
int driver_mapping_open(const char *proc, int32_t pid, const struct driver_mapping *mapping);

#endif
