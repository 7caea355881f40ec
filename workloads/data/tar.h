/* SPDX-License-Identifier: MIT */
/* A tar archive in memory, for CIFAR-10: regular files only. */
#ifndef CHOKEPOINT_WORKLOADS_DATA_TAR_H
#define CHOKEPOINT_WORKLOADS_DATA_TAR_H

#include "workloads/data/bytes.h"

struct tar_entry {
    char name[101]; /* without directories; "": a directory or an unusable name */
    const uint8_t *data;
    size_t n;
};

/* Reads the entry at *offset and moves behind it. Returns 1, 0 at the end, or negative with
 * ret_error filled. A name has letters, digits, '.', '_' and '-', and begins with a letter or a
 * digit. */
int tar_next(const char *archive_name, const struct bytes *archive, size_t *offset,
             struct tar_entry *ret_entry, struct data_error *ret_error);

/* Writes the entries whose names end in `end` into the directory. Returns their number, or
 * negative. */
int tar_extract(const char *archive_name, const struct bytes *archive, const char *end,
                const char *directory, struct data_error *ret_error);

#endif
