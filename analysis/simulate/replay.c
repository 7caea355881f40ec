/* SPDX-License-Identifier: MIT */
/* Turns recorded events into operations, in one pass over the calls of each rank's main thread. */
#include "analysis/simulate/replay.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/simulate/replay_private.h"
#include "analysis/time/rank_budget.h"

/* ---- messages ---- */

static bool is_receive(const struct mpi_event *e, const struct mpi_function *f) {
    if (e->flags & MPI_FLAG_REQUEST)
        return f->receives;
    if (e->flags & MPI_FLAG_PART)
        return f->kind == MPI_KIND_SENDRECV;
    return f->kind == MPI_KIND_RECV;
}

/* The time at which the message began to move: after the call began if the sender had no core. */
static int64_t sent_ns(const struct mpi_event *send, const struct call_need *received) {
    bool held = received->ready_ns != VALUE_ABSENT && received->ready_ns > send->enter_ns;
    return held ? received->ready_ns : send->enter_ns;
}

/* Adds a message for each matched receive. Only the receiver's side holds the match. */
static int find_messages(struct builder *b) {
    struct replay *p = b->replay;
    const struct mpi_log *log = b->log;
    for (uint32_t r = 0; r < log->n; r++)
        for (size_t i = 0; i < log->ranks[r].n; i++) {
            const struct mpi_event *e = &log->ranks[r].events[i];
            const struct call_need *need = &p->model->matches.needs[r][i];
            if (!is_receive(e, mpi_event_function(log, e)) || need->who < 0 ||
                need->partner == CALL_NO_PARTNER)
                continue;
            const struct mpi_event *send = &log->ranks[need->who].events[need->partner];
            if (!replay_in_window(p, e) || !replay_in_window(p, send))
                continue;
            struct replay_message m = {.from = (uint32_t)need->who,
                                       .to = r,
                                       .bytes = (double)e->bytes,
                                       .sent_ns = sent_ns(send, need),
                                       .with_ns = VALUE_ABSENT,
                                       .posted_ns = e->enter_ns,
                                       .done_ns = e->exit_ns,
                                       .synchronous = mpi_event_function(log, send)->synchronous};
            b->ids[r][i] = b->ids[need->who][need->partner] = (uint32_t)p->n_messages;
            int result = replay_add_message(b, m);
            if (result < 0)
                return result;
        }
    return 0;
}

/* ---- groups ---- */

/* The number of the group call that an event belongs to, or REPLAY_NONE. */
static uint32_t group_of(const struct builder *b, uint32_t rank, size_t i) {
    const struct mpi_event *e = &b->log->ranks[rank].events[i];
    const struct replay *p = b->replay;
    uint32_t number = p->model->matches.needs[rank][i].partner;
    bool none = mpi_event_function(b->log, e)->need == MPI_NEED_NOBODY || !mpi_event_is_call(e) ||
                number >= p->n_groups;
    return none ? REPLAY_NONE : number;
}

/* The member that has the root's rank number. In an intercommunicator only the other group names
 * it.
 */
static uint32_t root_of(const struct builder *b, const struct replay_group *g) {
    const uint32_t *members = &b->replay->group_members[g->first_member];
    for (uint32_t i = 0; g->root != REPLAY_NONE && i < g->members; i++)
        if ((uint32_t)b->log->ranks[members[i]].rank == g->root)
            return members[i];
    return REPLAY_NONE;
}

static int list_members(struct builder *b) {
    struct replay *p = b->replay;
    uint32_t n = 0;
    for (size_t g = 0; g < p->n_groups; g++) {
        p->groups[g].first_member = n;
        n += p->groups[g].members;
        p->groups[g].members = 0;
    }
    p->group_members = calloc((size_t)n + 1, sizeof *p->group_members);
    if (!p->group_members)
        return -ENOMEM;
    for (uint32_t r = 0; r < b->log->n; r++)
        for (size_t i = 0; i < b->log->ranks[r].n; i++) {
            uint32_t number = group_of(b, r, i);
            if (number == REPLAY_NONE)
                continue;
            struct replay_group *g = &p->groups[number];
            p->group_members[g->first_member + g->members++] = r;
        }
    for (size_t g = 0; g < p->n_groups; g++)
        p->groups[g].root = root_of(b, &p->groups[g]);
    return 0;
}

static int find_groups(struct builder *b) {
    struct replay *p = b->replay;
    const struct mpi_log *log = b->log;
    p->n_groups = p->model->matches.n_group_calls;
    p->groups = calloc(p->n_groups + 1, sizeof *p->groups);
    b->group_outside = calloc(p->n_groups + 1, 1);
    if (!p->groups || !b->group_outside)
        return -ENOMEM;
    for (size_t g = 0; g < p->n_groups; g++)
        p->groups[g].root = REPLAY_NONE;
    for (uint32_t r = 0; r < log->n; r++)
        for (size_t i = 0; i < log->ranks[r].n; i++) {
            const struct mpi_event *e = &log->ranks[r].events[i];
            const struct mpi_function *f = mpi_event_function(log, e);
            uint32_t number = group_of(b, r, i);
            if (number == REPLAY_NONE)
                continue;
            struct replay_group *g = &p->groups[number];
            g->members++;
            g->need = f->need;
            g->exchange = f->exchange;
            g->started = f->kind == MPI_KIND_COLLECTIVE_START;
            g->turns = f->kind != MPI_KIND_COLLECTIVE && !g->started;
            g->bytes = fmax(g->bytes, f->kind == MPI_KIND_IO ? 0 : (double)e->bytes);
            g->root = e->peer >= 0 ? (uint32_t)e->peer : g->root; /* the rank number; list_members
                                                                     turns it into an index */
            b->group_outside[number] |= !replay_in_window(p, e) || e->thread != b->threads[r];
        }
    return list_members(b);
}

/* ---- what is replayed ---- */

static size_t count_calls(const struct mpi_log *log) {
    size_t n = 0;
    for (size_t r = 0; r < log->n; r++)
        n += log->ranks[r].n;
    return n;
}

/* Chooses as many blocks of iterations from the middle of the run as REPLAY_CALLS_MAX allows. */
static void choose_part(struct replay *p) {
    const struct mpi_log *log = &p->model->recording->calls;
    size_t calls = count_calls(log);
    const struct critical_path *path = &p->model->critical;
    p->begin_ns = INT64_MIN;
    p->end_ns = INT64_MAX;
    if (calls <= REPLAY_CALLS_MAX || path->n_blocks < 3)
        return;
    size_t n = (size_t)((double)path->n_blocks * REPLAY_CALLS_MAX / (double)calls);
    n = n < 1 ? 1 : n;
    size_t first = (path->n_blocks - n) / 2;
    p->begin_ns = path->block_windows[first].begin_ns;
    p->end_ns = path->block_windows[first + n - 1].end_ns;
    p->part = true;
}

static const struct model_process *process_of(const struct run_model *model, int host,
                                              int64_t pid) {
    const struct series_set *set = &model->recording->tables[RECORDING_PROCESS];
    for (size_t i = 0; i < model->n_processes; i++)
        if (model->processes[i].host == host &&
            series_last(set, model->processes[i].series, PROCESS_PID) == pid)
            return &model->processes[i];
    return NULL;
}

/* Reads the rank's counters, which tell how it spent the time between its calls. */
static int read_counters(struct builder *b, size_t r) {
    struct replay *p = b->replay;
    const struct mpi_rank *rank = &b->log->ranks[r];
    const struct model_process *process = process_of(p->model, rank->host, rank->pid);
    b->n_intervals = 0;
    free(b->own_intervals);
    b->intervals = b->own_intervals = NULL;
    if (!process)
        return 0;
    struct budget_subject subject = {.log = b->log,
                                     .matches = &p->model->matches,
                                     .log_rank = r,
                                     .clock = &p->model->clock,
                                     .judge = p->model->judge};
    const struct rank_budget *kept =
        rank_budget_with_intervals(&p->model->budgets, &process->series->key);
    int result =
        kept ? 0
             : budget_intervals(p->model, process, rank->pid, &b->own_intervals, &b->n_intervals);
    if (result < 0)
        return result;
    b->intervals = kept ? kept->intervals : b->own_intervals;
    b->n_intervals = kept ? kept->n_intervals : b->n_intervals;
    subject.intervals = b->intervals;
    subject.n_intervals = b->n_intervals;
    budget_life(p->model, process, &subject);
    p->ranks[r].shares = calloc(b->n_intervals + 1, sizeof *p->ranks[r].shares);
    return p->ranks[r].shares ? budget_make_shares(&subject, p->ranks[r].shares) : -ENOMEM;
}

static int builder_init(struct builder *b) {
    size_t n = b->log->n;
    b->ids = calloc(n + 1, sizeof *b->ids);
    b->threads = calloc(n + 1, sizeof *b->threads);
    b->replay->ranks = calloc(n + 1, sizeof *b->replay->ranks);
    if (!b->ids || !b->threads || !b->replay->ranks)
        return -ENOMEM;
    b->replay->n_ranks = n;
    for (size_t r = 0; r < n; r++) {
        const struct mpi_rank *rank = &b->log->ranks[r];
        b->replay->ranks[r] =
            (struct replay_rank){.host = rank->host, .number = rank->rank, .pid = rank->pid};
        b->ids[r] = malloc((rank->n + 1) * sizeof **b->ids);
        if (!b->ids[r])
            return -ENOMEM;
        for (size_t i = 0; i < rank->n; i++)
            b->ids[r][i] = REPLAY_NONE;
        int result = budget_main_thread(rank, &b->threads[r]);
        if (result < 0)
            return result;
    }
    return 0;
}

static void builder_release(struct builder *b) {
    for (size_t r = 0; b->ids && r < b->log->n; r++)
        free(b->ids[r]);
    free(b->ids);
    free(b->threads);
    free(b->group_outside);
    free(b->signal_ids);
    free(b->sent_signals);
    free(b->own_intervals);
    key_table_release(&b->pairs);
}

static int build(struct replay *p) {
    struct builder b = {.replay = p, .log = &p->model->recording->calls};
    int result = builder_init(&b);
    if (result == 0)
        result = find_messages(&b);
    if (result == 0)
        result = replay_find_signals(&b);
    if (result == 0)
        result = find_groups(&b);
    for (size_t r = 0; result == 0 && r < b.log->n; r++) {
        result = read_counters(&b, r);
        if (result == 0)
            result = replay_build_rank(&b, r);
    }
    builder_release(&b);
    if (result == 0)
        replay_find_held_up(p);
    return result;
}

int replay_new(const struct run_model *model, struct replay **ret_replay) {
    struct replay *p = calloc(1, sizeof *p);
    if (!p)
        return -ENOMEM;
    p->model = model;
    choose_part(p);
    int result = build(p);
    if (result == 0)
        result = replay_fit(p);
    if (result < 0)
        replay_free(p);
    else
        *ret_replay = p;
    return result;
}

void replay_free(struct replay *p) {
    for (size_t r = 0; p && r < p->n_ranks; r++) {
        free(p->ranks[r].ops);
        free(p->ranks[r].shares);
        free(p->ranks[r].absences);
    }
    if (p) {
        free(p->ranks);
        free(p->messages);
        free(p->groups);
        free(p->group_members);
        free(p->waits);
        free(p->net.egress);
        free(p->net.pair);
        free(p->net.freed);
        free(p->net.known);
        free(p->net.soon);
        free(p->net.ingress);
        free(p->net.twin);
        free(p->net.twin_rate);
        free(p->net.held);
        free(p->net.others);
        free(p->net.descheduled);
    }
    free(p);
}
