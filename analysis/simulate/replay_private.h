/* SPDX-License-Identifier: MIT */
/* Declarations shared by the files that build a replay. */
#ifndef CHOKEPOINT_ANALYSIS_SIMULATE_REPLAY_PRIVATE_H
#define CHOKEPOINT_ANALYSIS_SIMULATE_REPLAY_PRIVATE_H

#include <stdlib.h>

#include "analysis/simulate/replay.h"

struct builder {
    struct replay *replay;
    const struct mpi_log *log;
    uint32_t **ids;               /* [rank][event]: the message it sends or receives */
    uint16_t *threads;            /* each rank's main thread */
    unsigned char *group_outside; /* some member's calls are not replayed */
    uint32_t *signal_ids;         /* by signal number: its message, or REPLAY_NONE */
    uint32_t *sent_signals;       /* signal numbers by sender and call */
    struct key_table pairs;
    const struct budget_interval *intervals;
    struct budget_interval *own_intervals; /* where the budget did not keep them */
    size_t n_intervals;
};

/* Whether the event lies in the replayed part of the run. */
bool replay_in_window(const struct replay *p, const struct mpi_event *e);
/* Fills in the pair and what the ranks' operations tell later. -ENOMEM. */
int replay_add_message(struct builder *b, struct replay_message message);

/* The time of a signal: as long as the call lasted after the last signal to it was sent. */
static inline int64_t replay_signal_ns(const struct replay_message *m) {
    bool waited = m->waited_ns != VALUE_ABSENT && m->waited_ns <= m->with_ns;
    return waited && m->done_ns > m->with_ns ? m->done_ns - m->with_ns : 0;
}

/* When the message can begin to move. */
static inline int64_t replay_begin_ns(const struct replay_message *m) {
    return m->buffered || m->sent_ns > m->posted_ns ? m->sent_ns : m->posted_ns;
}

/* Bounds a latency. A rank that waits for long backs off longer; a large message that came soon was
 * found soon, and its way took at least half of its time.
 */
static inline double replay_latency_within(double latency_ns, int64_t begin_ns, int64_t done_ns) {
    double half = (double)(done_ns - begin_ns) / 2;
    return half < 0 ? 0 : latency_ns < half ? latency_ns : half;
}

#define REPLAY_SOON_SHARE 0.25 /* share of messages that count as having come soon */

#define REPLAY_FOUND_PART                                                                          \
    0.1 /* of the time since it could move: a receiver that waits less found                       \
           it there */

/* Whether the receiver came later and hardly waited: then the arrival is not known. */
static inline bool replay_was_found(const struct replay_message *m) {
    int64_t begin = replay_begin_ns(m);
    return m->waited_ns != VALUE_ABSENT && m->waited_ns > begin &&
           (double)(m->done_ns - m->waited_ns) < REPLAY_FOUND_PART * (double)(m->done_ns - begin);
}

/* Finds messages that waited behind what their receiver sent itself. -ENOMEM. */
int replay_find_answers(struct replay *p);

/* Fills p->net's egress, ingress, pair and twins. -ENOMEM. */
int replay_fit_links(struct replay *p);

/* Fills p->net.few_ns, the time of group calls that move next to nothing. -ENOMEM. */
int replay_fit_few(struct replay *p);

/* Whether a member waits for any other. In a call with a root, the root waits for all, or all wait
 * for the root.
 */
static inline bool replay_needs_any(const struct replay_group *g, size_t rank) {
    return g->need == MPI_NEED_ROOT       ? rank != g->root
           : g->need == MPI_NEED_GATHERED ? rank == g->root
                                          : g->need != MPI_NEED_NOBODY;
}

/* Whether it waits for this one. */
static inline bool replay_needs(const struct replay_group *g, size_t rank, size_t other) {
    return other != rank && replay_needs_any(g, rank) &&
           (g->need != MPI_NEED_ROOT || other == g->root);
}

/* The time of a whole call, if its bytes take each link so many seconds. */
double replay_wire_s(const struct replay_group *g, const double *seconds, size_t n_hosts);

/* Adds the dependencies between calls (signals) as messages behind the program's. -ENOMEM. */
int replay_find_signals(struct builder *b);

/* Makes the operations of a rank, whose counters were read before. -ENOMEM. */
int replay_build_rank(struct builder *b, size_t rank);

/* Fills messages[].late_ns: how long messages were delayed because their senders had no core. All
 * ranks have been built, and find_buffered() has run.
 */
void replay_find_kept_back(struct replay *p);

/* Fills for how long a rank without a core held up other members of group calls, in operations and
 * in groups. All ranks have been built.
 */
void replay_find_held_up(struct replay *p);

/* time for which a rank had no core */
struct replay_away {
    double ns, untold_ns; /* the part that budgets do not show */
    uint32_t shares;      /* index of the rank's shares for the last such time; REPLAY_NONE: none */
};

/* Sums absences within [from, to), as far back from `to` as the rank's time with a core is at most
 * this factor of its time without.
 */
#define REPLAY_SOON 1.0
struct replay_away replay_away(const struct replay_rank *rank, int64_t from, int64_t to,
                               double soon);
/* Sums absences for something that takes many turns: it may be done during an absence, since the
 * rank has its core for a moment between two of them.
 */
struct replay_away replay_away_amid(const struct replay_rank *rank, int64_t from, int64_t to,
                                    double soon);

/* Makes room for one more item of `size` bytes. Returns the array, or NULL without memory. */
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

/* Sums of a few such values cannot overflow; a replay that reaches the bound ends. */
static inline int64_t replay_bounded_ns(double ns) {
    return ns < (double)TIME_SANE_NS ? (int64_t)ns : TIME_SANE_NS;
}

/* the messages from one rank to another, which follow each other */
struct replay_flow {
    uint32_t from_host, to_host;
    double limit, rate, left;                /* bytes/s, bytes */
    struct replay_flow *next[2], *before[2]; /* other flows that leave, or enter, the same host */
    bool moves, found, begun; /* for replay_component.c: moves now; is in the changed set; began
                                 since the last sharing */
};

/* Computes the rates of n flows on links of these capacities: max-min fair, by progressive filling
 * (Bertsekas and Gallager, Data Networks, 6.5.2). flows[] and room[4 * n_hosts] are scratch.
 * Returns how many flows it looked at.
 */
size_t replay_share(struct replay_flow **flows, size_t n, const double *egress,
                    const double *ingress, size_t n_hosts, double *room);

#endif
