/* SPDX-License-Identifier: MIT */
/*
 * Why a straggler is slow: each term of its budget is replaced by its peers' median; a term is the
 * cause if that makes it as fast as they are, or explains half of what it takes longer. A loss that
 * fits no term is reported as unknown: a cause is a claim that somebody will act on.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/causes/causes_private.h"
#include "analysis/causes/straggler_private.h"
#include "analysis/facts/series/stats.h"

#define LIKE_PEERS 1.05   /* own time over the peers' with the term replaced */
#define EXPLAINS 0.5      /* of the excess */
#define WORTH_SAYING 0.02 /* of the excess: terms that differ by less are not listed */
#define MORE_WORK 0.5     /* of the excess of CPU time that its bytes have, too */

/* ---- terms of a rank, in seconds a step ---- */

/* Waiting looks like sleeping or sending where the calls of MPI are not known. */
static bool is_cause(const struct rank_matrix *matrix, enum budget_term term) {
    if (term == BUDGET_PEER_WAIT || term == BUDGET_UNSPLIT)
        return false;
    return matrix->basis == MATRIX_BUDGET ||
           (term != BUDGET_IDLE && term != BUDGET_TRANSFER && term != BUDGET_OVERHEAD);
}

static double mean_term(const struct rank_matrix *matrix, size_t rank, enum budget_term term,
                        const size_t *steps, size_t n) {
    double sum = 0;
    size_t known = 0;
    for (size_t i = 0; i < n; i++) {
        const struct budget *b = rank_matrix_budget(matrix, rank, steps[i]);
        if (b && !isnan(b->term_s[term])) {
            sum += b->term_s[term];
            known++;
        }
    }
    return known ? sum / (double)known : NAN;
}

/* Where single iterations are not known call by call: the whole phase over their number. */
static double phase_term(const struct rank_matrix *matrix, size_t rank, enum budget_term term) {
    const struct rank_budget *b = matrix->budgets[rank];
    size_t n = matrix->model->iterations.ranks[rank].n;
    return b && n ? b->groups[matrix->model->main_group].term_s[term] / (double)n : NAN;
}

static double term_of(const struct rank_matrix *matrix, size_t rank, enum budget_term term,
                      const size_t *steps, size_t n) {
    return matrix->basis == MATRIX_BUDGET ? mean_term(matrix, rank, term, steps, n)
                                          : phase_term(matrix, rank, term);
}

static double peers_term(const struct rank_matrix *matrix, size_t rank, enum budget_term term,
                         const size_t *steps, size_t n, double *room) {
    size_t k = 0;
    for (size_t p = 0; p < matrix->ranks; p++) {
        double value =
            rank_matrix_are_peers(matrix, rank, p) ? term_of(matrix, p, term, steps, n) : NAN;
        if (!isnan(value))
            room[k++] = value;
    }
    return stats_median(room, k);
}

/* ---- what is behind a term ---- */

struct slow_windows {
    struct window *items;
    size_t n;
};

static int windows_of(const struct rank_matrix *matrix, size_t rank, const size_t *slow, size_t n,
                      struct slow_windows *ret) {
    ret->items = malloc((n + 1) * sizeof *ret->items);
    ret->n = n;
    for (size_t i = 0; ret->items && i < n; i++)
        ret->items[i] = matrix->windows[rank * matrix->steps + slow[i]];
    return ret->items ? 0 : -ENOMEM;
}

static double worth(double value) {
    return isnan(value) ? 0 : value;
}

/* The process outside the job that used most of a host's CPU, or of its disks, at that time. */
static const struct model_process *foreign(const struct run_model *model, int host,
                                           struct windows windows, bool disk, double *ret_amount) {
    const struct model_process *most = NULL;
    *ret_amount = 0;
    for (size_t p = 0; p < model->n_processes; p++) {
        const struct model_process *process = &model->processes[p];
        if (process->job || process->host != host)
            continue;
        struct process_use use = model_process_use(model, process, windows);
        double amount = disk ? worth(use.read_bytes) + worth(use.write_bytes) : worth(use.cpu_s);
        if (amount > *ret_amount) {
            *ret_amount = amount;
            most = process;
        }
    }
    return most;
}

static void blame(const struct run_model *model, const struct model_process *other,
                  struct straggler *s) {
    struct culprit culprit = culprit_of(model, other);
    s->culprit = culprit.process;
    s->culprit_pid = culprit.pid;
}

static void contention(const struct run_model *model, struct windows at, double excess_s,
                       struct straggler *s) {
    double used;
    const struct model_process *other = foreign(model, s->host, at, false, &used);
    double wall = (double)windows_length(at) / 1e9, lost = excess_s * (double)at.n;
    s->cause_kind = CAUSE_CONTENTION;
    if (!other || used < number_of(model, FOREIGN_MIN) * wall ||
        used < number_of(model, FOREIGN_PART) * lost) {
        remark_set(&s->cause, WAITS_FOR_CORE, NUMBERS(), NAMES());
        return;
    }
    blame(model, other, s);
    remark_set(&s->cause, CONTENTION_WITH, NUMBERS(true), NAMES(s->culprit));
    remarks_add(&s->evidence, FOREIGN_USED_MEANWHILE, NUMBERS(100 * used / wall),
                NAMES(s->culprit));
}

static void disk(const struct run_model *model, struct windows at, struct straggler *s) {
    double bytes, wall = (double)windows_length(at) / 1e9;
    const struct model_process *other = foreign(model, s->host, at, true, &bytes);
    double busy = rate_mean(&model->hosts[s->host].metrics[METRIC_DISK_BUSY], at) / 100;
    if (other && bytes >= number_of(model, FOREIGN_WRITE_MIN) * wall) {
        blame(model, other, s);
        s->cause_kind = CAUSE_DISK_CONTENTION;
        remark_set(&s->cause, DISK_SHARED_WITH, NUMBERS(), NAMES(s->culprit));
    } else if (busy >= number_of(model, DISK_BUSY_MIN)) {
        s->cause_kind = CAUSE_DISK_CONTENTION;
        remark_set(&s->cause, WAITS_FOR_BUSY_DISK, NUMBERS(), NAMES());
    } else {
        s->cause_kind = CAUSE_THROTTLE;
        remark_set(&s->cause, WAITS_FOR_IDLE_DISK, NUMBERS(), NAMES());
    }
}

static void memory(const struct run_model *model, struct windows at, struct straggler *s) {
    double swapped = model_growth(model, s->host, RECORDING_VMSTAT, VMSTAT_SWAP_IN, at);
    bool swaps =
        swapped >= number_of(model, SWAP_MIN_MB_S) * 1e6 * (double)windows_length(at) / 1e9;
    s->cause_kind = swaps ? CAUSE_SWAP : CAUSE_MEMORY_LIMIT;
    if (swaps)
        remark_set(&s->cause, IT_SWAPS, NUMBERS(), NAMES());
    else
        remark_set(&s->cause, PAGES_READ_BACK, NUMBERS(), NAMES());
}

static void link_of(const struct rank_matrix *matrix, size_t rank, struct straggler *s) {
    const struct transfer_split *split = &matrix->budgets[rank]->splits[matrix->model->main_group];
    if (split->receiver >= 0.5) {
        s->cause_kind = CAUSE_RECEIVER;
        remark_set(&s->cause, RECEIVERS_LATE, NUMBERS(), NAMES());
    } else if (split->send_buffer >= 0.5) {
        s->cause_kind = CAUSE_SNDBUF;
        remark_set(&s->cause, OWN_SEND_BUFFERS, NUMBERS(), NAMES());
    } else {
        s->cause_kind = CAUSE_PATH_LIMITED;
        remark_set(&s->cause, LINK_SLOWER, NUMBERS(), NAMES());
    }
}

/* Bytes of its messages, in all. (Polls have none: those of old recordings tell their number.) */
static double bytes_of(const struct rank_matrix *matrix, size_t rank) {
    const struct rank_iterations *its = &matrix->model->iterations.ranks[rank];
    const struct mpi_log *log = &matrix->model->recording->calls;
    double sum = 0;
    for (size_t r = 0; r < log->n; r++) {
        if (log->ranks[r].host != its->host || log->ranks[r].pid != its->pid)
            continue;
        for (size_t i = 0; i < log->ranks[r].n; i++) {
            const struct mpi_event *e = &log->ranks[r].events[i];
            if (!(e->flags & MPI_FLAG_FOLDED) || mpi_event_is_row(e, mpi_event_function(log, e)))
                sum += (double)e->bytes;
        }
    }
    return its->n ? sum / (double)its->n : 0;
}

static void more_work_or_slower_core(const struct run_model *model, struct core_speed core,
                                     double ratio, struct straggler *s) {
    if (core_has_more_to_do(model, &core)) {
        remark_set(&s->cause, HAS_MORE_WORK, NUMBERS(), NAMES());
        remarks_add(&s->evidence, OPERATORS_GAVE, NUMBERS(core.amount), NAMES());
        return;
    }
    bool most = core.slower - 1 >= EXPLAINS * (ratio - 1);
    s->cause_kind = most ? CAUSE_SLOW_CORE : CAUSE_SKEW;
    if (most)
        remark_set(&s->cause, CORE_IS_SLOWER, NUMBERS(), NAMES());
    else if (core.slower > 1 || isnan(core.calibration))
        remark_set(&s->cause, MORE_INSTRUCTIONS, NUMBERS(), NAMES());
    else
        remark_set(&s->cause, MORE_WORK_UNCONFIRMED, NUMBERS(), NAMES());
    core_speed_explain(core, ratio, &s->evidence);
}

static void more_cpu(const struct rank_matrix *matrix, size_t rank, double ratio, double *room,
                     struct straggler *s) {
    size_t k = 0;
    for (size_t p = 0; p < matrix->ranks; p++)
        if (rank_matrix_are_peers(matrix, rank, p))
            room[k++] = bytes_of(matrix, p);
    double more = bytes_of(matrix, rank) / stats_median(room, k);
    s->cause_kind = CAUSE_SKEW;
    if (more - 1 >= MORE_WORK * (ratio - 1)) {
        remark_set(&s->cause, HAS_MORE_WORK, NUMBERS(), NAMES());
        remarks_add(&s->evidence, MOVES_MORE_BYTES, NUMBERS(more), NAMES());
        return;
    }
    struct core_speed *cores = core_speeds_of(matrix->model, matrix->model->main_group);
    if (cores)
        more_work_or_slower_core(matrix->model, cores[s->host], ratio, s);
    else
        s->evidence.error = -ENOMEM;
    free(cores);
}

static void name_term(const struct rank_matrix *matrix, size_t rank, enum budget_term term,
                      struct windows at, double own_s, double excess_s, double *room,
                      struct straggler *s) {
    switch (term) {
    case BUDGET_RUN_QUEUE:
        contention(matrix->model, at, excess_s, s);
        return;
    case BUDGET_QUOTA:
        s->cause_kind = CAUSE_QUOTA;
        remark_set(&s->cause, GROUP_USED_UP, NUMBERS(), NAMES());
        return;
    case BUDGET_STEAL:
        s->cause_kind = CAUSE_STEAL;
        remark_set(&s->cause, CORE_STOLEN, NUMBERS(), NAMES());
        return;
    case BUDGET_DISK:
        disk(matrix->model, at, s);
        return;
    case BUDGET_MEMORY:
        memory(matrix->model, at, s);
        return;
    case BUDGET_TRANSFER:
        link_of(matrix, rank, s);
        return;
    case BUDGET_STOPPED:
        s->cause_kind = CAUSE_STOPPED;
        remark_set(&s->cause, WAS_STOPPED, NUMBERS(), NAMES());
        return;
    case BUDGET_FILE:
        s->cause_kind = CAUSE_FILES;
        remark_set(&s->cause, FILES_TAKE_LONGER, NUMBERS(), NAMES());
        return;
    case BUDGET_IDLE:
        s->cause_kind = CAUSE_SLEEP;
        remark_set(&s->cause, IDLE_IN_OWN_CODE, NUMBERS(), NAMES());
        return;
    case BUDGET_CPU:
        more_cpu(matrix, rank, own_s / fmax(own_s - excess_s, 1e-9), room, s);
        return;
    default:
        s->cause_kind = CAUSE_UNKNOWN;
        remark_set(&s->cause, UNEXPLAINED_IN_MPI, NUMBERS(), NAMES());
    }
}

struct blamed {
    enum budget_term term;
    double own_s, excess_s;
    bool known;
};

/* The term that is most above the peers'; lists those that differ. */
static struct blamed compare_terms(const struct rank_matrix *matrix, size_t rank,
                                   const size_t *slow, size_t n_slow, double excess_s, double *room,
                                   struct straggler *s) {
    struct blamed most = {.term = BUDGET_CPU};
    for (enum budget_term t = 0; t < BUDGET_TERMS; t++) {
        if (!is_cause(matrix, t))
            continue;
        double own = term_of(matrix, rank, t, slow, n_slow);
        double peers = peers_term(matrix, rank, t, slow, n_slow, room);
        if (isnan(peers) && t != BUDGET_CPU)
            peers = 0; /* a loss that was not seen there is none to compare with */
        if (isnan(own) || isnan(peers))
            continue;
        if (fabs(own - peers) >= WORTH_SAYING * excess_s)
            remarks_add(&s->evidence, TERM_DIFFERS, NUMBERS(t, own, peers), NAMES());
        if (own - peers > most.excess_s)
            most = (struct blamed){t, own, own - peers, true};
    }
    return most;
}

int straggler_explain(const struct rank_matrix *matrix, size_t rank, const size_t *slow,
                      size_t n_slow, double own_s, double excess_s, struct straggler *straggler) {
    struct slow_windows windows = {NULL, 0};
    double *room = malloc((matrix->ranks + 1) * sizeof *room);
    int result = room ? windows_of(matrix, rank, slow, n_slow, &windows) : -ENOMEM;
    if (result == 0) {
        struct blamed most = compare_terms(matrix, rank, slow, n_slow, excess_s, room, straggler);
        double peers_s = own_s - excess_s;
        bool enough = most.known && (most.excess_s >= EXPLAINS * excess_s ||
                                     own_s - most.excess_s < LIKE_PEERS * peers_s);
        straggler->explained = excess_s > 0 ? fmin(1, most.excess_s / excess_s) : NAN;
        straggler->cause_kind = CAUSE_UNKNOWN;
        if (enough)
            name_term(matrix, rank, most.term, (struct windows){windows.items, windows.n},
                      most.own_s, most.excess_s, room, straggler);
        else if (matrix->basis == MATRIX_BUDGET)
            remark_set(&straggler->cause, NO_SINGLE_CAUSE, NUMBERS(), NAMES());
        else
            remark_set(&straggler->cause, CAUSES_LOOK_ALIKE, NUMBERS(), NAMES());
    }
    free(windows.items);
    free(room);
    return result == 0 && (straggler->cause.code == REMARK_NONE || straggler->evidence.error)
               ? -ENOMEM
               : result;
}
