/* SPDX-License-Identifier: MIT */
#include "analysis/evidence/rank_use.h"

#include <math.h>

#include "analysis/facts/series/stats.h"
#include "common/clock.h"

static const struct window ever = {-TIME_SANE_NS, TIME_SANE_NS};

/* The rows of one process in one table. */
struct counted {
    const struct series_set *set;
    const struct series *series; /* NULL: the table has no row of the process */
};

static struct counted counted_of(const struct run_model *model, enum recording_table table,
                                 size_t pid_column, const struct rank_budget *rank) {
    const struct series_set *set = &model->recording->tables[table];
    struct series_range range = series_set_of_host(set, rank->host);
    for (size_t s = range.begin; s < range.end; s++)
        if (set->items[s].host == rank->host && set->items[s].n &&
            series_last(set, &set->items[s], pid_column) == rank->pid)
            return (struct counted){set, &set->items[s]};
    return (struct counted){set, NULL};
}

/* The growth of a counter; adds the time of its rows to *covered_ns. NAN if not known. */
static double growth(struct counted c, size_t column, struct window window, int64_t *covered_ns) {
    int64_t covered;
    if (!c.series || series_last(c.set, c.series, column) == VALUE_ABSENT)
        return NAN;
    double sum = series_growth(c.set, c.series, column, (struct windows){&window, 1}, &covered);
    *covered_ns += covered;
    return sum;
}

static double growth_ever(struct counted c, size_t column) {
    int64_t unused = 0;
    return growth(c, column, ever, &unused);
}

/* ---- cores ---- */

/* When its first row with known growth begins; INT64_MAX if there is none. */
static int64_t first_known(struct counted c) {
    for (size_t i = 0; c.series && i < c.series->n; i++)
        if (c.series->interval_ns[i] != VALUE_ABSENT)
            return c.series->t_ns[i] - c.series->interval_ns[i];
    return INT64_MAX;
}

/* The time before its start that the first row of a new process covers. */
static int64_t covered_before_start(struct counted process) {
    int64_t first = first_known(process);
    int64_t start =
        first == INT64_MAX ? first : series_last(process.set, process.series, PROCESS_START);
    bool sane = start != VALUE_ABSENT && time_is_sane(start) && start <= process.series->t_ns[0];
    return sane && start > first ? start - first : 0;
}

static double process_cpu(struct counted process, struct window window, int64_t *covered_ns) {
    int64_t unused = 0;
    return growth(process, PROCESS_USER, window, covered_ns) +
           growth(process, PROCESS_SYSTEM, window, &unused);
}

/* CPU time from the process table alone, which may include the process's end, or from the finer
 * table since its first row. Neither overcounts, so the larger one lacks less. *ret_covered_ns: its
 * time.
 */
static double all_cpu(struct counted process, struct counted often, int64_t *ret_covered_ns) {
    struct window before = {-TIME_SANE_NS, first_known(often)};
    int64_t covered = 0, finely_covered = 0;
    double cpu = process_cpu(process, ever, &covered);
    double finer = growth(often, RANK_RUN, ever, &finely_covered) +
                   stats_or_zero(process_cpu(process, before, &finely_covered));
    bool is_finer = isnan(cpu) || finer > cpu;
    *ret_covered_ns = is_finer ? finely_covered : covered;
    return is_finer ? finer : cpu;
}

static struct window cut(struct window window, int64_t begin_ns, int64_t end_ns) {
    return (struct window){window.begin_ns > begin_ns ? window.begin_ns : begin_ns,
                           window.end_ns < end_ns ? window.end_ns : end_ns};
}

/* CPU time in a window; the process table covers the time before the first row of the finer table,
 * and after the last.
 */
static double cpu_in(struct counted process, struct counted often, struct window window,
                     int64_t *covered_ns) {
    double cpu = growth(often, RANK_RUN, window, covered_ns);
    if (isnan(cpu) || first_known(often) == INT64_MAX)
        return process_cpu(process, window, covered_ns);
    struct window before = cut(window, -TIME_SANE_NS, first_known(often));
    struct window after = cut(window, often.series->t_ns[often.series->n - 1], TIME_SANE_NS);
    return cpu + stats_or_zero(process_cpu(process, before, covered_ns)) +
           stats_or_zero(process_cpu(process, after, covered_ns));
}

static void fill_cpu(struct counted process, struct counted often, const struct window *window,
                     struct rank_use *use) {
    int64_t covered, within = 0;
    double cpu_ns = all_cpu(process, often, &covered);
    covered -= process.series ? covered_before_start(process) : 0;
    if (isnan(cpu_ns) || covered <= 0)
        return;
    use->cpu_s = cpu_ns / 1e9;
    use->lived_s = (double)covered / 1e9;
    use->cpu_share = use->cpu_s / use->lived_s;
    double cpu_within = window ? cpu_in(process, often, *window, &within) : NAN;
    if (within > 0)
        use->cpu_share = cpu_within / (double)within;
}

/* ---- memory ---- */

static double highest(struct counted c, size_t column) {
    int64_t most = VALUE_ABSENT;
    for (size_t i = 0; c.series && i < c.series->n; i++) {
        int64_t value = series_value(c.set, c.series, i, column);
        if (value != VALUE_ABSENT && (most == VALUE_ABSENT || value > most))
            most = value;
    }
    return most == VALUE_ABSENT ? NAN : (double)most;
}

/* ---- bytes ---- */

static void fill_from_mpi(struct counted mpi, struct rank_use *use) {
    use->sent_bytes = growth_ever(mpi, MPI_SENT);
    use->received_bytes = growth_ever(mpi, MPI_RECEIVED);
    if (!isnan(use->sent_bytes))
        use->bytes = growth_ever(mpi, MPI_UNSIZED) > 0 ? RANK_BYTES_MPI_AT_MOST : RANK_BYTES_MPI;
}

static void fill_from_connections(const struct process_traffic *traffic,
                                  const struct rank_budget *rank, struct rank_use *use) {
    struct traffic own = process_traffic_of(traffic, rank->host, rank->pid);
    if (isnan(own.sent_bytes) && isnan(own.received_bytes))
        return;
    use->sent_bytes = own.sent_bytes;
    use->received_bytes = own.received_bytes;
    use->bytes = RANK_BYTES_CONNECTIONS;
}

struct rank_use rank_use_find(const struct run_model *model, const struct process_traffic *traffic,
                              const struct rank_budget *rank, const struct window *window) {
    struct rank_use use = {NAN, NAN, NAN, NAN, NAN, NAN, RANK_BYTES_UNKNOWN};
    struct counted process = counted_of(model, RECORDING_PROCESS, PROCESS_PID, rank);
    struct counted often = counted_of(model, RECORDING_RANK, RANK_PID, rank);
    fill_cpu(process, often, window, &use);
    use.peak_bytes = fmax(highest(process, PROCESS_PEAK_RSS),
                          fmax(highest(process, PROCESS_RSS), highest(often, RANK_RSS)));
    fill_from_mpi(counted_of(model, RECORDING_MPI, MPI_PID, rank), &use);
    if (use.bytes == RANK_BYTES_UNKNOWN)
        fill_from_connections(traffic, rank, &use);
    return use;
}
