/* SPDX-License-Identifier: MIT */
#include "workloads/sgd/tester.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#define ROWS 4096

static bool is_there(struct tester *t, const char *directory, const char *name) {
    struct stat st;
    int n = snprintf(t->path, sizeof t->path, "%s/%s", directory, name);
    return n < (int)sizeof t->path && stat(t->path, &st) == 0 && S_ISREG(st.st_mode);
}

/* The given file, or test.libsvm beside the training files if there is one, packed or not. */
static void find_text(struct tester *t, const struct sgd_options *o) {
    if (o->test_data)
        t->is_on = snprintf(t->path, sizeof t->path, "%s", o->test_data) < (int)sizeof t->path;
    else
        t->is_on = is_there(t, o->data, "test.libsvm") || is_there(t, o->data, "test.libsvm.gz");
}

static int open_test_images(struct tester *t, const struct sgd_options *o,
                            struct source_error *error) {
    struct data_error why;
    int r = images_read(o->data, IMAGES_TEST, &t->images, &why);
    if (r == 0 && image_bytes(&t->images) + 1 != t->n_features) {
        snprintf(why.text, sizeof why.text,
                 "%s: expected test images of %u bytes, as for training, found %zu", o->data,
                 t->n_features - 1, image_bytes(&t->images));
        r = -EBADMSG;
    }
    if (r < 0)
        snprintf(error->text, sizeof error->text, "%s", why.text);
    t->is_on = true;
    return r;
}

int tester_open(struct tester *ret, const struct sgd_options *o, uint32_t n_features,
                uint32_t width, struct source_error *error) {
    *ret = (struct tester){.n_features = n_features, .width = width};
    ret->z = calloc((size_t)ROWS * width, sizeof *ret->z);
    if (!ret->z) {
        snprintf(error->text, sizeof error->text, "not enough memory for tests");
        return -ENOMEM;
    }
    if (o->softmax)
        return open_test_images(ret, o, error);
    find_text(ret, o);
    return 0;
}

void tester_release(struct tester *t) {
    images_release(&t->images);
    batch_release(&t->batch);
    free(t->z);
    *t = (struct tester){0};
}

static void score_batch(struct tester *t, const float *model, struct logistic_score *score) {
    logistic_margins(&t->batch, t->batch.index, t->width, model, t->z);
    logistic_score_add(score, &t->batch, t->width, t->z);
}

static int score_text(struct tester *t, const float *model, struct logistic_score *score,
                      struct source_error *error) {
    struct libsvm_reader reader;
    struct libsvm_error why;
    int r = libsvm_open_file(&reader, t->path, t->n_features, &why);
    ssize_t n = r;
    while (n >= 0 && reader.epoch == 0) {
        batch_clear(&t->batch);
        n = libsvm_read(&reader, ROWS, &t->batch, &why);
        if (n > 0)
            score_batch(t, model, score);
    }
    if (r == 0)
        libsvm_release(&reader);
    if (n < 0)
        snprintf(error->text, sizeof error->text, "%s", why.text);
    return n < 0 ? (int)n : 0;
}

static int score_images(struct tester *t, const float *model, struct logistic_score *score,
                        struct source_error *error) {
    for (size_t from = 0; from < t->images.n; from += ROWS) {
        batch_clear(&t->batch);
        for (size_t i = from; i < t->images.n && i < from + ROWS; i++) {
            if (source_add_image(&t->images, i, &t->batch) == 0)
                continue;
            snprintf(error->text, sizeof error->text, "not enough memory for a test");
            return -ENOMEM;
        }
        score_batch(t, model, score);
    }
    return 0;
}

int tester_score(struct tester *t, const float *model, struct logistic_score *ret,
                 struct source_error *error) {
    *ret = (struct logistic_score){0};
    return t->images.n > 0 ? score_images(t, model, ret, error) : score_text(t, model, ret, error);
}
