/* SPDX-License-Identifier: MIT */
/*
 * Makes the n-th call of a kind fail, once, for a while or from then on. Kinds are system calls
 * that write, sync, open, name and read files, and allocations. System calls are replaced for the
 * whole process, including SQLite's library; allocations of our own code by the linker (--wrap),
 * those of SQLite by its configuration. A play is repeated with the next n until it passes without
 * a failure.
 *
 * Every ./check tries each stride-th n. To try all, run the test's program with the argument 1; it
 * also takes the name of a test, and the first and last n.
 */
#ifndef CHOKEPOINT_TESTS_FAIL_NTH_H
#define CHOKEPOINT_TESTS_FAIL_NTH_H

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

enum fail_kind {
    FAIL_WRITE = 1, /* includes changes of a file's length */
    FAIL_SYNC = 2,
    FAIL_OPEN = 4,
    FAIL_NAME = 8, /* making, renaming and removing a file */
    FAIL_READ = 16,
    FAIL_MEMORY = 32,
};

enum fail_span { FAIL_ONCE, FAIL_FOR_A_WHILE, FAIL_FROM_THEN_ON };
static const struct {
    const char *name;
    uint64_t calls;
} fail_spans[] = {{"once", 1}, {"for 20 calls", 20}, {"from then on", UINT64_MAX}};

struct fail_nth {
    unsigned kinds; /* 0: nothing fails */
    uint64_t n;
    enum fail_span span;
    bool half; /* a failing write writes half before */
    atomic_uint_fast64_t seen, failed;
};

static struct fail_nth fail_nth;
static _Thread_local bool fail_paused; /* for the test's own calls */

/* A failed check reports which call had failed; any thread may fail. */
#define MUST(condition, ...)                                                                       \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fail_nth.kinds = 0;                                                                    \
            fprintf(stderr, __VA_ARGS__);                                                          \
            fprintf(stderr, " (call %llu, %s; %s:%d)\n", (unsigned long long)fail_nth.n,           \
                    fail_spans[fail_nth.span].name, __FILE__, __LINE__);                           \
            abort();                                                                               \
        }                                                                                          \
    } while (0)

static bool fail_now(unsigned kind, int error) {
    if (!(fail_nth.kinds & kind) || fail_paused)
        return false;
    uint64_t at = atomic_fetch_add(&fail_nth.seen, 1) + 1;
    if (at < fail_nth.n || at - fail_nth.n >= fail_spans[fail_nth.span].calls)
        return false;
    atomic_fetch_add(&fail_nth.failed, 1);
    errno = error;
    return true;
}

/* ---- system calls ---- */

#define FAIL_NEXT(name)                                                                            \
    static __typeof__(&(name)) next;                                                               \
    if (!next)                                                                                     \
    next = (__typeof__(&(name)))dlsym(RTLD_NEXT, #name)

#define FAIL_WRITER(name, count, half_count, parameters, ...)                                      \
    ssize_t name parameters {                                                                      \
        FAIL_NEXT(name);                                                                           \
        if (!fail_now(FAIL_WRITE, ENOSPC))                                                         \
            return next(__VA_ARGS__);                                                              \
        if (fail_nth.half && (count) > 1) {                                                        \
            (count) = (half_count);                                                                \
            return next(__VA_ARGS__);                                                              \
        }                                                                                          \
        errno = ENOSPC;                                                                            \
        return -1;                                                                                 \
    }

FAIL_WRITER(write, size, size / 2, (int fd, const void *data, size_t size), fd, data, size)
FAIL_WRITER(pwrite64, size, size / 2, (int fd, const void *data, size_t size, off_t at), fd, data,
            size, at)

/* Writes half of the last piece, which is the frame behind the opening of a segment. */
ssize_t writev(int fd, const struct iovec *pieces, int n) {
    FAIL_NEXT(writev);
    if (!fail_now(FAIL_WRITE, ENOSPC))
        return next(fd, pieces, n);
    if (!fail_nth.half || n < 1 || n > 8)
        return -1;
    struct iovec some[8];
    memcpy(some, pieces, (size_t)n * sizeof *pieces);
    some[n - 1].iov_len /= 2;
    return next(fd, some, n);
}

#define FAIL_CALL(kind, error, result, name, parameters, ...)                                      \
    result name parameters {                                                                       \
        FAIL_NEXT(name);                                                                           \
        return fail_now(kind, error) ? -1 : next(__VA_ARGS__);                                     \
    }

FAIL_CALL(FAIL_WRITE, EIO, int, ftruncate, (int fd, off_t size), fd, size)
FAIL_CALL(FAIL_WRITE, EIO, int, ftruncate64, (int fd, off64_t size), fd, size)
FAIL_CALL(FAIL_READ, EIO, ssize_t, read, (int fd, void *data, size_t size), fd, data, size)
FAIL_CALL(FAIL_READ, EIO, ssize_t, pread, (int fd, void *data, size_t size, off_t at), fd, data,
          size, at)
FAIL_CALL(FAIL_READ, EIO, ssize_t, pread64, (int fd, void *data, size_t size, off64_t at), fd, data,
          size, at)
FAIL_CALL(FAIL_NAME, EIO, int, unlink, (const char *path), path)
FAIL_CALL(FAIL_NAME, EIO, int, unlinkat, (int fd, const char *path, int flags), fd, path, flags)
FAIL_CALL(FAIL_NAME, EIO, int, rename, (const char *from, const char *to), from, to)
FAIL_CALL(FAIL_NAME, EIO, int, linkat,
          (int from_fd, const char *from, int to_fd, const char *to, int flags), from_fd, from,
          to_fd, to, flags)
FAIL_CALL(FAIL_NAME, ENOSPC, int, mkdir, (const char *path, mode_t mode), path, mode)

/* Another test simulates power cuts: here nothing needs to reach the disk. */
int fsync(int fd) {
    (void)fd;
    return fail_now(FAIL_SYNC, EIO) ? -1 : 0;
}

int fdatasync(int fd) {
    (void)fd;
    return fail_now(FAIL_SYNC, EIO) ? -1 : 0;
}

#define FAIL_OPENER(name, call, ...)                                                               \
    int name(__VA_ARGS__, int flags, ...) {                                                        \
        va_list values;                                                                            \
        FAIL_NEXT(name);                                                                           \
        va_start(values, flags);                                                                   \
        mode_t mode = flags & O_CREAT ? va_arg(values, mode_t) : 0;                                \
        va_end(values);                                                                            \
        return fail_now(FAIL_OPEN, EMFILE) ? -1 : call;                                            \
    }

FAIL_OPENER(open, next(path, flags, mode), const char *path)
FAIL_OPENER(open64, next(path, flags, mode), const char *path)
FAIL_OPENER(openat, next(fd, path, flags, mode), int fd, const char *path)

/* Maps the index of a log. */
void *mmap64(void *address, size_t size, int protection, int flags, int fd, off64_t at) {
    FAIL_NEXT(mmap64);
    return fail_now(FAIL_OPEN, ENOMEM) ? MAP_FAILED
                                       : next(address, size, protection, flags, fd, at);
}

/* ---- allocations ---- */

#define FAIL_ALLOCATOR(result, name, parameters, ...)                                              \
    result __real_##name parameters;                                                               \
    result __wrap_##name parameters;                                                               \
    result __wrap_##name parameters {                                                              \
        return fail_now(FAIL_MEMORY, ENOMEM) ? NULL : __real_##name(__VA_ARGS__);                  \
    }

FAIL_ALLOCATOR(void *, malloc, (size_t size), size)
FAIL_ALLOCATOR(void *, calloc, (size_t n, size_t size), n, size)
FAIL_ALLOCATOR(void *, realloc, (void *p, size_t size), p, size)
FAIL_ALLOCATOR(char *, strdup, (const char *text), text)
FAIL_ALLOCATOR(DIR *, fdopendir, (int fd), fd)

int __wrap_asprintf(char **ret, const char *format, ...);
int __wrap_asprintf(char **ret, const char *format, ...) {
    va_list values;
    if (fail_now(FAIL_MEMORY, ENOMEM))
        return -1;
    va_start(values, format);
    int n = vasprintf(ret, format, values);
    va_end(values);
    return n;
}

#ifdef SQLITE_VERSION
static sqlite3_mem_methods fail_sqlite;

static void *fail_sqlite_malloc(int size) {
    return fail_now(FAIL_MEMORY, ENOMEM) ? NULL : fail_sqlite.xMalloc(size);
}

static void *fail_sqlite_realloc(void *p, int size) {
    return fail_now(FAIL_MEMORY, ENOMEM) ? NULL : fail_sqlite.xRealloc(p, size);
}

/* Must run before any other call of SQLite. */
static void fail_sqlite_allocations(void) {
    if (sqlite3_config(SQLITE_CONFIG_GETMALLOC, &fail_sqlite) != SQLITE_OK)
        abort();
    sqlite3_mem_methods methods = fail_sqlite;
    methods.xMalloc = fail_sqlite_malloc;
    methods.xRealloc = fail_sqlite_realloc;
    if (sqlite3_config(SQLITE_CONFIG_MALLOC, &methods) != SQLITE_OK)
        abort();
}
#endif

/* ---- all n ---- */

static int fail_stride = -1; /* -1: each test's own stride */
static uint64_t fail_from = 1, fail_to = UINT64_MAX;

static void fail_read_arguments(int argc, char **argv) {
    if (argc > 1)
        fail_stride = atoi(argv[1]);
    if (argc > 2)
        cmocka_set_test_filter(argv[2]);
    if (argc > 3)
        fail_from = strtoull(argv[3], NULL, 10);
    if (argc > 4)
        fail_to = strtoull(argv[4], NULL, 10);
}

/* The number of open descriptors. */
static inline size_t fail_open_files(void) {
    size_t n = 0;
    DIR *dir = opendir("/proc/self/fd");
    while (dir && readdir(dir))
        n++;
    closedir(dir);
    return n;
}

static inline void fail_disarm(void) {
    fail_nth.kinds = 0;
}

struct fail_series {
    const char *name;
    unsigned kinds;
    int stride; /* used in every ./check */
    bool half;
};

/* play() must call fail_disarm() before it examines the result of a failure. */
static inline void fail_each(const struct fail_series *series, enum fail_span span,
                             void (*play)(void *ctx), void *ctx) {
    uint64_t stride = (uint64_t)(fail_stride > 0 ? fail_stride : series->stride), n, tried = 0;
    for (n = fail_from; n <= fail_to; n += stride, tried++) {
        atomic_store(&fail_nth.seen, 0);
        fail_nth.n = n;
        fail_nth.span = span;
        fail_nth.half = series->half;
        fail_nth.kinds = series->kinds;
        play(ctx);
        fail_disarm();
        if (atomic_load(&fail_nth.seen) < n)
            break;
    }
    fprintf(stderr, "           %s, %s: %llu of %llu calls failed one by one\n", series->name,
            fail_spans[span].name, (unsigned long long)tried,
            (unsigned long long)atomic_load(&fail_nth.seen));
}

#endif
