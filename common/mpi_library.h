/* SPDX-License-Identifier: MIT */
/*
 * libchokepoint-mpi.so, which `run` has preloaded into ranks. A host has it beside its agent, or
 * gets it with the agent that it is sent: then it lies in a directory of the user's own home that
 * is named by what is in it, and stays there: a program that outlives the run finds it as long as
 * it looks.
 */
#ifndef CHOKEPOINT_COMMON_MPI_LIBRARY_H
#define CHOKEPOINT_COMMON_MPI_LIBRARY_H

#include <linux/limits.h>
#include <stdint.h>
#include <sys/types.h>

/* Where it lies beside or near the program with this path, without links on the way. -ENOENT. */
int mpi_library_beside(const char *program, char ret_path[PATH_MAX]);

/* Where one with this digest lies in the home of this user. -ENOENT: there is no home. */
int mpi_library_at_home(uint64_t digest, char ret_path[PATH_MAX]);

/* A code over all bytes of the file (SipHash-2-4, a fixed key), which tells one build from another.
 * It does not say who may change the file. Negative errno. */
int mpi_library_digest(const char *path, uint64_t *ret_digest);

/* Whether it may be preloaded: a file of this version that nobody but root and this user can
 * change or replace. Negative errno; mpi_library_words says it. */
int mpi_library_check(const char *path, uint64_t *ret_digest);

/* Puts the last `size` bytes of a file there, and makes the last three directories of the path if
 * need be, mode 0700. A reader has the old file or the new one, whole. Negative errno. */
int mpi_library_place(int from_fd, uint64_t size, const char *path);

/* The fault of these functions in words, for the user. */
const char *mpi_library_words(int error);

#endif
