/* SPDX-License-Identifier: MIT */
/*
 * The reader of a directory of rings, and how far it has come. One agent reads at a time: the
 * owner, who holds the lock of a file in the directory. The lock dies with its holder, so the next
 * agent takes over from a dead one. It takes over from a living one as well, which may have lost
 * its way to the run: whoever comes writes into the file that it wants the rings, and the owner
 * lets go of them before its next sample, for good.
 *
 * The file also holds what the owner has read. It is written before the frame with the records is
 * kept, and names that frame: the next owner asks whether the frame is there, and goes on behind it
 * or before it. So a record that a killed agent had read and not kept is read again, and none is
 * told twice.
 */
#ifndef CHOKEPOINT_AGENT_MARK_RING_OWNER_H
#define CHOKEPOINT_AGENT_MARK_RING_OWNER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ring_owner { /* all zero: not open */
    int fd;
    bool is_open, owns;
    bool knows;          /* the state before it: it writes none over one that it has not read */
    bool superseded;     /* it has let go for another one, and never asks again */
    uint64_t generation; /* of this owner: each that comes has a higher one */
    uint64_t number;     /* of the last state that was written */
    size_t size;         /* of a state at most */
    uint8_t *room;       /* owned; for one state with its frame */
};

/* The last frame that is kept of a stream; UINT64_MAX: nobody can tell. */
typedef uint64_t ring_kept_fn(void *ctx, uint64_t stream);

/* Opens the file, and asks for the rings. `size`: of a state at most. -ENOMEM, -errno. */
int ring_owner_open(struct ring_owner *owner, int dir_fd, const char *name, size_t size);

/* Whether it owns the rings from now on; asked again before each sample. -ESTALE: the directory has
 * been removed, and another one may be there. */
int ring_owner_take(struct ring_owner *owner);

/* Whether another agent wants the rings: then they are to be released. */
bool ring_owner_is_asked(struct ring_owner *owner);

/* The state of the owner before this one. Returns its bytes, 0 if there is none. */
size_t ring_owner_load(struct ring_owner *owner, ring_kept_fn *kept, void *ctx, void *ret_state);

/* To be called before frame `seq` of the stream is kept: the state once it is. Stream 0: all that
 * the state tells of is kept already. A write that fails may cost records told twice after a crash.
 */
void ring_owner_save(struct ring_owner *owner, uint64_t stream, uint64_t seq, const void *state,
                     size_t size);

/* Lets the next one read. `state`: as with ring_owner_save, all kept. */
void ring_owner_release(struct ring_owner *owner, const void *state, size_t size);

/* Closes the file; what was saved last stays. */
void ring_owner_close(struct ring_owner *owner);

#endif
