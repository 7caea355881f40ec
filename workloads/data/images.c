/* SPDX-License-Identifier: MIT */
/* The parsers. IDX: http://yann.lecun.com/exdb/mnist; CIFAR-10 binary:
 * https://www.cs.toronto.edu/~kriz/cifar.html */
#include "workloads/data/images.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define IDX_IMAGES 0x00000803 /* unsigned bytes in three dimensions */
#define IDX_LABELS 0x00000801 /* unsigned bytes in one dimension */
#define IDX_IMAGES_HEAD 16
#define IDX_LABELS_HEAD 8
#define MOST_SIDE 1024

void images_release(struct images *images) {
    free(images->pixels);
    free(images->labels);
    *images = (struct images){0};
}

static uint32_t big_endian(const uint8_t *p) {
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

/* Makes room for n more images of the same shape. */
static int reserve(struct images *images, const struct images *shape, size_t n) {
    size_t all = images->n + n, each = image_bytes(shape);
    uint8_t *pixels = reallocarray(images->pixels, all, each);
    if (pixels)
        images->pixels = pixels;
    uint8_t *labels = pixels ? realloc(images->labels, all) : NULL;
    if (!labels)
        return -ENOMEM;
    images->labels = labels;
    images->rows = shape->rows;
    images->columns = shape->columns;
    images->channels = shape->channels;
    return 0;
}

static int check_label(const char *name, size_t offset, uint8_t label, struct data_error *error) {
    if (label < IMAGES_CLASSES)
        return 0;
    return data_error_at(error, name, offset, "expected a label from 0 to %d, found %u",
                         IMAGES_CLASSES - 1, label);
}

/* ---- IDX ---- */

static int check_head(const char *name, const struct bytes *b, size_t head, uint32_t magic,
                      const char *what, struct data_error *error) {
    if (b->n < head)
        return data_error_at(error, name, b->n, "expected a head of %zu bytes", head);
    if (big_endian(b->data) != magic)
        return data_error_at(error, name, 0, "expected 0x%08x, which is IDX %s, found 0x%08x",
                             magic, what, big_endian(b->data));
    return 0;
}

static int check_length(const char *name, const struct bytes *b, uint64_t expected,
                        struct data_error *error) {
    if (b->n == expected)
        return 0;
    return data_error_at(error, name, b->n < expected ? b->n : (size_t)expected,
                         "expected %llu bytes by its head, found %zu", (unsigned long long)expected,
                         b->n);
}

static int check_idx_images(const char *name, const struct bytes *b, struct images *ret_shape,
                            struct data_error *error) {
    int r = check_head(name, b, IDX_IMAGES_HEAD, IDX_IMAGES, "images", error);
    if (r < 0)
        return r;
    struct images s = {.n = big_endian(b->data + 4),
                       .rows = big_endian(b->data + 8),
                       .columns = big_endian(b->data + 12),
                       .channels = 1};
    if (s.n == 0)
        return data_error_at(error, name, 4, "expected images, found none");
    if (s.rows == 0 || s.rows > MOST_SIDE || s.columns == 0 || s.columns > MOST_SIDE)
        return data_error_at(error, name, 8, "expected 1 to %d rows and columns, found %u x %u",
                             MOST_SIDE, s.rows, s.columns);
    *ret_shape = s;
    return check_length(name, b, IDX_IMAGES_HEAD + (uint64_t)s.n * s.rows * s.columns, error);
}

static int check_idx_labels(const char *name, const struct bytes *b, size_t n_images,
                            struct data_error *error) {
    int r = check_head(name, b, IDX_LABELS_HEAD, IDX_LABELS, "labels", error);
    if (r < 0)
        return r;
    uint32_t n = big_endian(b->data + 4);
    if (n != n_images)
        return data_error_at(error, name, 4, "expected %zu labels, one an image, found %u",
                             n_images, n);
    r = check_length(name, b, IDX_LABELS_HEAD + (uint64_t)n, error);
    for (size_t i = IDX_LABELS_HEAD; r == 0 && i < b->n; i++)
        r = check_label(name, i, b->data[i], error);
    return r;
}

static int check_shape(const char *name, const struct images *have, const struct images *more,
                       struct data_error *error) {
    if (have->n == 0 || (have->rows == more->rows && have->columns == more->columns &&
                         have->channels == more->channels))
        return 0;
    return data_error_at(
        error, name, 0, "expected images of %u x %u x %u as before, found %u x %u x %u", have->rows,
        have->columns, have->channels, more->rows, more->columns, more->channels);
}

int images_parse_idx(const char *name, const struct bytes *pixels, const char *labels_name,
                     const struct bytes *labels, struct images *ret, struct data_error *error) {
    struct images shape;
    int r = check_idx_images(name, pixels, &shape, error);
    if (r == 0)
        r = check_idx_labels(labels_name, labels, shape.n, error);
    if (r == 0)
        r = check_shape(name, ret, &shape, error);
    if (r < 0)
        return r;
    r = reserve(ret, &shape, shape.n);
    if (r < 0)
        return data_error_set(error, r, name, "cannot keep its images");
    memcpy(ret->pixels + ret->n * image_bytes(ret), pixels->data + IDX_IMAGES_HEAD,
           pixels->n - IDX_IMAGES_HEAD);
    memcpy(ret->labels + ret->n, labels->data + IDX_LABELS_HEAD, shape.n);
    ret->n += shape.n;
    return 0;
}

/* ---- CIFAR-10 ---- */

static int check_cifar(const char *name, const struct bytes *b, struct data_error *error) {
    size_t whole = b->n / CIFAR_RECORD * CIFAR_RECORD;
    int r = 0;
    if (b->n == 0 || whole != b->n)
        return data_error_at(error, name, whole, "expected a record of %d bytes, found %zu",
                             CIFAR_RECORD, b->n - whole);
    for (size_t i = 0; r == 0 && i < b->n; i += CIFAR_RECORD)
        r = check_label(name, i, b->data[i], error);
    return r;
}

int images_parse_cifar(const char *name, const struct bytes *b, struct images *ret,
                       struct data_error *error) {
    const struct images shape = {
        .rows = CIFAR_ROWS, .columns = CIFAR_ROWS, .channels = CIFAR_CHANNELS};
    int r = check_cifar(name, b, error);
    if (r == 0)
        r = check_shape(name, ret, &shape, error);
    if (r < 0)
        return r;
    r = reserve(ret, &shape, b->n / CIFAR_RECORD);
    if (r < 0)
        return data_error_set(error, r, name, "cannot keep its images");
    for (const uint8_t *p = b->data; p < b->data + b->n; p += CIFAR_RECORD) {
        ret->labels[ret->n] = p[0];
        memcpy(ret->pixels + ret->n++ * (CIFAR_RECORD - 1), p + 1, CIFAR_RECORD - 1);
    }
    return 0;
}
