/* SPDX-License-Identifier: MIT */
/*
 * The directory of a spool. In /tmp it has a name that nobody can foresee; one with a name that was
 * given may be known to other users of the host: it is ours alone, or is refused. One agent at a
 * time holds it (flock), which tells a directory that was left behind from one that is in use.
 */
#ifndef CHOKEPOINT_AGENT_SPOOL_DIR_H
#define CHOKEPOINT_AGENT_SPOOL_DIR_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Opens the directory and makes it if it is not there, with mode 0700; ret_made may be NULL.
 * Returns a descriptor; -ELOOP for a symbolic link, -EPERM for a directory that belongs to somebody
 * else or that others may write to, or why it cannot be made or opened. */
int spool_dir_open(const char *path, bool *ret_made);

/* Where a directory is made if none is named: $TMPDIR, or /tmp. */
const char *spool_dir_place(void);

/* Makes one there, chokepoint-spool-XXXXXX, mode 0700, and opens it; in /tmp if it cannot be made
 * there, or if others could replace it. A link in it, SPOOL_RUN_LINK, leads to the id of the run
 * that it is of, if that is not "". Returns a descriptor, or why not (ret_path has the name that
 * was tried). */
int spool_dir_make(const char *run, char ret_path[PATH_MAX]);

/* Removes it and that link, unless it has files. */
void spool_dir_remove(const char *path);

/* The fault in words, for the user. */
const char *spool_dir_words(int error);

/* The stream of samples that an agent before us wrote there last. Their ids are even, those of
 * single events follow (odd). False: there is none. */
bool spool_dir_find_stream(int dir_fd, uint64_t *ret_stream);

#endif
