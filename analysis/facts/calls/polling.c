/* SPDX-License-Identifier: MIT */
/*
 * The usual back-off is the lower quartile of a rank's pauses, not the median: a server that sleeps
 * for an iteration whenever it has no message has as many such pauses as back-offs. Other ranks'
 * back-offs say nothing about its own. A pause counts only if a similar one stands beside it with
 * only a poll between them, or if the rank did not compute there: a rank that computes, polls,
 * sleeps and polls again sleeps of its own accord.
 */
#include "analysis/facts/calls/polling.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "analysis/facts/series/stats.h"
#include "analysis/number.h"

#define PASSING_POLLS 256   /* in a row, for one message after the other: more are a wait */
#define COMPLETIONS_TRIED 8 /* tests to examine for the one that completes what is polled for */
#define SHORTEST 0.05       /* quantile of the pauses */
#define SHORTEST_MIN 40     /* pauses: with fewer, the quantile would be a single one */
#define BACKOFF_GROWS 2.5   /* largest factor from one back-off to the next: programs use 2 */

static const struct mpi_function *function_of(const struct polling *p, size_t event) {
    return mpi_event_function(p->log, &p->rank->events[event]);
}

bool polling_found_nothing(const struct polling *p, size_t event) {
    return function_of(p, event)->kind == MPI_KIND_TEST &&
           (p->rank->events[event].flags & MPI_FLAG_FOLDED ||
            p->needs[event].since_ns == VALUE_ABSENT);
}

const struct call_need *polling_for(const struct polling *p, size_t event, int64_t at_ns) {
    uint32_t next = p->completion ? p->completion[event] : UINT32_MAX;
    for (int tried = 0; next != UINT32_MAX && tried < COMPLETIONS_TRIED; tried++) {
        if (p->needs[next].since_ns <= at_ns)
            return &p->needs[next];
        next = p->completion[next + 1];
    }
    return NULL;
}

bool polling_backed_off(const struct polling *p, size_t event) {
    return p->backed_off && p->backed_off[event];
}

bool polling_in_passing(const struct polling *p, size_t event) {
    return p->passing && p->passing[event];
}

double polling_late_ns(const struct polling *p, size_t event) {
    return p->late_ns ? p->late_ns[event] : 0;
}

/* ---- back-offs ---- */

static bool is_poll(const struct polling *p, size_t event) {
    enum mpi_kind kind = function_of(p, event)->kind;
    return kind == MPI_KIND_TEST || kind == MPI_KIND_WAIT;
}

/* A large part of a short back-off is system calls; a long one has little CPU time. A rank that
 * computed between two polls had other work than waiting.
 */
static bool computed(const struct judge *judge, double cpu_ns, double length_ns) {
    return cpu_ns > POLL_CPU_MAX * length_ns ||
           (cpu_ns >= number_by(judge, BUSY_GAP_NS) &&
            cpu_ns >= number_by(judge, BUSY_GAP_CPU) * length_ns);
}

/* The pause between two polls of which the first found nothing: its length, negative if the rank
 * computed; else 0.
 */
static double pause_before(const struct polling *p, size_t previous, size_t event) {
    const struct mpi_event *e = &p->rank->events[event];
    if (previous == SIZE_MAX || !(e->flags & MPI_FLAG_HAS_GAP_CPU) ||
        !polling_found_nothing(p, previous) || !is_poll(p, event))
        return 0;
    double length = (double)(e->enter_ns - p->rank->events[previous].exit_ns);
    return computed(p->judge, (double)e->gap_cpu_ns, length) ? -length : length;
}

/* Fills pauses[event] for all events of the thread. */
static void find_pauses(const struct polling *p, const bool *ours, double *pauses) {
    size_t previous = SIZE_MAX;
    for (size_t i = 0; i < p->rank->n; i++) {
        pauses[i] = ours[i] ? pause_before(p, previous, i) : 0;
        previous = ours[i] ? i : previous;
    }
}

static bool are_alike(double a_ns, double b_ns) {
    return fmin(a_ns, b_ns) > 0 && fmax(a_ns, b_ns) <= BACKOFF_TIMES_MAX * fmin(a_ns, b_ns);
}

/* Judges a pause by the ones before and after it. */
static bool may_be_backoff(double before, double pause, double after) {
    return pause > 0 &&
           (are_alike(before, pause) || are_alike(pause, after) || !(before < 0 || after < 0));
}

/* The usual and the shortest pause among possible back-offs; 0 if there are none. */
struct usual {
    double backoff, shortest;
};

static struct usual usual_backoff(const struct polling *p, const bool *ours, const double *pauses,
                                  double *room) {
    size_t n = 0;
    double before = 0, last = 0;
    for (size_t i = 0; i < p->rank->n; i++) {
        if (!ours[i])
            continue;
        if (may_be_backoff(before, last, pauses[i]))
            room[n++] = last;
        before = last;
        last = pauses[i];
    }
    if (may_be_backoff(before, last, 0))
        room[n++] = last;
    if (!n)
        return (struct usual){0, 0};
    double backoff = stats_quantile(room, n, 0.25);
    return (struct usual){backoff, n < SHORTEST_MIN ? backoff : stats_quantile(room, n, SHORTEST)};
}

/* Finds back-offs in each row of polls. If another process has the rank's core, most back-offs end
 * late, including the usual one and the one before. The shortest do not, and no program makes a
 * back-off much longer than the one before.
 */
static void find_backoffs(struct polling *p, const bool *ours, const double *pauses,
                          struct usual usual) {
    double last = 0, own = 0;
    for (size_t i = 0; i < p->rank->n; i++) {
        double expected = fmax(usual.backoff, last), meant = fmax(usual.shortest, own);
        p->backed_off[i] =
            pauses[i] > 0 && pauses[i] <= fmax(BACKOFF_LONG_NS, BACKOFF_TIMES_MAX * expected);
        p->late_ns[i] = p->backed_off[i] ? fmax(0, pauses[i] - meant) : 0;
        if (p->backed_off[i]) {
            last = pauses[i];
            own = meant > 0 && pauses[i] > BACKOFF_GROWS * meant ? meant : pauses[i];
        } else if (ours[i] && !polling_found_nothing(p, i)) {
            last = own = 0;
        }
    }
}

/* ---- polls in passing ---- */

static bool computed_before(const struct polling *p, size_t previous, size_t event) {
    const struct mpi_event *e = &p->rank->events[event];
    return previous != SIZE_MAX && e->flags & MPI_FLAG_HAS_GAP_CPU &&
           computed(p->judge, (double)e->gap_cpu_ns,
                    (double)(e->enter_ns - p->rank->events[previous].exit_ns));
}

/* Polls with hardly anything between them, for one message after the other, are one poll: from
 * `first` up to, but not including, this event.
 */
static void find_passing(struct polling *p, const bool *ours) {
    size_t previous = SIZE_MAX, first = SIZE_MAX;
    uint64_t polls = 0;
    for (size_t i = 0; i < p->rank->n; i++) {
        bool nothing = ours[i] && polling_found_nothing(p, i);
        p->passing[i] = false;
        if (!ours[i])
            continue;
        bool after_computing = computed_before(p, previous, i);
        for (size_t k = first; after_computing && polls <= PASSING_POLLS && k < i; k++)
            p->passing[k] = ours[k];
        if (after_computing)
            p->passing[i] = !nothing && function_of(p, i)->kind == MPI_KIND_TEST;
        if (after_computing || !nothing || p->rank->events[i].flags & MPI_FLAG_HAS_GAP_CPU) {
            first = after_computing && nothing ? i : SIZE_MAX;
            polls = 0;
        }
        polls += p->rank->events[i].calls;
        previous = i;
    }
}

static void find_completions(struct polling *p, const bool *ours) {
    size_t n = p->rank->n;
    p->completion[n] = UINT32_MAX;
    for (size_t i = n; i-- > 0;)
        p->completion[i] =
            ours[i] && p->needs[i].since_ns != VALUE_ABSENT ? (uint32_t)i : p->completion[i + 1];
}

static int fill(struct polling *p, uint16_t thread) {
    size_t n = p->rank->n;
    bool *ours = malloc((n + 1) * sizeof *ours);
    double *pauses = malloc((n + 1) * sizeof *pauses), *room = malloc((n + 1) * sizeof *room);
    p->completion = malloc((n + 1) * sizeof *p->completion);
    p->backed_off = malloc((n + 1) * sizeof *p->backed_off);
    p->passing = malloc((n + 1) * sizeof *p->passing);
    p->late_ns = malloc((n + 1) * sizeof *p->late_ns);
    bool good =
        ours && pauses && room && p->completion && p->backed_off && p->passing && p->late_ns;
    for (size_t i = 0; good && i < n; i++)
        ours[i] = p->rank->events[i].thread == thread && mpi_event_is_call(&p->rank->events[i]);
    if (good) {
        find_completions(p, ours);
        find_passing(p, ours);
        find_pauses(p, ours, pauses);
        find_backoffs(p, ours, pauses, usual_backoff(p, ours, pauses, room));
    }
    free(ours);
    free(pauses);
    free(room);
    return good ? 0 : -ENOMEM;
}

/* Without tests that found nothing there are no back-offs and no polls in passing. */
static bool polls_in_vain(const struct polling *p, uint16_t thread) {
    bool tests = false;
    for (size_t f = 0; f < p->log->n_functions; f++)
        tests |= p->log->functions[f].kind == MPI_KIND_TEST;
    for (size_t i = 0; tests && i < p->rank->n; i++)
        if (p->rank->events[i].thread == thread && mpi_event_is_call(&p->rank->events[i]) &&
            polling_found_nothing(p, i))
            return true;
    return false;
}

int polling_init(const struct mpi_log *log, size_t log_rank, const struct call_need *needs,
                 uint16_t thread, const struct judge *judge, struct polling *ret_polling) {
    struct polling p = {.judge = judge, .log = log, .rank = &log->ranks[log_rank], .needs = needs};
    int result = polls_in_vain(&p, thread) ? fill(&p, thread) : 0;
    if (result < 0)
        polling_release(&p);
    else
        *ret_polling = p;
    return result;
}

void polling_release(struct polling *polling) {
    free(polling->completion);
    free(polling->backed_off);
    free(polling->passing);
    free(polling->late_ns);
    *polling = (struct polling){0};
}
