/* SPDX-License-Identifier: MIT */
/* Shared by the parts of a replay while it is built. */
#ifndef CHOKEPOINT_ANALYSIS_SIMULATE_REPLAY_PRIVATE_H
#define CHOKEPOINT_ANALYSIS_SIMULATE_REPLAY_PRIVATE_H

#include <stdlib.h>

#include "analysis/simulate/replay.h"

struct builder {
    struct replay *replay;
    const struct mpi_log *log;
    uint32_t **ids;               /* [rank][event]: the message it sends or receives */
    uint16_t *threads;            /* the main one of each rank */
    unsigned char *group_outside; /* not all members' calls are replayed */
    uint32_t *signal_ids;         /* by number of signal: its message; REPLAY_NONE */
    uint32_t *sent_signals;       /* numbers of signals by who sends them, and in which call */
    struct key_table pairs;
    struct budget_interval *intervals;
    size_t n_intervals;
};

/* Whether the event lies in what of the run is replayed. */
bool replay_in_window(const struct replay *p, const struct mpi_event *e);
/* The pair, and what its ranks' operations tell, are filled in. -ENOMEM. */
int replay_add_message(struct builder *b, struct replay_message message);

/* How long a signal takes: as long as the call went on after the last one of them. */
static inline int64_t replay_signal_ns(const struct replay_message *m) {
    bool waited = m->waited_ns != VALUE_ABSENT && m->waited_ns <= m->with_ns;
    return waited && m->done_ns > m->with_ns ? m->done_ns - m->with_ns : 0;
}

/* When it can begin to move. */
static inline int64_t replay_begin_ns(const struct replay_message *m) {
    return m->buffered || m->sent_ns > m->posted_ns ? m->sent_ns : m->posted_ns;
}

/* A rank that looks for messages backs off longer if it waits long: a large one that came soon was
 * found soon, and at least half of its time was the way. */
static inline double replay_latency_within(double latency_ns, int64_t begin_ns, int64_t done_ns) {
    double half = (double)(done_ns - begin_ns) / 2;
    return half < 0 ? 0 : latency_ns < half ? latency_ns : half;
}

#define REPLAY_SOON_SHARE 0.25 /* of messages came soon */

#define REPLAY_FOUND_PART 0.1 /* of the time since it could move: a shorter wait found it there */

/* Whether its receiver came later and hardly waited: when it arrived is not known then. */
static inline bool replay_was_found(const struct replay_message *m) {
    int64_t begin = replay_begin_ns(m);
    return m->waited_ns != VALUE_ABSENT && m->waited_ns > begin &&
           (double)(m->done_ns - m->waited_ns) < REPLAY_FOUND_PART * (double)(m->done_ns - begin);
}

/* Rates of links and pairs of ranks: p->net's egress, ingress, pair and twins. -ENOMEM. */
int replay_fit_links(struct replay *p);

/* Time of group calls that move next to nothing: p->net.few_ns. -ENOMEM. */
int replay_fit_few(struct replay *p);

/* Whether a member of a call waits for any other one: of a call with a root, the root for all, or
 * all for the root. */
static inline bool replay_needs_any(const struct replay_group *g, size_t rank) {
    return g->need == MPI_NEED_ROOT       ? rank != g->root
           : g->need == MPI_NEED_GATHERED ? rank == g->root
                                          : g->need != MPI_NEED_NOBODY;
}

/* The same, for this one. */
static inline bool replay_needs(const struct replay_group *g, size_t rank, size_t other) {
    return other != rank && replay_needs_any(g, rank) &&
           (g->need != MPI_NEED_ROOT || other == g->root);
}

/* How the call of this name divides its bytes. */
enum replay_exchange replay_exchange_of(const char *name);

/* How long all of it takes, if its part takes each link so many seconds. */
double replay_wire_s(const struct replay_group *g, const double *seconds, size_t n_hosts);

/* Signals between calls become messages, after those of the program. -ENOMEM. */
int replay_find_signals(struct builder *b);

/* The operations of a rank; its counters must have been read. -ENOMEM. */
int replay_build_rank(struct builder *b, size_t rank);

/* For how long messages were kept back because their senders had no core: messages[].late_ns. All
 * ranks must have been built, and it must be known which messages are buffered. */
void replay_find_kept_back(struct replay *p);

/* For how long members of group calls were held up by one that had no core: of operations, and of
 * groups. All ranks must have been built. */
void replay_find_held_up(struct replay *p);

/* How long a rank was without a core. */
struct replay_away {
    double ns, untold_ns; /* of that, what budgets do not show */
    uint32_t shares;      /* the rank's, of the last such time; REPLAY_NONE: none */
};

/* Within [from, to): as far back from its end as it had a core for at most so many times as long as
 * it had none. */
#define REPLAY_SOON 1.0
struct replay_away replay_away(const struct replay_rank *rank, int64_t from, int64_t to,
                               double soon);
/* The same, of something that goes on by many turns: it may be done in the midst of such a time, as
 * the rank has its core for a moment between two of them. */
struct replay_away replay_away_amid(const struct replay_rank *rank, int64_t from, int64_t to,
                                    double soon);

/* *items (of `size` bytes each) has room for one more. Returns them; NULL: no memory. */
static inline void *replay_room(void *items, size_t n, size_t *capacity, size_t size) {
    void **at = items;
    if (n < *capacity)
        return *at;
    size_t more = *capacity ? 2 * *capacity : 64;
    void *moved = reallocarray(*at, more, size);
    if (moved) {
        *at = moved;
        *capacity = more;
    }
    return moved;
}

/* Sums of a few of these cannot overflow; a replay that gets that far ends. */
static inline int64_t replay_bounded_ns(double ns) {
    return ns < (double)TIME_SANE_NS ? (int64_t)ns : TIME_SANE_NS;
}

/* One pair of ranks, one direction: messages go one after the other. */
struct replay_flow {
    uint32_t from_host, to_host;
    double limit, rate, left;                /* bytes/s, bytes */
    struct replay_flow *next[2], *before[2]; /* of those that leave, that enter the same host */
    bool moves, found, begun; /* replay_component.c: now; among the changed; since the last share */
};

/* Rates of n flows that share links of these capacities: max-min fair, by progressive filling
 * (Bertsekas and Gallager, Data Networks, 6.5.2). flows[] and room[4 * n_hosts] are scratch.
 * Returns how many it looked at. */
size_t replay_share(struct replay_flow **flows, size_t n, const double *egress,
                    const double *ingress, size_t n_hosts, double *room);

#endif
