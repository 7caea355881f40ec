/* SPDX-License-Identifier: MIT */
/*
 * A text file of the kernel that stays open and is read again for every sample, into a buffer that
 * grows at open only.
 *
 * A line without its newline may be cut inside a number, so it never reaches a parser: the kernel
 * ends all of these files with a newline.
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
    size_t size; /* of the whole lines of the last read */
    bool cut;    /* the last read did not fit: lines are missing at the end */
};

/* Opens <root>/<name> and reads it once; four times what it held is room for it to grow.
 * Negative errno: also when reading fails (PSI that is switched off says so only then). */
int source_open(struct source *ret_source, const char *root, const char *name);

/* Closes; nothing to do for a source that is all zero. */
void source_close(struct source *source);

/* Reads the whole file: one pread for files of up to half a page, otherwise until its end. */
int source_read(struct source *source);

static inline bool source_is_open(const struct source *source) {
    return source->data != NULL;
}
static inline const char *source_end(const struct source *source) {
    return source->data + source->size;
}

/* Reads a file of the kernel that is open, from its beginning until `capacity` bytes or its end.
 * Returns how many or a negative errno. */
ssize_t file_read_open(int fd, char *bytes, size_t capacity);

/* Reads a small file whole into text[capacity], NUL-terminated and without trailing newline. `at`
 * is a directory descriptor or AT_FDCWD. Returns its length or a negative errno (-EFBIG: too
 * large). */
int file_read_small(int at, const char *path, char *text, size_t capacity);

/* Reads the beginning of a file, whatever is in it, until `capacity` bytes or its end. Returns how
 * many or a negative errno. */
int file_read_head(int at, const char *path, char *bytes, size_t capacity);

#endif
