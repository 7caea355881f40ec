/* SPDX-License-Identifier: MIT */
#include "workloads/data/generate.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "workloads/data/draw.h"
#include "workloads/data/origin.h"

#define PATH_SIZE 4096
#define SHOW_EVERY 1000
#define BATCHES 5 /* training images in one file, as CIFAR-10 has */

struct generation {
    const struct generate_options *options;
    void (*show)(void *ctx, double done);
    void *ctx;
    struct data_error *error;
    uint64_t done;
};

/* A file that gets its name when it is complete. */
struct output {
    FILE *file;
    int failed; /* the first error: negative errno */
    char path[PATH_SIZE], part[PATH_SIZE + 8];
};

static int output_open(struct generation *g, const char *name, struct output *ret) {
    int n = snprintf(ret->path, sizeof ret->path, "%s/%s", g->options->directory, name);
    snprintf(ret->part, sizeof ret->part, "%s.part", ret->path);
    if (n >= (int)sizeof ret->path)
        return data_error_set(g->error, -ENAMETOOLONG, g->options->directory, "cannot write there");
    ret->failed = 0;
    ret->file = fopen(ret->part, "we");
    return ret->file ? 0 : data_error_set(g->error, -errno, ret->part, "cannot write");
}

/* broken: another file has failed, so this one is discarded. */
static int output_close(struct generation *g, struct output *o, bool broken) {
    int r = o->failed;
    if (r == 0 && fflush(o->file) != 0)
        r = -errno;
    if (fclose(o->file) != 0 && r == 0)
        r = -errno;
    if (r == 0 && !broken && rename(o->part, o->path) < 0)
        r = -errno;
    if (r < 0 || broken)
        unlink(o->part);
    return r < 0 && !broken ? data_error_set(g->error, r, o->path, "cannot write") : r;
}

static void put(struct output *o, const void *bytes, size_t n) {
    if (o->failed == 0 && fwrite(bytes, 1, n, o->file) != n)
        o->failed = errno ? -errno : -EIO;
}

static void put_big_endian(struct output *o, uint32_t v) {
    const uint8_t bytes[] = {(uint8_t)(v >> 24), (uint8_t)(v >> 16), (uint8_t)(v >> 8), (uint8_t)v};
    put(o, bytes, sizeof bytes);
}

static void count(struct generation *g) {
    if (++g->done % SHOW_EVERY == 0 && g->show)
        g->show(g->ctx, (double)g->done);
}

static void put_digits(struct generation *g, struct output *pixels, struct output *labels,
                       uint32_t first, uint32_t n) {
    put_big_endian(pixels, 0x803);
    put_big_endian(pixels, n);
    put_big_endian(pixels, DIGIT_ROWS);
    put_big_endian(pixels, DIGIT_ROWS);
    put_big_endian(labels, 0x801);
    put_big_endian(labels, n);
    for (uint32_t i = 0; i < n && pixels->failed == 0 && labels->failed == 0; i++) {
        uint8_t image[DIGIT_BYTES];
        uint8_t label = draw_digit(g->options->seed, first + (uint64_t)i, image);
        put(pixels, image, sizeof image);
        put(labels, &label, 1);
        count(g);
    }
}

static int write_digits(struct generation *g, const char *images_name, const char *labels_name,
                        uint32_t first, uint32_t n) {
    struct output pixels, labels;
    if (n == 0)
        return 0;
    int r = output_open(g, images_name, &pixels);
    if (r < 0)
        return r;
    r = output_open(g, labels_name, &labels);
    if (r < 0) {
        output_close(g, &pixels, true);
        return r;
    }
    put_digits(g, &pixels, &labels, first, n);
    r = output_close(g, &pixels, false);
    int s = output_close(g, &labels, r < 0);
    return r < 0 ? r : s;
}

static int write_all_digits(struct generation *g) {
    uint32_t n = g->options->n_train;
    int r = write_digits(g, "train-images-idx3-ubyte", "train-labels-idx1-ubyte", 0, n);
    return r < 0 ? r
                 : write_digits(g, "t10k-images-idx3-ubyte", "t10k-labels-idx1-ubyte", n,
                                g->options->n_test);
}

static int write_textures(struct generation *g, const char *name, uint32_t first, uint32_t n) {
    struct output records;
    if (n == 0)
        return 0;
    int r = output_open(g, name, &records);
    if (r < 0)
        return r;
    for (uint32_t i = 0; i < n && records.failed == 0; i++) {
        uint8_t record[1 + TEXTURE_BYTES];
        record[0] = draw_texture(g->options->seed, first + (uint64_t)i, record + 1);
        put(&records, record, sizeof record);
        count(g);
    }
    return output_close(g, &records, false);
}

static int write_batches(struct generation *g) {
    uint32_t n = g->options->n_train;
    char name[32];
    int r = 0;
    for (uint32_t i = 0; r == 0 && i < BATCHES; i++) {
        uint32_t begin = (uint32_t)((uint64_t)n * i / BATCHES);
        uint32_t end = (uint32_t)((uint64_t)n * (i + 1) / BATCHES);
        snprintf(name, sizeof name, "data_batch_%u.bin", i + 1);
        r = write_textures(g, name, begin, end - begin);
    }
    return r < 0 ? r : write_textures(g, "test_batch.bin", n, g->options->n_test);
}

int generate_files(const struct generate_options *o, void (*show)(void *ctx, double done),
                   void *ctx, struct data_error *error) {
    struct generation g = {o, show, ctx, error, 0};
    char origin[ORIGIN_SIZE];
    if (mkdir(o->directory, 0777) < 0 && errno != EEXIST)
        return data_error_set(error, -errno, o->directory, "cannot make the directory");
    int r = o->textures ? write_batches(&g) : write_all_digits(&g);
    if (r < 0)
        return r;
    snprintf(origin, sizeof origin, "%s drawn, seed %llu", o->textures ? "textures" : "digits",
             (unsigned long long)o->seed);
    return origin_write(o->directory, origin, error);
}
