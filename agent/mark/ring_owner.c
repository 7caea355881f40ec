/* SPDX-License-Identifier: MIT */
/*
 * The file: a head, then two places for a state, written in turn. A state ends with its number
 * again: if a kill cut it short, the number is missing, and the older state holds.
 */
#include "agent/mark/ring_owner.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/error.h"

#define STATES 2
#define STATES_AT 64

struct head {
    uint64_t generation; /* generation of the last owner */
    uint64_t wanted;     /* the highest generation that anyone asked for */
};

struct state_head {
    uint64_t number; /* 0: no state; repeated behind the state */
    uint64_t stream, seq;
    uint64_t size;
};

/* ---- the file ---- */

static struct head read_owner_head(const struct ring_owner *owner) {
    struct head head = {0};
    if (pread(owner->fd, &head, sizeof head, 0) != (ssize_t)sizeof head)
        head = (struct head){0};
    return head;
}

static int write_word(const struct ring_owner *owner, uint64_t word, size_t at) {
    return pwrite(owner->fd, &word, sizeof word, (off_t)at) == (ssize_t)sizeof word
               ? 0
               : negative_errno();
}

static size_t room_size(const struct ring_owner *owner) {
    return sizeof(struct state_head) + owner->size + sizeof(uint64_t);
}

static off_t state_at(const struct ring_owner *owner, uint64_t number) {
    return (off_t)(STATES_AT + number % STATES * room_size(owner));
}

/* ---- ownership ---- */

static int ask(struct ring_owner *owner) {
    struct head head = read_owner_head(owner);
    uint64_t highest = head.wanted > head.generation ? head.wanted : head.generation;
    owner->generation = highest + 1;
    return write_word(owner, owner->generation, offsetof(struct head, wanted));
}

int ring_owner_open(struct ring_owner *owner, int dir_fd, const char *name, size_t size) {
    *owner = (struct ring_owner){.size = size};
    owner->room = calloc(1, room_size(owner));
    if (!owner->room)
        return -ENOMEM;
    owner->fd = openat(dir_fd, name, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
    int r = owner->fd < 0 ? negative_errno() : ask(owner);
    if (r < 0) {
        if (owner->fd >= 0)
            close(owner->fd);
        free(owner->room);
        *owner = (struct ring_owner){0};
        return r;
    }
    owner->is_open = true;
    return 0;
}

static bool is_removed(const struct ring_owner *owner) {
    struct stat st;
    return fstat(owner->fd, &st) < 0 || st.st_nlink == 0;
}

/* Two that ask at the same time may get the same number: the second one asks again. */
int ring_owner_take(struct ring_owner *owner) {
    if (!owner->is_open || owner->owns || owner->superseded)
        return owner->owns;
    if (is_removed(owner))
        return -ESTALE;
    if (flock(owner->fd, LOCK_EX | LOCK_NB) < 0)
        return read_owner_head(owner).generation >= owner->generation ? ask(owner) : 0;
    if (is_removed(owner))
        return -ESTALE;
    int r = read_owner_head(owner).generation >= owner->generation ? ask(owner) : 0;
    if (r == 0)
        r = write_word(owner, owner->generation, offsetof(struct head, generation));
    if (r < 0) {
        flock(owner->fd, LOCK_UN);
        return r;
    }
    return owner->owns = true;
}

bool ring_owner_is_asked(struct ring_owner *owner) {
    return owner->owns && read_owner_head(owner).wanted > owner->generation;
}

/* ---- progress ---- */

/* Reads the state from that place into `room`; false: there is none. */
static bool read_state(const struct ring_owner *owner, uint64_t place,
                       struct state_head *ret_head) {
    uint64_t end;
    ssize_t n = pread(owner->fd, owner->room, room_size(owner), state_at(owner, place));
    if (n < (ssize_t)sizeof *ret_head)
        return false;
    memcpy(ret_head, owner->room, sizeof *ret_head);
    if (ret_head->number % STATES != place || ret_head->number == 0 ||
        ret_head->size > owner->size || (size_t)n < sizeof *ret_head + ret_head->size + sizeof end)
        return false;
    memcpy(&end, owner->room + sizeof *ret_head + ret_head->size, sizeof end);
    return end == ret_head->number;
}

/* Overwrites the older of the two states. */
size_t ring_owner_load(struct ring_owner *owner, ring_kept_fn *kept, void *ctx, void *ret_state) {
    struct state_head heads[STATES] = {{0}}, chosen;
    for (uint64_t i = 0; i < STATES; i++)
        if (!read_state(owner, i, &heads[i]))
            heads[i] = (struct state_head){0};
    uint64_t place = heads[1].number > heads[0].number;
    const struct state_head *newest = &heads[place];
    bool holds = !newest->stream || !kept || kept(ctx, newest->stream) >= newest->seq;
    owner->number = newest->number + !holds;
    owner->knows = true;
    if (!read_state(owner, holds ? place : 1 - place, &chosen))
        return 0;
    memcpy(ret_state, owner->room + sizeof chosen, chosen.size);
    return chosen.size;
}

void ring_owner_save(struct ring_owner *owner, uint64_t stream, uint64_t seq, const void *state,
                     size_t size) {
    struct state_head head = {owner->number + 1, stream, seq, size};
    if (!owner->owns || !owner->knows || size > owner->size)
        return;
    memcpy(owner->room, &head, sizeof head);
    memcpy(owner->room + sizeof head, state, size);
    memcpy(owner->room + sizeof head + size, &head.number, sizeof head.number);
    size_t n = sizeof head + size + sizeof head.number;
    if (pwrite(owner->fd, owner->room, n, state_at(owner, head.number)) == (ssize_t)n)
        owner->number = head.number;
}

void ring_owner_release(struct ring_owner *owner, const void *state, size_t size) {
    if (!owner->owns)
        return;
    ring_owner_save(owner, 0, 0, state, size);
    flock(owner->fd, LOCK_UN);
    owner->owns = false;
    owner->superseded = true;
}

void ring_owner_close(struct ring_owner *owner) {
    if (!owner->is_open)
        return;
    close(owner->fd);
    free(owner->room);
    *owner = (struct ring_owner){0};
}
