/* SPDX-License-Identifier: MIT */
/*
 * Files from the network into a directory. The received part of a file stays as NAME.part, so that
 * the next attempt continues it; the file gets its name when it is complete and its checksum is
 * right. A server that cannot continue sends all again.
 */
#ifndef CHOKEPOINT_WORKLOADS_DATA_FETCH_H
#define CHOKEPOINT_WORKLOADS_DATA_FETCH_H

#include <stdbool.h>

#include "workloads/data/bytes.h"

struct fetch_source {
    const char *url, *name; /* name: of the file */
    const char *sha256;     /* 64 hexadecimal digits; NULL: not known */
};

/* Reports received bytes and total (0: the server did not say). */
typedef void fetch_show(void *ctx, const char *name, double done, double total);

/* Returns 0 (also if the file was there already, with the right checksum), or negative with
 * ret_error filled; -EBADMSG for a wrong checksum, and then the file is removed. */
int fetch_file(const struct fetch_source *source, const char *directory, fetch_show *show,
               void *ctx, struct data_error *ret_error);

/* ---- for fetch.c: http.c, the only file here that includes libcurl ---- */

/*
 * Appends to the open file the URL's bytes from `from` on; if the server cannot continue there,
 * empties the file first. A transfer without progress for 30 s is aborted. Returns 0, -ERANGE if
 * there is nothing from there on, or another negative with ret_error filled.
 */
int http_get(const char *url, const char *name, int fd, uint64_t from, fetch_show *show, void *ctx,
             struct data_error *ret_error);

#endif
