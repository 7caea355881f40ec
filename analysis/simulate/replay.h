/* SPDX-License-Identifier: MIT */
/*
 * A program as its MPI calls tell it, made to run again: what it does between calls takes as long
 * as measured, or as a change says; who waits for whom, and for how long, comes out anew.
 *
 * Messages between hosts share links: those of one pair of ranks go one after the other, pairs
 * share each host's egress and ingress by max-min fairness. Links that nothing showed to limit
 * anything are without limit; pairs whose bytes no link explains keep the pace they had. The time
 * of a message beyond its bytes is a mean of its kind, from the same recording. A group call ends
 * for each member as long after the members that it needs came as it did.
 *
 * Time is int64 ns of the run's axis throughout. Deterministic.
 */
#ifndef CHOKEPOINT_ANALYSIS_SIMULATE_REPLAY_H
#define CHOKEPOINT_ANALYSIS_SIMULATE_REPLAY_H

#include "analysis/run_model.h"
#include "analysis/simulate/refusal.h"

enum replay_op_kind {
    REPLAY_GAP,       /* between calls: ns, cpu_ns of it computing; first: its shares */
    REPLAY_FIXED,     /* inside a call: ns; n: of a call that all ranks are through with together */
    REPLAY_FILE,      /* in a call to a file: ns, disk_ns of it waiting for a disk */
    REPLAY_POST_SEND, /* first: the message */
    REPLAY_POST_RECEIVE,
    REPLAY_WAIT,  /* until n messages are complete: waits[first...]; ns when they are already */
    REPLAY_GROUP, /* first: the group call; ns: as long after those it needs came; n: only starts it
                   */
};

#define REPLAY_NONE UINT32_MAX
#define REPLAY_OWN_SEND (UINT32_C(1) << 31)  /* in waits[]: it is this rank's own send */
#define REPLAY_OWN_GROUP (UINT32_C(1) << 30) /* in waits[]: a group call it had started */
#define REPLAY_ENVELOPE (UINT32_C(1) << 29)  /* in waits[]: it is there, received or not */

struct replay_op {
    enum replay_op_kind kind;
    uint32_t first, n;
    uint32_t held_rank; /* whose want of a core held_ns is of; held_shares: among that rank's */
    int64_t ns;
    union {
        int64_t cpu_ns;  /* of gaps */
        int64_t disk_ns; /* of calls to files */
        int64_t held_ns; /* of waits for others: of that time, as another had no core */
    };
    int64_t group_ns; /* of waits for group calls: as long after those these needed came */
    int64_t late_ns;  /* of waits and groups: it had no core when it could have gone on */
    uint32_t shares;  /* of late_ns, among the rank's; REPLAY_NONE */
    uint32_t held_shares;
    float spins;    /* inside calls: the share of the time that it was on the CPU */
    int64_t end_ns; /* as measured */
};

struct replay_message {
    uint32_t from, to; /* ranks of the program */
    double bytes;
    uint32_t pair;
    int64_t sent_ns, left_ns; /* by the sender; VALUE_ABSENT: it was not seen leaving */
    int64_t posted_ns, waited_ns, done_ns; /* by the receiver; VALUE_ABSENT: it did not wait */
    bool polled;                           /* received by tests */
    bool buffered;                         /* it leaves without its receiver */
    bool synchronous;                      /* it does not */
    bool signal;                           /* no message of the program, and of hardly any bytes */
    bool probed;     /* waited_ns and done_ns are those of a probe that found it */
    int64_t with_ns; /* of what one call handed to another: when the last was sent of those that
                        the same call received */
    int64_t late_ns; /* not of the way: its sender had no core meanwhile; done_ns is without it */
    uint32_t late_shares; /* of late_ns, among the sender's */
};

/* How the bytes of a group call are divided among its members. */
enum replay_exchange {
    REPLAY_WHOLE,         /* all of them to, or from, everyone: bcast, reduce */
    REPLAY_PARTS,         /* the root has all, each of the others a part: gather, scatter */
    REPLAY_EACH_ITS_PART, /* each has a part for each: alltoall, allgather, reduce_scatter */
    REPLAY_ALL_TO_ALL,    /* added up, and given to everyone: allreduce */
};

struct replay_group {               /* a call of a group */
    uint32_t members, first_member; /* among group_members[] */
    uint32_t root;                  /* rank of the program; REPLAY_NONE */
    enum mpi_group_need need;
    double bytes; /* most that a member gives or gets */
    enum replay_exchange exchange;
    bool started; /* its members wait for it with another call */
    bool turns;   /* it exchanges more than once: making communicators, files, windows */
    /* The member whose want of a core held up another one for longest: for how long. */
    uint32_t late_rank, late_shares;
    int64_t held_ns; /* 0: none */
};

struct replay_absence { /* inside MPI without a core: ns of that time */
    int64_t begin_ns, end_ns;
    double ns;
    uint32_t shares;
    bool told; /* budgets show it as what it is */
};

struct replay_rank {
    int host, number;
    int64_t pid;
    int64_t begin_ns, end_ns; /* of its first and last call */
    struct replay_op *ops;
    size_t n, capacity;
    struct budget_shares *shares; /* by interval of its counters */
    struct replay_absence *absences;
    size_t n_absences, absences_capacity;
    /* Without a core inside calls, but to the budget, which takes all a rank waits for to be off
     * the CPU, an exchange: for other processes, by its quota. */
    double hidden_queue_ns, hidden_quota_ns;
};

struct replay_network {
    double *egress, *ingress; /* bytes/s by host; INFINITY: never the limit */
    double within;            /* bytes/s between ranks of one host */
    double *pair; /* bytes/s by pair, of those that no link limits; INFINITY: not seen */
    double
        *freed; /* bytes/s by pair: at most, if a link is faster than it was; INFINITY: not known */
    double latency_ns[2][2]; /* [between hosts][polled] */
    double soon_ns[2][2];    /* the same of those that came soon: with a core none takes less */
    double *soon;            /* bytes/s by pair, of messages that came soon; INFINITY: not known */
    double *known; /* bytes/s that a link is set to or was measured to carry, [egress by host,
                      ingress by host]; 0: not known */
    /* [was there before those it needs]: how long a member goes on in calls of groups of few bytes
     * after they came; 0: there are hardly any */
    double few_ns[2];
    /* Links that explain as much as another, by number: egress of hosts, then ingress of hosts.
     * -1: none. If asked for, they are the limit in its place. */
    int *twin;
    double *twin_rate;
    double *others;      /* bytes/s that a host sent beside the job, where that is much of it all */
    double *descheduled; /* [run queue by host, quota by host]: share of their time that its ranks
                         waited for a core so */
    bool
        *held; /* [egress by host, ingress by host]: routes through it were held up, by its doing */
};

struct replay {
    const struct run_model *model;
    struct replay_rank *ranks; /* as the log's */
    size_t n_ranks;
    struct replay_message *messages;
    size_t n_messages, messages_capacity;
    size_t n_pairs;
    struct replay_group *groups;
    size_t n_groups;
    uint32_t *group_members; /* ranks */
    uint32_t *waits;
    size_t n_waits, waits_capacity;
    struct replay_network net;
    int64_t begin_ns, end_ns; /* what of the run is replayed */
    bool part;                /* not all of it */
};

/* Changes; arrays by host, or by rank of the program. NULL: as measured. */
struct replay_change {
    double *egress, *ingress; /* bytes/s */
    double *burst; /* [egress by host, ingress by host]: bytes that pass at once after a pause, of a
                      link that is limited so; below 0: it is not */
    double *pace;  /* [egress by host, ingress by host]: what no link explains and crosses
                      this one goes so many times as fast */
    double *keep;  /* [host * BUDGET_TERMS + term] of the time between calls */
    double *speed; /* by rank: all its time between calls takes / speed */
    double *quota; /* by host: CPUs that its ranks have together; INFINITY: no quota */
    double latency; /* between hosts: what each message takes, however small, times this; 0: 1 */
};

/* Smaller messages do not take part in the sharing of links. */
#define REPLAY_FLOW_BYTES 4096

/* More calls than this are replayed in part: as many iterations as fit. */
#define REPLAY_CALLS_MAX 3000000

/* Whether the matching tells whom the ranks' calls wait for, so that a replay can react. */
struct refusal replay_refusal(const struct run_model *model);

/* Only of a run that is not refused. -ENOMEM. */
int replay_new(const struct run_model *model, struct replay **ret_replay);
void replay_free(struct replay *replay);

/* Links and latencies from what was measured. -ENOMEM. */
int replay_fit(struct replay *replay);

/* All rates of links so many times as fast. */
void replay_scale(struct replay *replay, double factor);

/* When each of times[] (in order) of the reference rank comes: ret_times[]. -ENOMEM; -EDEADLK:
 * ranks wait for each other for ever; -E2BIG: too many transfers at once. */
int replay_run(const struct replay *replay, const struct replay_change *change, size_t reference,
               const int64_t *times, size_t n_times, int64_t *ret_times);

static inline bool replay_is_between(const struct replay *p, const struct replay_message *m) {
    return p->ranks[m->from].host != p->ranks[m->to].host;
}

/* Waits for cores on a host (run queue or quota) that the critical path does not show as such:
 * those that a budget takes for exchanges, and those of one member of a group while the path was at
 * another. 0 without a replay (NULL). */
double replay_hidden_s(const struct replay *p, int host, enum budget_term term);

/* Bytes that a call of a group sends through each link: ret_load[egress by host, ingress by host].
 */
void replay_wire_load(const struct replay *p, const struct replay_group *g, double *ret_load);

/* How long a gap takes after a change (NULL: none), and what of that is on the CPU. */
int64_t replay_gap_ns(const struct replay *p, const struct replay_change *change, size_t rank,
                      const struct replay_op *op);
int64_t replay_gap_cpu_ns(const struct replay *p, const struct replay_change *change, size_t rank,
                          const struct replay_op *op);

#endif
