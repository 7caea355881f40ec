/* SPDX-License-Identifier: MIT */
/*
 * Labelled images for training. Two formats, as their authors published them: MNIST's IDX (two
 * files with big-endian headers) and the binary version of CIFAR-10 (records of 3073 bytes). Sizes,
 * magic numbers and ranges are checked; a file with a byte too many is refused like one with a byte
 * too few. The parsers work on memory, so that a fuzzer reaches all of them.
 */
#ifndef CHOKEPOINT_WORKLOADS_DATA_IMAGES_H
#define CHOKEPOINT_WORKLOADS_DATA_IMAGES_H

#include "workloads/data/bytes.h"

#define IMAGES_CLASSES 10
#define CIFAR_ROWS 32
#define CIFAR_CHANNELS 3
#define CIFAR_RECORD (1 + CIFAR_CHANNELS * CIFAR_ROWS * CIFAR_ROWS)

struct images {
    size_t n;
    uint32_t rows, columns, channels;
    uint8_t *pixels; /* [image][channel][row][column] */
    uint8_t *labels; /* below IMAGES_CLASSES */
};

static inline size_t image_bytes(const struct images *images) {
    return (size_t)images->rows * images->columns * images->channels;
}

void images_release(struct images *images);

/* Each adds to ret_images; zeroed memory is empty. `name` is for the error. Returns 0, or negative
 * with ret_error filled and ret_images unchanged. */
int images_parse_idx(const char *name, const struct bytes *pixels, const char *labels_name,
                     const struct bytes *labels, struct images *ret_images,
                     struct data_error *ret_error);
int images_parse_cifar(const char *name, const struct bytes *records, struct images *ret_images,
                       struct data_error *ret_error);

enum images_part { IMAGES_TRAIN, IMAGES_TEST };

/* Reads a directory with the names of MNIST (train-images-idx3-ubyte, ..., or with .gz) or CIFAR-10
 * (data_batch_1.bin, ...; also in cifar-10-batches-bin/). Overwrites ret_images. */
int images_read(const char *directory, enum images_part part, struct images *ret_images,
                struct data_error *ret_error);

#endif
