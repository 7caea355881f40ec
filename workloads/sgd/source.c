/* SPDX-License-Identifier: MIT */
#include "workloads/sgd/source.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "workloads/data/draw.h"

#define PRELOAD_ROWS 4096

static int fail_reading(struct source_error *error, int r, const char *text) {
    snprintf(error->text, sizeof error->text, "%s", text);
    return r;
}

/* ---- text ---- */

/* Reads all of the share once. */
static int preload(struct source *s, struct source_error *error) {
    struct libsvm_error why;
    ssize_t n = 0;
    while (n >= 0 && s->reader.epoch == 0)
        n = libsvm_read(&s->reader, PRELOAD_ROWS, &s->kept, &why);
    return n < 0 ? fail_reading(error, (int)n, why.text) : 0;
}

static int open_text(struct source *s, const struct sgd_options *o, int share,
                     struct source_error *error) {
    struct libsvm_error why;
    s->n_features = o->n_features;
    s->width = 1;
    if (share < 0)
        return 0;
    int r = libsvm_open_share(&s->reader, o->data, share, (int)s->n_shares, o->n_features, &why);
    if (r < 0)
        return fail_reading(error, r, why.text);
    s->is_text = true;
    libsvm_begin_with(&s->reader, o->seed);
    s->reader.direct = o->direct;
    return o->preload ? preload(s, error) : 0;
}

static ssize_t read_kept(struct source *s, size_t n, struct batch *b, struct source_error *error) {
    const struct batch *k = &s->kept;
    if (s->next_row == k->n_rows)
        s->next_row = 0;
    for (size_t i = 0; i < n; i++) {
        if (s->next_row == k->n_rows)
            return (ssize_t)i;
        uint32_t from = k->row_start[s->next_row];
        size_t length = k->row_start[s->next_row + 1] - from;
        int r = batch_reserve(b, length);
        if (r < 0)
            return fail_reading(error, r, "not enough memory for a batch");
        memcpy(b->index + b->n_entries, k->index + from, length * sizeof *b->index);
        memcpy(b->value + b->n_entries, k->value + from, length * sizeof *b->value);
        b->label[b->n_rows++] = k->label[s->next_row++];
        b->row_start[b->n_rows] = (uint32_t)(b->n_entries += length);
    }
    return (ssize_t)n;
}

static ssize_t read_text(struct source *s, size_t n, struct batch *b, struct source_error *error) {
    struct libsvm_error why;
    ssize_t got = libsvm_read(&s->reader, n, b, &why);
    return got < 0 ? fail_reading(error, (int)got, why.text) : got;
}

/* ---- images ---- */

static int open_training_images(struct source *s, const struct sgd_options *o,
                                struct source_error *error) {
    struct data_error why;
    int r = images_read(o->data, IMAGES_TRAIN, &s->images, &why);
    if (r < 0)
        return fail_reading(error, r, why.text);
    s->n_features = (uint32_t)image_bytes(&s->images) + 1;
    s->width = IMAGES_CLASSES;
    s->seed = o->seed;
    s->batch = o->batch;
    s->per_epoch = s->images.n / (o->batch * s->n_shares);
    s->order_epoch = UINT64_MAX;
    if (s->per_epoch == 0) {
        snprintf(error->text, sizeof error->text,
                 "%s: expected %llu training images or more, for each of %llu ranks a --batch of "
                 "%llu, found %zu",
                 o->data, (unsigned long long)(o->batch * s->n_shares),
                 (unsigned long long)s->n_shares, (unsigned long long)o->batch, s->images.n);
        return -EINVAL;
    }
    s->order = calloc(s->images.n, sizeof *s->order);
    return s->order ? 0
                    : fail_reading(error, -ENOMEM, "not enough memory for the order of the images");
}

/* Fisher and Yates' shuffle, the same at every rank. */
static void shuffle(struct source *s, uint64_t epoch) {
    struct draw_random random = draw_random_of(s->seed ^ UINT64_C(6) << 60, epoch);
    for (size_t i = 0; i < s->images.n; i++)
        s->order[i] = (uint32_t)i;
    for (size_t i = s->images.n - 1; i > 0; i--) {
        size_t j = (size_t)draw_uniform(&random, 0, (double)(i + 1));
        uint32_t other = s->order[j];
        s->order[j] = s->order[i];
        s->order[i] = other;
    }
    s->order_epoch = epoch;
}

int source_add_image(const struct images *images, size_t i, struct batch *b) {
    size_t bytes = image_bytes(images);
    const uint8_t *pixels = images->pixels + i * bytes;
    int r = batch_reserve(b, bytes + 1);
    if (r < 0)
        return r;
    size_t n = b->n_entries;
    for (size_t k = 0; k < bytes; k++) {
        b->index[n] = (uint32_t)k;
        b->value[n] = (float)pixels[k] * (1.f / 255);
        n += pixels[k] != 0;
    }
    b->index[n] = (uint32_t)bytes;
    b->value[n++] = 1;
    b->label[b->n_rows++] = images->labels[i];
    b->row_start[b->n_rows] = (uint32_t)(b->n_entries = n);
    return 0;
}

static ssize_t read_images(struct source *s, size_t n, struct batch *b,
                           struct source_error *error) {
    for (size_t i = 0; i < n; i++, s->taken++) {
        uint64_t number = s->taken / s->batch, epoch = number / s->per_epoch;
        if (s->order_epoch != epoch)
            shuffle(s, epoch);
        uint64_t first = (number % s->per_epoch * s->n_shares + s->share) * s->batch;
        if (source_add_image(&s->images, s->order[first + s->taken % s->batch], b) < 0)
            return fail_reading(error, -ENOMEM, "not enough memory for a batch");
    }
    return (ssize_t)n;
}

/* ---- both ---- */

int source_open(struct source *ret, const struct sgd_options *o, int share, int n_shares,
                struct source_error *error) {
    *ret = (struct source){
        .share = (uint64_t)share, .n_shares = (uint64_t)n_shares, .reader = {.fd = -1}};
    return o->softmax ? open_training_images(ret, o, error) : open_text(ret, o, share, error);
}

void source_release(struct source *s) {
    if (s->is_text)
        libsvm_release(&s->reader);
    batch_release(&s->kept);
    images_release(&s->images);
    free(s->order);
    *s = (struct source){0};
}

ssize_t source_read(struct source *s, size_t n, struct batch *b, struct source_error *error) {
    return !s->is_text          ? read_images(s, n, b, error)
           : s->kept.n_rows > 0 ? read_kept(s, n, b, error)
                                : read_text(s, n, b, error);
}

/* Skips text by reading it; whole epochs are skipped without reading once the length of the first
 * is known. */
static int skip_text(struct source *s, uint64_t n, struct source_error *error) {
    struct batch unused = {0};
    uint64_t epoch = s->reader.epoch, in_epoch = 0;
    ssize_t got = 0;
    while (n > 0 && got >= 0) {
        got = read_text(s, n < PRELOAD_ROWS ? n : PRELOAD_ROWS, &unused, error);
        batch_clear(&unused);
        n -= got > 0 ? (uint64_t)got : 0;
        in_epoch += got > 0 ? (uint64_t)got : 0;
        if (s->reader.epoch == epoch)
            continue;
        epoch = s->reader.epoch;
        n %= in_epoch;
        in_epoch = 0;
    }
    batch_release(&unused);
    return got < 0 ? (int)got : 0;
}

int source_skip(struct source *s, uint64_t n, struct source_error *error) {
    if (s->is_text && s->kept.n_rows == 0)
        return skip_text(s, n, error);
    if (s->is_text)
        s->next_row = (s->next_row + n) % s->kept.n_rows;
    else
        s->taken += n;
    return 0;
}
