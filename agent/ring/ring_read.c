/* SPDX-License-Identifier: MIT */
#include "agent/ring/ring_read.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/ring/ring_file.h"
#include "agent/ring/ring_name.h"
#include "common/error.h"
#include "common/segment_name.h"
#include "common/transfer.h"
#include "common/wire.h"

#define NAMES_MAX 65536

/* In this order. */
enum phase { PHASE_FILES, PHASE_TAIL, PHASE_SPOOLS, PHASE_NEW_FILES, PHASE_END };

struct name {
    uint64_t stream; /* of a segment of a spool */
    uint64_t number;
};

struct ring_reader {
    int dir_fd;
    uid_t owner;
    int64_t from_ns, to_ns;
    struct ring_zip *zip;
    enum phase phase;
    struct name *names; /* owned; of this phase */
    size_t n, at;
    uint64_t last_number; /* of files, so far */
    struct buffer file, body;
    size_t offset; /* in file; file.size: none is left */
    struct ring_reading told;
};

static int compare_names(const void *a, const void *b) {
    const struct name *x = a, *y = b;
    if (x->stream != y->stream)
        return x->stream < y->stream ? -1 : 1;
    return (x->number > y->number) - (x->number < y->number);
}

static bool is_wanted(const struct ring_reader *reader, const char *text, struct name *name) {
    uint32_t number;
    *name = (struct name){0};
    if (reader->phase != PHASE_SPOOLS)
        return ring_name_get(text, &name->number) && name->number > reader->last_number;
    bool is = segment_name_get(text, &name->stream, &number);
    name->number = is ? number : 0;
    return is;
}

static int list_names(struct ring_reader *reader) {
    int fd = openat(reader->dir_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *dir = fd < 0 ? NULL : fdopendir(fd);
    reader->n = reader->at = 0;
    if (!dir) {
        int r = negative_errno();
        if (fd >= 0)
            close(fd);
        return r;
    }
    for (struct dirent *entry; reader->n < NAMES_MAX && (entry = readdir(dir));)
        reader->n += is_wanted(reader, entry->d_name, &reader->names[reader->n]);
    closedir(dir);
    qsort(reader->names, reader->n, sizeof *reader->names, compare_names);
    return 0;
}

/* A missing file was dropped or became another one meanwhile. */
static bool read_file(struct ring_reader *reader, const char *name) {
    int r = ring_file_read(reader->dir_fd, name, reader->owner, &reader->file);
    reader->offset = 0;
    if (r == 0)
        return true;
    buffer_reset(&reader->file);
    reader->told.refused += r != -ENOENT;
    return false;
}

static void widen(struct ring_reading *told, int64_t first_ns, int64_t last_ns) {
    told->first_ns = first_ns < told->first_ns ? first_ns : told->first_ns;
    told->last_ns = last_ns > told->last_ns ? last_ns : told->last_ns;
}

/* The next block of this time in the file; false: there is none. */
static bool next_block(struct ring_reader *reader, struct ring_piece *ret_piece) {
    struct buffer *file = &reader->file;
    while (file->size - reader->offset >= RING_BLOCK_HEAD) {
        const uint8_t *head = file->data + reader->offset;
        struct ring_block block;
        size_t left = file->size - reader->offset - RING_BLOCK_HEAD;
        if (ring_block_read(head, &block) < 0 || block.stored > left)
            break;
        reader->offset += RING_BLOCK_HEAD + block.stored;
        if (block.kind == RING_FRAMES)
            widen(&reader->told, block.first_ns, block.last_ns);
        bool asked = block.first_ns <= reader->to_ns && block.last_ns >= reader->from_ns &&
                     (block.kind == RING_FRAMES || block.kind == RING_LINEAGE);
        if (!asked)
            continue;
        int r = ring_block_open(head, &block, head + RING_BLOCK_HEAD, reader->zip, &reader->body);
        reader->told.unpackable += r == -ENOTSUP;
        reader->told.damaged += r < 0 && r != -ENOTSUP;
        if (r < 0)
            continue;
        *ret_piece = (struct ring_piece){block.kind, reader->body.data, reader->body.size};
        return true;
    }
    reader->told.damaged += reader->offset < file->size;
    reader->offset = file->size;
    return false;
}

static bool next_file(struct ring_reader *reader) {
    char name[RING_NAME_SIZE];
    while (reader->at < reader->n) {
        uint64_t number = reader->names[reader->at++].number;
        reader->last_number = number;
        ring_name_put(name, number);
        if (!read_file(reader, name))
            continue;
        reader->told.files++;
        return true;
    }
    return false;
}

/* A segment is given as it is. Its end may be missing: the agent writes to it. */
static bool next_spool(struct ring_reader *reader, struct ring_piece *ret_piece) {
    char name[SEGMENT_NAME_SIZE];
    while (reader->at < reader->n) {
        const struct name *next = &reader->names[reader->at++];
        segment_name_put(name, next->stream, (uint32_t)next->number);
        if (!read_file(reader, name) || reader->file.size > RING_BLOCK_MAX)
            continue;
        reader->offset = reader->file.size;
        *ret_piece = (struct ring_piece){RING_FRAMES, reader->file.data, reader->file.size};
        return true;
    }
    return false;
}

static int begin_phase(struct ring_reader *reader, enum phase phase) {
    reader->phase = phase;
    reader->n = reader->at = 0;
    buffer_reset(&reader->file);
    reader->offset = 0;
    if (phase == PHASE_TAIL)
        read_file(reader, RING_TAIL);
    return phase == PHASE_TAIL || phase == PHASE_END ? 0 : list_names(reader);
}

/* Whether this phase had another piece. */
static bool phase_next(struct ring_reader *reader, struct ring_piece *ret_piece) {
    if (reader->phase == PHASE_SPOOLS)
        return next_spool(reader, ret_piece);
    do
        if (next_block(reader, ret_piece))
            return true;
    while (reader->phase != PHASE_TAIL && next_file(reader));
    return false;
}

int ring_reader_next(struct ring_reader *reader, struct ring_piece *ret_piece) {
    while (reader->phase != PHASE_END) {
        if (phase_next(reader, ret_piece))
            return 0;
        int r = begin_phase(reader, reader->phase + 1);
        if (r < 0)
            return r;
    }
    return RING_END;
}

static int open_directory(struct ring_reader *reader, const char *dir) {
    struct stat st;
    reader->dir_fd = open(dir, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (reader->dir_fd < 0) {
        int r = negative_errno();
        return lstat(dir, &st) == 0 && S_ISLNK(st.st_mode) ? -ELOOP : r;
    }
    if (fstat(reader->dir_fd, &st) < 0)
        return negative_errno();
    reader->owner = st.st_uid;
    return st.st_mode & S_IWOTH ? -EPERM : 0;
}

int ring_reader_open(const char *dir, int64_t from_ns, int64_t to_ns,
                     struct ring_reader **ret_reader) {
    struct ring_reader *reader = calloc(1, sizeof *reader);
    if (!reader)
        return -ENOMEM;
    reader->from_ns = from_ns;
    reader->to_ns = to_ns;
    reader->told.first_ns = INT64_MAX;
    reader->dir_fd = -1;
    reader->names = calloc(NAMES_MAX, sizeof *reader->names);
    int r = reader->names ? ring_zip_new(&reader->zip) : -ENOMEM;
    if (r == 0)
        r = open_directory(reader, dir);
    if (r == 0)
        r = begin_phase(reader, PHASE_FILES);
    if (r < 0)
        ring_reader_close(reader);
    else
        *ret_reader = reader;
    return r;
}

void ring_reader_close(struct ring_reader *reader) {
    if (!reader)
        return;
    if (reader->dir_fd >= 0)
        close(reader->dir_fd);
    ring_zip_free(reader->zip);
    buffer_release(&reader->file);
    buffer_release(&reader->body);
    free(reader->names);
    free(reader);
}

static int64_t overlap_ns(const struct ring_reader *reader, const struct ring_block *block) {
    int64_t first_ns = block->first_ns > reader->from_ns ? block->first_ns : reader->from_ns;
    int64_t last_ns = block->last_ns < reader->to_ns ? block->last_ns : reader->to_ns;
    return last_ns > first_ns ? last_ns - first_ns : 0;
}

int64_t ring_reader_covered(const struct ring_reader *reader) {
    int64_t ns = 0;
    for (size_t i = 0; reader->phase == PHASE_FILES && i < reader->n; i++) {
        char name[RING_NAME_SIZE];
        uint8_t head[RING_BLOCK_HEAD];
        struct ring_block block;
        struct stat st;
        ring_name_put(name, reader->names[i].number);
        int fd = ring_file_open(reader->dir_fd, name, reader->owner, &st);
        if (fd < 0)
            continue;
        if (transfer_read(fd, head, sizeof head) == RING_BLOCK_HEAD &&
            ring_block_read(head, &block) == 0 &&
            __builtin_add_overflow(ns, overlap_ns(reader, &block), &ns))
            ns = INT64_MAX;
        close(fd);
    }
    return ns;
}

const struct ring_reading *ring_reader_told(const struct ring_reader *reader) {
    return &reader->told;
}
