/* SPDX-License-Identifier: MIT */
/*
 * Streaming reader of libsvm text: "label index:value index:value ...", one example a line, label
 * 0/1 or -1/+1, indices from 1 and ascending; plain or gzip, whatever the file's name. It reads one
 * rank's share of a list of files again and again (an epoch ends, the next begins) with one buffer,
 * whatever the size of the files.
 */
#ifndef CHOKEPOINT_WORKLOADS_LIBSVM_H
#define CHOKEPOINT_WORKLOADS_LIBSVM_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "workloads/common/batch.h"

#define LIBSVM_MAX_LINE (1 << 20)

struct libsvm_error {
    char text[512]; /* "FILE:LINE:COLUMN: expected ..., found ..." */
};

/* Writes "path: what", with the text of errno if r is negative. Returns r, or -EINVAL if r is 0. */
int libsvm_error_set(struct libsvm_error *error, int r, const char *path, const char *what);

/* Part of a file: the lines that begin in [begin, end); in a packed file line `share` of each
 * `shares`. */
struct libsvm_part {
    char *path;
    off_t begin, end; /* end -1: up to the file's end */
    bool is_packed;
    uint64_t share, shares;
};

struct libsvm_reader {
    struct libsvm_part *parts;
    size_t n_parts;
    uint32_t n_features;
    uint64_t epoch; /* how often all parts were finished */
    uint64_t bytes; /* bytes read, in a packed file as unpacked */
    bool direct;    /* may be set after opening: reads bypass the page cache */
    /* private */
    size_t part, first; /* first: the part that an epoch begins with */
    int fd;             /* -1: no part is open */
    struct gzip *gzip;  /* owns fd; NULL: the part is not packed */
    off_t line_offset;  /* offset of the next line in its file */
    uint64_t line;      /* number of the next line in the part, from 1 */
    uint64_t examples_this_epoch;
    char *buffer;
    size_t position, filled;
    char *block; /* direct: aligned; bytes read and not used yet */
    size_t block_position, block_filled;
    off_t block_offset; /* offset of the next read; -1 after the file's last */
};

/*
 * Opens the share of `rank` of `n_ranks` in `path`: a file or a directory. A directory means its
 * files train-*; without any, all files whose names begin neither with a dot nor with "test". With
 * at least as many files as ranks, the share is the files rank, rank + n_ranks, ... by name. With
 * fewer it is the file rank % files, which its ranks divide: by bytes, or line by line in turn if
 * it is packed. Returns 0, or negative with ret_error filled.
 */
int libsvm_open_share(struct libsvm_reader *ret_reader, const char *path, int rank, int n_ranks,
                      uint32_t n_features, struct libsvm_error *ret_error);

/* Opens one whole file. */
int libsvm_open_file(struct libsvm_reader *ret_reader, const char *path, uint32_t n_features,
                     struct libsvm_error *ret_error);

/* Call it before the first read: each epoch begins with this file of the share, modulo their
 * number. */
void libsvm_begin_with(struct libsvm_reader *reader, size_t part);

/*
 * Appends up to n examples to the batch. Returns their number. It is less than n only at the end of
 * an epoch; the next call starts the next epoch. A whole epoch without an example is an error.
 * Negative with ret_error filled on bad text or a failed read.
 */
ssize_t libsvm_read(struct libsvm_reader *reader, size_t n, struct batch *batch,
                    struct libsvm_error *ret_error);

void libsvm_release(struct libsvm_reader *reader);

#endif
