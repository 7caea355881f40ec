/* SPDX-License-Identifier: MIT */
/*
 * Drains rings of marks. A record is taken only if its sequence says that it is complete, and if
 * the ring's counter, read again after the copy, proves that it was not overwritten meanwhile. The
 * writer need not cooperate, and its file is not written to.
 */
#include "agent/mark/ring.h"

#include <limits.h>
#include <stddef.h>

#define BATCH RING_BATCH        /* records copied at a time */
#define STALLED_DRAINS 2        /* patience with a record that was claimed but not completed */
#define HEAD_LIMIT (1ULL << 48) /* no program makes so many marks; a larger number is invalid */

int mark_directory_path(const char *stem, char *ret_path, size_t size) {
    char host[256];
    if (gethostname(host, sizeof host) < 0)
        return -errno;
    host[sizeof host - 1] = 0;
    return chokepoint_directory_path_(stem, host, ret_path, size) < 0 ? -ENAMETOOLONG : 0;
}

int mark_directory_create(const char *path) {
    return mkdir(path, 0700) < 0 ? -errno : 0;
}

/* As a link, which needs no room for data. A second id is ignored. */
int mark_directory_name_run(const char *path, const char *run) {
    char link[PATH_MAX];
    int n = snprintf(link, sizeof link, "%s/" MARK_RUN_LINK, path);
    if (n < 0 || (size_t)n >= sizeof link)
        return -ENAMETOOLONG;
    return symlink(run, link) < 0 && errno != EEXIST ? -errno : 0;
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
        if (ring_file_pid(e->d_name, ".ring") > 0 || ring_file_pid(e->d_name, ".calls") > 0 ||
            ring_file_pid(e->d_name, ".why") > 0 || ring_file_pid(e->d_name, ".kernels") > 0 ||
            strcmp(e->d_name, MARK_RUN_LINK) == 0)
            unlinkat(fd, e->d_name, 0);
    closedir(dir);
    return rmdir(path) < 0 ? -errno : 0;
}

int mark_reader_open(struct mark_reader *ret_reader, const char *dir) {
    struct mark_reader reader = {0};
    reader.writers = calloc(MARK_MAX_WRITERS, sizeof *reader.writers);
    if (!reader.writers)
        return -ENOMEM;
    int r = ring_files_open(&reader.files, dir, ".ring", (off_t)CHOKEPOINT_MARK_FILE_BYTES,
                            MARK_MAX_WRITERS);
    if (r < 0) {
        free(reader.writers);
        return r;
    }
    *ret_reader = reader;
    return 0;
}

static bool header_is_ours(const struct chokepoint_mark_header *h, long pid) {
    return h->pid == pid && h->magic == CHOKEPOINT_MARK_MAGIC &&
           h->version == CHOKEPOINT_MARK_VERSION &&
           h->record_bytes == sizeof(struct chokepoint_mark_record) &&
           h->capacity == CHOKEPOINT_MARK_CAPACITY && h->rank >= -1;
}

/* A ring without its magic is not ready yet. */
static int writer_open(void *ctx, long pid, int fd) {
    struct mark_reader *reader = ctx;
    struct chokepoint_mark_header h;
    if (ring_read(fd, &h, sizeof h, 0) < 0 || !header_is_ours(&h, pid))
        return -EINVAL;
    reader->writers[reader->n_writers++] = (struct mark_writer){
        .pid = (int32_t)pid, .rank = h.rank, .opened_ns = h.opened_ns, .fd = fd};
    return 0;
}

static int read_ring_head(const struct mark_writer *w, uint64_t *ret_head) {
    uint64_t head;
    int r = ring_read(w->fd, &head, sizeof head, offsetof(struct chokepoint_mark_header, head));
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

/* Records that a lap has overwritten are lost: moves the cursor past them. */
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
    return ring_read_records(w->fd, to, n, sizeof *to,
                             (off_t)(CHOKEPOINT_MARK_HEADER + slot * sizeof *to));
}

static size_t batch_length(const struct mark_writer *w, uint64_t target) {
    uint64_t to_end = CHOKEPOINT_MARK_CAPACITY - w->cursor % CHOKEPOINT_MARK_CAPACITY;
    uint64_t n = target - w->cursor;
    n = n < to_end ? n : to_end;
    return n < BATCH ? n : BATCH;
}

/* The next record is not complete: waits for it, or after some patience counts it as lost. */
static bool skip_incomplete(struct mark_writer *w) {
    if (w->stalled++ < STALLED_DRAINS)
        return false;
    w->stalled = 0;
    w->lost++;
    w->cursor++;
    return true;
}

/* Passes on the records of a batch; returns their number. *ret_more is false at an incomplete
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

/* Reads the counter again after the copy, and drops the records at the front that were overwritten
 * meanwhile. */
static int writer_drain(struct mark_writer *w, mark_record_fn *fn, void *ctx) {
    struct chokepoint_mark_record batch[BATCH];
    uint64_t target, head;
    int passed = 0, r = read_ring_head(w, &target);
    if (r < 0)
        return r;
    skip_overwritten(w, target);
    for (bool more = true; more && w->cursor < target;) {
        uint64_t from = w->cursor;
        size_t n = batch_length(w, target);
        if ((r = copy_batch(w, n, batch)) < 0 || (r = read_ring_head(w, &head)) < 0)
            return r;
        skip_overwritten(w, head);
        uint64_t skipped = w->cursor - from;
        if (skipped < n)
            passed += pass_batch(w, batch + skipped, n - skipped, fn, ctx, &more);
    }
    return passed;
}

int mark_reader_scan(struct mark_reader *reader) {
    return ring_files_scan(&reader->files, writer_open, reader);
}

int mark_reader_drain(struct mark_reader *reader, mark_record_fn *fn, void *ctx) {
    int passed = 0, r = mark_reader_scan(reader);
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
    ring_files_release(&reader->files);
    free(reader->writers);
    *reader = (struct mark_reader){0};
}
