/* SPDX-License-Identifier: MIT */
/* A replay on its way: the state that its parts share. */
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
    uint32_t missing; /* what it waits for */
    bool blocked;     /* within an operation */
    /* State of a quota: the last period, the use of it, and the time since which the rank waits. */
    int64_t period, used_ns, waits_ns;
};

struct message_state {
    int64_t sent_ns, posted_ns, arrived_ns, left_ns; /* VALUE_ABSENT: not yet */
    int64_t envelope_ns;                             /* when a probe finds it */
    uint32_t next;                                   /* in its pair's queue */
    bool receiver_waits, sender_waits, probe_waits;
};

struct pair_state {
    struct replay_flow flow;
    uint32_t head, tail;
    uint32_t place; /* among the active; REPLAY_NONE */
    int64_t free_ns;
};

struct waiting { /* a rank, for a group call */
    uint32_t rank, next;
    int64_t arrived_ns, ns;
};

/* Flows whose rates depend on what has changed (replay_component.c). */
struct components {
    struct replay_flow **at; /* by link: the first of those that cross it */
    struct replay_flow **begun, **changed;
    size_t n_begun, n_changed;
    uint32_t *links; /* that have changed, or share a flow with one that has */
    bool *is_listed; /* by link */
    size_t n_links;
};

struct group_state {
    uint32_t arrived, waiting;
    int64_t last_ns, root_ns;
    int64_t carried_ns; /* with other links: when its bytes are there; VALUE_ABSENT */
    int64_t was_ns;     /* what of its members' stays they took */
    int64_t longer_ns;  /* what they take longer, whoever comes when; VALUE_ABSENT: not asked */
};

struct run {
    const struct replay *p;
    const struct replay_change *change;
    const double *egress, *ingress;
    bool other_links;          /* than measured */
    const double *burst;       /* by link; NULL: none is a bucket */
    double *tokens, *crossing; /* by link: bytes, bytes/s */
    double *capacity, *load;   /* by link: scratch */
    double *quota;             /* by rank: its part of a CPU; NULL: none has a quota */
    double group_pace;         /* of group calls: see replay_run.c */
    double *eased;             /* by host: what messages take with the cores that it has now */
    struct rank_state *ranks;
    struct message_state *messages;
    struct pair_state *pairs;
    struct group_state *groups;
    struct waiting *waiting;
    size_t n_waiting, waiting_capacity;
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
    /* what is asked */
    size_t reference, next_time, n_times;
    const int64_t *times;
    int64_t *ret_times;
    int64_t passed_ns, passed_at; /* the reference rank's last: as measured, as replayed */
};

/* Something is due at t. No memory: run->error. */
void replay_push(struct run *run, int64_t t, uint32_t kind, uint32_t index);

/* One of the things that a rank waits for is there. */
void replay_come(struct run *run, uint32_t rank, int64_t t);

/* The present operation of a rank is done. */
void replay_finish_op(struct run *run, uint32_t rank, const struct replay_op *op);

/* A rank goes on by itself from `now` up to the next thing that concerns another one. */
void replay_step(struct run *run, uint32_t rank, int64_t now);

/* A message is at its receiver at t, and its sender's buffer is free at `left`. */
void replay_arrive(struct run *run, uint32_t id, int64_t t, int64_t left);

/* A probe finds the message from t on, if none did before. */
void replay_envelope(struct run *run, uint32_t id, int64_t t);

/* Its sender's buffer is free at `left`, if it was not before. */
void replay_leave(struct run *run, uint32_t id, int64_t left);

/* A message that may leave does: it was sent, and is buffered or awaited. */
void replay_try_to_go(struct run *run, uint32_t id, int64_t now);

/* Subtracts the bytes that have been carried by now; flows that have ended arrive; rates are shared
 * out anew, and the next end is due then. */
void replay_flows_advance(struct run *run, int64_t now);
void replay_flows_end(struct run *run, int64_t now);
void replay_flows_share(struct run *run);

/* -ENOMEM. */
int replay_components_init(struct run *run);
void replay_components_release(struct run *run);
/* A flow begins, ends; a link carries another rate. */
void replay_component_begin(struct run *run, struct replay_flow *flow);
void replay_component_end(struct run *run, struct replay_flow *flow);
/* Times the latency as measured. */
static inline double replay_latency(const struct run *run) {
    return run->change && run->change->latency > 0 ? run->change->latency : 1;
}

void replay_component_change(struct run *run, size_t link);
/* All flows whose rates may be others since it was last asked: components.changed. */
void replay_components_find(struct run *run);

/* Bytes/s of a link: [egress by host, ingress by host]. */
double replay_link_rate(const struct run *run, size_t link);

/* Buckets fill, less what crosses them. */
void replay_buckets_advance(struct run *run, double seconds);
/* Capacity that flows may share now: run->capacity, and which of it has changed. */
void replay_buckets_open(struct run *run);
/* Seconds until one is empty, or its debt paid, at the rates that flows have now. */
double replay_buckets_until(struct run *run);
/* Bytes that are no flow go through a link now; returns the seconds until they are through. All
 * must have been advanced. */
double replay_bucket_take(struct run *run, size_t link, double bytes);

/* A rank is in a group call. */
void replay_group_arrive(struct run *run, uint32_t number, uint32_t rank, int64_t now);

/* It goes on `ns` after those it needs were there. */
void replay_group_wait(struct run *run, uint32_t number, uint32_t rank, int64_t now, int64_t ns);

/* How long a member needs in this operation that needed `ns` after the others came, with the links
 * and the other members' waits for cores as they are in this run. */
int64_t replay_group_ns(struct run *run, uint32_t number, const struct replay_op *op, int64_t ns,
                        size_t rank);

/* When a rank is through with `ns`, of which it is on the CPU for cpu_ns, if it begins now. */
int64_t replay_quota_spend(struct run *run, uint32_t rank, int64_t ns, int64_t cpu_ns);

/* When a rank goes on that was waiting until t, and meanwhile on the CPU for a part of the time. */
int64_t replay_quota_wait(struct run *run, uint32_t rank, int64_t t, double spins);

/* Parts of the quota of each rank's host: run->quota. -ENOMEM. */
int replay_quota_init(struct run *run);

/* The rest of a message's time with the cores that both ends have now: a host without one looks
 * late for messages, and sends late. 1: nothing has changed. None takes less than those that came
 * soon did. */
double replay_eased(const struct run *run, const struct replay_message *m);

/* The rest of a time for which a rank had no core inside a call. */
int64_t replay_late_ns(const struct run *run, uint32_t rank, uint32_t shares, int64_t late_ns);

#endif
