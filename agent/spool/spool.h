/* SPDX-License-Identifier: MIT */
/*
 * The spool: where frames wait until the collector has committed them. Files DIR/ID-NNNNNN.spool
 * (ID: the stream id in 16 hex digits; mode 0600), segments of at most a mebibyte. A segment opens
 * with the magic, the stream and all table records, so each is a whole stream in itself: what a
 * push sends is the opening of one segment and whole frames of it, and a segment that was left
 * behind can be sent as it lies.
 *
 * The newest segment is not freed before spool_close, even when all of it is committed (but for
 * the one that takes its place on a full disk): it is how an agent that was killed knows where its
 * sequence ended. Nothing is fsynced: a spool
 * outlives its process, and a host that lost its power has another boot id, another stream.
 *
 * Somebody may remove files or the directory (a cleaner of /tmp, the epilog of a batch job): then
 * the directory is made anew, and the newest segment is written again.
 *
 * Two threads: one appends (append, last, lost), one reads (read, header, ack, refuse).
 * spool_counts may be called by either.
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
    const char *dir;                   /* as of spool_dir_open */
    uint64_t limit_bytes;              /* of all segments together, never exceeded */
    uint64_t segment_bytes;            /* 0: a 64th of the limit within 64 KiB .. 1 MiB */
    struct wire_stream stream;         /* an existing spool of this stream id is continued */
    const struct table *const *tables; /* table i gets index i; borrowed during the call */
    size_t n_tables;
    const struct wire_run *run;  /* borrowed during the call; NULL: of none */
    struct spool_memory *memory; /* borrowed; NULL: none */
};

/* State of a stream beside its files: memory that outlives the process which appends. */
struct spool_memory {
    _Atomic uint64_t last_seq; /* of the last frame that was kept; 0: none */
};

/* Opens the spool, and recovers what an earlier process left of the same stream: a tail that was
 * cut short is cut off at the last whole frame; appending goes on in a new segment. -EINVAL (limit
 * too small), -ENAMETOOLONG, -ENOMEM, or why the directory cannot be read or written. */
int spool_open(const struct spool_config *config, struct spool **ret_spool);

/* Removes all segments if everything is committed or `remove`, else keeps the files. NULL is fine.
 */
void spool_close(struct spool *spool, bool remove);

/* The same, and keeps all files: another process goes on with the stream. NULL is fine. */
void spool_leave(struct spool *spool);

/* The last frame that is kept of any stream in that directory, 0 if it has none; -ENOENT: there is
 * no file of it. Reads what an agent that lives may be writing. */
int spool_last_kept(const char *dir, uint64_t stream, uint64_t *ret_seq);

/* ---- the appending thread ---- */

/* Head of the last frame that was recovered; false if the spool began empty. */
bool spool_recovered(const struct spool *spool, struct frame_head *ret_last);

/* Whether files of this stream are missing: the frames recovered end before the last that there
 * was. To go on with such a stream would repeat numbers that the collector knows already. */
bool spool_is_torn(const struct spool *spool);

/* Frames lost since the stream began, for the head of the next frame: dropped with the oldest
 * segment because of the limit, not written because of an error, refused by the collector. */
uint64_t spool_lost(struct spool *spool);

/* Appends one frame record as wire_put_frame made it. On an error (-ENOSPC, ..., -EMSGSIZE) the
 * frame is counted lost, the spool is as before, and the next append tries anew. Allocates
 * nothing. */
int spool_append(struct spool *spool, const void *frame, size_t size, uint64_t seq);

/* ---- the reading thread ---- */

#define SPOOL_EMPTY 1 /* no frame after that sequence number */

struct spool_range {
    uint64_t first_seq, last_seq; /* of the frames in the body */
    size_t n_frames;
};

/* Fills body (reset first, owned by the caller) with the opening of a segment and as many whole
 * frames with seq > after as fit into max_bytes, at least one, of one segment only: call again
 * until SPOOL_EMPTY. Negative errno: that segment cannot be read. */
int spool_read(struct spool *spool, uint64_t after, size_t max_bytes, struct buffer *body,
               struct spool_range *ret_range);

/* Fills body with the opening alone: a push that carries no frame. */
int spool_header(struct spool *spool, struct buffer *body);

/* All frames up to seq are committed: whole segments of them are freed. */
void spool_ack(struct spool *spool, uint64_t seq);

/* As spool_ack for frames the collector will never take (400, 413): those among them that were not
 * committed count as lost. */
void spool_refuse(struct spool *spool, uint64_t seq);

struct spool_counts {
    uint64_t last_seq;      /* appended; 0 if none */
    uint64_t committed_seq; /* highest acknowledged or refused */
    uint64_t waiting;       /* frames in the spool that are not committed */
    uint64_t lost;          /* as spool_lost */
    uint64_t bytes;         /* of all segments */
    size_t segments;
};
void spool_counts(struct spool *spool, struct spool_counts *ret_counts);

#endif
