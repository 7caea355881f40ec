/* SPDX-License-Identifier: MIT */
/* read(2) and write(2) that continue until all bytes are done, also after a signal. */
#ifndef CHOKEPOINT_COMMON_TRANSFER_H
#define CHOKEPOINT_COMMON_TRANSFER_H

#include <stddef.h>
#include <sys/types.h>

/* Reads up to `size` bytes, fewer only at the end of the file. Returns their number, or negative
 * errno. */
ssize_t transfer_read(int fd, void *to, size_t size);

/* Writes all bytes to a blocking descriptor: 0, or negative errno. */
int transfer_write(int fd, const void *data, size_t size);

#endif
