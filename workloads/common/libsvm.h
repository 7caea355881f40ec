/* SPDX-License-Identifier: MIT */
/*
 * Streaming reader of libsvm text: "label index:value index:value ...", a line an example, label
 * 0/1 or -1/+1, indices from 1 and ascending; also packed by gzip, whatever the file's name. One
 * rank's share of a list of files, read round and round (an epoch ends, the next begins) with one
 * buffer, whatever the size of the files.
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

/* "path: what", with the text of errno when r is negative. Returns r, or -EINVAL when r is 0. */
int libsvm_error_set(struct libsvm_error *error, int r, const char *path, const char *what);

/* Part of a file: lines that begin in [begin, end); of a packed one line `share` of each `shares`.
 */
struct libsvm_part {
    char *path;
    off_t begin, end; /* end -1: the file's end, wherever it is */
    bool is_packed;
    uint64_t share, shares;
};

struct libsvm_reader {
    struct libsvm_part *parts;
    size_t n_parts;
    uint32_t n_features;
    uint64_t epoch; /* times all parts were finished */
    uint64_t bytes; /* read, of a packed file as unpacked */
    bool direct;    /* set after opening: every read goes to the disk, past the page cache */
    /* own */
    size_t part, first; /* with which an epoch begins */
    int fd;             /* -1: no part is open */
    struct gzip *gzip;  /* owns fd; NULL: the part is not packed */
    off_t line_offset;  /* of the next line in its file */
    uint64_t line;      /* of the next line, from 1 within the part */
    uint64_t examples_this_epoch;
    char *buffer;
    size_t position, filled;
    char *block; /* direct: aligned; what was read and is not yet taken */
    size_t block_position, block_filled;
    off_t block_offset; /* of the next read; -1 after the last one of the file */
};

/*
 * Opens the share of `rank` of `n_ranks` in `path`: a file, or a directory. A directory stands for
 * its files train-*; without any, for all whose names begin neither with a dot nor with "test".
 * With at least as many files as ranks: files rank, rank + n_ranks, ... by name. With fewer: the
 * file rank % files, cut among the ranks that share it: by bytes, or line by line in turn if it is
 * packed. Returns 0 or negative with ret_error filled.
 */
int libsvm_open_share(struct libsvm_reader *ret_reader, const char *path, int rank, int n_ranks,
                      uint32_t n_features, struct libsvm_error *ret_error);

/* Opens one whole file. */
int libsvm_open_file(struct libsvm_reader *ret_reader, const char *path, uint32_t n_features,
                     struct libsvm_error *ret_error);

/* Before the first read: each epoch begins with that file of the share, modulo their number. */
void libsvm_begin_with(struct libsvm_reader *reader, size_t part);

/*
 * Appends up to n examples to the batch. Returns how many, less than n only at the end of an
 * epoch (then the next call starts the next epoch); a whole epoch without an example is an error.
 * Negative with ret_error filled on bad text or a failed read.
 */
ssize_t libsvm_read(struct libsvm_reader *reader, size_t n, struct batch *batch,
                    struct libsvm_error *ret_error);

void libsvm_release(struct libsvm_reader *reader);

#endif
