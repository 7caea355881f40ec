/* SPDX-License-Identifier: MIT */
/*
 * The file is unlinked before the first byte is written (O_TMPFILE, or at once), so that nothing is
 * left behind however this ends. O_DIRECT bypasses the page cache; a file system that refuses it
 * gets no figure, since the speed of the cache would mislead.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "workloads/calibrate/host.h"

#define BLOCK (4L << 20)
#define ALIGNMENT 4096

static int open_nameless(const char *directory) {
    char path[4096];
    int fd = open(directory, O_TMPFILE | O_RDWR | O_DIRECT | O_CLOEXEC, 0600);
    if (fd >= 0 || (errno != EOPNOTSUPP && errno != EISDIR && errno != ENOENT && errno != EINVAL))
        return fd >= 0 ? fd : -errno;
    if ((size_t)snprintf(path, sizeof path, "%s/.chokepoint-calibrate.%ld", directory,
                         (long)getpid()) >= sizeof path)
        return -ENAMETOOLONG;
    fd = open(path, O_CREAT | O_EXCL | O_NOFOLLOW | O_RDWR | O_DIRECT | O_CLOEXEC, 0600);
    int r = fd < 0 ? -errno : 0;
    if (fd >= 0 || r == -EINVAL) /* some kernels fail with EINVAL and still create the file */
        unlink(path);
    return r < 0 ? r : fd;
}

/* At most a quarter of the free space. */
static long bytes_allowed(int fd) {
    struct statvfs v;
    uint64_t free_bytes = fstatvfs(fd, &v) == 0 ? (uint64_t)v.f_bavail * v.f_frsize : 0;
    uint64_t quarter = free_bytes / 4;
    return quarter < DISK_BYTES_MAX ? (long)quarter / BLOCK * BLOCK : DISK_BYTES_MAX;
}

typedef ssize_t transfer(int fd, char *block, off_t at);

static ssize_t write_block(int fd, char *block, off_t at) {
    return pwrite(fd, block, BLOCK, at);
}
static ssize_t read_block(int fd, char *block, off_t at) {
    return pread(fd, block, BLOCK, at);
}

/* Transfers block after block, up to `most` bytes or `seconds`. Thins out its readings, so that
 * they fit. Returns bytes, or a negative errno. */
static long transfer_blocks(int fd, char *block, long most, double seconds, transfer *move,
                            struct meter *meter) {
    double start = now_s(), next = start;
    long done = 0;
    meter_read(meter, start, 0);
    while (done < most && now_s() < start + seconds) {
        ssize_t n = move(fd, block, done);
        if (n < 0 && errno == EINTR)
            continue;
        if (n != BLOCK)
            return n < 0 ? -errno : -ENOSPC;
        done += n;
        if (now_s() >= next) {
            meter_read(meter, now_s(), (double)done);
            next = now_s() + seconds / 32;
        }
    }
    return done;
}

static void add_disk_rate(struct figures *figures, const char *metric, const struct meter *meter,
                          long done) {
    struct meter_rates r;
    if (meter_rate(meter, 0, &r))
        figures_add(figures, metric, "MB/s", -1, r.mean * 1e-6, r.low * 1e-6, r.high * 1e-6,
                    "%ld MiB in blocks of %ld MiB, one at a time, O_DIRECT%s", done >> 20,
                    BLOCK >> 20, strcmp(metric, "disk_write") == 0 ? ", synced" : "");
}

static int measure(int fd, char *block, double seconds, struct figures *figures) {
    struct meter writing = {0}, reading = {0};
    long most = bytes_allowed(fd);
    if (most < 2 * BLOCK)
        return -ENOSPC;
    long written = transfer_blocks(fd, block, most, seconds / 2, write_block, &writing);
    if (written >= 0 && fdatasync(fd) < 0)
        written = -errno;
    if (written <= 0)
        return (int)written;
    meter_read(&writing, now_s(), (double)written);
    add_disk_rate(figures, "disk_write", &writing, written);
    long got = transfer_blocks(fd, block, written, seconds / 2, read_block, &reading);
    if (got < 0)
        return (int)got;
    meter_read(&reading, now_s(), (double)got);
    add_disk_rate(figures, "disk_read", &reading, got);
    return 0;
}

void measure_disk(const char *directory, double seconds, struct figures *figures) {
    char *block = aligned_alloc(ALIGNMENT, BLOCK);
    int fd = block ? open_nameless(directory) : -ENOMEM;
    int r = fd < 0 ? fd : 0;
    if (r == 0 && getrandom(block, BLOCK, 0) != BLOCK) /* incompressible data */
        r = -EIO;
    if (r == 0)
        r = measure(fd, block, seconds, figures);
    if (fd >= 0)
        close(fd);
    free(block);
    if (r == -EINVAL)
        figures_trouble(
            figures,
            "disk: the file system of %.100s does not do O_DIRECT; name another with --disk",
            directory);
    else if (r < 0)
        figures_trouble(figures, "disk: %.100s: %s", directory, strerror(-r));
}
