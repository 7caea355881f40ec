/* SPDX-License-Identifier: MIT */
/*
 * The directory of a spool. In /tmp its name is random. A directory that the user named may be
 * known to others, so it must be private to this user, or it is refused. One agent at a time holds
 * it (flock), which tells a leftover directory from one in use.
 */
#ifndef CHOKEPOINT_AGENT_SPOOL_DIR_H
#define CHOKEPOINT_AGENT_SPOOL_DIR_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Opens the directory, and makes it if needed, with mode 0700; ret_made may be NULL. Returns a
 * descriptor; -ELOOP for a symbolic link, -EPERM for a directory that belongs to another user or
 * that others may write to, or the errno of making or opening it. */
int spool_dir_open(const char *path, bool *ret_made);

/* The place for a directory if none is named: $TMPDIR, or /tmp. */
const char *spool_dir_place(void);

/* Makes chokepoint-spool-XXXXXX there, mode 0700, and opens it. It is in /tmp if it cannot be made
 * there, or if others could replace it. Its link SPOOL_RUN_LINK leads to the id of its run, if that
 * is not "". Returns a descriptor, or an errno (ret_path has the name that was tried). */
int spool_dir_make(const char *run, char ret_path[PATH_MAX]);

/* Removes the directory and its link, unless it has files. */
void spool_dir_remove(const char *path);

/* The error in words, for the user. */
const char *spool_dir_words(int error);

/* The last stream of samples that an earlier agent wrote there. Ids of samples are even; single
 * events have the next, odd id. False: there is none. */
bool spool_dir_find_stream(int dir_fd, uint64_t *ret_stream);

#endif
