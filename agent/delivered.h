/* SPDX-License-Identifier: MIT */
/*
 * The file in which an agent came to its host: the program, and behind it the MPI shim, so that
 * both arrive in one piece and are checked as one. The program runs whatever follows it.
 */
#ifndef CHOKEPOINT_AGENT_DELIVERED_H
#define CHOKEPOINT_AGENT_DELIVERED_H

#include <stdint.h>

/* The last `size` bytes of the program that lies in `directory`, as the MPI shim in `to`, a
 * directory that is made if need be; -EPERM: it is there, and somebody else's. Negative errno. */
int delivered_place_shim(const char *directory, const char *to, uint64_t size);

/* Removes the program and its directory, or the shim and its. Negative errno. */
int delivered_remove_program(const char *directory);
int delivered_remove_shim(const char *directory);

#endif
