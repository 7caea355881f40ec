/* SPDX-License-Identifier: MIT */
/* A gzip file, of one member or several, unpacked as it is read. */
#ifndef CHOKEPOINT_WORKLOADS_GZIP_H
#define CHOKEPOINT_WORKLOADS_GZIP_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct gzip;

/* Whether the file begins as gzip does. Negative errno. */
int gzip_is(const char *path);

/* Takes the descriptor over, also when it fails. NULL: out of memory. */
struct gzip *gzip_open(int fd);
void gzip_close(struct gzip *gzip);

/* Returns bytes, 0 at the end, -EBADMSG where the file is damaged or ends too early, or another
 * negative errno. */
ssize_t gzip_read(struct gzip *gzip, void *to, size_t size);

#endif
