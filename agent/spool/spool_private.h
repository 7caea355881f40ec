/* SPDX-License-Identifier: MIT */
/* Shared by the files of the spool: spool.c, spool_file.c, spool_recover.c, spool_read.c. */
#ifndef CHOKEPOINT_AGENT_SPOOL_PRIVATE_H
#define CHOKEPOINT_AGENT_SPOOL_PRIVATE_H

#include <pthread.h>
#include <sys/uio.h>

#include "agent/spool/spool.h"
#include "agent/spool/spool_dir.h"
#include "common/segment_name.h"

/* One file. Its frames are first_seq..last_seq without a gap: a lost frame ends it. */
struct segment {
    uint32_t number;
    uint32_t header_size;
    uint64_t size;
    uint64_t first_seq, last_seq;
};

/* Where the reader stopped, so that it need not walk a segment from its start each time. */
struct spool_cursor {
    uint32_t number;
    uint64_t after, offset;
};

struct spool {
    pthread_mutex_t lock;                /* protects all below, unless marked otherwise */
    char *dir;                           /* const */
    int dir_fd;                          /* number is const; may become a new directory */
    unsigned mode;                       /* const */
    uint64_t stream_id;                  /* const */
    uint64_t limit_bytes, segment_bytes; /* const */
    struct buffer header;                /* const: magic, stream, tables */
    struct segment *segments;            /* oldest first; `n` of `capacity` */
    size_t n, capacity;
    uint32_t next_number;
    int fd; /* of the newest segment while it is appended to, else -1; also for reading */
    uint64_t bytes, last_seq, committed_seq, lost;
    struct spool_memory *memory; /* const; NULL: none */
    bool have_recovered;         /* const after open */
    struct frame_head recovered; /* const after open */
    struct spool_cursor cursor;  /* used by the reading thread only */
};

void segment_name(const struct spool *spool, uint32_t number, char ret_name[SEGMENT_NAME_SIZE]);

/* Frames of the segment that are not committed. */
uint64_t segment_waiting(const struct spool *spool, const struct segment *segment);

/* Takes a segment out of the list; the caller removes the file, perhaps after unlocking. */
struct segment segment_take(struct spool *spool, size_t i);

/* Takes segment i out of the list, counts its waiting frames as lost, and removes its file.
 * Locked. */
void segment_drop(struct spool *spool, size_t i);

/* Makes the file of the next segment, next_number, which skips taken names, and the directory anew
 * if it was removed. Returns a descriptor for appending and reading. Locked. */
int segment_create(struct spool *spool);
void segment_unlink(const struct spool *spool, uint32_t number);

/* Writes all pieces or nothing: a partial write is cut off again. */
int segment_write(int fd, uint64_t offset, const struct iovec *pieces, int n);

/* Writes the newest segment again after its file was removed: the open descriptor still has its
 * content. If that fails, the old descriptor is used on. Locked. */
void segment_restore_newest(struct spool *spool);

/* Reads the files of an earlier process. Called by spool_open. */
int spool_recover(struct spool *spool);

#endif
