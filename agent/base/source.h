/* SPDX-License-Identifier: MIT */
/*
 * A text file of the kernel that stays open and is read again for every sample, into a buffer that
 * grows only in open.
 *
 * A line without its newline may be cut inside a number, so no parser gets it: the kernel ends all
 * of these files with a newline.
 */
#ifndef CHOKEPOINT_AGENT_SOURCE_H
#define CHOKEPOINT_AGENT_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct source {
    int fd; /* valid while data is not NULL */
    char *data;
    size_t capacity;
    size_t size; /* size of the whole lines in the last read */
    bool cut;    /* the last read did not fit: lines at the end are missing */
};

/* Opens <root>/<name> and reads it once; the buffer has room for four times its size. Negative
 * errno, also if reading fails (disabled PSI shows only then). */
int source_open(struct source *ret_source, const char *root, const char *name);

/* Closes; does nothing for a zeroed source. */
void source_close(struct source *source);

/* Reads the whole file: one pread for files up to half a page, otherwise until its end. */
int source_read(struct source *source);

static inline bool source_is_open(const struct source *source) {
    return source->data != NULL;
}
static inline const char *source_end(const struct source *source) {
    return source->data + source->size;
}

/* Reads an open file of the kernel from its beginning until `capacity` bytes or its end. Returns
 * the number of bytes or a negative errno. */
ssize_t file_read_open(int fd, char *bytes, size_t capacity);

/* Reads the whole lines of a text file of the kernel into text[capacity]. A last line without its
 * newline is left out. Returns their size or a negative errno. */
int file_read_lines(const char *path, char *text, size_t capacity);

/* Reads a small file whole into text[capacity], NUL-terminated and without trailing newline. `at`
 * is a directory descriptor or AT_FDCWD. Returns its length or a negative errno (-EFBIG: too
 * large). */
int file_read_small(int at, const char *path, char *text, size_t capacity);

/* Reads the beginning of any file, until `capacity` bytes or its end. Returns the number of bytes
 * or a negative errno. */
int file_read_head(int at, const char *path, char *bytes, size_t capacity);

#endif
