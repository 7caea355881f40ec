/* SPDX-License-Identifier: MIT */
/*
 * Draining rings of marks. A record is taken only if its sequence number says it is complete and
 * the ring's counter, read again after the copy, says that nobody can have begun to overwrite it.
 * That needs no cooperation of the writer and no write into its file.
 */
#include "agent/mark/ring.h"

#include <ctype.h>
#include <stddef.h>

#define BATCH 256               /* records copied at a time */
#define STALLED_DRAINS 2        /* patience with a record that was claimed but not completed */
#define HEAD_LIMIT (1ULL << 48) /* no program makes that many marks; beyond it is nonsense */

int mark_directory_path(const char *stem, char *ret_path, size_t size) {
    char host[256];
    if (gethostname(host, sizeof host) < 0)
        return -errno;
    host[sizeof host - 1] = 0;
    int n = snprintf(ret_path, size, "%s.%s", stem, host);
    return n < 0 || (size_t)n >= size ? -ENAMETOOLONG : 0;
}

int mark_directory_create(const char *path) {
    return mkdir(path, 0700) < 0 ? -errno : 0;
}

/* "<pid>.ring" or "<pid>-<n>.ring"; returns the pid or -1. */
static long ring_name_pid(const char *name) {
    char *end;
    if (!isdigit((unsigned char)*name))
        return -1;
    errno = 0;
    long pid = strtol(name, &end, 10);
    if (*end == '-' && isdigit((unsigned char)end[1]) && end[2] == '.')
        end += 2;
    return errno == 0 && pid > 0 && pid <= INT32_MAX && strcmp(end, ".ring") == 0 ? pid : -1;
}

int mark_directory_remove(const char *path) {
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR *dir = fd < 0 ? NULL : fdopendir(fd);
    if (!dir) {
        int r = -errno;
        if (fd >= 0)
            close(fd);
        return r;
    }
    for (struct dirent *e; (e = readdir(dir));)
        if (ring_name_pid(e->d_name) > 0)
            unlinkat(fd, e->d_name, 0);
    closedir(dir);
    return rmdir(path) < 0 ? -errno : 0;
}

int mark_reader_open(struct mark_reader *ret_reader, const char *dir) {
    struct mark_reader reader = {0};
    struct stat st;
    int r = 0, fd = open(dir, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
        return -errno;
    if (fstat(fd, &st) < 0)
        r = -errno;
    else if ((st.st_mode & 077) || (st.st_uid != geteuid() && geteuid() != 0))
        r = -EPERM;
    else if (!(reader.writers = calloc(MARK_MAX_WRITERS, sizeof *reader.writers)))
        r = -ENOMEM;
    else if (!(reader.dir = fdopendir(fd)))
        r = -errno;
    if (r < 0) {
        free(reader.writers);
        close(fd);
        return r;
    }
    reader.owner = st.st_uid;
    *ret_reader = reader;
    return 0;
}

/* 0, or -EAGAIN if what was read is shorter than asked for (the file was truncated). */
static int read_exactly(int fd, void *to, size_t n, off_t offset) {
    ssize_t got;
    do
        got = pread(fd, to, n, offset);
    while (got < 0 && errno == EINTR);
    return got < 0 ? -errno : (size_t)got == n ? 0 : -EAGAIN;
}

static bool header_is_ours(const struct chokepoint_mark_header *h, long pid) {
    return h->pid == pid && h->magic == CHOKEPOINT_MARK_MAGIC &&
           h->version == CHOKEPOINT_MARK_VERSION &&
           h->record_bytes == sizeof(struct chokepoint_mark_record) &&
           h->capacity == CHOKEPOINT_MARK_CAPACITY && h->rank >= -1;
}

/* Opens "name" if it is a ring of the directory's owner. A ring still without its magic is not yet.
 */
static int writer_open(const struct mark_reader *reader, const char *name, long pid,
                       struct mark_writer *ret_writer) {
    struct chokepoint_mark_header h;
    struct stat st;
    int fd = openat(dirfd(reader->dir), name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0)
        return -errno;
    if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || st.st_uid != reader->owner ||
        st.st_size != (off_t)CHOKEPOINT_MARK_FILE_BYTES || read_exactly(fd, &h, sizeof h, 0) < 0 ||
        !header_is_ours(&h, pid)) {
        close(fd);
        return -EINVAL;
    }
    *ret_writer = (struct mark_writer){
        .pid = (int32_t)pid, .rank = h.rank, .opened_ns = h.opened_ns, .fd = fd};
    return 0;
}

static bool is_known(const struct mark_reader *reader, ino_t inode) {
    for (size_t i = 0; i < reader->n_writers; i++)
        if (reader->writers[i].inode == inode)
            return true;
    return false;
}

/* Rings stay open, and are not removed, until release: so an inode is never taken for another one.
 */
static int scan(struct mark_reader *reader) {
    reader->refused = 0;
    rewinddir(reader->dir);
    errno = 0;
    for (struct dirent *e; (e = readdir(reader->dir));) {
        long pid = ring_name_pid(e->d_name);
        if (pid < 0 || is_known(reader, e->d_ino))
            continue;
        if (reader->n_writers < MARK_MAX_WRITERS &&
            writer_open(reader, e->d_name, pid, &reader->writers[reader->n_writers]) == 0)
            reader->writers[reader->n_writers++].inode = e->d_ino;
        else
            reader->refused++;
        errno = 0;
    }
    return -errno;
}

static int read_head(const struct mark_writer *w, uint64_t *ret_head) {
    uint64_t head;
    int r = read_exactly(w->fd, &head, sizeof head, offsetof(struct chokepoint_mark_header, head));
    if (r < 0)
        return r;
    if (head < w->cursor || head > HEAD_LIMIT)
        return -EINVAL;
    *ret_head = head;
    return 0;
}

static bool record_check(struct chokepoint_mark_record *r) {
    int64_t end;
    if (r->kind < CHOKEPOINT_MARK_PHASE_BEGIN || r->kind > CHOKEPOINT_MARK_VALUE ||
        r->start_ns < 0 || r->duration_ns < 0 || r->bytes < 0 ||
        __builtin_add_overflow(r->start_ns, r->duration_ns, &end))
        return false;
    r->name[sizeof r->name - 1] = 0;
    size_t n = strlen(r->name);
    for (size_t i = 0; i < n; i++)
        if (r->name[i] < ' ' || r->name[i] > '~')
            r->name[i] = '?';
    memset(r->name + n, 0, sizeof r->name - n);
    return true;
}

/* Tickets overtaken by a lap are lost: the cursor moves past them. */
static void skip_overwritten(struct mark_writer *w, uint64_t head) {
    if (head - w->cursor > CHOKEPOINT_MARK_CAPACITY) {
        w->lost += head - w->cursor - CHOKEPOINT_MARK_CAPACITY;
        w->cursor = head - CHOKEPOINT_MARK_CAPACITY;
        w->stalled = 0;
    }
}

/* Copies records from the cursor on: as many as wanted, up to the end of the file's ring. */
static int copy_batch(const struct mark_writer *w, size_t n, struct chokepoint_mark_record *to) {
    uint64_t slot = w->cursor % CHOKEPOINT_MARK_CAPACITY;
    return read_exactly(w->fd, to, n * sizeof *to,
                        (off_t)(CHOKEPOINT_MARK_HEADER + slot * sizeof *to));
}

static size_t batch_length(const struct mark_writer *w, uint64_t target) {
    uint64_t to_end = CHOKEPOINT_MARK_CAPACITY - w->cursor % CHOKEPOINT_MARK_CAPACITY;
    uint64_t n = target - w->cursor;
    n = n < to_end ? n : to_end;
    return n < BATCH ? n : BATCH;
}

/* The next record is not complete: wait for it, or after some patience count it as lost. */
static bool skip_incomplete(struct mark_writer *w) {
    if (w->stalled++ < STALLED_DRAINS)
        return false;
    w->stalled = 0;
    w->lost++;
    w->cursor++;
    return true;
}

/* Passes on what a batch holds; returns the number passed on. *ret_more is false at a stalled
 * record. */
static int pass_batch(struct mark_writer *w, struct chokepoint_mark_record *batch, size_t n,
                      mark_record_fn *fn, void *ctx, bool *ret_more) {
    uint64_t first = w->cursor;
    int passed = 0;
    *ret_more = true;
    while (*ret_more && w->cursor < first + n) {
        struct chokepoint_mark_record *r = &batch[w->cursor - first];
        if (r->sequence <= w->cursor || r->sequence == CHOKEPOINT_MARK_BUSY) {
            *ret_more = skip_incomplete(w);
            continue;
        }
        w->stalled = 0;
        if (r->sequence != ++w->cursor) {
            w->lost++;
        } else if (record_check(r)) {
            fn(ctx, w, r);
            passed++;
        } else {
            w->malformed++;
        }
    }
    return passed;
}

/* After the copy the counter is read again: what has been overtaken meanwhile is cut off the front.
 */
static int writer_drain(struct mark_writer *w, mark_record_fn *fn, void *ctx) {
    struct chokepoint_mark_record batch[BATCH];
    uint64_t target, head;
    int passed = 0, r = read_head(w, &target);
    if (r < 0)
        return r;
    skip_overwritten(w, target);
    for (bool more = true; more && w->cursor < target;) {
        uint64_t from = w->cursor;
        size_t n = batch_length(w, target);
        if ((r = copy_batch(w, n, batch)) < 0 || (r = read_head(w, &head)) < 0)
            return r;
        skip_overwritten(w, head);
        uint64_t skipped = w->cursor - from;
        if (skipped < n)
            passed += pass_batch(w, batch + skipped, n - skipped, fn, ctx, &more);
    }
    return passed;
}

int mark_reader_drain(struct mark_reader *reader, mark_record_fn *fn, void *ctx) {
    int passed = 0, r = scan(reader);
    uint64_t lost = 0, malformed = 0;
    for (size_t i = 0; i < reader->n_writers; i++) {
        struct mark_writer *w = &reader->writers[i];
        int n = w->broken ? 0 : writer_drain(w, fn, ctx);
        w->broken |= n < 0;
        passed += n > 0 ? n : 0;
        lost += w->lost;
        malformed += w->malformed;
    }
    reader->lost = lost;
    reader->malformed = malformed;
    return r < 0 ? r : passed;
}

void mark_reader_release(struct mark_reader *reader) {
    for (size_t i = 0; i < reader->n_writers; i++)
        close(reader->writers[i].fd);
    if (reader->dir)
        closedir(reader->dir);
    free(reader->writers);
    *reader = (struct mark_reader){0};
}
