/* SPDX-License-Identifier: MIT */
/*
 * The spool: frames wait here until the collector has committed them. Files DIR/ID-NNNNNN.spool
 * (ID: the stream id in 16 hex digits; mode 0600) are segments of at most a mebibyte. A segment
 * opens with the magic, the stream and all table records, so each is a whole stream. A push sends
 * the opening of one segment and whole frames of it; a leftover segment can be sent unchanged.
 *
 * The newest segment is not freed before spool_close, even when all of it is committed: from it a
 * killed agent's successor learns where the sequence ended. Only on a full disk is it replaced by a
 * new one. Nothing is fsynced: a spool outlives its process, and a host that lost its power has
 * another boot id, hence another stream.
 *
 * If files or the directory are removed (by a cleaner of /tmp, the epilog of a batch job), the
 * directory is made anew, and the newest segment is written again.
 *
 * Two threads: one appends (append, last, lost), one reads (read, header, ack, refuse). Either may
 * call spool_counts.
 */
#ifndef CHOKEPOINT_AGENT_SPOOL_H
#define CHOKEPOINT_AGENT_SPOOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/buffer.h"
#include "common/wire.h"

struct spool;

#define SPOOL_BODY_MAX (4u << 20)    /* bytes of an HTTP body; a larger frame is refused */
#define SPOOL_LIMIT_MIN (128u << 10) /* the least limit that spool_open takes */

struct spool_config {
    const char *dir;                   /* from spool_dir_open */
    uint64_t limit_bytes;              /* for all segments together, never exceeded */
    unsigned mode;                     /* of its files; 0: 0600 */
    uint64_t segment_bytes;            /* 0: a 64th of the limit within 64 KiB .. 1 MiB */
    struct wire_stream stream;         /* an existing spool of this stream id is continued */
    const struct table *const *tables; /* table i gets index i; borrowed during the call */
    size_t n_tables;
    const struct wire_run *run;  /* borrowed during the call; NULL: no run */
    struct spool_memory *memory; /* borrowed; NULL: none */
};

/* State of a stream outside its files, in memory that outlives the appending process. */
struct spool_memory {
    _Atomic uint64_t last_seq; /* the last frame that was kept; 0: none */
};

/* Opens the spool and recovers what an earlier process left of the stream: a torn tail is cut off
 * at the last whole frame, and appending continues in a new segment. -EINVAL (limit too small),
 * -ENAMETOOLONG, -ENOMEM, or the errno of reading or writing the directory. */
int spool_open(const struct spool_config *config, struct spool **ret_spool);

/* Removes all segments if everything is committed, or if `remove`; else keeps the files. Takes
 * NULL. */
void spool_close(struct spool *spool, bool remove);

/* Closes and keeps all files: another process continues the stream. Takes NULL. */
void spool_leave(struct spool *spool);

/* The last kept frame of any stream in that directory, 0 if it has none; -ENOENT: there is no file
 * of it. A living agent may be writing it. */
int spool_last_kept(const char *dir, uint64_t stream, uint64_t *ret_seq);

/* ---- the appending thread ---- */

/* Head of the last recovered frame; false if the spool began empty. */
bool spool_recovered(const struct spool *spool, struct frame_head *ret_last);

/* Whether files of this stream are missing: the recovered frames end before the last one kept.
 * Continuing such a stream would repeat numbers that the collector knows. */
bool spool_is_torn(const struct spool *spool);

/* Frames lost since the stream began, for the head of the next frame: dropped with the oldest
 * segment because of the limit, not written because of an error, refused by the collector. */
uint64_t spool_lost(struct spool *spool);

/* Appends one frame record from wire_put_frame. On an error (-ENOSPC, ..., -EMSGSIZE) the frame
 * counts as lost, the spool is unchanged, and the next append tries anew. Allocates nothing. */
int spool_append(struct spool *spool, const void *frame, size_t size, uint64_t seq);

/* ---- the reading thread ---- */

#define SPOOL_EMPTY 1 /* no frame after that number */

struct spool_range {
    uint64_t first_seq, last_seq; /* frames in the body */
    size_t n_frames;
};

/* Fills body (reset first, owned by the caller) with the opening of one segment and its whole
 * frames with seq > after, at least one, up to max_bytes: call again until SPOOL_EMPTY. Negative
 * errno: that segment cannot be read. */
int spool_read(struct spool *spool, uint64_t after, size_t max_bytes, struct buffer *body,
               struct spool_range *ret_range);

/* Fills body with the opening alone, for a push without frames. */
int spool_header(struct spool *spool, struct buffer *body);

/* Marks all frames up to seq as committed, and frees segments that are committed whole. */
void spool_ack(struct spool *spool, uint64_t seq);

/* As spool_ack, for frames that the collector will never take (400, 413): those that were not
 * committed count as lost. */
void spool_refuse(struct spool *spool, uint64_t seq);

struct spool_counts {
    uint64_t last_seq;      /* last appended frame; 0 if none */
    uint64_t committed_seq; /* last acknowledged or refused frame */
    uint64_t waiting;       /* frames in the spool that are not committed */
    uint64_t lost;          /* see spool_lost */
    uint64_t bytes;         /* in all segments */
    size_t segments;
};
void spool_counts(struct spool *spool, struct spool_counts *ret_counts);

#endif
