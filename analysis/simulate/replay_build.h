/* SPDX-License-Identifier: MIT */
/* One rank's operations on their way: what the parts of building them share. */
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
    uint32_t *requests; /* events of requests by their end */
    size_t n_requests;
    uint32_t *held; /* messages begun that go on only when the sender is back */
    size_t n_held, held_capacity;
    size_t interval; /* cursor */
    int64_t poll_begin_ns;
    double poll_cpu_ns;         /* since then, in polls */
    double poll_woke_ns;        /* since then, of CPU time between polls that did not end it */
    bool poll_backed_off;       /* since then: it does nothing else */
    size_t completion;          /* event, plus 1, that replay_had_come() was asked of last, and */
    int64_t completion_came_ns; /* what it answered */
    double usual_poll_ns;       /* inside one of a row that found nothing */
    struct replay_polls *polls; /* by interval (replay_core.c) */
    struct replay_op nowhere;   /* written to when there is no memory */
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

/* ---- operations, and time between calls (replay_gap.c) ---- */

/* Never NULL; no memory: rb->error. */
struct replay_op *replay_add_op(struct rank_builder *rb, enum replay_op_kind kind, uint32_t first,
                                int64_t ns, int64_t end_ns);
/* spins: the share of it on the CPU. */
void replay_add_fixed(struct rank_builder *rb, int64_t ns, int64_t end_ns, float spins);
/* Cut where counters were read. cpu_per_ns: NAN where not known. */
void replay_add_gap(struct rank_builder *rb, int64_t begin, int64_t end, double cpu_per_ns);
/* Before event i. */
void replay_put_gap(struct rank_builder *rb, size_t i, int64_t begin, int64_t end);
/* A poll, or several, that found nothing. */
void replay_put_tests(struct rank_builder *rb, size_t i, int64_t begin, int64_t end);
/* The present polls, if any, are over, and what they were for has not come: so much of the time up
 * to t was the rank's own. */
void replay_end_polls(struct rank_builder *rb, int64_t t);

/* ---- waits (replay_wait.c) ---- */

/* -ENOMEM. */
int replay_sort_requests(struct rank_builder *rb);
/* Whether event i, a poll or a wait, completed sends alone, all of which were at their receivers by
 * then: polls before it that found nothing waited for none of them. */
bool replay_had_come(struct rank_builder *rb, size_t i, int64_t by_ns);
/* Waits from here on are put behind waits[]. */
void replay_add_wait(struct rank_builder *rb, uint32_t what);
/* The messages that event i sends, or receives, beside those of the program: *ret_n of them,
 * numbers of signals. */
const uint32_t *replay_signals_sent(const struct rank_builder *rb, size_t i, size_t *ret_n);
size_t replay_signals_received(const struct rank_builder *rb, size_t i, size_t *ret_n);
/* The group call that event i belongs to, if all of it is replayed; REPLAY_NONE. */
uint32_t replay_group_of(const struct rank_builder *rb, size_t i);
/* The receiver's side of a message: since when it waited for it. */
void replay_note_receive(struct rank_builder *rb, uint32_t id, int64_t since_ns);
/* When the members of a group call that this one needs had come; `end` if only then. VALUE_ABSENT:
 * it needs none. */
int64_t replay_came_ns(const struct call_need *need, int64_t end);
/* A call that completes requests. */
void replay_put_wait(struct rank_builder *rb, size_t i, int64_t begin, int64_t end);
/* A probe that found something. */
void replay_wait_for_envelope(struct rank_builder *rb, size_t i, int64_t begin, int64_t end);
/* A blocking call that needs what was put behind waits[] since `before`. */
void replay_put_blocking(struct rank_builder *rb, size_t i, size_t before, int64_t begin,
                         int64_t end);

/* ---- without a core inside calls (replay_core.c, replay_absence.c) ---- */

/* A rank that spins while a message is on its way loses no time by having no core, but at the end:
 * until its turn comes again. */
#define REPLAY_TURN_NS 50e6 /* of a quota twice as long: it is given out every 100 ms */

static inline double replay_turn_ns(const struct budget_shares *shares) {
    return REPLAY_TURN_NS * (1 + shares->quota_of_queue);
}

/* Shorter ones than MPI_LONG_NS are no matter. In order of their ends. */
void replay_add_absence(struct rank_builder *rb, struct replay_absence absence);

enum waits_for { FOR_NOBODY, FOR_MESSAGES, FOR_GROUP };

/* How long a call went on for want of a core; *ret_shares says of which kind. */
int64_t replay_call_late_ns(struct rank_builder *rb, size_t i, enum waits_for what, int64_t begin,
                            int64_t end, uint32_t *ret_shares);
/* The same of polling that ends at `end` with what could be there from ready_ns on; VALUE_ABSENT:
 * all the time. */
int64_t replay_poll_late_ns(struct rank_builder *rb, int64_t ready_ns, int64_t end,
                            uint32_t *ret_shares);
/* How long polls usually take; allocates rb->polls, which goes with rb. -ENOMEM. */
int replay_measure_polls(struct rank_builder *rb);
/* Polls in a row that nothing was waited for with: what they took is the rank's own. */
void replay_put_own_polls(struct rank_builder *rb, size_t i, int64_t begin, int64_t end);
/* Event i, a poll that found nothing, or the back-off before it: how long it had no core. */
void replay_note_poll(struct rank_builder *rb, size_t i, int64_t begin, int64_t end);
void replay_note_backoff(struct rank_builder *rb, size_t i, int64_t begin, int64_t end);
/* A pause between two polls that is no back-off, with so much CPU time: how long it had no core;
 * the second notes that, too. */
double replay_pause_late_ns(struct rank_builder *rb, int64_t begin, int64_t end, double cpu);
void replay_note_pause(struct rank_builder *rb, int64_t begin, int64_t end, double cpu);
/* The share of a wait that it is on the CPU: in a call, or in polls; in back-offs between them
 * it is not. */
float replay_spins(const struct rank_builder *rb, size_t i, int64_t begin, int64_t end);

#endif
