/* SPDX-License-Identifier: MIT */
#include "agent/base/mounts.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/base/privileges.h"
#include "common/clock.h"
#include "common/error.h"

#define STACK_BYTES (128 << 10)

/* Skips images, which are always full, and file systems that the kernel makes up. */
static const char *const remote_types[] = {"nfs",       "nfs4",  "cifs",     "smb3",      "ceph",
                                           "9p",        "afs",   "lustre",   "gpfs",      "beegfs",
                                           "glusterfs", "pvfs2", "virtiofs", "fuse.sshfs"};
static const char *const image_types[] = {"squashfs", "iso9660", "udf", "erofs"};
static const char *const local_types[] = {"zfs", "btrfs", "bcachefs"};

/* One of the two threads with its results. The lock of mounts protects everything but `thread`. */
struct scanner {
    struct mounts *mounts;
    bool remote;
    bool scanning, asked, stuck;
    char point[MOUNT_POINT_MAX + 1]; /* the mount that is being scanned */
    struct mount_fill fills[MOUNTS_MAX];
    size_t n;
};

struct mounts {
    pthread_mutex_t lock;
    pthread_cond_t wake; /* of the threads */
    pthread_cond_t done; /* a thread has scanned all; on the monotonic clock */
    unsigned users;      /* references of the owner and the threads: the last one frees it */
    bool closing;
    mounts_scan *scan;
    char mountinfo[600];
    struct scanner scanners[2];
};

/* ---- mountinfo ---- */

static bool is_one_of(struct span word, const char *const *list, size_t n) {
    for (size_t i = 0; i < n; i++)
        if (span_equal(word, list[i]))
            return true;
    return false;
}
#define IS_ONE_OF(word, list) is_one_of(word, list, ARRAY_SIZE(list))

/* "\040" is a blank: the kernel writes blanks, tabs, newlines and backslashes in octal. */
static bool unescape(struct span word, char *to, size_t capacity) {
    size_t n = 0;
    for (size_t i = 0; i < word.size; i++, n++) {
        const char *c = word.data + i;
        if (n + 1 >= capacity)
            return false;
        bool octal = *c == '\\' && i + 3 < word.size && c[1] >= '0' && c[1] <= '3' && c[2] >= '0' &&
                     c[2] <= '7' && c[3] >= '0' && c[3] <= '7';
        to[n] = octal ? (char)((c[1] - '0') * 64 + (c[2] - '0') * 8 + c[3] - '0') : *c;
        i += octal ? 3 : 0;
    }
    to[n] = '\0';
    return n > 0 && strlen(to) == n;
}

/* "36 35 98:0 /root /point options shared:1 - type source options" */
bool mount_read(struct span line, struct mount *ret_mount) {
    const char *p = line.data, *end = line.data + line.size;
    struct span words[5], word = {0}, type, source;
    for (size_t i = 0; i < ARRAY_SIZE(words); i++)
        if (!text_word(&p, end, &words[i]))
            return false;
    while (!span_equal(word, "-"))
        if (!text_word(&p, end, &word))
            return false;
    if (!text_word(&p, end, &type) || !text_word(&p, end, &source))
        return false;
    ret_mount->remote = IS_ONE_OF(type, remote_types);
    bool local = span_starts(source, "/dev/") || IS_ONE_OF(type, local_types) ||
                 (span_equal(type, "overlay") && span_equal(words[4], "/"));
    if (words[2].size >= sizeof ret_mount->device || IS_ONE_OF(type, image_types))
        return false;
    memcpy(ret_mount->device, words[2].data, words[2].size);
    ret_mount->device[words[2].size] = '\0';
    return (ret_mount->remote || local) &&
           unescape(words[4], ret_mount->point, sizeof ret_mount->point);
}

static bool is_below(const char *point, const char *other) {
    size_t n = strlen(other);
    return strncmp(point, other, n) == 0 && (point[n] == '/' || point[n] == '\0');
}

/* Adds a mount. Skips a device that is listed at another place, and replaces a listed mount that
 * this one covers. A mount below a remote one counts as remote. */
static bool is_new(struct mount *list, size_t n, struct mount *mount) {
    for (size_t i = 0; i < n; i++)
        mount->remote |= list[i].remote && is_below(mount->point, list[i].point);
    for (size_t i = 0; i < n; i++) {
        if (strcmp(list[i].point, mount->point) == 0)
            list[i] = *mount;
        if (strcmp(list[i].device, mount->device) == 0)
            return false;
    }
    return true;
}

/* At most 2 * MOUNTS_MAX mounts, which the caller frees. NULL: no memory, or the file cannot be
 * read. */
static struct mount *list_mounts(const char *path, size_t *ret_n) {
    struct mount *list = calloc(2 * MOUNTS_MAX, sizeof *list);
    FILE *file = list ? fopen(path, "re") : NULL;
    char *text = NULL;
    size_t room = 0, n = 0;
    ssize_t size;
    while (file && n < 2 * MOUNTS_MAX && (size = getline(&text, &room, file)) > 0)
        if (mount_read((struct span){text, (size_t)size - (text[size - 1] == '\n')}, &list[n]) &&
            is_new(list, n, &list[n]))
            n++;
    free(text);
    if (file)
        fclose(file);
    *ret_n = n;
    return list;
}

/* ---- threads ---- */

static int64_t times(uint64_t n, uint64_t size) {
    uint64_t product;
    return __builtin_mul_overflow(n, size, &product) || product > INT64_MAX ? VALUE_ABSENT
                                                                            : (int64_t)product;
}

static void fill_in(const char *point, const struct statvfs *stat, struct mount_fill *fill) {
    size_t size = strlen(point);
    const char *from = size > INSTANCE_MAX ? point + size - INSTANCE_MAX : point;
    memcpy(fill->name, from, strlen(from) + 1);
    fill->size_bytes = times(stat->f_blocks, stat->f_frsize);
    fill->free_bytes = times(stat->f_bfree, stat->f_frsize);
    fill->available_bytes = times(stat->f_bavail, stat->f_frsize);
    fill->files = stat->f_files ? times(stat->f_files, 1) : VALUE_ABSENT;
    fill->free_files = stat->f_files ? times(stat->f_ffree, 1) : VALUE_ABSENT;
}

/* True: go on. */
static bool scan_one(struct scanner *scanner, const char *point) {
    struct mounts *mounts = scanner->mounts;
    struct statvfs stat;
    pthread_mutex_lock(&mounts->lock);
    memcpy(scanner->point, point, strlen(point) + 1);
    pthread_mutex_unlock(&mounts->lock);
    int r = mounts->scan(point, &stat);
    pthread_mutex_lock(&mounts->lock);
    scanner->point[0] = '\0';
    if (r == 0 && stat.f_blocks && scanner->n < MOUNTS_MAX)
        fill_in(point, &stat, &scanner->fills[scanner->n++]);
    bool go_on = !mounts->closing;
    pthread_mutex_unlock(&mounts->lock);
    return go_on;
}

static void scan_all(struct scanner *scanner) {
    size_t n;
    struct mount *list = list_mounts(scanner->mounts->mountinfo, &n);
    for (size_t i = 0; list && i < n; i++)
        if (list[i].remote == scanner->remote && !scan_one(scanner, list[i].point))
            break;
    free(list);
}

/* Called with the lock, and releases it. */
static void leave(struct mounts *mounts) {
    bool last = --mounts->users == 0;
    pthread_mutex_unlock(&mounts->lock);
    if (!last)
        return;
    pthread_cond_destroy(&mounts->wake);
    pthread_cond_destroy(&mounts->done);
    pthread_mutex_destroy(&mounts->lock);
    free(mounts);
}

static void *run_scanner(void *argument) {
    struct scanner *scanner = argument;
    struct mounts *mounts = scanner->mounts;
    privileges_drop(&(const struct privileges_kept){.processes = true}); /* this thread is older */
    pthread_mutex_lock(&mounts->lock);
    while (!mounts->closing) {
        while (!scanner->asked && !mounts->closing)
            pthread_cond_wait(&mounts->wake, &mounts->lock);
        scanner->asked = false;
        scanner->scanning = true;
        pthread_mutex_unlock(&mounts->lock);
        scan_all(scanner);
        pthread_mutex_lock(&mounts->lock);
        scanner->scanning = scanner->stuck = false;
        pthread_cond_broadcast(&mounts->done);
    }
    leave(mounts);
    return NULL;
}

static int begin(struct scanner *scanner, struct mounts *mounts, bool remote) {
    pthread_t thread;
    sigset_t all, before;
    pthread_attr_t attributes;
    *scanner = (struct scanner){.mounts = mounts, .remote = remote, .asked = true};
    mounts->users++;
    sigfillset(&all);
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, STACK_BYTES);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    pthread_sigmask(SIG_BLOCK, &all, &before);
    int r = pthread_create(&thread, &attributes, run_scanner, scanner);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
    mounts->users -= r != 0;
    return -r;
}

static void init_conditions(struct mounts *mounts) {
    pthread_condattr_t monotonic;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&mounts->wake, NULL);
    pthread_cond_init(&mounts->done, &monotonic);
    pthread_condattr_destroy(&monotonic);
}

int mounts_new(const char *mountinfo, mounts_scan *scan, struct mounts **ret_mounts) {
    struct mounts *mounts = calloc(1, sizeof *mounts);
    if (!mounts)
        return -ENOMEM;
    pthread_mutex_init(&mounts->lock, NULL);
    init_conditions(mounts);
    mounts->users = 1;
    mounts->scan = scan;
    snprintf(mounts->mountinfo, sizeof mounts->mountinfo, "%s", mountinfo);
    pthread_mutex_lock(&mounts->lock);
    int r = begin(&mounts->scanners[0], mounts, false);
    if (r == 0)
        r = begin(&mounts->scanners[1], mounts, true);
    pthread_mutex_unlock(&mounts->lock);
    if (r < 0)
        mounts_free(mounts);
    else
        *ret_mounts = mounts;
    return r;
}

void mounts_free(struct mounts *mounts) {
    if (!mounts)
        return;
    pthread_mutex_lock(&mounts->lock);
    mounts->closing = true;
    pthread_cond_broadcast(&mounts->wake);
    leave(mounts);
}

void mounts_scan_again(struct mounts *mounts) {
    pthread_mutex_lock(&mounts->lock);
    for (size_t i = 0; i < 2; i++) {
        mounts->scanners[i].stuck = mounts->scanners[i].scanning;
        mounts->scanners[i].asked = !mounts->scanners[i].scanning;
    }
    pthread_cond_broadcast(&mounts->wake);
    pthread_mutex_unlock(&mounts->lock);
}

void mounts_scan_now(struct mounts *mounts, int64_t at_most_ns) {
    int64_t until_ns = clock_monotonic_ns() + at_most_ns;
    struct timespec until = {until_ns / NS_PER_S, until_ns % NS_PER_S};
    struct scanner *local = &mounts->scanners[0];
    int r = 0;
    mounts_scan_again(mounts);
    pthread_mutex_lock(&mounts->lock);
    while ((local->asked || local->scanning) && r == 0)
        r = pthread_cond_timedwait(&mounts->done, &mounts->lock, &until);
    pthread_mutex_unlock(&mounts->lock);
}

size_t mounts_take(struct mounts *mounts, struct mount_fill *ret_fills, size_t n) {
    size_t taken = 0;
    pthread_mutex_lock(&mounts->lock);
    for (size_t i = 0; i < 2; i++) {
        struct scanner *scanner = &mounts->scanners[i];
        for (size_t k = 0; k < scanner->n && taken < n; k++)
            ret_fills[taken++] = scanner->fills[k];
        scanner->n = 0;
    }
    pthread_mutex_unlock(&mounts->lock);
    return taken;
}

bool mounts_stuck(struct mounts *mounts, char ret_point[MOUNT_POINT_MAX + 1]) {
    bool stuck = false;
    pthread_mutex_lock(&mounts->lock);
    for (size_t i = 0; i < 2 && !stuck; i++) {
        stuck = mounts->scanners[i].stuck && mounts->scanners[i].point[0];
        if (stuck)
            memcpy(ret_point, mounts->scanners[i].point, sizeof mounts->scanners[i].point);
    }
    pthread_mutex_unlock(&mounts->lock);
    return stuck;
}
