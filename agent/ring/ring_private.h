/* SPDX-License-Identifier: MIT */
/* Shared by the files of the writing side: ring.c, ring_files.c, ring_adopt.c. */
#ifndef CHOKEPOINT_AGENT_RING_PRIVATE_H
#define CHOKEPOINT_AGENT_RING_PRIVATE_H

#include "agent/ring/ring.h"
#include "agent/ring/ring_file.h"
#include "agent/ring/ring_name.h"
#include "agent/ring/ring_zip.h"
#include "common/buffer.h"

#define RING_FILES_MAX 32768

struct ring_file {
    uint64_t number, bytes;
    int64_t last_ns; /* wall time of its last frame */
};

struct ring {
    int dir_fd;
    bool group_reads;
    uint64_t limit_bytes, bytes, shed;
    int64_t span_ns;
    struct ring_file *files; /* owned; oldest first */
    size_t n;
    uint64_t next_number;
    struct ring_zip *zip;
    struct buffer body, blocks, entries;
};

/* Lists the files that are there, and removes those that have no whole block. */
int ring_files_list(struct ring *ring);

/* Writes ring->blocks as the next file, whose last frame is of that time; on a full disk it sheds
 * older ones. Negative errno: there is no new file. */
int ring_files_add(struct ring *ring, int64_t last_ns);

void ring_files_drop_oldest(struct ring *ring);

/* Drops what is too old or too much. */
void ring_files_trim(struct ring *ring, int64_t now_ns);

/* Mode of new files. */
unsigned ring_file_mode(const struct ring *ring);

/* Appends a block of the stream `data` to ring->blocks, and widens *first_ns and *last_ns by the
 * times of its frames. 0 frames: nothing is appended. */
int ring_put_frames(struct ring *ring, const void *data, size_t size, int64_t *first_ns,
                    int64_t *last_ns);

/* Puts a block of ring->entries before ring->blocks, with the time of the whole file: who looks for
 * a time reads one head, and who reads frames knows their lineages. */
int ring_put_entries_before(struct ring *ring, int64_t first_ns, int64_t last_ns);

/* Makes files of the spools that other streams left. */
int ring_adopt(struct ring *ring, uint64_t stream);

#endif
