/* SPDX-License-Identifier: MIT */
#include "analysis/evidence/awaited.h"

#include <math.h>
#include <stdlib.h>

#include "analysis/number.h"
#include "analysis/time/process_waits.h"
#include "analysis/time/wait_peers.h"

double awaited_share(const struct run_model *model, size_t who) {
    double most = 0;
    for (size_t i = 0; i < model->budgets.n_waits; i++) {
        const struct process_wait *w = &model->budgets.waits[i];
        double wall_s = model->budgets.items[w->who].groups[model->main_group].wall_s;
        if (w->whom == who && wall_s > 0)
            most = fmax(most, w->seconds / wall_s);
    }
    return fmin(1, most);
}

static bool passes(const struct run_model *model, const struct process_wait *w,
                   struct awaited_filter filter) {
    return (filter.whom == SIZE_MAX || w->whom == filter.whom) &&
           (filter.host < 0 || model->budgets.items[w->whom].host == filter.host) &&
           filter.kinds >> w->kind & 1 && (!filter.by_beginner || w->who < model->budgets.n);
}

const struct process_wait *awaited_longest(const struct run_model *model,
                                           struct awaited_filter filter) {
    const struct process_wait *longest = NULL;
    for (size_t i = 0; i < model->budgets.n_waits; i++) {
        const struct process_wait *w = &model->budgets.waits[i];
        if (passes(model, w, filter) && (!longest || w->seconds > longest->seconds))
            longest = w;
    }
    return longest;
}

static bool waits_in(const struct series_set *set, const struct series *pair,
                     const struct rank_budget *process) {
    return pair->host == process->host && series_last(set, pair, WAKEUP_PID) == process->pid;
}

static bool is_lock(const struct series_set *set, const struct series *pair) {
    return series_last(set, pair, WAKEUP_REASON) == WAIT_REASON_FUTEX;
}

/* Adds up a column over waits for locks: of threads of the process for each other, or for any. */
static double locks_in(const struct run_model *model, const struct rank_budget *process, bool own,
                       size_t column, struct windows windows) {
    const struct series_set *set = &model->recording->tables[RECORDING_WAKEUP];
    double sum = 0;
    for (size_t s = 0; s < set->n; s++) {
        const struct series *pair = &set->items[s];
        if (waits_in(set, pair, process) && is_lock(set, pair) &&
            (!own || process_waits_is_own(set, pair)))
            sum += process_waits_growth(set, pair, column, windows);
    }
    return sum;
}

/* How often the process slept, in the way in which it slept longest: until a time of its choice,
 * for a lock that nobody released, or for an event. *ret_ns: how long.
 */
static double count_sleeps(const struct process_waits *of, double released, struct windows windows,
                           double *ret_ns) {
    static const size_t ways[][2] = {{WAIT_PROCESS_TIMER, WAIT_TIMES_TIMER},
                                     {WAIT_PROCESS_FUTEX, WAIT_TIMES_FUTEX},
                                     {WAIT_PROCESS_POLL, WAIT_TIMES_POLL}};
    double sleeps = 0;
    *ret_ns = 0;
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        double ns = process_waits_clock(of, ways[i][0], windows);
        if (ns <= *ret_ns)
            continue;
        *ret_ns = ns;
        sleeps = process_waits_clock(of, ways[i][1], windows) -
                 (ways[i][0] == WAIT_PROCESS_FUTEX ? released : 0);
    }
    return fmax(sleeps, 0);
}

static bool is_once_each(const struct run_model *model, double handed, double each) {
    double part = number_of(model, LOCK_HANDED_ON);
    return each > 0 && handed >= part * each && handed <= each / part;
}

int awaited_lock_find(const struct run_model *model, size_t who, size_t group,
                      struct awaited_lock *ret_lock) {
    const struct rank_budget *b = &model->budgets.items[who];
    struct windows windows = phase_windows(&model->groups[group]);
    struct process_waits of;
    double asleep;
    int result = process_waits_find(model->recording, b->host, b->pid, &of);
    *ret_lock = (struct awaited_lock){.asleep = false};
    if (result < 0)
        return result;
    double waited = locks_in(model, b, true, WAKEUP_WAIT, windows);
    double handed = locks_in(model, b, true, WAKEUP_TIMES, windows);
    double sleeps =
        count_sleeps(&of, locks_in(model, b, false, WAKEUP_TIMES, windows), windows, &asleep);
    *ret_lock = (struct awaited_lock){
        .waited_s = waited / 1e9,
        .asleep = waited >= asleep / 2 && is_once_each(model, handed, sleeps),
        .computing =
            waited >= process_waits_clock(&of, WAIT_PROCESS_RUN, windows) / 2 &&
            is_once_each(model, handed, process_waits_clock(&of, WAIT_TIMES_RUN, windows))};
    process_waits_release(&of);
    return 0;
}

double awaited_names_part(const struct run_model *model, size_t who, size_t group) {
    const struct series_set *set = &model->recording->tables[RECORDING_WAKEUP];
    const struct rank_budget *b = &model->budgets.items[who];
    struct windows windows = phase_windows(&model->groups[group]);
    double names = 0, idle = budget_sum(&b->groups[group], 1u << BUDGET_IDLE);
    for (size_t s = 0; s < set->n; s++) {
        const struct series *pair = &set->items[s];
        if (waits_in(set, pair, b) && process_waits_is_name(set, pair))
            names += process_waits_growth(set, pair, WAKEUP_PROCESS, windows) / 1e9;
    }
    return idle > 0 ? fmin(1, names / idle) : 0;
}

double awaited_timer_part(const struct run_model *model, size_t who, size_t group) {
    const struct series_set *set = &model->recording->tables[RECORDING_WAIT];
    const struct rank_budget *b = &model->budgets.items[who];
    const struct series *clocks = series_of_pid(set, b->host, WAIT_PID, b->pid);
    double idle = budget_sum(&b->groups[group], 1u << BUDGET_IDLE);
    if (!clocks || !(idle > 0))
        return 0;
    struct windows windows = phase_windows(&model->groups[group]);
    return fmin(1, process_waits_growth(set, clocks, WAIT_PROCESS_TIMER, windows) / 1e9 / idle);
}

double awaited_while_idle(const struct run_model *model, size_t who, size_t group) {
    const struct budget *b = &model->budgets.items[who].groups[group];
    const unsigned busy = 1u << BUDGET_CPU | budget_class_terms(BUDGET_CLASS_LACKING);
    double waited = 0;
    for (size_t i = 0; i < model->budgets.n_waits; i++)
        waited += model->budgets.waits[i].whom == who ? model->budgets.waits[i].seconds : 0;
    return b->wall_s > 0 ? fmax(0, fmin(1, waited / b->wall_s) - budget_sum(b, busy) / b->wall_s)
                         : 0;
}

/* ---- pools of connections ---- */

static bool waits_for(const struct run_model *model, size_t who, size_t whom) {
    for (size_t i = 0; i < model->budgets.n_waits; i++)
        if (model->budgets.waits[i].who == who && model->budgets.waits[i].whom == whom &&
            model->budgets.waits[i].kind == WAIT_KIND_MESSAGE)
            return true;
    return false;
}

static double reads_of(const struct run_model *model, const struct series *socket) {
    struct windows windows = phase_windows(&model->groups[model->main_group]);
    return process_waits_growth(&model->recording->tables[RECORDING_SOCKET_WAIT], socket,
                                SOCKET_WAIT_READS, windows);
}

/* The number of connections of equal use with that sum and sum of squares: one that was hardly used
 * does not count.
 */
static size_t alike(double sum, double squares) {
    return squares > 0 ? (size_t)lround(sum * sum / squares) : 0;
}

static void count_pool(const struct run_model *model, size_t who, size_t whom,
                       const struct process_waits *of, const struct wait_peers *peers,
                       struct awaited_pool *pool, double *ret_asked, double *ret_answers) {
    double asked_squares = 0, through_squares = 0;
    *ret_asked = *ret_answers = 0;
    for (size_t s = 0; s < of->n_sockets; s++) {
        double reads = reads_of(model, of->sockets[s]);
        size_t peer = peers->sockets[s];
        if (peer == whom && reads > 0) {
            through_squares += reads * reads;
            *ret_answers += reads;
        } else if (peer != SIZE_MAX && reads > 0 && waits_for(model, peer, who)) {
            asked_squares += reads * reads;
            *ret_asked += reads;
        }
    }
    pool->through = alike(*ret_answers, through_squares);
    pool->asked = alike(*ret_asked, asked_squares);
}

static double waits_share(const struct run_model *model, size_t who, size_t whom) {
    double wall_s = model->budgets.items[who].groups[model->main_group].wall_s, sum = 0;
    for (size_t i = 0; i < model->budgets.n_waits; i++)
        if (model->budgets.waits[i].who == who && model->budgets.waits[i].whom == whom)
            sum += model->budgets.waits[i].seconds;
    return wall_s > 0 ? fmin(1, sum / wall_s) : 1;
}

/* The share of time in which a process with one thread computes for a request, or wants to. */
static double own_share(const struct run_model *model, size_t who) {
    const struct rank_budget *b = &model->budgets.items[who];
    const struct budget *time = &b->groups[model->main_group];
    const struct series_set *set = &model->recording->tables[RECORDING_PROCESS];
    const struct series *process = series_of_pid(set, b->host, PROCESS_PID, b->pid);
    unsigned own = 1u << BUDGET_CPU | budget_class_terms(BUDGET_CLASS_LACKING);
    bool alone = process && series_last(set, process, PROCESS_THREADS) == 1;
    return alone && time->wall_s > 0 ? budget_sum(time, own) / time->wall_s : 0;
}

/* The share of time in which each of n connections is busy: the other process waits while all of
 * them are idle. If each is idle equally often, that wait is the n-th power of one connection's
 * idle share. One thread with one connection asks nothing else while it computes.
 */
static double occupied(const struct run_model *model, size_t who, size_t whom, size_t n) {
    double busy = n ? 1 - pow(waits_share(model, whom, who), 1 / (double)n) : 0;
    return n == 1 ? fmin(1, busy + own_share(model, who)) : busy;
}

bool awaited_pool_find(const struct run_model *model, size_t who, size_t whom,
                       struct awaited_pool *ret_pool) {
    size_t n = model->budgets.n;
    struct wait_member *members = calloc(n + 1, sizeof *members);
    struct wait_ends *ends = NULL;
    struct wait_peers peers = {0};
    struct awaited_pool pool = {0};
    double asked = 0, answers = 0;
    for (size_t i = 0; members && i < n; i++)
        members[i] = (struct wait_member){.host = model->budgets.items[i].host,
                                          .pid = model->budgets.items[i].pid};
    if (members && who < n &&
        process_waits_find(model->recording, members[who].host, members[who].pid,
                           &members[who].waits) == 0 &&
        wait_ends_make(model->recording, &ends) == 0 &&
        wait_peers_find(ends, members, n, who, &peers) == 0)
        count_pool(model, who, whom, &members[who].waits, &peers, &pool, &asked, &answers);
    if (members)
        process_waits_release(&members[who < n ? who : 0].waits);
    wait_peers_release(&peers);
    wait_ends_free(ends);
    free(members);
    pool.occupied = occupied(model, who, whom, pool.through);
    *ret_pool = pool;
    return pool.through > 0 && answers >= number_of(model, POOL_HANDED_ON) * asked;
}
