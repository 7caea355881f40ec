/* SPDX-License-Identifier: MIT */
#include "cli/remote/journal.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/crc32c.h"
#include "common/error.h"

#define MAGIC "CHKPREM1"
#define TAKEN_AT 8    /* offset of the number of bodies that were taken */
#define CHECKED_AT 16 /* from here on the checksum at 12 covers the file */
#define FILE_MAX (1u << 30)
#define SYNC_NS NS_PER_S /* a power cut loses no more than so long */

struct journal {
    char path[PATH_MAX], new_path[PATH_MAX + 4];
    int lock_fd, fd; /* fd: the present file; -1: none */
    uint32_t layout, taken, n_bodies;
    struct buffer bodies; /* size, number of samples, bytes; each of them */
    size_t at;            /* the next body */
    struct buffer file, memory;
    bool usable;
    int64_t synced_ns;
};

/* ---- reading ---- */

static uint64_t get(const uint8_t *data, size_t size) {
    uint64_t value = 0;
    for (size_t i = size; i-- > 0;)
        value = value << 8 | data[i];
    return value;
}

static void skip_body(struct journal *journal) {
    journal->at += 8 + (size_t)get(journal->bodies.data + journal->at, 4);
}

/* True if the bodies are whole. */
static bool bodies_good(const struct journal *journal) {
    size_t at = 0;
    for (uint32_t i = 0; i < journal->n_bodies; i++) {
        if (journal->bodies.size - at < 8 ||
            get(journal->bodies.data + at, 4) > journal->bodies.size - at - 8)
            return false;
        at += 8 + (size_t)get(journal->bodies.data + at, 4);
    }
    return at == journal->bodies.size;
}

static int take_fields(struct journal *journal, struct cursor *c, struct journal_place *place) {
    uint32_t layout = (uint32_t)cursor_varint(c);
    place->identity = cursor_zigzag(c);
    place->frame = cursor_zigzag(c);
    place->samples = cursor_varint(c);
    place->refused = cursor_varint(c);
    place->done = cursor_varint(c) != 0;
    journal->n_bodies = (uint32_t)cursor_varint(c);
    struct span memory = cursor_string(c), bodies = cursor_string(c);
    if (c->bad)
        return -EBADMSG;
    buffer_put(&journal->memory, memory.data, memory.size);
    buffer_put(&journal->bodies, bodies.data, bodies.size);
    journal->usable = layout == journal->layout;
    if (journal->memory.error || journal->bodies.error)
        return -ENOMEM;
    return bodies_good(journal) && journal->taken <= journal->n_bodies ? 0 : -EBADMSG;
}

static int read_file(struct journal *journal) {
    struct stat st;
    if (fstat(journal->fd, &st) < 0)
        return negative_errno();
    if (st.st_size < CHECKED_AT || st.st_size > FILE_MAX)
        return -EBADMSG;
    int r = buffer_reserve(&journal->file, (size_t)st.st_size);
    if (r)
        return r;
    ssize_t n = pread(journal->fd, journal->file.data, (size_t)st.st_size, 0);
    if (n < 0)
        return negative_errno();
    journal->file.size = (size_t)n;
    return n == st.st_size ? 0 : -EIO;
}

static int load(struct journal *journal, struct journal_place *place) {
    journal->fd = open(journal->path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
    if (journal->fd < 0)
        return errno == ENOENT ? 0 : negative_errno();
    int r = read_file(journal);
    if (r)
        return r;
    const uint8_t *data = journal->file.data;
    struct cursor c = {data + CHECKED_AT, data + journal->file.size, false};
    if (memcmp(data, MAGIC, 8) != 0 ||
        get(data + 12, 4) != crc32c(0, data + CHECKED_AT, journal->file.size - CHECKED_AT))
        return -EBADMSG;
    journal->taken = (uint32_t)get(data + TAKEN_AT, 4);
    r = take_fields(journal, &c, place);
    for (uint32_t i = 0; !r && i < journal->taken; i++)
        skip_body(journal);
    return r;
}

/* ---- open and close ---- */

/* Its name can be foreseen, so that it may be another user's, or a link: -EPERM. In one of our own
 * that nobody else may enter, no name is anybody else's. */
static int make_folder(const char *folder) {
    struct stat st;
    if (mkdir(folder, 0700) == 0)
        return 0;
    if (errno != EEXIST || lstat(folder, &st) < 0)
        return negative_errno();
    return S_ISDIR(st.st_mode) && st.st_uid == geteuid() && !(st.st_mode & 077) ? 0 : -EPERM;
}

static int make_paths(struct journal *journal, const char *database, int64_t run, const char *url) {
    char folder[PATH_MAX], real[PATH_MAX];
    if (!realpath(database, real))
        return negative_errno();
    int n = snprintf(folder, sizeof folder, "%s-remote", real);
    if (n < 0 || (size_t)n >= sizeof folder)
        return -ENAMETOOLONG;
    int r = make_folder(folder);
    if (r)
        return r;
    n = snprintf(journal->path, sizeof journal->path, "%s/%lld-%08x", folder, (long long)run,
                 crc32c(0, url, strlen(url)));
    if (n < 0 || (size_t)n >= sizeof journal->path - 5)
        return -ENAMETOOLONG;
    snprintf(journal->new_path, sizeof journal->new_path, "%s.new", journal->path);
    return 0;
}

static int take_lock(struct journal *journal) {
    char path[PATH_MAX + 8];
    snprintf(path, sizeof path, "%s.lock", journal->path);
    journal->lock_fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (journal->lock_fd < 0)
        return negative_errno();
    if (flock(journal->lock_fd, LOCK_EX | LOCK_NB) < 0)
        return errno == EWOULDBLOCK ? JOURNAL_IN_USE : negative_errno();
    return 0;
}

int journal_open(const char *database, int64_t run, const char *url, uint32_t layout,
                 struct journal **ret_journal, struct journal_place *ret_place) {
    struct journal *journal = calloc(1, sizeof *journal);
    struct journal_place place = {0};
    if (!journal)
        return -ENOMEM;
    journal->lock_fd = journal->fd = -1;
    journal->layout = layout;
    int r = make_paths(journal, database, run, url);
    if (!r)
        r = take_lock(journal);
    if (!r)
        r = load(journal, &place);
    if (r) {
        journal_close(journal);
        return r;
    }
    *ret_journal = journal;
    *ret_place = place;
    return 0;
}

void journal_close(struct journal *journal) {
    if (!journal)
        return;
    if (journal->fd >= 0)
        close(journal->fd);
    if (journal->lock_fd >= 0)
        close(journal->lock_fd);
    buffer_release(&journal->bodies);
    buffer_release(&journal->file);
    buffer_release(&journal->memory);
    free(journal);
}

struct cursor journal_memory(const struct journal *journal, bool *ret_usable) {
    *ret_usable = journal->usable && journal->memory.size;
    return (struct cursor){journal->memory.data, journal->memory.data + journal->memory.size,
                           false};
}

static void forget_bodies(struct journal *journal) {
    buffer_reset(&journal->bodies);
    journal->n_bodies = journal->taken = 0;
    journal->at = 0;
}

void journal_forget(struct journal *journal, struct journal_place *ret_place) {
    forget_bodies(journal);
    journal->usable = false;
    *ret_place = (struct journal_place){0};
}

/* ---- saving ---- */

void journal_add_body(struct journal *journal, const struct buffer *body, size_t n_samples) {
    if (journal->at == journal->bodies.size) /* those before were taken */
        forget_bodies(journal);
    buffer_put_u32le(&journal->bodies, (uint32_t)body->size);
    buffer_put_u32le(&journal->bodies, (uint32_t)n_samples);
    buffer_put(&journal->bodies, body->data, body->size);
    journal->n_bodies++;
}

static int fill_file(struct journal *journal, const struct journal_place *place,
                     const struct buffer *memory) {
    struct buffer *file = &journal->file;
    buffer_reset(file);
    buffer_put(file, MAGIC, 8);
    buffer_put_u64le(file, 0);
    buffer_put_varint(file, journal->layout);
    buffer_put_zigzag(file, place->identity);
    buffer_put_zigzag(file, place->frame);
    buffer_put_varint(file, place->samples);
    buffer_put_varint(file, place->refused);
    buffer_put_varint(file, place->done);
    buffer_put_varint(file, journal->n_bodies);
    buffer_put_varint(file, memory->size);
    buffer_put(file, memory->data, memory->size);
    buffer_put_varint(file, journal->bodies.size);
    buffer_put(file, journal->bodies.data, journal->bodies.size);
    if (file->error || journal->bodies.error || memory->error)
        return -ENOMEM;
    uint32_t crc = crc32c(0, file->data + CHECKED_AT, file->size - CHECKED_AT);
    for (size_t i = 0; i < 4; i++)
        file->data[12 + i] = (uint8_t)(crc >> 8 * i);
    return 0;
}

static int write_all(int fd, const struct buffer *file) {
    for (size_t done = 0; done < file->size;) {
        ssize_t n = write(fd, file->data + done, file->size - done);
        if (n < 0 && errno != EINTR)
            return negative_errno();
        done += n > 0 ? (size_t)n : 0;
    }
    return 0;
}

static int put_in_place(struct journal *journal, int fd) {
    int64_t now_ns = clock_monotonic_ns();
    int r = write_all(fd, &journal->file);
    if (!r && now_ns - journal->synced_ns > SYNC_NS) {
        r = fdatasync(fd) < 0 ? negative_errno() : 0;
        journal->synced_ns = now_ns;
    }
    return !r && rename(journal->new_path, journal->path) < 0 ? negative_errno() : r;
}

int journal_save(struct journal *journal, const struct journal_place *place,
                 const struct buffer *memory) {
    if (journal->at && journal->at == journal->bodies.size)
        forget_bodies(journal);
    int r = fill_file(journal, place, memory);
    if (r)
        return r;
    int fd = open(journal->new_path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
    r = fd < 0 ? negative_errno() : put_in_place(journal, fd);
    if (r) {
        if (fd >= 0)
            close(fd);
        return r;
    }
    if (journal->fd >= 0)
        close(journal->fd);
    journal->fd = fd;
    return 0;
}

/* ---- bodies ---- */

bool journal_next_body(const struct journal *journal, struct span *ret_body, size_t *ret_samples) {
    if (journal->at >= journal->bodies.size)
        return false;
    const uint8_t *data = journal->bodies.data + journal->at;
    *ret_body = (struct span){(const char *)data + 8, (size_t)get(data, 4)};
    *ret_samples = (size_t)get(data + 4, 4);
    return true;
}

int journal_took_body(struct journal *journal) {
    skip_body(journal);
    journal->taken++;
    uint8_t taken[4];
    for (size_t i = 0; i < 4; i++)
        taken[i] = (uint8_t)(journal->taken >> 8 * i);
    return pwrite(journal->fd, taken, sizeof taken, TAKEN_AT) == sizeof taken ? 0
                                                                              : negative_errno();
}
