/* SPDX-License-Identifier: MIT */
/*
 * The totals of table mpi by function, for functions that were called. The slower pace suffices,
 * since table mpi has the sum over all functions at the faster pace.
 */
#include <stdio.h>
#include <string.h>

#include "agent/probes/mpi.h"
#include "agent/probes/probes.h"
#include "common/error.h"

_Static_assert(MPI_FUNCTION_FAILED - MPI_FUNCTION_INSIDE_NS + 1 == MPI_SUM_COLUMNS,
               "as mpi_sum_put puts them");

#define ROWS_MAX 4096

struct mpi_function {
    struct call_watch *watch;
    int64_t inside_ns[CALL_MAX_RANKS][CALL_COUNT]; /* as last reported */
};

static void report_function(struct mpi_function *all, size_t i, size_t function,
                            struct mpi_sum *sum, struct rows *rows) {
    struct call_watch *watch = all->watch;
    struct table_key key = watch->ranks[i].key;
    key.function = text_span(call_name((enum call_function)function));
    struct row *row = rows_append_key(rows, &key);
    if (!row)
        return;
    if (sum->inside_ns < all->inside_ns[i][function])
        sum->inside_ns = all->inside_ns[i][function];
    row->flags = call_watch_first_of(watch, i, (enum call_function)function) ? ROW_BORN : 0;
    row->values[MPI_FUNCTION_RANK] = call_watch_rank(watch, i);
    row->values[MPI_FUNCTION_PID] = watch->reader.ranks[i].pid;
    mpi_sum_put(sum, &row->values[MPI_FUNCTION_INSIDE_NS]);
    all->inside_ns[i][function] = sum->inside_ns;
}

static void report_rank(struct mpi_function *all, size_t i, const struct probe_env *env,
                        struct rows *rows) {
    const struct call_totals *totals = &all->watch->totals;
    for (size_t f = 0; f < CALL_COUNT; f++) {
        struct mpi_sum sum = {0};
        mpi_sum_total(&sum, &totals->function[f]);
        for (size_t t = 0; t < CALL_FILE_THREADS; t++)
            if (totals->now[t].function == f)
                mpi_sum_now(&sum, &totals->now[t], env->mono_ns);
        if (sum.calls || sum.threads_inside || all->inside_ns[i][f])
            report_function(all, i, f, &sum, rows);
    }
}

static int mpi_function_sample(void *state, const struct probe_env *env, struct rows *rows) {
    struct mpi_function *all = state;
    for (size_t i = 0; i < all->watch->reader.n_ranks; i++)
        if (call_watch_read(all->watch, i, env))
            report_rank(all, i, env, rows);
    return 0;
}

static int mpi_function_open(void *state, const struct probe_env *env, char *why, size_t why_size) {
    struct mpi_function *all = state;
    (void)why, (void)why_size; /* probe mpi has said why */
    if (!env->calls || !env->calls->is_open)
        return PROBE_ABSENT;
    all->watch = env->calls;
    return 0;
}

static size_t mpi_function_max_rows(const void *state, const struct probe_env *env) {
    (void)state;
    (void)env;
    return ROWS_MAX;
}

const struct probe probe_mpi_function = {
    .table = &all_tables[TABLE_MPI_FUNCTION],
    .pace = PACE_PROCESS,
    .state_size = sizeof(struct mpi_function),
    .max_rows = mpi_function_max_rows,
    .open = mpi_function_open,
    .sample = mpi_function_sample,
};
