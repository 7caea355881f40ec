/* SPDX-License-Identifier: MIT */
/*
 * Replays a program from its recorded MPI calls. The time between calls is as measured, or as a
 * change says; the replay computes anew who waits for whom and how long.
 *
 * Messages between hosts share links: messages of one pair of ranks follow each other, and pairs
 * share each host's egress and ingress by max-min fairness. A link has a limit only if the
 * recording shows one; pairs whose bytes no link explains keep their measured pace. The time of a
 * message beyond its bytes is the mean of its kind in the recording. After the members that it
 * needs have come, a member stays in a group call as long as it did.
 *
 * Time is int64 ns of the run's axis throughout. The result is deterministic.
 */
#ifndef CHOKEPOINT_ANALYSIS_SIMULATE_REPLAY_H
#define CHOKEPOINT_ANALYSIS_SIMULATE_REPLAY_H

#include "analysis/run_model.h"
#include "analysis/simulate/refusal.h"

enum replay_op_kind {
    REPLAY_GAP,       /* between calls: ns, of which cpu_ns on the CPU; first: its shares */
    REPLAY_FIXED,     /* inside a call: ns; n: the call that all ranks leave together */
    REPLAY_FILE,      /* in a file call: ns, of which disk_ns waiting for a disk */
    REPLAY_POST_SEND, /* first: the message */
    REPLAY_POST_RECEIVE,
    REPLAY_WAIT,  /* for n messages in waits[first...]; ns if all are complete already */
    REPLAY_GROUP, /* first: the call; ns: its stay after those it needs came; n: only starts it */
};

#define REPLAY_NONE UINT32_MAX
#define REPLAY_OWN_SEND (UINT32_C(1) << 31)  /* in waits[]: the rank's own send */
#define REPLAY_OWN_GROUP (UINT32_C(1) << 30) /* in waits[]: a group call that the rank started */
#define REPLAY_ENVELOPE (UINT32_C(1) << 29)  /* in waits[]: until a probe can find the message */

struct replay_op {
    enum replay_op_kind kind;
    uint32_t first, n;
    uint32_t held_rank; /* the rank without a core that caused held_ns; its shares */
    int64_t ns;
    union {
        int64_t cpu_ns;  /* for gaps */
        int64_t disk_ns; /* for file calls */
        int64_t held_ns; /* for waits: the part due to another rank's want of a core */
    };
    int64_t group_ns; /* for waits for group calls: the stay after those the call needs came */
    int64_t late_ns;  /* for waits and groups: time without a core after it could go on */
    uint32_t shares;  /* index of the shares of late_ns; REPLAY_NONE */
    uint32_t held_shares;
    float spins;    /* inside calls: the share of time on the CPU */
    int64_t end_ns; /* the measured end */
};

struct replay_message {
    uint32_t from, to; /* indices of ranks */
    double bytes;
    uint32_t pair;
    int64_t sent_ns, left_ns; /* sender's side; left_ns VALUE_ABSENT: not seen leaving */
    int64_t posted_ns, waited_ns,
        done_ns;      /* receiver's side; waited_ns VALUE_ABSENT: did not wait */
    bool polled;      /* received by tests */
    bool buffered;    /* the sender does not wait for the receiver */
    bool synchronous; /* the sender waits for the receiver */
    bool signal;      /* a dependency that is no message of the program; few
                         bytes */
    bool probed;      /* waited_ns and done_ns are those of the probe */
    int64_t
        with_ns; /* when the last message was sent of those that the same call received together */
    uint32_t
        behind; /* it moves after this message of its receiver (replay_answer.c); REPLAY_NONE */
    int64_t late_ns;      /* delay since the sender had no core; done_ns excludes it */
    uint32_t late_shares; /* index of the shares of late_ns, among the sender's */
};

struct replay_group {               /* one call of a group of ranks */
    uint32_t members, first_member; /* members are in group_members[first_member...] */
    uint32_t root;                  /* index of a rank; REPLAY_NONE */
    enum mpi_group_need need;
    double bytes; /* the most that a member sends or receives */
    enum mpi_exchange exchange;
    bool started; /* another call waits for its end */
    bool turns;   /* exchanges several times: makes communicators, files, windows */
    /* The member without a core that held up another member longest, and for how long. */
    uint32_t late_rank, late_shares;
    int64_t held_ns; /* 0: nobody was held up */
};

struct replay_absence { /* a time in which a rank had no core inside MPI */
    int64_t begin_ns, end_ns;
    double ns;
    uint32_t shares;
    bool told; /* the budget already counts it as such */
};

struct replay_rank {
    int host, number;
    int64_t pid;
    int64_t begin_ns, end_ns; /* of the rank's first and last call */
    struct replay_op *ops;
    size_t n, capacity;
    struct budget_shares *shares; /* one for each interval of its counters */
    struct replay_absence *absences;
    size_t n_absences, absences_capacity;
    /* Time without a core inside calls that the budget counts as exchange, since the budget takes
     * all waiting to be off the CPU: for other processes, and by quota.
     */
    double hidden_queue_ns, hidden_quota_ns;
};

struct replay_network {
    double *egress, *ingress; /* bytes/s by host; INFINITY: no limit seen */
    double within;            /* bytes/s between ranks of one host */
    double *pair;             /* bytes/s by pair that no link limits; INFINITY: not seen */
    double *freed; /* bytes/s by pair: the most if its link were faster; INFINITY: not known */
    double latency_ns[2][2]; /* [between hosts][polled] */
    double soon_ns[2][2];    /* mean latency of messages that came soon: none takes less */
    double *soon;            /* bytes/s by pair of messages that came soon; INFINITY: not known */
    double *known; /* bytes/s that a link is configured or measured to carry, [egress by host,
                      ingress by host]; 0: not known */
    /* [1 if the member came before those it needs]: a member's stay in group calls of few bytes
     * after these came; 0: too few such calls
     */
    double few_ns[2];
    /* By link: another link that explains the same bytes, or -1. Links are numbered egress of
     * hosts, then ingress of hosts. A question about the twin makes it the limit instead.
     */
    int *twin;
    double *twin_rate;
    double *others;      /* bytes/s that a host sent for other programs, if that is much of the
                            total */
    double *descheduled; /* [run queue by host, quota by host]: share of time that its ranks waited
                            for a core */
    bool *held;          /* [egress by host, ingress by host]: it throttled the routes through it */
};

struct replay {
    const struct run_model *model;
    struct replay_rank *ranks; /* in the order of the log */
    size_t n_ranks;
    struct replay_message *messages;
    size_t n_messages, messages_capacity;
    size_t n_behind; /* messages that move after one of their receiver */
    size_t n_pairs;
    struct replay_group *groups;
    size_t n_groups;
    uint32_t *group_members; /* indices of ranks */
    uint32_t *waits;
    size_t n_waits, waits_capacity;
    struct replay_network net;
    int64_t begin_ns, end_ns; /* the part of the run that is replayed */
    bool part;                /* less than the whole run */
};

/* Changes: arrays by host, or by rank index. NULL: as measured. */
struct replay_change {
    double *egress, *ingress; /* bytes/s */
    double *burst; /* [egress by host, ingress by host]: bytes that a limited link passes at once
                      after a pause; below 0: none */
    double *pace;  /* [egress by host, ingress by host]: factor on the pace of messages that cross
                      this link and that no link explains */
    double *keep; /* [host * BUDGET_TERMS + term]: the share of the term between calls that stays */
    double *speed;  /* by rank: factor on its speed between calls */
    double *quota;  /* by host: CPUs that all its ranks may use together; INFINITY: no quota */
    double latency; /* factor on the fixed time of each message between hosts; 0 means 1 */
};

/* Smaller messages take no share of a link. */
#define REPLAY_FLOW_BYTES 4096

/* A run with more calls is replayed in part: as many iterations as fit. */
#define REPLAY_CALLS_MAX 3000000

/* Tells whether the recording shows whom the ranks' calls wait for, so that a replay can react. */
struct refusal replay_refusal(const struct run_model *model);

/* Only for a run that replay_refusal() accepts. -ENOMEM. */
int replay_new(const struct run_model *model, struct replay **ret_replay);
void replay_free(struct replay *replay);

/* Derives the rates of links and the latencies from the recording. -ENOMEM. */
int replay_fit(struct replay *replay);

/* Multiplies the rates of all links. */
void replay_scale(struct replay *replay, double factor);

/* Replays the run with a change: ret_times[i] is when the reference rank passes times[i]
 * (ascending). -ENOMEM; -EDEADLK: ranks wait for each other for ever; -E2BIG: too many transfers at
 * once.
 */
int replay_run(const struct replay *replay, const struct replay_change *change, size_t reference,
               const int64_t *times, size_t n_times, int64_t *ret_times);

static inline bool replay_is_between(const struct replay *p, const struct replay_message *m) {
    return p->ranks[m->from].host != p->ranks[m->to].host;
}

/* Seconds for which ranks of a host waited for a core (run queue or quota) and which the critical
 * path does not show as such: those that the budget counts as exchange, and those of a member of a
 * group while the path was at another rank. 0 without a replay (NULL).
 */
double replay_hidden_s(const struct replay *p, int host, enum budget_term term);

/* The bytes that a group call sends through each link: ret_load[egress by host, ingress by host].
 */
void replay_wire_load(const struct replay *p, const struct replay_group *g, double *ret_load);

/* The length of a gap after a change (NULL: none), and the part of it on the CPU. */
int64_t replay_gap_ns(const struct replay *p, const struct replay_change *change, size_t rank,
                      const struct replay_op *op);
int64_t replay_gap_cpu_ns(const struct replay *p, const struct replay_change *change, size_t rank,
                          const struct replay_op *op);

#endif
