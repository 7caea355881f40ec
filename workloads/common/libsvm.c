/* SPDX-License-Identifier: MIT */
/*
 * Reads libsvm text with a parser of its own: strtof() and strtoul() would take most of the time,
 * and accept far more than the format allows. Numbers with many digits go to strtof() in a bounded
 * copy.
 */
#include "workloads/common/libsvm.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "workloads/common/gzip.h"

#define MIN_ENTRY_BYTES 4 /* " 1:1" */
#define ALIGNMENT 4096    /* alignment for O_DIRECT: enough for today's disks */
#define BLOCK (64 * ALIGNMENT)

/* ---- one line ---- */

struct cursor {
    const char *start, *p, *end; /* the line without its newline */
    const char *expected;        /* set on failure */
};

static bool fail(struct cursor *c, const char *expected) {
    c->expected = expected;
    return false;
}

static void skip_blanks(struct cursor *c) {
    while (c->p < c->end && (*c->p == ' ' || *c->p == '\t' || *c->p == '\r'))
        c->p++;
}

static bool at_end(const struct cursor *c) {
    return c->p == c->end || *c->p == '#';
}

static bool is_digit(const struct cursor *c) {
    return c->p < c->end && (unsigned)(*c->p - '0') < 10;
}

/* Parses anything but short decimals in a bounded copy; refuses "nan", "inf" and hexadecimal. */
static bool parse_slow(struct cursor *c, float *ret) {
    char copy[64], *stop;
    size_t n = 0;
    while (n < sizeof copy - 1 && c->p + n < c->end && c->p[n] &&
           strchr("0123456789.eE+-", c->p[n]))
        n++;
    memcpy(copy, c->p, n);
    copy[n] = 0;
    *ret = strtof(copy, &stop);
    if (n == 0 || stop == copy || !isfinite(*ret))
        return fail(c, "a finite number");
    c->p += stop - copy;
    return true;
}

static bool parse_number(struct cursor *c, float *ret) {
    static const float scale[] = {1,    1e1f, 1e2f, 1e3f,
                                  1e4f, 1e5f, 1e6f}; /* both are exact, so the result is, too */
    const char *start = c->p;
    uint32_t digits = 0, n = 0, decimals = 0;
    bool negative = c->p < c->end && *c->p == '-';
    c->p += negative;
    for (; is_digit(c) && n < 7; n++)
        digits = digits * 10 + (uint32_t)(*c->p++ - '0');
    if (c->p < c->end && *c->p == '.') {
        for (c->p++; is_digit(c) && n < 7 && decimals < 6; n++, decimals++)
            digits = digits * 10 + (uint32_t)(*c->p++ - '0');
    }
    bool more = c->p < c->end && strchr("0123456789.eE+-", *c->p) && *c->p;
    if (n == 0 || more) {
        c->p = start;
        return parse_slow(c, ret);
    }
    *ret = (negative ? -(float)digits : (float)digits) / scale[decimals];
    return true;
}

static bool parse_label(struct cursor *c, float *ret) {
    float label;
    c->p += c->p < c->end && *c->p == '+';
    const char *start = c->p;
    if (!parse_number(c, &label) || (label != 0 && label != 1 && label != -1)) {
        c->p = start;
        return fail(c, "a label 0, 1, -1 or +1");
    }
    *ret = label > 0;
    return true;
}

/* Indices ascend from 1; `after` is the previous one. */
static bool parse_index(struct cursor *c, uint32_t after, uint32_t n_features, uint32_t *ret) {
    const char *start = c->p;
    uint64_t index = 0;
    if (!is_digit(c))
        return fail(c, "index:value");
    while (is_digit(c) && index <= n_features)
        index = index * 10 + (uint64_t)(*c->p++ - '0');
    if (index > after && index <= n_features) {
        *ret = (uint32_t)index;
        return true;
    }
    c->p = start;
    return fail(c, index > n_features ? "an index within --features"
                   : index == 0       ? "an index from 1 on"
                                      : "indices in ascending order");
}

static bool parse_row(struct cursor *c, uint32_t n_features, struct batch *b) {
    float label;
    uint32_t index = 0;
    size_t n = b->n_entries;
    if (!parse_label(c, &label))
        return false;
    for (skip_blanks(c); !at_end(c); skip_blanks(c), n++) {
        if (!parse_index(c, index, n_features, &index))
            return false;
        if (c->p == c->end || *c->p != ':')
            return fail(c, "':' after an index");
        c->p++;
        if (!parse_number(c, &b->value[n]))
            return false;
        if (!at_end(c) && *c->p != ' ' && *c->p != '\t' && *c->p != '\r')
            return fail(c, "a blank after a value");
        b->index[n] = index - 1;
    }
    b->label[b->n_rows++] = label;
    b->row_start[b->n_rows] = (uint32_t)(b->n_entries = n);
    return true;
}

/* ---- errors ---- */

int libsvm_error_set(struct libsvm_error *error, int r, const char *path, const char *what) {
    snprintf(error->text, sizeof error->text, "%s: %s%s%s", path, what, r < 0 ? ": " : "",
             r < 0 ? strerror(-r) : "");
    return r < 0 ? r : -EINVAL;
}

static int say_where(const struct libsvm_reader *reader, const struct cursor *c,
                     struct libsvm_error *error) {
    char found[24];
    size_t n = 0;
    for (; n < sizeof found - 1 && c->p + n < c->end && c->p[n] != ' '; n++)
        found[n] = c->p[n] >= ' ' && c->p[n] <= '~' ? c->p[n] : '?';
    found[n] = 0;
    const struct libsvm_part *part = &reader->parts[reader->part];
    char place[64];
    if (part->begin == 0)
        snprintf(place, sizeof place, "line %llu", (unsigned long long)reader->line);
    else
        snprintf(place, sizeof place, "the line at byte %lld", (long long)reader->line_offset);
    snprintf(error->text, sizeof error->text, "%s: %s, column %td: expected %s, found \"%s\"",
             part->path, place, c->p - c->start + 1, c->expected, found);
    return -EINVAL;
}

/* ---- the stream ---- */

static int seek_to(struct libsvm_reader *reader, off_t from) {
    if (!reader->direct)
        return lseek(reader->fd, from, SEEK_SET) < 0 ? -errno : 0;
    if (!reader->block && !(reader->block = aligned_alloc(ALIGNMENT, BLOCK)))
        return -ENOMEM;
    reader->block_offset = from / BLOCK * BLOCK;
    reader->block_position = (size_t)(from % BLOCK);
    reader->block_filled = 0;
    return 0;
}

static int part_open(struct libsvm_reader *reader, struct libsvm_error *error) {
    const struct libsvm_part *part = &reader->parts[reader->part];
    if (part->is_packed && reader->direct)
        return libsvm_error_set(error, 0, part->path, "a packed file cannot be read with --direct");
    reader->fd = open(part->path, O_RDONLY | O_CLOEXEC | (reader->direct ? O_DIRECT : 0));
    if (reader->fd < 0 && errno == EINVAL && reader->direct)
        return libsvm_error_set(error, 0, part->path,
                                "this file system cannot be read past the page cache");
    if (reader->fd < 0)
        return libsvm_error_set(error, -errno, part->path, "cannot open");
    if (part->is_packed && !(reader->gzip = gzip_open(reader->fd))) {
        reader->fd = -1;
        return libsvm_error_set(error, -ENOMEM, part->path, "cannot unpack");
    }
    /* Begins one byte early and skips a line: a line that began before this part belongs to the
     * previous one. */
    off_t from = part->begin > 0 ? part->begin - 1 : 0;
    int r = part->is_packed ? 0 : seek_to(reader, from);
    if (r < 0)
        return libsvm_error_set(error, r, part->path, "cannot seek");
    reader->position = reader->filled = 0;
    reader->line_offset = from;
    reader->line = 1;
    return 0;
}

/* offset -1: from the current position. */
static ssize_t read_whole(int fd, char *to, size_t size, off_t offset) {
    ssize_t n;
    do
        n = offset < 0 ? read(fd, to, size) : pread(fd, to, size, offset);
    while (n < 0 && errno == EINTR);
    return n < 0 ? -errno : n;
}

/* O_DIRECT needs aligned offsets, lengths and memory: it reads whole blocks, from which pieces are
 * taken. A short block is the file's last. */
static ssize_t take_block(struct libsvm_reader *reader, char *to, size_t size) {
    while (reader->block_position >= reader->block_filled) {
        if (reader->block_offset < 0)
            return 0;
        ssize_t n = read_whole(reader->fd, reader->block, BLOCK, reader->block_offset);
        if (n < 0)
            return n;
        reader->block_position -= reader->block_filled; /* bytes that seek_to() left to skip */
        reader->block_filled = (size_t)n;
        reader->block_offset = n < BLOCK ? -1 : reader->block_offset + BLOCK;
    }
    size_t n = reader->block_filled - reader->block_position;
    n = n < size ? n : size;
    memcpy(to, reader->block + reader->block_position, n);
    reader->block_position += n;
    return (ssize_t)n;
}

/* Moves the rest to the front and reads more. Returns the bytes read, 0 at the end. */
static ssize_t refill(struct libsvm_reader *reader) {
    size_t left = reader->filled - reader->position;
    memmove(reader->buffer, reader->buffer + reader->position, left);
    reader->position = 0;
    reader->filled = left;
    char *to = reader->buffer + left;
    size_t size = LIBSVM_MAX_LINE - left;
    ssize_t n = reader->gzip     ? gzip_read(reader->gzip, to, size)
                : reader->direct ? take_block(reader, to, size)
                                 : read_whole(reader->fd, to, size, -1);
    if (n < 0)
        return n;
    reader->filled += (size_t)n;
    reader->bytes += (uint64_t)n;
    return n;
}

/* The next line of the open file: 1; 0 at the end of the file; or negative. */
static int next_line(struct libsvm_reader *reader, struct cursor *ret, struct libsvm_error *error) {
    for (size_t searched = 0;;) {
        char *start = reader->buffer + reader->position;
        size_t n = reader->filled - reader->position;
        char *newline = memchr(start + searched, '\n', n - searched);
        if (newline) {
            *ret = (struct cursor){.start = start, .p = start, .end = newline};
            reader->position += (size_t)(newline - start) + 1;
            return 1;
        }
        searched = n;
        if (n == LIBSVM_MAX_LINE) {
            struct cursor c = {start, start, start, "a line of at most 1 MiB"};
            return say_where(reader, &c, error);
        }
        ssize_t got = refill(reader);
        if (got < 0)
            return libsvm_error_set(
                error, got == -EBADMSG ? 0 : (int)got, reader->parts[reader->part].path,
                got == -EBADMSG ? "damaged, or it ends too early: not whole gzip" : "cannot read");
        if (got == 0 && n == 0)
            return 0;
        if (got == 0) { /* the last line lacks a newline */
            *ret = (struct cursor){reader->buffer, reader->buffer, reader->buffer + n, NULL};
            reader->position = reader->filled;
            return 1;
        }
    }
}

static void close_file(struct libsvm_reader *reader) {
    if (reader->gzip)
        gzip_close(reader->gzip);
    else if (reader->fd >= 0)
        close(reader->fd);
    reader->gzip = NULL;
    reader->fd = -1;
}

static void part_close(struct libsvm_reader *reader) {
    close_file(reader);
    reader->part = (reader->part + 1) % reader->n_parts;
    reader->epoch += reader->part == reader->first;
}

/* The next line of this part; 0 when the part is finished. */
static int part_line(struct libsvm_reader *reader, struct cursor *ret, struct libsvm_error *error) {
    const struct libsvm_part *part = &reader->parts[reader->part];
    for (;;) {
        off_t offset = reader->line_offset;
        if (part->end >= 0 && offset >= part->end)
            return 0;
        int r = next_line(reader, ret, error);
        if (r <= 0)
            return r;
        bool is_own = (reader->line - 1) % part->shares == part->share;
        if (offset >= part->begin && is_own)
            return 1;
        reader->line_offset += ret->end - ret->start + 1;
        reader->line += part->is_packed;
    }
}

static int read_row(struct libsvm_reader *reader, struct cursor *c, struct batch *batch,
                    struct libsvm_error *error) {
    size_t rows = batch->n_rows;
    off_t length = c->end - c->start + 1;
    int r = batch_reserve(batch, (size_t)length / MIN_ENTRY_BYTES + 1);
    if (r < 0)
        return libsvm_error_set(error, r, reader->parts[reader->part].path,
                                "cannot hold the batch");
    skip_blanks(c);
    if (!at_end(c) && !parse_row(c, reader->n_features, batch))
        return say_where(reader, c, error);
    reader->line_offset += length;
    reader->line++;
    return batch->n_rows > rows;
}

/* Names a file, with this rank's bytes if ranks share it. */
static int say_nothing_there(const struct libsvm_reader *reader, struct libsvm_error *error) {
    const struct libsvm_part *part = &reader->parts[0];
    char end[24] = "the end";
    if (part->shares > 1) {
        snprintf(error->text, sizeof error->text,
                 "%s: expected at least one example in one line of each %llu, the share of this "
                 "rank, found none: start fewer ranks",
                 part->path, (unsigned long long)part->shares);
        return -EINVAL;
    }
    if (part->begin == 0 && part->end < 0)
        return libsvm_error_set(error, 0, part->path, "expected at least one example, found none");
    if (part->end >= 0)
        snprintf(end, sizeof end, "%lld", (long long)part->end);
    snprintf(error->text, sizeof error->text,
             "%s: expected at least one example in bytes %lld to %s, the share of this rank, found "
             "none: start fewer ranks",
             part->path, (long long)part->begin, end);
    return -EINVAL;
}

ssize_t libsvm_read(struct libsvm_reader *reader, size_t n, struct batch *batch,
                    struct libsvm_error *error) {
    size_t got = 0;
    uint64_t epoch = reader->epoch;
    while (got < n && reader->epoch == epoch) {
        struct cursor c;
        int r = reader->fd < 0 ? part_open(reader, error) : 0;
        if (r == 0)
            r = part_line(reader, &c, error);
        if (r > 0 && (r = read_row(reader, &c, batch, error)) >= 0)
            got += (size_t)r;
        else if (r == 0)
            part_close(reader);
        if (r < 0)
            return r;
    }
    reader->examples_this_epoch += got;
    if (reader->epoch != epoch) {
        if (reader->examples_this_epoch == 0)
            return say_nothing_there(reader, error);
        reader->examples_this_epoch = 0;
    }
    return (ssize_t)got;
}

void libsvm_begin_with(struct libsvm_reader *reader, size_t part) {
    reader->part = reader->first = part % reader->n_parts;
}

void libsvm_release(struct libsvm_reader *reader) {
    if (reader->buffer)
        close_file(reader);
    for (size_t i = 0; i < reader->n_parts; i++)
        free(reader->parts[i].path);
    free(reader->parts);
    free(reader->buffer);
    free(reader->block);
    *reader = (struct libsvm_reader){.fd = -1};
}
