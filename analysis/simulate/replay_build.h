/* SPDX-License-Identifier: MIT */
/* State and functions shared by the files that build one rank's operations. */
#ifndef CHOKEPOINT_ANALYSIS_SIMULATE_REPLAY_BUILD_H
#define CHOKEPOINT_ANALYSIS_SIMULATE_REPLAY_BUILD_H

#include "analysis/facts/calls/polling.h"
#include "analysis/simulate/replay_private.h"

struct rank_builder {
    struct builder *b;
    size_t index;
    const struct mpi_rank *rank;
    const struct call_need *needs;
    struct replay_rank *to;
    struct polling polling;
    uint32_t *requests; /* events with requests, ordered by when they complete */
    size_t n_requests;
    uint32_t *held; /* messages begun that leave only when the sender is back in MPI */
    size_t n_held, held_capacity;
    size_t interval; /* cursor in the intervals of counters */
    int64_t poll_begin_ns;
    double poll_cpu_ns;   /* since then: CPU time inside polls */
    double poll_woke_ns;  /* since then: CPU time between polls that did not end the polling */
    bool poll_backed_off; /* since then: only backed off between polls */
    size_t completion;    /* the last event that replay_had_come() was asked about, plus 1,
                             and */
    int64_t completion_came_ns; /* its answer */
    double usual_poll_ns;       /* the usual time of a folded poll that finds nothing */
    struct replay_polls *polls; /* by interval (replay_core.c) */
    struct replay_op nowhere;   /* returned by replay_add_op() when memory runs out */
    int error;
};

static inline const struct mpi_function *replay_function_of(const struct rank_builder *rb,
                                                            const struct mpi_event *e) {
    return mpi_event_function(rb->b->log, e);
}

static inline bool replay_is_polling(const struct rank_builder *rb) {
    return rb->poll_begin_ns != VALUE_ABSENT;
}

static inline int64_t replay_later(int64_t a, int64_t b) {
    return b != VALUE_ABSENT && b > a ? b : a;
}

/* ---- operations (replay_op.c), and time between calls (replay_gap.c) ---- */

/* Never returns NULL; without memory it sets rb->error. */
struct replay_op *replay_add_op(struct rank_builder *rb, enum replay_op_kind kind, uint32_t first,
                                int64_t ns, int64_t end_ns);
/* spins: the share of ns on the CPU. */
void replay_add_fixed(struct rank_builder *rb, int64_t ns, int64_t end_ns, float spins);
/* Splits the gap where counters were read. cpu_per_ns: NAN if not known. */
void replay_add_gap(struct rank_builder *rb, int64_t begin, int64_t end, double cpu_per_ns);
/* Adds the gap before event i. */
void replay_put_gap(struct rank_builder *rb, size_t i, int64_t begin, int64_t end);
/* Adds one or more polls that found nothing. */
void replay_put_tests(struct rank_builder *rb, size_t i, int64_t begin, int64_t end);
/* Ends the present polls, if any, without success: the time up to t was the rank's own work. */
void replay_end_polls(struct rank_builder *rb, int64_t t);

/* ---- waits (replay_wait.c) ---- */

/* -ENOMEM. */
int replay_sort_requests(struct rank_builder *rb);
/* When event i, a poll or a wait, completed only sends, and all had reached their receivers by
 * by_ns: earlier polls that found nothing did not wait for them.
 */
bool replay_had_come(struct rank_builder *rb, size_t i, int64_t by_ns);
/* Appends to waits[] what the next wait operation waits for. */
void replay_add_wait(struct rank_builder *rb, uint32_t what);
/* The numbers of the signals that event i sends or receives beside the program's messages; *ret_n
 * of them.
 */
const uint32_t *replay_signals_sent(const struct rank_builder *rb, size_t i, size_t *ret_n);
size_t replay_signals_received(const struct rank_builder *rb, size_t i, size_t *ret_n);
/* The group call that event i belongs to if all its members are replayed; else REPLAY_NONE. */
uint32_t replay_group_of(const struct rank_builder *rb, size_t i);
/* Notes the time since which the receiver waited for a message. */
void replay_note_receive(struct rank_builder *rb, uint32_t id, int64_t since_ns);
/* When the members that this one needs in a group call had come, or `end` if they came later;
 * VALUE_ABSENT if it needs none.
 */
int64_t replay_came_ns(const struct call_need *need, int64_t end);
/* Adds a call that completes requests. */
void replay_put_wait(struct rank_builder *rb, size_t i, int64_t begin, int64_t end);
/* Adds a probe that found a message. */
void replay_wait_for_envelope(struct rank_builder *rb, size_t i, int64_t begin, int64_t end);
/* Adds a blocking call that waits for what was appended to waits[] since `before`. */
void replay_put_blocking(struct rank_builder *rb, size_t i, size_t before, int64_t begin,
                         int64_t end);

/* ---- without a core inside calls (replay_core.c, replay_absence.c) ---- */

/* A rank that spins while a message is under way loses time without a core only at the end: until
 * its next turn.
 */
#define REPLAY_TURN_NS 50e6 /* half a period of a quota, which is 100 ms */

static inline double replay_turn_ns(const struct budget_shares *shares) {
    return REPLAY_TURN_NS * (1 + shares->quota_of_queue);
}

/* Adds an absence, in order of their ends. Those shorter than MPI_LONG_NS are ignored. */
void replay_add_absence(struct rank_builder *rb, struct replay_absence absence);

enum waits_for { FOR_NOBODY, FOR_MESSAGES, FOR_GROUP };

/* For how long a want of a core prolonged a call; *ret_shares says of which kind it was. */
int64_t replay_call_late_ns(struct rank_builder *rb, size_t i, enum waits_for what, int64_t begin,
                            int64_t end, uint32_t *ret_shares);
/* How long a want of a core prolonged polling that ends at `end`, if what it polled for could be
 * there from ready_ns on; VALUE_ABSENT: all the time.
 */
int64_t replay_poll_late_ns(struct rank_builder *rb, int64_t ready_ns, int64_t end,
                            uint32_t *ret_shares);
/* Measures how long polls usually take; allocates rb->polls, which is freed with rb. -ENOMEM. */
int replay_measure_polls(struct rank_builder *rb);
/* Adds a row of polls that waited for nothing: their time was the rank's own. */
void replay_put_own_polls(struct rank_builder *rb, size_t i, int64_t begin, int64_t end);
/* Notes how long the rank had no core during event i, a poll that found nothing, or the back-off
 * before it.
 */
void replay_note_poll(struct rank_builder *rb, size_t i, int64_t begin, int64_t end);
void replay_note_backoff(struct rank_builder *rb, size_t i, int64_t begin, int64_t end);
/* How long the rank had no core during a pause between polls that is no back-off and used cpu_ns;
 * replay_note_pause() also records it.
 */
double replay_pause_late_ns(struct rank_builder *rb, int64_t begin, int64_t end, double cpu);
void replay_note_pause(struct rank_builder *rb, int64_t begin, int64_t end, double cpu);
/* The share of a wait on the CPU: counted inside calls and polls, not in back-offs. */
float replay_spins(const struct rank_builder *rb, size_t i, int64_t begin, int64_t end);

#endif
