/* SPDX-License-Identifier: MIT */
/* A gzip file of one or several members, unpacked while it is read. */
#ifndef CHOKEPOINT_WORKLOADS_GZIP_H
#define CHOKEPOINT_WORKLOADS_GZIP_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct gzip;

/* Whether the file begins like a gzip file. Negative errno. */
int gzip_is(const char *path);

/* Takes the descriptor over, also on failure. NULL: out of memory. */
struct gzip *gzip_open(int fd);
void gzip_close(struct gzip *gzip);

/* Returns the number of bytes, 0 at the end, -EBADMSG if the file is damaged or cut short, or
 * another negative errno. */
ssize_t gzip_read(struct gzip *gzip, void *to, size_t size);

#endif
