/* SPDX-License-Identifier: MIT */
/*
 * A table in buckets of four. A slot belongs to the thread that set its key to TAKEN, so there is
 * no lock. A search for room treats a taken slot as full; a search for an entry waits for it.
 *
 * MPI reuses handles: a new request may get the address of a completed one while another thread
 * still handles the completion. So each entry has a time.
 */
#include "agent/shim/request.h"

#include <sched.h>

#define BUCKETS 4096
#define WAYS 4
#define TAKEN ((void *)-1)
#define PATIENCE 1000 /* tries at a bucket that another thread uses */

struct slot {
    void *key; /* NULL: free */
    struct request request;
};

static struct slot slots[BUCKETS][WAYS];

static struct slot *request_bucket(const void *handle) {
    uint64_t h = (uint64_t)(uintptr_t)handle * UINT64_C(0x9e3779b97f4a7c15);
    return slots[h >> 32 & (BUCKETS - 1)];
}

static bool seize(struct slot *slot, void *key) {
    return __atomic_load_n(&slot->key, __ATOMIC_RELAXED) == key &&
           __atomic_compare_exchange_n(&slot->key, &key, TAKEN, false, __ATOMIC_ACQUIRE,
                                       __ATOMIC_RELAXED);
}

static void release(struct slot *slot, void *key) {
    __atomic_store_n(&slot->key, key, __ATOMIC_RELEASE);
}

static struct slot *seize_in_bucket(struct slot *bucket, void *key) {
    for (int i = 0; i < WAYS; i++)
        if (seize(&bucket[i], key))
            return &bucket[i];
    return NULL;
}

/* Between the return of a wait and its lookup here, other threads may get the same handle, one
 * after the other. All entries are kept while there is room, and a wait takes the newest entry that
 * is older than itself. */
static bool is_shared_by_threads(void) {
    return !shim_is_alone();
}

/* A free slot; in a full bucket the oldest one of this handle. `have` is one of this handle, and
 * seized. */
static struct slot *room_beside(struct slot *bucket, void *handle, struct slot *have) {
    struct slot *room = seize_in_bucket(bucket, NULL);
    if (room) {
        release(have, handle);
        return room;
    }
    for (int i = 0; i < WAYS; i++) {
        if (&bucket[i] == have || !seize(&bucket[i], handle))
            continue;
        bool have_is_older = have->request.since_ns <= bucket[i].request.since_ns;
        release(have_is_older ? &bucket[i] : have, handle);
        have = have_is_older ? have : &bucket[i];
    }
    return have;
}

bool request_put(void *handle, const struct request *request) {
    if (!handle)
        return true;
    struct slot *bucket = request_bucket(handle), *slot = seize_in_bucket(bucket, handle);
    if (slot && is_shared_by_threads())
        slot = room_beside(bucket, handle, slot);
    if (!slot)
        slot = seize_in_bucket(bucket, NULL);
    if (!slot) {
        shim_add(&shim_file->lost_requests, 1);
        return false;
    }
    slot->request = *request;
    release(slot, handle);
    return true;
}

static bool is_seized(const struct slot *bucket) {
    for (int i = 0; i < WAYS; i++)
        if (__atomic_load_n(&bucket[i].key, __ATOMIC_RELAXED) == TAKEN)
            return true;
    return false;
}

/* Another thread that looks for this handle seizes all its entries for a moment, and may lose its
 * core then: the search waits for it, but not for ever. A handle is missing if two looks at a
 * bucket without seized slots have not found it. */
static struct slot *seize_patiently(struct slot *bucket, void *handle) {
    int quiet = 0;
    for (int i = 0; i < PATIENCE && quiet < 2; i++) {
        struct slot *slot = seize_in_bucket(bucket, handle);
        if (slot)
            return slot;
        if (is_seized(bucket))
            sched_yield();
        else
            quiet++;
    }
    return NULL;
}

/* The newer one of two entries that are old enough; releases the other one. */
static struct slot *choose(struct slot *a, struct slot *b, void *handle, int64_t before_ns) {
    bool a_fits = a->request.since_ns <= before_ns, b_fits = b->request.since_ns <= before_ns;
    bool takes_b = b_fits && (!a_fits || b->request.since_ns > a->request.since_ns);
    release(takes_b ? a : b, handle);
    return takes_b ? b : a;
}

bool request_take(void *handle, int64_t before_ns, struct request *ret_request) {
    if (!handle)
        return false;
    struct slot *bucket = request_bucket(handle);
    struct slot *slot =
        is_shared_by_threads() ? seize_patiently(bucket, handle) : seize_in_bucket(bucket, handle);
    if (!slot)
        return false;
    for (int i = 0; i < WAYS && is_shared_by_threads(); i++)
        if (&bucket[i] != slot && seize(&bucket[i], handle))
            slot = choose(slot, &bucket[i], handle, before_ns);
    bool ours = slot->request.since_ns <= before_ns;
    if (ours)
        *ret_request = slot->request;
    release(slot, ours ? NULL : handle);
    return ours;
}
