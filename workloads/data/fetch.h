/* SPDX-License-Identifier: MIT */
/*
 * Files from the network into a directory. The received part of a file stays beside it as
 * NAME.part, so that the next attempt goes on where the last one broke off; the name is given when
 * all of it is there and its checksum is right. A server that does not know how to go on sends all
 * again.
 */
#ifndef CHOKEPOINT_WORKLOADS_DATA_FETCH_H
#define CHOKEPOINT_WORKLOADS_DATA_FETCH_H

#include <stdbool.h>

#include "workloads/data/bytes.h"

struct fetch_source {
    const char *url, *name; /* name: of the file */
    const char *sha256;     /* 64 hexadecimal digits; NULL: not known */
};

/* Bytes that are there, of how many (0: the server did not say). */
typedef void fetch_show(void *ctx, const char *name, double done, double total);

/* Returns 0 (also when the file was there already, with the right checksum), or negative with
 * ret_error filled: -EBADMSG for a wrong checksum, and then nothing of the file is kept. */
int fetch_file(const struct fetch_source *source, const char *directory, fetch_show *show,
               void *ctx, struct data_error *ret_error);

/* ---- for fetch.c: http.c, the only file here that knows libcurl ---- */

/*
 * Appends to the open file what the URL has from `from` on; where the server does not go on there,
 * empties the file first. A transfer that stands still for 30 s is broken off. Returns 0, -ERANGE
 * when there is nothing from there on, or another negative with ret_error filled.
 */
int http_get(const char *url, const char *name, int fd, uint64_t from, fetch_show *show, void *ctx,
             struct data_error *ret_error);

#endif
