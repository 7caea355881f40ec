/* SPDX-License-Identifier: MIT */
/*
 * A table in buckets of four. A slot belongs to whoever has turned its key into TAKEN: so no lock,
 * no waiting, and a slot that is taken just now counts as full.
 *
 * Handles come back: MPI gives a new request the address of one that has completed, perhaps to
 * another thread that is still on its way here. Hence the time in each entry.
 */
#include "agent/shim/request.h"

#define BUCKETS 4096
#define WAYS 4
#define TAKEN ((void *)-1)

struct slot {
    void *key; /* NULL: free */
    struct request request;
};

static struct slot slots[BUCKETS][WAYS];

static struct slot *bucket_of(const void *handle) {
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

/* Between the return of a wait and its look here another thread may be given the same handle: then
 * both are kept, the older of which the wait is about. */
static bool is_shared_by_threads(void) {
    return !shim_is_alone();
}

static struct slot *room_beside(struct slot *bucket, void *handle, struct slot *have) {
    struct slot *second = seize_in_bucket(bucket, handle);
    if (!second) {
        second = seize_in_bucket(bucket, NULL);
        if (!second)
            return have;
        release(have, handle);
        return second;
    }
    bool have_is_older = have->request.since_ns <= second->request.since_ns;
    release(have_is_older ? second : have, handle);
    return have_is_older ? have : second;
}

bool request_put(void *handle, const struct request *request) {
    if (!handle)
        return true;
    struct slot *bucket = bucket_of(handle), *slot = seize_in_bucket(bucket, handle);
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

/* The newer one of two that is old enough; releases the other one. */
static struct slot *choose(struct slot *a, struct slot *b, void *handle, int64_t before_ns) {
    bool a_fits = a->request.since_ns <= before_ns, b_fits = b->request.since_ns <= before_ns;
    bool takes_b = b_fits && (!a_fits || b->request.since_ns > a->request.since_ns);
    release(takes_b ? a : b, handle);
    return takes_b ? b : a;
}

bool request_take(void *handle, int64_t before_ns, struct request *ret_request) {
    if (!handle)
        return false;
    struct slot *bucket = bucket_of(handle), *slot = seize_in_bucket(bucket, handle);
    if (!slot)
        return false;
    struct slot *second = is_shared_by_threads() ? seize_in_bucket(bucket, handle) : NULL;
    if (second)
        slot = choose(slot, second, handle, before_ns);
    bool ours = slot->request.since_ns <= before_ns;
    if (ours)
        *ret_request = slot->request;
    release(slot, ours ? NULL : handle);
    return ours;
}
