/* SPDX-License-Identifier: MIT */
/* Reads a whole file of a ring's directory. */
#ifndef CHOKEPOINT_AGENT_RING_FILE_H
#define CHOKEPOINT_AGENT_RING_FILE_H

#include <sys/stat.h>

#include "common/buffer.h"

#define RING_FILE_MAX (64u << 20) /* bytes; larger files are none of ours */

/* Opens a regular file that belongs to this user and to which not all may write. Returns a
 * descriptor; -EPERM, or the errno of opening it (-ELOOP: a symbolic link). */
int ring_file_open(int dir_fd, const char *name, uid_t owner, struct stat *ret_st);

/* Reads such a file into `to`, which is reset. */
int ring_file_read(int dir_fd, const char *name, uid_t owner, struct buffer *to);

#endif
