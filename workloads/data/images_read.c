/* SPDX-License-Identifier: MIT */
/* Finds the images in a directory. */
#include "workloads/data/images.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#define PATH_SIZE 4096

static const struct {
    const char *images, *labels;
} idx_names[] = {
    [IMAGES_TRAIN] = {"train-images-idx3-ubyte", "train-labels-idx1-ubyte"},
    [IMAGES_TEST] = {"t10k-images-idx3-ubyte", "t10k-labels-idx1-ubyte"},
};
static const char *const cifar_names[][6] = {
    [IMAGES_TRAIN] = {"data_batch_1.bin", "data_batch_2.bin", "data_batch_3.bin",
                      "data_batch_4.bin", "data_batch_5.bin"},
    [IMAGES_TEST] = {"test_batch.bin"},
};

/* A regular file DIRECTORY/NAME, or NAME.gz. */
static bool find(const char *directory, const char *name, char *ret_path) {
    static const char *const ends[] = {"", ".gz"};
    struct stat st;
    for (int i = 0; i < 2; i++) {
        int n = snprintf(ret_path, PATH_SIZE, "%s/%s%s", directory, name, ends[i]);
        if (n < PATH_SIZE && stat(ret_path, &st) == 0 && S_ISREG(st.st_mode))
            return true;
    }
    return false;
}

static int read_idx(const char *path, const char *labels_path, struct images *ret,
                    struct data_error *error) {
    struct bytes pixels = {0}, labels = {0};
    int r = bytes_read(path, &pixels, error);
    if (r == 0)
        r = bytes_read(labels_path, &labels, error);
    if (r == 0)
        r = images_parse_idx(path, &pixels, labels_path, &labels, ret, error);
    bytes_release(&pixels);
    bytes_release(&labels);
    return r;
}

static int read_cifar(const char *path, struct images *ret, struct data_error *error) {
    struct bytes records = {0};
    int r = bytes_read(path, &records, error);
    if (r == 0)
        r = images_parse_cifar(path, &records, ret, error);
    bytes_release(&records);
    return r;
}

static const char *cifar_path(const char *directory, const char *name, char *path) {
    snprintf(path, PATH_SIZE, "%s/%s", directory, name);
    return path;
}

static bool has_batches(const char *directory, enum images_part part) {
    char path[PATH_SIZE];
    for (int i = 0; cifar_names[part][i]; i++)
        if (find(directory, cifar_names[part][i], path))
            return true;
    return false;
}

/* All of the batches, or none: a set that lacks some is a damaged copy. */
static int read_batches(const char *directory, enum images_part part, struct images *ret,
                        struct data_error *error) {
    char path[PATH_SIZE];
    int r = 0;
    for (int i = 0; r == 0 && cifar_names[part][i] && has_batches(directory, part); i++) {
        if (find(directory, cifar_names[part][i], path))
            r = read_cifar(path, ret, error);
        else
            r = data_error_set(error, -ENOENT, cifar_path(directory, cifar_names[part][i], path),
                               "missing beside the other batches (CIFAR-10)");
    }
    return r;
}

int images_read(const char *directory, enum images_part part, struct images *ret,
                struct data_error *error) {
    char path[PATH_SIZE], labels[PATH_SIZE], below[PATH_SIZE];
    int r = 0;
    *ret = (struct images){0};
    if (find(directory, idx_names[part].images, path)) {
        if (!find(directory, idx_names[part].labels, labels))
            return data_error_set(error, -ENOENT, directory, "no labels beside its images (IDX)");
        r = read_idx(path, labels, ret, error);
    } else {
        r = read_batches(directory, part, ret, error);
        if (r == 0 && ret->n == 0 &&
            snprintf(below, PATH_SIZE, "%s/cifar-10-batches-bin", directory) < PATH_SIZE)
            r = read_batches(below, part, ret, error);
    }
    if (r == 0 && ret->n == 0)
        r = data_error_set(error, -ENOENT, directory,
                           part == IMAGES_TRAIN ? "no training images (IDX or CIFAR-10 binary)"
                                                : "no test images (IDX or CIFAR-10 binary)");
    if (r < 0)
        images_release(ret);
    return r;
}
