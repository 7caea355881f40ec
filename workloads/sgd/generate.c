/* SPDX-License-Identifier: MIT */
/*
 * Writes the examples as text. Every write and the close are checked, and a file gets its name only
 * when it is complete: a full disk leaves an error and no partial file that a training would read.
 */
#include "workloads/sgd/generate.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "workloads/sgd/planted.h"

#define BUFFER_BYTES (1 << 18)
#define MAX_ROW_BYTES (2 + N_SLOTS * 18)

struct output {
    int fd;
    size_t n;
    uint64_t bytes;
    char buffer[BUFFER_BYTES];
};

static int flush(struct output *o) {
    for (size_t done = 0; done < o->n;) {
        ssize_t n = write(o->fd, o->buffer + done, o->n - done);
        if (n < 0 && errno != EINTR)
            return -errno;
        done += n > 0 ? (size_t)n : 0;
    }
    o->bytes += o->n;
    o->n = 0;
    return 0;
}

static char *put_unsigned(char *p, uint32_t value) {
    char digits[10];
    int n = 0;
    do
        digits[n++] = (char)('0' + value % 10);
    while (value /= 10);
    while (n > 0)
        *p++ = digits[--n];
    return p;
}

/* Writes hundredths without superfluous zeros or signs: 1, -0.25, 0.5. */
static char *put_hundredths(char *p, int value) {
    if (value < 0)
        *p++ = '-';
    uint32_t v = (uint32_t)(value < 0 ? -value : value);
    p = put_unsigned(p, v / 100);
    if (v % 100) {
        *p++ = '.';
        *p++ = (char)('0' + v / 10 % 10);
        if (v % 10)
            *p++ = (char)('0' + v % 10);
    }
    return p;
}

static void put_example(struct output *o, const struct planted_example *e) {
    char *p = o->buffer + o->n;
    *p++ = e->label ? '1' : '0';
    for (int i = 0; i < e->n; i++) {
        *p++ = ' ';
        p = put_unsigned(p, e->index[i] + 1);
        *p++ = ':';
        p = put_hundredths(p, e->hundredths[i]);
    }
    *p++ = '\n';
    o->n = (size_t)(p - o->buffer);
}

struct tally {
    uint64_t n, set, positive, predictable;
};

static void tally_add(struct tally *t, const struct planted_example *e) {
    t->n++;
    t->set += (uint64_t)e->n;
    t->positive += e->label;
    t->predictable += (e->logit > 0) == e->label;
}

static int write_examples(struct output *o, const struct planted *model, uint64_t stream,
                          uint64_t n, struct tally *tally) {
    struct planted_example e;
    int r = 0;
    for (uint64_t i = 0; i < n && r == 0; i++) {
        if (o->n + MAX_ROW_BYTES > BUFFER_BYTES)
            r = flush(o);
        planted_draw(model, &stream, &e);
        put_example(o, &e);
        tally_add(tally, &e);
    }
    return r < 0 ? r : flush(o);
}

/* The name of a file, and its name until it is complete. */
struct target {
    char path[PATH_MAX], temporary[PATH_MAX + 8];
};

static int write_file(const struct target *target, const struct planted *model, uint64_t number,
                      uint64_t n, struct tally *tally, uint64_t *bytes) {
    struct output o;
    o.n = 0;
    o.bytes = 0;
    o.fd = open(target->temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    if (o.fd < 0)
        return -errno;
    int r = write_examples(&o, model, planted_stream(model, number), n, tally);
    if (close(o.fd) < 0 && r == 0)
        r = -errno;
    if (r == 0 && rename(target->temporary, target->path) < 0)
        r = -errno;
    if (r < 0)
        unlink(target->temporary);
    *bytes += o.bytes;
    return r;
}

static int make_file(const struct generate_options *options, const struct planted *model,
                     const char *name, uint64_t number, uint64_t n, struct tally *tally,
                     uint64_t *bytes, struct generate_error *error) {
    struct target t;
    int r = -ENAMETOOLONG;
    if (snprintf(t.path, sizeof t.path, "%s/%s", options->directory, name) < PATH_MAX) {
        snprintf(t.temporary, sizeof t.temporary, "%s.part", t.path);
        r = write_file(&t, model, number, n, tally, bytes);
    }
    if (r < 0)
        snprintf(error->text, sizeof error->text, "cannot write %s/%s: %s", options->directory,
                 name, strerror(-r));
    return r;
}

static int check_options(const struct generate_options *o, struct generate_error *error) {
    const char *wrong = o->n_features < GENERATE_MIN_FEATURES  ? "--features must be at least 1000"
                        : o->n_files < 1 || o->n_files > 10000 ? "--files must be 1 to 10000"
                        : o->n_examples < (uint64_t)o->n_files
                            ? "--examples must be at least --files"
                            : NULL;
    if (wrong)
        snprintf(error->text, sizeof error->text, "%s", wrong);
    return wrong ? -EINVAL : 0;
}

/* The test examples show how good a model can get: the planted one, and one that always says the
 * commoner label. */
static void result_fill(struct generate_result *ret, const struct tally *train,
                        const struct tally *test, uint64_t bytes) {
    const struct tally *t = test->n ? test : train;
    double positive = (double)t->positive / (double)t->n;
    ret->bytes = bytes;
    ret->set_features = (double)train->set / (double)train->n;
    ret->base_rate = positive > .5 ? positive : 1 - positive;
    ret->best_accuracy = (double)t->predictable / (double)t->n;
}

/* More training files than this call writes: a training would read them as well. */
static int refuse_leftover(const struct generate_options *options, struct generate_error *error) {
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/train-%02d.libsvm", options->directory, options->n_files);
    if (access(path, F_OK) < 0)
        return 0;
    snprintf(error->text, sizeof error->text,
             "%.400s is left from other data: remove it or choose another directory", path);
    return -EEXIST;
}

int generate_files(const struct generate_options *options, struct generate_result *ret_result,
                   struct generate_error *error) {
    struct planted model;
    struct tally train = {0}, test = {0};
    uint64_t bytes = 0, n_files = (uint64_t)options->n_files;
    int r = check_options(options, error);
    if (r < 0)
        return r;
    if (mkdir(options->directory, 0755) < 0 && errno != EEXIST) {
        r = -errno;
        snprintf(error->text, sizeof error->text, "cannot create %s: %s", options->directory,
                 strerror(-r));
        return r;
    }
    if ((r = refuse_leftover(options, error)) < 0)
        return r;
    planted_init(&model, options->n_features, options->seed);
    for (uint64_t i = 0; r == 0 && i < n_files; i++) {
        char name[32];
        uint64_t n = options->n_examples / n_files + (i < options->n_examples % n_files);
        snprintf(name, sizeof name, "train-%02d.libsvm", (int)i);
        r = make_file(options, &model, name, i, n, &train, &bytes, error);
    }
    if (r == 0 && options->n_test > 0)
        r = make_file(options, &model, "test.libsvm", UINT64_MAX - 1, options->n_test, &test,
                      &bytes, error);
    if (r == 0)
        result_fill(ret_result, &train, &test, bytes);
    return r;
}
