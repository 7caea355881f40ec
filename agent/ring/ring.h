/* SPDX-License-Identifier: MIT */
/*
 * The ring: what an agent has sampled, on the host's own disk, for cuts that are made afterwards.
 * Frames are appended to a spool in the ring's directory, as ever; about once a minute these frames
 * become a file of packed blocks (ring_block.h), and the spool frees them. So a killed agent loses
 * nothing, and a minute is packed as a whole, which takes a third of the room of single frames.
 *
 * A file appears under its name when it is whole. Nothing is fsynced: after a loss of power the
 * last files may end early, and count up to their last whole block. The oldest file goes when there
 * are too many bytes, when it is too old, and when the disk is full.
 */
#ifndef CHOKEPOINT_AGENT_RING_H
#define CHOKEPOINT_AGENT_RING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct lineage;
struct ring;
struct spool;

#define RING_LIMIT_MIN (1u << 20) /* bytes; the least limit that ring_open takes */

struct ring_config {
    const char *dir;      /* from spool_dir_open, which makes it private; copied */
    uint64_t limit_bytes; /* of all its files */
    int64_t span_ns;      /* how old a file may be */
    bool group_reads;     /* the directory's group may read */
};

/* Opens the ring, and takes in what an earlier agent left in spools of other streams than this one.
 * now_ns: wall clock. -EINVAL, -ENOMEM, or the errno of reading or writing the directory. */
int ring_open(const struct ring_config *config, uint64_t stream, int64_t now_ns,
              struct ring **ret_ring);
void ring_close(struct ring *ring); /* takes NULL */

/* The part of the limit that is left to the spool of frames that are in no file yet. */
uint64_t ring_spool_bytes(uint64_t limit_bytes);

/* Keeps the lineages that are new, for readers of the frames that are in no file yet. */
int ring_keep_lineage(struct ring *ring, struct lineage *lineage);

/* Makes a file of all frames of the spool and of the lineages of this round, acknowledges the
 * frames, begins the next round, and drops what is too much. Without frames it only drops. Negative
 * errno: the frames are still in the spool. */
int ring_pack(struct ring *ring, struct spool *spool, struct lineage *lineage, int64_t now_ns);

/* For a full disk: removes the oldest files, a sixteenth of their bytes. False: there is one at
 * most. */
bool ring_shed(struct ring *ring);

struct ring_status {
    size_t files;
    uint64_t bytes;
    uint64_t shed; /* files that were removed because the disk was full */
};
void ring_status(const struct ring *ring, struct ring_status *ret_status);

#endif
