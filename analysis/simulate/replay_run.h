/* SPDX-License-Identifier: MIT */
/* The state of a running replay, which its files share. */
#ifndef CHOKEPOINT_ANALYSIS_SIMULATE_REPLAY_RUN_H
#define CHOKEPOINT_ANALYSIS_SIMULATE_REPLAY_RUN_H

#include "analysis/simulate/replay_private.h"

enum { EVENT_RANK, EVENT_FLOWS, EVENT_LEAVE };

struct event {
    int64_t t_ns;
    uint64_t order;
    uint32_t kind, index;
};

struct rank_state {
    size_t at;
    int64_t now, resume;
    uint32_t missing; /* how many things it waits for */
    bool blocked;     /* it waits in the middle of an operation */
    /* The quota: the last period, what was used of it, and since when the rank waits. */
    int64_t period, used_ns, waits_ns;
};

struct message_state {
    int64_t sent_ns, posted_ns, arrived_ns, left_ns; /* VALUE_ABSENT: did not happen yet */
    int64_t envelope_ns;                             /* when a probe can find it */
    uint32_t next;                                   /* next message in its pair's queue */
    uint32_t held_up; /* the first that moves after this one, joined by `next`; REPLAY_NONE */
    bool receiver_waits, sender_waits, probe_waits;
};

struct pair_state {
    struct replay_flow flow;
    uint32_t head, tail;
    uint32_t place; /* index among the active flows; REPLAY_NONE */
    int64_t free_ns;
};

struct waiting { /* a rank that waits for a group call */
    uint32_t rank, next;
    int64_t arrived_ns, ns;
};

/* Those of all group calls; each call has a list of its own among them. */
struct waiters {
    struct waiting *at;
    size_t n, capacity;
};

/* The flows whose rates depend on what has changed (replay_component.c). */
struct components {
    struct replay_flow **at; /* by link: the first flow that crosses it */
    struct replay_flow **begun, **changed;
    size_t n_begun, n_changed;
    uint32_t *links; /* links that changed, or that share a flow with one that did */
    bool *is_listed; /* by link */
    size_t n_links;
};

struct group_state {
    uint32_t arrived, waiting;
    int64_t last_ns, root_ns;
    int64_t carried_ns; /* with changed links: when its bytes are through; VALUE_ABSENT */
    int64_t was_ns;     /* the measured time of its bytes */
    int64_t longer_ns;  /* additional time of its bytes on changed links; VALUE_ABSENT: not asked
                           yet */
};

struct run {
    const struct replay *p;
    const struct replay_change *change;
    const double *egress, *ingress;
    bool other_links;          /* links differ from the measured ones */
    const double *burst;       /* by link; NULL: no link is a token bucket */
    double *tokens, *crossing; /* by link: bytes in the bucket, bytes/s through it */
    double *capacity, *load;   /* by link: scratch */
    double *quota;             /* by rank: its part of a CPU; NULL: no quota */
    double group_pace;         /* factor for group calls: see replay_run.c */
    double *eased;             /* by host: factor on message times with the cores it has now */
    struct rank_state *ranks;
    struct message_state *messages;
    struct pair_state *pairs;
    struct group_state *groups;
    struct waiters waiters;
    struct replay_flow **active;
    uint32_t *active_pairs, *ended;
    size_t n_active;
    struct components components;
    double *room, work;
    int64_t flows_at;
    bool dirty;
    uint64_t version;
    struct event *heap;
    size_t n_heap, heap_capacity;
    uint64_t order;
    int error;
    /* the question */
    size_t reference, next_time, n_times;
    const int64_t *times;
    int64_t *ret_times;
    int64_t passed_ns, passed_at; /* the reference rank's last passed time: measured, replayed */
};

/* Schedules an event at t. Without memory it sets run->error. */
void replay_push(struct run *run, int64_t t, uint32_t kind, uint32_t index);
/* Takes the first event out. */
struct event replay_pop(struct run *run);

/* One of the things that a rank waits for has come. */
void replay_come(struct run *run, uint32_t rank, int64_t t);

/* Ends the present operation of a rank. */
void replay_finish_op(struct run *run, uint32_t rank, const struct replay_op *op);

/* Runs a rank by itself from `now` up to its next event that concerns another rank. */
void replay_step(struct run *run, uint32_t rank, int64_t now);

/* The message reaches its receiver at t; its sender's buffer is free at `left`. */
void replay_arrive(struct run *run, uint32_t id, int64_t t, int64_t left);

/* A probe can find the message from t on, unless it could before. */
void replay_envelope(struct run *run, uint32_t id, int64_t t);

/* The sender's buffer is free at `left`, unless it was before. */
void replay_leave(struct run *run, uint32_t id, int64_t left);

/* Lets messages move that were held up until this one has arrived. */
void replay_go_behind(struct run *run, uint32_t id, int64_t now);

/* Lets a message leave if it may: it was sent, and it is buffered or its receiver has come. */
void replay_try_to_go(struct run *run, uint32_t id, int64_t now);

/* Subtracts the bytes carried by now, delivers flows that have ended, shares out the rates anew and
 * schedules the next end.
 */
void replay_flows_advance(struct run *run, int64_t now);
void replay_flows_end(struct run *run, int64_t now);
void replay_flows_share(struct run *run);

/* -ENOMEM. */
int replay_components_init(struct run *run);
void replay_components_release(struct run *run);
/* A flow begins or ends, or the rate of a link changes. */
void replay_component_begin(struct run *run, struct replay_flow *flow);
void replay_component_end(struct run *run, struct replay_flow *flow);
/* Factor on the measured latency. */
static inline double replay_latency(const struct run *run) {
    return run->change && run->change->latency > 0 ? run->change->latency : 1;
}

void replay_component_change(struct run *run, size_t link);
/* Fills components.changed: all flows whose rates may have changed since the last call. */
void replay_components_find(struct run *run);

/* Bytes/s of a link, numbered [egress by host, ingress by host]. */
double replay_link_rate(const struct run *run, size_t link);

/* Fills the buckets, less what crosses them. */
void replay_buckets_advance(struct run *run, double seconds);
/* Sets run->capacity, which flows may share now, and which of it has changed. */
void replay_buckets_open(struct run *run);
/* Seconds until a bucket is empty, or its debt is paid, at the flows' present rates. */
double replay_buckets_until(struct run *run);
/* Sends bytes that are no flow through a link; returns the seconds until they are through. All
 * buckets must have been advanced to now.
 */
double replay_bucket_take(struct run *run, size_t link, double bytes);

/* A rank enters a group call. */
void replay_group_arrive(struct run *run, uint32_t number, uint32_t rank, int64_t now);

/* It goes on `ns` after the members that it needs have come. */
void replay_group_wait(struct run *run, uint32_t number, uint32_t rank, int64_t now, int64_t ns);

/* A member's stay after the others came, which was `ns`, with this replay's links and other
 * members' absences.
 */
int64_t replay_group_ns(struct run *run, uint32_t number, const struct replay_op *op, int64_t ns,
                        size_t rank);

/* When a rank that begins now ends `ns` of work, of which cpu_ns is on the CPU. */
int64_t replay_quota_spend(struct run *run, uint32_t rank, int64_t ns, int64_t cpu_ns);

/* When a rank goes on that waited until t and spent a part of the wait on the CPU. */
int64_t replay_quota_wait(struct run *run, uint32_t rank, int64_t t, double spins);

/* Fills run->quota, each rank's part of its host's quota. -ENOMEM. */
int replay_quota_init(struct run *run);

/* Factor on the fixed time of a message with the cores that both ends have now: a host without a
 * free core looks for messages late, and sends late. 1: unchanged. No message takes less than those
 * that came soon.
 */
double replay_eased(const struct run *run, const struct replay_message *m);

/* Additional time of the rank's present operation for want of a core. */
int64_t replay_op_late_ns(const struct run *run, uint32_t rank);
/* When the rank goes on after what it waited for has come. */
int64_t replay_goes_on(struct run *run, uint32_t rank);
/* The rest of an absence inside a call after the change. */
int64_t replay_late_ns(const struct run *run, uint32_t rank, uint32_t shares, int64_t late_ns);

#endif
