/* SPDX-License-Identifier: MIT */
/*
 * One list of all visitors, oldest first. It is walked for each stranger that comes while all slots
 * are taken, and for each visitor that becomes known: thousands of entries at most.
 */
#include "collector/gate.h"

#include <errno.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "common/clock.h"

#define CHECK_NS (500 * NS_PER_MS) /* deadlines are checked this often */
#define BUCKETS 1024               /* a power of two */
#define EXPECTED_NS NS_PER_S       /* a promise lasts so long: the stranger may never come */

struct visitor {
    struct visitor *older, *newer;
    int fd;
    unsigned bucket; /* strangers are counted by the hash of their address */
    uint64_t host;   /* hash of the host name whose key it has shown */
    bool known, dropped;
    int64_t due_ns; /* deadline; 0: none */
};

struct gate {
    struct gate_limits limits;
    pthread_mutex_t lock; /* protects all below */
    pthread_cond_t changed;
    pthread_t thread;
    bool ending, asleep; /* asleep: the thread waits without a limit for a first deadline */
    struct visitor *oldest, *newest;
    size_t n_strangers, n_known, n_due; /* without dropped visitors */
    uint16_t strangers_at[BUCKETS];
    size_t n_expected;   /* strangers with a promised slot */
    int64_t expected_ns; /* time of the last promise */
};

static uint64_t hash_bytes(const void *data, size_t size) {
    const unsigned char *bytes = data;
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (size_t i = 0; i < size; i++)
        hash = (hash ^ bytes[i]) * UINT64_C(0x100000001b3);
    return hash ^ hash >> 32;
}

/* An IPv6 address counts by its network part: one host may use many addresses of its network. */
static unsigned bucket_of(const struct sockaddr *address) {
    uint64_t hash = 0;
    if (address && address->sa_family == AF_INET)
        hash = hash_bytes(&((const struct sockaddr_in *)address)->sin_addr, 4);
    if (address && address->sa_family == AF_INET6)
        hash = hash_bytes(&((const struct sockaddr_in6 *)address)->sin6_addr, 8);
    return (unsigned)hash & (BUCKETS - 1);
}

/* ---- the caller holds the lock ---- */

static void set_due(struct gate *gate, struct visitor *visitor, int64_t due_ns) {
    gate->n_due += (due_ns != 0) - (visitor->due_ns != 0);
    visitor->due_ns = due_ns;
    if (gate->asleep && gate->n_due) {
        gate->asleep = false;
        pthread_cond_signal(&gate->changed);
    }
}

/* A dropped visitor is not counted any more. */
static void forget(struct gate *gate, struct visitor *visitor) {
    set_due(gate, visitor, 0);
    if (visitor->known) {
        gate->n_known--;
        return;
    }
    gate->n_strangers--;
    gate->strangers_at[visitor->bucket]--;
    if (gate->limits.room)
        gate->limits.room(gate->limits.ctx);
}

static void drop(struct gate *gate, struct visitor *visitor) {
    forget(gate, visitor);
    visitor->dropped = true;
    shutdown(visitor->fd, SHUT_RDWR);
    if (gate->limits.dropped)
        gate->limits.dropped(gate->limits.ctx);
}

static void drop_a_stranger(struct gate *gate) {
    struct visitor *worst = NULL;
    for (struct visitor *v = gate->oldest; v; v = v->newer)
        if (!v->known && !v->dropped &&
            (!worst || gate->strangers_at[v->bucket] > gate->strangers_at[worst->bucket]))
            worst = v;
    if (worst)
        drop(gate, worst);
}

static void keep_to_the_share_of_a_host(struct gate *gate, uint64_t host) {
    struct visitor *first = NULL;
    size_t n = 0;
    for (struct visitor *v = gate->oldest; v; v = v->newer) {
        if (!v->known || v->dropped || v->host != host)
            continue;
        if (!first)
            first = v;
        n++;
    }
    if (n > gate->limits.known_per_host)
        drop(gate, first);
}

static void drop_overdue(struct gate *gate, int64_t now_ns) {
    for (struct visitor *v = gate->oldest; v; v = v->newer)
        if (v->due_ns && v->due_ns <= now_ns)
            drop(gate, v);
}

/* ---- the thread ---- */

static void wait_a_moment(struct gate *gate) {
    int64_t until_ns = clock_monotonic_ns() + CHECK_NS;
    const struct timespec until = {until_ns / NS_PER_S, until_ns % NS_PER_S};
    int r = 0;
    while (!gate->ending && r == 0)
        r = pthread_cond_timedwait(&gate->changed, &gate->lock, &until);
}

static void *keep_deadlines(void *arg) {
    struct gate *gate = arg;
    pthread_mutex_lock(&gate->lock);
    while (!gate->ending) {
        gate->asleep = gate->n_due == 0;
        while (gate->asleep && !gate->ending)
            pthread_cond_wait(&gate->changed, &gate->lock);
        wait_a_moment(gate);
        drop_overdue(gate, clock_monotonic_ns());
    }
    pthread_mutex_unlock(&gate->lock);
    return NULL;
}

int gate_new(const struct gate_limits *limits, struct gate **ret_gate) {
    struct gate *gate = calloc(1, sizeof *gate);
    pthread_condattr_t monotonic;
    if (!gate)
        return -ENOMEM;
    gate->limits = *limits;
    pthread_mutex_init(&gate->lock, NULL);
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&gate->changed, &monotonic);
    pthread_condattr_destroy(&monotonic);
    int error = pthread_create(&gate->thread, NULL, keep_deadlines, gate);
    if (error) {
        pthread_cond_destroy(&gate->changed);
        pthread_mutex_destroy(&gate->lock);
        free(gate);
        return -error;
    }
    *ret_gate = gate;
    return 0;
}

void gate_free(struct gate *gate) {
    if (!gate)
        return;
    pthread_mutex_lock(&gate->lock);
    gate->ending = true;
    pthread_cond_signal(&gate->changed);
    pthread_mutex_unlock(&gate->lock);
    pthread_join(gate->thread, NULL);
    pthread_cond_destroy(&gate->changed);
    pthread_mutex_destroy(&gate->lock);
    free(gate);
}

/* ---- visitors ---- */

static void append(struct gate *gate, struct visitor *visitor) {
    visitor->older = gate->newest;
    *(gate->newest ? &gate->newest->newer : &gate->oldest) = visitor;
    gate->newest = visitor;
    gate->n_strangers++;
    gate->strangers_at[visitor->bucket]++;
    set_due(gate, visitor, clock_monotonic_ns() + gate->limits.stranger_ns);
}

static bool another_has_more(const struct gate *gate, unsigned bucket) {
    for (size_t i = 0; i < BUCKETS; i++)
        if (gate->strangers_at[i] > gate->strangers_at[bucket] + 1)
            return true;
    return false;
}

bool gate_expect(struct gate *gate, const struct sockaddr *address) {
    int64_t now_ns = clock_monotonic_ns();
    pthread_mutex_lock(&gate->lock);
    if (now_ns - gate->expected_ns > EXPECTED_NS)
        gate->n_expected = 0;
    bool may = gate->n_strangers + gate->n_expected < gate->limits.strangers ||
               another_has_more(gate, bucket_of(address));
    if (may) {
        gate->n_expected++;
        gate->expected_ns = now_ns;
    }
    pthread_mutex_unlock(&gate->lock);
    return may;
}

struct visitor *gate_enter(struct gate *gate, int fd, const struct sockaddr *address) {
    struct visitor *visitor = calloc(1, sizeof *visitor);
    if (!visitor)
        return NULL;
    visitor->fd = fd;
    visitor->bucket = bucket_of(address);
    pthread_mutex_lock(&gate->lock);
    gate->n_expected -= gate->n_expected > 0;
    if (gate->n_strangers >= gate->limits.strangers)
        drop_a_stranger(gate);
    append(gate, visitor);
    pthread_mutex_unlock(&gate->lock);
    return visitor;
}

void gate_leave(struct gate *gate, struct visitor *visitor) {
    if (!visitor)
        return;
    pthread_mutex_lock(&gate->lock);
    if (!visitor->dropped)
        forget(gate, visitor);
    *(visitor->older ? &visitor->older->newer : &gate->oldest) = visitor->newer;
    *(visitor->newer ? &visitor->newer->older : &gate->newest) = visitor->older;
    pthread_mutex_unlock(&gate->lock);
    free(visitor);
}

static void become_known(struct gate *gate, struct visitor *visitor, const char *host) {
    forget(gate, visitor);
    visitor->known = true;
    visitor->host = hash_bytes(host, strlen(host));
    gate->n_known++;
    if (gate->n_known > gate->limits.known)
        drop(gate, visitor);
    else
        keep_to_the_share_of_a_host(gate, visitor->host);
}

void gate_know(struct gate *gate, struct visitor *visitor, const char *host) {
    pthread_mutex_lock(&gate->lock);
    if (!visitor->known && !visitor->dropped)
        become_known(gate, visitor, host);
    pthread_mutex_unlock(&gate->lock);
}

static void set_request_due(struct gate *gate, struct visitor *visitor, int64_t due_ns) {
    pthread_mutex_lock(&gate->lock);
    if (visitor->known && !visitor->dropped)
        set_due(gate, visitor, due_ns);
    pthread_mutex_unlock(&gate->lock);
}

void gate_request_begins(struct gate *gate, struct visitor *visitor) {
    set_request_due(gate, visitor, clock_monotonic_ns() + gate->limits.request_ns);
}

void gate_request_ends(struct gate *gate, struct visitor *visitor) {
    set_request_due(gate, visitor, 0);
}
