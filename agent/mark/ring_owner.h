/* SPDX-License-Identifier: MIT */
/*
 * The owner of a directory of rings, and its progress. One agent reads at a time: the owner, which
 * holds the lock of a file in the directory. The lock dies with its holder, so the next agent takes
 * over from a dead one. It also takes over from a living one, which may have lost its connection to
 * the run: the newcomer writes into the file that it wants the rings, and the owner releases them
 * for good before its next sample.
 *
 * The file also holds the owner's progress. It is written before the frame with the records is
 * kept, and names that frame: the next owner asks whether the frame was kept, and continues behind
 * it or before it. So records that a killed agent read and did not keep are read again, and none is
 * kept twice.
 */
#ifndef CHOKEPOINT_AGENT_MARK_RING_OWNER_H
#define CHOKEPOINT_AGENT_MARK_RING_OWNER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ring_owner { /* all zero: not open */
    int fd;
    bool is_open, owns;
    bool knows;          /* the previous owner's state was read; no state is written before */
    bool superseded;     /* it gave way to another owner, and never asks again */
    uint64_t generation; /* of this owner; newcomers have higher ones */
    uint64_t number;     /* number of the last state written */
    size_t size;         /* size of a state at most */
    uint8_t *room;       /* owned; room for one state with its frame */
};

/* The last kept frame of a stream; UINT64_MAX: not known. */
typedef uint64_t ring_kept_fn(void *ctx, uint64_t stream);

/* Opens the file and asks for the rings. `size`: of a state at most. -ENOMEM, -errno. */
int ring_owner_open(struct ring_owner *owner, int dir_fd, const char *name, size_t size);

/* Whether it owns the rings now; ask before each sample. -ESTALE: the directory was removed; there
 * may be a new one. */
int ring_owner_take(struct ring_owner *owner);

/* Whether another agent wants the rings: then release them. */
bool ring_owner_is_asked(struct ring_owner *owner);

/* The state of the previous owner. Returns its size, 0 if there is none. */
size_t ring_owner_load(struct ring_owner *owner, ring_kept_fn *kept, void *ctx, void *ret_state);

/* Stores the state that will hold once frame `seq` of the stream is kept; call it before. Stream 0:
 * it holds already. If the write fails, a crash may repeat records. */
void ring_owner_save(struct ring_owner *owner, uint64_t stream, uint64_t seq, const void *state,
                     size_t size);

/* Gives the rings to the next owner. `state`: as in ring_owner_save, with all frames kept. */
void ring_owner_release(struct ring_owner *owner, const void *state, size_t size);

/* Closes the file; the last saved state stays. */
void ring_owner_close(struct ring_owner *owner);

#endif
