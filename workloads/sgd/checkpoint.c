/* SPDX-License-Identifier: MIT */
#include "workloads/sgd/checkpoint.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "workloads/common/whole_file.h"
#include "workloads/data/bytes.h"

#define MAGIC "ckptSGD" /* with its NUL */
#define VERSION 1
#define N_PIECES 3

/* The pieces of the file before the checksum, in order. */
struct piece {
    void *bytes;
    size_t n;
};

struct checkpoint_head checkpoint_head_of(const struct sgd_options *o, int n_ranks, int n_shares,
                                          uint32_t n_features, uint32_t width) {
    return (struct checkpoint_head){.magic = MAGIC,
                                    .version = VERSION,
                                    .mode = (uint32_t)o->mode,
                                    .softmax = o->softmax,
                                    .n_ranks = (uint32_t)n_ranks,
                                    .n_shares = (uint32_t)n_shares,
                                    .n_features = n_features,
                                    .width = width,
                                    .batch = o->batch,
                                    .seed = o->seed};
}

static void lay_out_file(const struct checkpoint_head *shape, struct checkpoint_head *head,
                         uint64_t *batches, float *weights, struct piece ret[N_PIECES]) {
    ret[0] = (struct piece){head, sizeof *head};
    ret[1] = (struct piece){batches, shape->n_ranks * sizeof *batches};
    ret[2] = (struct piece){weights, (size_t)shape->n_features * shape->width * sizeof *weights};
}

/* ---- writing ---- */

static int write_pieces(int fd, const struct piece *pieces) {
    uint32_t sum = 0;
    int r = 0;
    for (int i = 0; r == 0 && i < N_PIECES; i++) {
        sum = bytes_checksum(sum, pieces[i].bytes, pieces[i].n);
        r = file_write_all(fd, pieces[i].bytes, pieces[i].n);
    }
    if (r == 0)
        r = file_write_all(fd, &sum, sizeof sum);
    return r == 0 && fsync(fd) < 0 ? -errno : r;
}

/* A new file's name is durable when its directory is synced. */
static int sync_directory(const char *directory) {
    int fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return -errno;
    int r = fsync(fd) < 0 ? -errno : 0;
    close(fd);
    return r;
}

static int write_part(const char *part, const struct piece *pieces) {
    unlink(part); /* removes what a killed run left; does not follow a link */
    int fd = open(part, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd < 0)
        return -errno;
    int r = write_pieces(fd, pieces);
    return close(fd) < 0 && r == 0 ? -errno : r;
}

int checkpoint_write(const char *directory, const struct checkpoint_head *head,
                     const uint64_t *batches, const float *weights) {
    char path[PATH_MAX], part[PATH_MAX];
    struct piece pieces[N_PIECES];
    struct checkpoint_head copy = *head;
    if (snprintf(part, sizeof part, "%s/checkpoint.part", directory) >= (int)sizeof part)
        return -ENAMETOOLONG;
    snprintf(path, sizeof path, "%s/checkpoint", directory);
    if (mkdir(directory, 0777) < 0 && errno != EEXIST)
        return -errno;
    /* pieces are only read here */
    lay_out_file(head, &copy, (uint64_t *)(uintptr_t)batches, (float *)(uintptr_t)weights, pieces);
    int r = write_part(part, pieces);
    if (r == 0 && rename(part, path) < 0)
        r = -errno;
    if (r < 0)
        unlink(part);
    return r < 0 ? r : sync_directory(directory);
}

/* ---- reading ---- */

static int refuse(struct checkpoint_error *error, const char *path, const char *why) {
    snprintf(error->text, sizeof error->text, "%s: %s", path, why);
    return -EINVAL;
}

/* Returns 0, -ENODATA if the file ends early, or another negative errno. */
static int read_all(int fd, void *bytes, size_t n) {
    char *to = bytes;
    for (size_t done = 0; done < n;) {
        ssize_t got = read(fd, to + done, n - done);
        if (got == 0)
            return -ENODATA;
        if (got < 0 && errno != EINTR)
            return -errno;
        done += got > 0 ? (size_t)got : 0;
    }
    return 0;
}

static int check_shape(const struct checkpoint_head *w, const struct checkpoint_head *h,
                       const char *path, struct checkpoint_error *error) {
    const struct {
        const char *what;
        uint64_t wanted, found;
    } rows[] = {{"version", w->version, h->version},
                {"--mode (0 sync, 1 async, 2 single)", w->mode, h->mode},
                {"softmax", w->softmax, h->softmax},
                {"ranks", w->n_ranks, h->n_ranks},
                {"ranks that work", w->n_shares, h->n_shares},
                {"features", w->n_features, h->n_features},
                {"weights a feature", w->width, h->width},
                {"--batch", w->batch, h->batch},
                {"--seed", w->seed, h->seed}};
    char why[128];
    if (memcmp(h->magic, w->magic, sizeof w->magic) != 0)
        return refuse(error, path, "no checkpoint of chokepoint-sgd");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].wanted != rows[i].found) {
            snprintf(why, sizeof why, "a checkpoint of another training: %s is %llu, expected %llu",
                     rows[i].what, (unsigned long long)rows[i].found,
                     (unsigned long long)rows[i].wanted);
            return refuse(error, path, why);
        }
    return 0;
}

/* Checks the size before reading: pipes and endless files are no checkpoints. */
static int check_size(int fd, const struct piece *pieces, const char *path,
                      struct checkpoint_error *error) {
    size_t expected = sizeof(uint32_t);
    struct stat st;
    char why[128];
    for (int i = 0; i < N_PIECES; i++)
        expected += pieces[i].n;
    if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
        return refuse(error, path, "no regular file");
    if ((uint64_t)st.st_size == expected)
        return 0;
    snprintf(why, sizeof why, "expected a checkpoint of %zu bytes, found %lld", expected,
             (long long)st.st_size);
    return refuse(error, path, why);
}

static int check_values(const struct checkpoint_head *h, const float *weights, const char *path,
                        struct checkpoint_error *error) {
    size_t n = (size_t)h->n_features * h->width;
    if (!isfinite(h->loss))
        return refuse(error, path, "its loss is no number");
    for (size_t i = 0; i < n; i++)
        if (!isfinite(weights[i]))
            return refuse(error, path, "a weight in it is no number");
    return 0;
}

static int read_pieces(int fd, const struct checkpoint_head *wanted, const struct piece *pieces,
                       const char *path, struct checkpoint_error *error) {
    uint32_t sum = 0, stored;
    int r = 0;
    for (int i = 0; r == 0 && i < N_PIECES; i++) {
        r = read_all(fd, pieces[i].bytes, pieces[i].n);
        if (r == 0 && i == 0 && check_shape(wanted, pieces[0].bytes, path, error) < 0)
            return -EINVAL;
        if (r == 0 && i == 0 && check_size(fd, pieces, path, error) < 0)
            return -EINVAL;
        sum = bytes_checksum(sum, pieces[i].bytes, pieces[i].n);
    }
    if (r == 0)
        r = read_all(fd, &stored, sizeof stored);
    if (r < 0)
        return refuse(error, path, r == -ENODATA ? "it ends too early" : strerror(-r));
    return sum == stored ? 0 : refuse(error, path, "damaged: its checksum is wrong");
}

int checkpoint_read(const char *directory, const struct checkpoint_head *wanted,
                    struct checkpoint_head *ret, uint64_t *batches, float *weights,
                    struct checkpoint_error *error) {
    char path[PATH_MAX], why[128];
    struct piece pieces[N_PIECES];
    if (snprintf(path, sizeof path, "%s/checkpoint", directory) >= (int)sizeof path)
        return refuse(error, directory, strerror(ENAMETOOLONG));
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0) {
        snprintf(why, sizeof why, "no checkpoint to resume: %s", strerror(errno));
        return refuse(error, path, why);
    }
    lay_out_file(wanted, ret, batches, weights, pieces);
    int r = read_pieces(fd, wanted, pieces, path, error);
    close(fd);
    return r < 0 ? r : check_values(ret, weights, path, error);
}
