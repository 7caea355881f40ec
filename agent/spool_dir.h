/* SPDX-License-Identifier: MIT */
/*
 * The directory of a spool. It may lie in /tmp, under a name that other users of the host can read
 * in the list of processes: so it is made by nobody but us, or is refused. One agent at a time
 * holds it (flock), which tells a directory that was left behind from one that is in use.
 */
#ifndef CHOKEPOINT_AGENT_SPOOL_DIR_H
#define CHOKEPOINT_AGENT_SPOOL_DIR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Opens the directory and makes it if it is not there, with mode 0700; ret_made may be NULL.
 * Returns a descriptor; -ELOOP for a symbolic link, -EPERM for a directory that belongs to somebody
 * else or that others may write to, or why it cannot be made or opened. */
int spool_dir_open(const char *path, bool *ret_made);

/* The fault in words, for the user. */
const char *spool_dir_words(int error);

/* The stream of samples that an agent before us wrote there last. Their ids are even, those of
 * single events follow (odd). False: there is none. */
bool spool_dir_find_stream(int dir_fd, uint64_t *ret_stream);

#endif
