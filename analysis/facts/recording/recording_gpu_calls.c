/* SPDX-License-Identifier: MIT */
/*
 * How long ranks wait for each other in collectives of GPUs. A call only gives the operation to the
 * GPU, where it can end no sooner than the last member has called. The host waits for that where
 * its wait clocks say that it waits for the GPU: until the last member has called, or until it
 * calls again itself, that time belongs to the collective if the host waited for the GPU in most of
 * it. Without wait clocks nothing is known: a host may compute meanwhile.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "analysis/facts/recording/recording.h"

#define WAITED_MIN                                                                                 \
    0.5 /* of that time; in the rest it queued for a core to poll, or did other work */

/* Time in which the GPU of a rank cannot have finished a collective. */
struct held {
    size_t event;
    int64_t begin_ns, end_ns;
    double waited_ns; /* the host's wait for the GPU in it */
};

struct arrivals {
    struct key_table calls;
    int64_t *last_ns; /* by number of the call */
    int *host;        /* of that member */
};

static bool is_collective(const struct mpi_log *log, const struct mpi_event *e) {
    const struct mpi_function *f = mpi_event_function(log, e);
    return f->of_gpu && f->need == MPI_NEED_ALL && e->tag >= 0 && mpi_event_is_call(e);
}

static struct key call_key(const struct mpi_event *e) {
    return (struct key){{e->comm, e->function, (uint32_t)e->tag}};
}

static int find_arrivals(const struct mpi_log *log, struct arrivals *a, size_t n) {
    a->last_ns = malloc((n + 1) * sizeof *a->last_ns);
    a->host = malloc((n + 1) * sizeof *a->host);
    if (!a->last_ns || !a->host)
        return -ENOMEM;
    for (size_t r = 0; r < log->n; r++)
        for (size_t i = 0; i < log->ranks[r].n; i++) {
            const struct mpi_event *e = &log->ranks[r].events[i];
            size_t known = a->calls.n;
            uint32_t at = is_collective(log, e) ? key_add(&a->calls, call_key(e)) : 0;
            if (!is_collective(log, e))
                continue;
            if (at == KEY_NONE)
                return -ENOMEM;
            if (at < known && e->enter_ns <= a->last_ns[at])
                continue;
            a->last_ns[at] = e->enter_ns;
            a->host[at] = log->ranks[r].host;
        }
    return 0;
}

/* Between two hosts the wait is at most as long as it is sure by their clocks. */
static int64_t surely_held_ns(const struct recording *recording, const struct arrivals *a,
                              uint32_t call, int host) {
    const int64_t *bound = recording->clock_bound_ns;
    if (a->host[call] == host || !bound)
        return a->last_ns[call];
    if (bound[host] < 0 || bound[a->host[call]] < 0)
        return INT64_MIN;
    return a->last_ns[call] - bound[host] - bound[a->host[call]];
}

/* The rank's events are sorted, so what is found is, too. */
static size_t find_held(const struct recording *recording, const struct arrivals *a,
                        const struct mpi_rank *rank, struct held *held) {
    const struct mpi_log *log = &recording->calls;
    size_t n = 0;
    for (size_t i = 0; i < rank->n; i++) {
        const struct mpi_event *e = &rank->events[i];
        if (!is_collective(log, e))
            continue;
        int64_t end = surely_held_ns(recording, a, key_find(&a->calls, call_key(e)), rank->host);
        int64_t next = i + 1 < rank->n ? rank->events[i + 1].enter_ns : INT64_MAX;
        end = end < next ? end : next;
        if (end > e->exit_ns)
            held[n++] = (struct held){i, e->enter_ns, end, 0};
    }
    return n;
}

static double overlap(const struct held *held, int64_t begin, int64_t end) {
    int64_t from = held->begin_ns > begin ? held->begin_ns : begin;
    int64_t to = held->end_ns < end ? held->end_ns : end;
    return to > from ? (double)(to - from) : 0;
}

static double growth_in(const struct series_set *set, const struct series *s, size_t row,
                        size_t column) {
    int64_t value = series_value(set, s, row, column);
    return value == VALUE_ABSENT || value < 0 ? 0 : (double)value;
}

static double waited_for_gpu(const struct series_set *waits, const struct series *s, size_t row) {
    return growth_in(waits, s, row, WAIT_PROCESS_GPU) +
           growth_in(waits, s, row, WAIT_PROCESS_COPY_TO_GPU) +
           growth_in(waits, s, row, WAIT_PROCESS_COPY_FROM_GPU);
}

/* The part of its waits for the GPU in which the process polled on a core: its CPU time beyond its
 * computing. 1 if that is not known.
 */
static double polled_part(const struct recording *recording, const struct mpi_rank *rank,
                          const struct series *clocks) {
    const struct series_set *waits = &recording->tables[RECORDING_WAIT];
    const struct series_set *set = &recording->tables[RECORDING_PROCESS];
    const struct series *process = series_of_pid(set, rank->host, PROCESS_PID, rank->pid);
    double cpu = 0, computed = 0, waited = 0;
    for (size_t row = 0; process && row < process->n; row++)
        cpu += growth_in(set, process, row, PROCESS_USER) +
               growth_in(set, process, row, PROCESS_SYSTEM);
    for (size_t row = 0; row < clocks->n; row++) {
        computed += growth_in(waits, clocks, row, WAIT_PROCESS_RUN);
        waited += waited_for_gpu(waits, clocks, row);
    }
    return process && waited > 0 ? fmin(fmax(cpu - computed, 0) / waited, 1) : 1;
}

/* A row tells how long the host waited for the GPU, not when: while the GPU could not be done
 * first.
 */
static void share_out(const struct series_set *waits, const struct series *s, struct held *held,
                      size_t n) {
    size_t first = 0;
    for (size_t row = 0; row < s->n; row++) {
        if (s->interval_ns[row] == VALUE_ABSENT)
            continue;
        int64_t begin = s->t_ns[row] - s->interval_ns[row], end = s->t_ns[row];
        double all = 0, waited = waited_for_gpu(waits, s, row);
        while (first < n && held[first].end_ns <= begin)
            first++;
        for (size_t i = first; i < n && held[i].begin_ns < end; i++)
            all += overlap(&held[i], begin, end);
        for (size_t i = first; all > 0 && i < n && held[i].begin_ns < end; i++)
            held[i].waited_ns += overlap(&held[i], begin, end) * fmin(1, waited / all);
    }
}

static void settle_rank(struct recording *recording, const struct arrivals *a,
                        struct mpi_rank *rank, struct held *held) {
    const struct series_set *waits = &recording->tables[RECORDING_WAIT];
    const struct series *clocks = series_of_pid(waits, rank->host, WAIT_PID, rank->pid);
    size_t n = clocks ? find_held(recording, a, rank, held) : 0;
    double polled = n ? polled_part(recording, rank, clocks) : 1;
    if (n)
        share_out(waits, clocks, held, n);
    for (size_t i = 0; i < n; i++) {
        struct mpi_event *e = &rank->events[held[i].event];
        double length = (double)(held[i].end_ns - held[i].begin_ns);
        if (held[i].waited_ns < WAITED_MIN * length)
            continue;
        e->exit_ns = held[i].end_ns;
        int64_t inside_ns = e->exit_ns - e->enter_ns, cpu_ns = (int64_t)(polled * length);
        e->inside_ns = inside_ns < MPI_INSIDE_MAX_NS ? inside_ns : MPI_INSIDE_MAX_NS;
        e->flags |= MPI_FLAG_HAS_CPU;
        e->cpu_ns = cpu_ns < MPI_CPU_MAX_NS ? cpu_ns : MPI_CPU_MAX_NS;
    }
}

static bool has_gpu_calls(const struct mpi_log *log) {
    for (size_t f = 0; f < log->n_functions; f++)
        if (log->functions[f].of_gpu)
            return true;
    return false;
}

int recording_settle_gpu_calls(struct recording *recording) {
    struct mpi_log *log = &recording->calls;
    struct arrivals arrivals = {.last_ns = NULL};
    size_t n = 0, most = 0;
    if (!has_gpu_calls(log))
        return 0;
    for (size_t r = 0; r < log->n; r++) {
        n += log->ranks[r].n;
        most = log->ranks[r].n > most ? log->ranks[r].n : most;
    }
    struct held *held = malloc((most + 1) * sizeof *held);
    int result = held ? find_arrivals(log, &arrivals, n) : -ENOMEM;
    for (size_t r = 0; result == 0 && r < log->n; r++)
        settle_rank(recording, &arrivals, &log->ranks[r], held);
    key_table_release(&arrivals.calls);
    free(arrivals.last_ns);
    free(arrivals.host);
    free(held);
    return result;
}
