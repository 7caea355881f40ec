/* SPDX-License-Identifier: MIT */
/*
 * libchokepoint-mpi.so, which `run` preloads into ranks. A host has it beside its agent, or
 * receives it with the agent. A received library is kept in the user's home, in a directory named
 * after its digest, so that a program that outlives the run still finds it.
 */
#ifndef CHOKEPOINT_COMMON_MPI_LIBRARY_H
#define CHOKEPOINT_COMMON_MPI_LIBRARY_H

#include <linux/limits.h>
#include <stdint.h>
#include <sys/types.h>

/* Finds the library beside or near the program with this path; the result has no links. -ENOENT. */
int mpi_library_beside(const char *program, char ret_path[PATH_MAX]);

/* The path in this user's home for the library with this digest. -ENOENT: there is no home. */
int mpi_library_at_home(uint64_t digest, char ret_path[PATH_MAX]);

/* A digest of all bytes of the file (SipHash-2-4 with a fixed key), which tells builds apart. It
 * does not protect against changes. Negative errno. */
int mpi_library_digest(const char *path, uint64_t *ret_digest);

/* Whether the library may be preloaded: a file of this version that only root and this user can
 * change or replace. Negative errno; mpi_library_words explains it. */
int mpi_library_check(const char *path, uint64_t *ret_digest);

/* Writes the last `size` bytes of a file to the path, and makes its last three directories if
 * needed, mode 0700. Readers see the old file or the complete new one. Negative errno. */
int mpi_library_place(int from_fd, uint64_t size, const char *path);

/* The error of these functions in words for the user. */
const char *mpi_library_words(int error);

#endif
