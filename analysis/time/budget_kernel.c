/* SPDX-License-Identifier: MIT */
/*
 * Counters divide the time that events leave open. The division is made once for each interval
 * between two samples of the process, and applied to the cells in it in proportion: nothing is
 * interpolated within windows shorter than an interval.
 */
#include <math.h>

#include "analysis/time/budget_private.h"
#include "common/error.h" /* ARRAY_SIZE */

/* The kernel updates a running thread's CPU time once a tick, which takes up to 10 ms. So up to
 * 10 ms of an interval may be counted in the next one.
 */
#define KERNEL_LAG_NS 10e6

#define DARK(term) (1u << (term))

/* Shares of one interval, from raw amounts. */
struct division {
    double cpu_of_dark;  /* of time of unknown CPU use: CPU */
    double queue_of_off; /* of time off the CPU outside MPI */
    double disk_of_off, memory_of_off, steal_of_off, stopped_of_off, helped_of_off;
    double stopped_of_late; /* of time off the CPU inside MPI that no wait for a peer covers */
    double queue_of_inside_off, queue_of_backoff, disk_of_io_off, off_of_folded;
    double quota_of_queue;
    double memory_of_cpu; /* of time on the CPU outside MPI */
    double extra_cpu;     /* CPU per ns of cell beyond the events'; negative: too much */
    bool known;           /* CPU and run queue are known */
    bool gpu_known;       /* waits for a GPU are taken out */
    unsigned dark;
};

static double share(double part, double whole) {
    return whole > 0 ? fmin(fmax(part / whole, 0), 1) : 0;
}

static void mark_dark(struct division *d, double value, enum budget_term term) {
    if (isnan(value))
        d->dark |= DARK(term);
}

static double dark_time(const double *raw) {
    return raw[RAW_GAP_DARK] + raw[RAW_FOLD_WAIT] + raw[RAW_FOLD_TRANSFER] + raw[RAW_FOLD_UNSPLIT];
}

/* The activity of other threads while this one was off the CPU outside MPI: the time of the longest
 * one, if all ran at once. If they ran and queued for longer than the interval, they did both at
 * the same time; and while they queued and nobody else had their cores, others of them ran.
 */
static void divide_threads(const struct budget_interval *i, double part, double off, double *queue,
                           double *helped) {
    double longest = i->longest > 0 ? part * i->longest : INFINITY;
    double all = fmin(*helped, longest), fit = fmin(1, share(off, *queue + all));
    double ran = all * fit, waited = *queue * fit;
    double foreign = isnan(i->foreign) ? INFINITY : part * i->foreign;
    double behind = fmin(fmax(waited - foreign, 0), all - ran);
    *queue = waited - behind;
    *helped = ran + behind;
}

static double late_time(const double *raw) {
    return raw[RAW_LATE_TRANSFER] + raw[RAW_LATE_OVERHEAD] + raw[RAW_LATE_UNSPLIT] +
           raw[RAW_IO_OFF];
}

/* The reasons for being off the CPU outside MPI, in this order: what the kernel counted for this
 * process, what it counted only for the host, then what other threads did.
 */
static void divide_off(const struct budget_interval *i, double part, double queue, double disk,
                       double off, double helped, struct division *d) {
    if (helped > 0)
        divide_threads(i, part, off, &queue, &helped);
    double rest = off - fmin(queue, off);
    double steal = fmin(part * budget_amount(i->steal), rest);
    double blocked = fmin(disk, rest - steal);
    double memory = part * budget_amount(i->memory);
    memory = fmin(memory, isnan(i->disk) ? rest - steal : blocked);
    d->queue_of_off = share(queue, off);
    d->steal_of_off = share(steal, off);
    /* outside MPI only: without MPI counters, sleep may also be a wait for peers, and blocking is
     * under the same memory pressure
     */
    double asleep = isnan(i->mpi) ? 0 : part * budget_amount(i->memory_asleep);
    asleep = fmin(fmax(asleep - memory, 0), rest - steal - fmax(blocked, memory));
    d->memory_of_off = share(memory + asleep, off);
    d->disk_of_off = share(fmax(blocked - memory, 0), off);
    rest -= steal + fmax(blocked, memory) + asleep;
    double stopped = fmin(part * budget_amount(i->stopped), fmax(rest, 0));
    d->stopped_of_off = share(stopped, off);
    d->helped_of_off = share(fmin(helped, rest - stopped), off);
    d->quota_of_queue = share(budget_amount(i->quota), budget_amount(i->run_queue));
}

/* The part of the run queue's time outside MPI. A process that is ready to run waits in proportion
 * to the CPU time that it needs, so CPU time tells where it waited, up to the time off the CPU at
 * each place (inside MPI most of that may be sleep until a peer came).
 */
static double queue_outside(double queue, double cpu, double inside_cpu, double off,
                            double inside_off) {
    double outside = cpu + inside_cpu > 0 ? queue * cpu / (cpu + inside_cpu) : 0;
    return fmax(fmin(outside, off), queue - fmin(queue, inside_off));
}

/* If the events have more CPU time than the counters, up to KERNEL_LAG_NS of it may be counted in
 * the next interval; more is dropped.
 */
static void settle_lag(struct division *d, double length, double *lag_ns) {
    double amount = d->extra_cpu * length + *lag_ns;
    *lag_ns = fmin(fmax(amount, -KERNEL_LAG_NS), 0);
    d->extra_cpu = length > 0 ? (amount - *lag_ns) / length : 0;
}

/* Other threads' CPU time. In time without events it is already included. */
static void settle_threads(const struct budget_interval *i, double length, double *lag_ns,
                           struct division *d, double *ret_helped) {
    *ret_helped = 0;
    if (!lag_ns || isnan(i->cpu))
        return;
    settle_lag(d, length, lag_ns);
    *ret_helped = i->one_thread ? 0 : fmax(d->extra_cpu * length, 0);
}

/* lag_ns: in, of the interval before; out, of this one. NULL for time without events. */
static struct division divide(const struct budget_interval *i, const double *raw, double part,
                              double length, double *lag_ns) {
    struct division d = {.known = !isnan(i->cpu) && !isnan(i->run_queue)};
    double known_cpu = raw[RAW_GAP_CPU] + raw[RAW_INSIDE_CPU], cpu = part * budget_amount(i->cpu);
    double dark = dark_time(raw), queue = part * budget_amount(i->run_queue);
    double disk = part * budget_amount(i->disk), helped;
    double file_disk = isnan(i->disk) ? part * budget_amount(i->io_pressure) : disk;
    mark_dark(&d, i->quota, BUDGET_QUOTA);
    mark_dark(&d, i->steal, BUDGET_STEAL);
    mark_dark(&d, i->disk, BUDGET_DISK);
    mark_dark(&d, i->memory, BUDGET_MEMORY);
    mark_dark(&d, i->stopped, BUDGET_STOPPED);
    /* folded tests spin: the remaining CPU time is theirs first */
    double spun =
        isnan(i->cpu) ? raw[RAW_FOLD_INSIDE] : fmin(fmax(cpu - known_cpu, 0), raw[RAW_FOLD_INSIDE]);
    double inside_off = raw[RAW_INSIDE_OFF] + raw[RAW_FOLD_INSIDE] - spun;
    known_cpu += spun;
    d.off_of_folded = share(raw[RAW_FOLD_INSIDE] - spun, raw[RAW_FOLD_INSIDE]);
    d.cpu_of_dark = share(cpu - known_cpu, dark);
    d.extra_cpu =
        length > 0 && !isnan(i->cpu) ? (cpu - known_cpu - d.cpu_of_dark * dark) / length : 0;
    settle_threads(i, length, lag_ns, &d, &helped);
    d.memory_of_cpu =
        share(part * budget_amount(i->memory_cpu), raw[RAW_GAP_CPU] + d.cpu_of_dark * dark);
    double off = raw[RAW_GAP_OFF] + (1 - d.cpu_of_dark) * raw[RAW_GAP_DARK];
    double wanted = raw[RAW_GAP_CPU] + d.cpu_of_dark * raw[RAW_GAP_DARK] + helped;
    double outside = queue_outside(queue, wanted, raw[RAW_INSIDE_CPU] + spun, off, inside_off);
    double disk_io = fmin(file_disk, raw[RAW_IO_OFF]);
    d.queue_of_inside_off = share(queue - outside, inside_off);
    /* the rest was in back-offs: the timer had run out, but another process had the core */
    d.queue_of_backoff =
        share(queue - fmin(outside, off) - fmin(queue - outside, inside_off), raw[RAW_BACKOFF]);
    d.disk_of_io_off = share(disk_io, raw[RAW_IO_OFF]);
    divide_off(i, part, outside, fmax(disk - disk_io, 0), off, helped, &d);
    double more = part * budget_amount(i->stopped) - d.stopped_of_off * off;
    d.stopped_of_late = share(more, late_time(raw));
    if (length > 0)
        d.extra_cpu -= d.helped_of_off * off / length;
    return d;
}

static void put_queue(struct cell *c, const struct division *d, double queue) {
    c->term[BUDGET_QUOTA] += queue * d->quota_of_queue;
    c->term[BUDGET_RUN_QUEUE] += queue * (1 - d->quota_of_queue);
}

/* Moves the part of a term inside MPI that was a wait for a core. */
static double take(struct cell *c, const struct division *d, double amount, double queue) {
    queue = fmin(queue, amount);
    put_queue(c, d, queue);
    return amount - queue;
}

static double take_stopped(struct cell *c, const struct division *d, double amount, enum raw late) {
    double stopped = fmin(c->raw[late] * d->stopped_of_late, amount);
    c->term[BUDGET_STOPPED] += stopped;
    return amount - stopped;
}

static double take_late(struct cell *c, const struct division *d, double amount, enum raw late) {
    amount = take(c, d, amount, c->raw[late] * d->queue_of_inside_off);
    return take_stopped(c, d, amount, late);
}

/* Takes from calls, from folded tests (which spin for a part of them), and from back-offs. */
static double take_all(struct cell *c, const struct division *d, double amount, enum raw late,
                       enum raw folded, enum raw backoff) {
    amount = take_late(c, d, amount, late);
    amount = take(c, d, amount, c->raw[folded] * d->off_of_folded * d->queue_of_inside_off);
    return take(c, d, amount, c->raw[backoff] * d->queue_of_backoff);
}

/* Blocked outside MPI: other threads may have been inside it then. */
static void put_idle(struct cell *c, double idle) {
    static const struct {
        enum raw raw;
        enum budget_term term;
    } others[] = {{RAW_OTHER_WAIT, BUDGET_PEER_WAIT},
                  {RAW_OTHER_TRANSFER, BUDGET_TRANSFER},
                  {RAW_OTHER_FILE, BUDGET_FILE},
                  {RAW_OTHER_OVERHEAD, BUDGET_OVERHEAD},
                  {RAW_OTHER_UNSPLIT, BUDGET_UNSPLIT}};
    double inside = 0;
    for (size_t o = 0; o < ARRAY_SIZE(others); o++)
        inside += c->raw[others[o].raw];
    double part = share(idle, inside);
    for (size_t o = 0; o < ARRAY_SIZE(others); o++)
        c->term[others[o].term] += part * c->raw[others[o].raw];
    c->term[BUDGET_IDLE] += idle - part * inside;
}

/* length: of the cell, ns. */
static void apply(struct cell *c, const struct division *d, double length) {
    const double *raw = c->raw;
    double lit = 1 - d->cpu_of_dark, off = raw[RAW_GAP_OFF] + lit * raw[RAW_GAP_DARK];
    double disk_io = fmin(raw[RAW_IO_OFF] * d->disk_of_io_off, raw[RAW_IO]);
    double blocked = d->queue_of_off + d->disk_of_off + d->memory_of_off + d->steal_of_off +
                     d->stopped_of_off + d->helped_of_off;
    double on = raw[RAW_GAP_CPU] + d->cpu_of_dark * dark_time(raw);
    c->term[BUDGET_CPU] += on * (1 - d->memory_of_cpu) + off * d->helped_of_off;
    put_queue(c, d, off * d->queue_of_off);
    c->term[BUDGET_DISK] += off * d->disk_of_off + disk_io;
    c->term[BUDGET_MEMORY] += off * d->memory_of_off + on * d->memory_of_cpu;
    c->term[BUDGET_STEAL] += off * d->steal_of_off;
    c->term[BUDGET_STOPPED] += off * d->stopped_of_off;
    put_idle(c, off * fmax(1 - blocked, 0));
    c->term[BUDGET_PEER_WAIT] += raw[RAW_WAIT] + lit * raw[RAW_FOLD_WAIT];
    c->term[BUDGET_TRANSFER] += take_all(c, d, raw[RAW_TRANSFER], RAW_LATE_TRANSFER,
                                         RAW_FOLDED_TRANSFER, RAW_BACKOFF_TRANSFER) +
                                lit * raw[RAW_FOLD_TRANSFER];
    c->term[BUDGET_OVERHEAD] += take_all(c, d, raw[RAW_OVERHEAD], RAW_LATE_OVERHEAD,
                                         RAW_FOLDED_OVERHEAD, RAW_BACKOFF_OVERHEAD);
    c->term[BUDGET_FILE] += take_late(c, d, raw[RAW_IO] - disk_io, RAW_IO_OFF);
    /* the peer may not have come yet: a rank that waits and yields its core is no demand for one */
    c->term[BUDGET_UNSPLIT] +=
        take_stopped(c, d, raw[RAW_UNSPLIT], RAW_LATE_UNSPLIT) + lit * raw[RAW_FOLD_UNSPLIT];
    c->extra_cpu += d->extra_cpu * length;
    c->dark |= d->dark | (d->gpu_known ? 0 : DARK(BUDGET_GPU) | DARK(BUDGET_GPU_COPY));
}

/* Without counters only terms that need none are known. */
static void apply_nothing(struct cell *c, double length) {
    static const struct division nothing = {.quota_of_queue = 0};
    const double *raw = c->raw;
    double off = raw[RAW_GAP_OFF] + dark_time(raw);
    struct cell without = *c;
    without.raw[RAW_GAP_OFF] = without.raw[RAW_GAP_DARK] = without.raw[RAW_FOLD_WAIT] =
        without.raw[RAW_FOLD_TRANSFER] = without.raw[RAW_FOLD_UNSPLIT] = 0;
    apply(&without, &nothing, length);
    for (int term = 0; term < BUDGET_TERMS; term++)
        c->term[term] = without.term[term];
    c->unknown += off;
}

/* ---- without events ---- */

/* Raw amounts from the counters, for cells without events. */
static void raw_from_counters(const struct budget_interval *i, double part, double length,
                              double *raw) {
    double inside = fmin(part * budget_amount(i->mpi), length);
    double inside_cpu = isnan(i->mpi_cpu) ? inside : fmin(part * i->mpi_cpu, inside);
    double cpu = fmax(part * budget_amount(i->cpu) - inside_cpu, 0);
    raw[RAW_UNSPLIT] = inside;
    raw[RAW_INSIDE_CPU] = inside_cpu;
    raw[RAW_INSIDE_OFF] = inside - inside_cpu;
    raw[RAW_LATE_UNSPLIT] = 0; /* a wait for a peer may cover all of it */
    raw[RAW_GAP_CPU] = fmin(cpu, length - inside);
    raw[RAW_GAP_OFF] = length - inside - raw[RAW_GAP_CPU];
}

/* Blocked time in which its connections had data to send was transfer. */
static void move_sending(const struct budget_interval *i, double part, struct cell *c) {
    double sending = fmin(part * budget_amount(i->sending), c->term[BUDGET_IDLE]);
    c->term[BUDGET_IDLE] -= sending;
    c->term[BUDGET_TRANSFER] += sending;
}

static void divide_counters(const struct budget_interval *i, double part, double length,
                            double of_cell, struct cell *c) {
    double raw[RAW_COUNT_] = {0}, own = length > 0 ? of_cell / length : 0;
    bool shim = !isnan(i->mpi);
    if (!shim && budget_divide_clocks(i, part * own, c))
        return;
    raw_from_counters(i, part, length, raw);
    struct division d = divide(i, raw, part, length, NULL);
    for (int r = 0; r < RAW_COUNT_; r++)
        c->raw[r] = raw[r] * own;
    if (!d.known) {
        c->unknown += of_cell;
        return;
    }
    apply(c, &d, of_cell);
    if (!shim)
        move_sending(i, part * own, c);
    c->dark |= DARK(BUDGET_PEER_WAIT) | DARK(BUDGET_OVERHEAD) | DARK(BUDGET_FILE);
    if (shim || isnan(i->sending))
        c->dark |= DARK(BUDGET_TRANSFER);
    if (!shim)
        c->dark |= DARK(BUDGET_UNSPLIT);
    c->source = shim ? BUDGET_FROM_TOTALS : BUDGET_FROM_COUNTERS;
}

/* ---- all cells ---- */

struct cell_sum {
    double raw[RAW_COUNT_];
    double with, without; /* ns of cells with events; without */
};

static struct cell_sum sum_up(struct cells *cells, size_t first, size_t end) {
    struct cell_sum s = {.with = 0};
    for (size_t c = first; c < end; c++) {
        const struct cell *cell = cells_at(cells, c);
        *(cells_has_events(cells, c) ? &s.with : &s.without) += cells_length(cells, c);
        for (int r = 0; cell && r < RAW_COUNT_; r++)
            s.raw[r] += cell->raw[r];
    }
    return s;
}

double budget_covered_ns(const struct cells *cells, size_t cell) {
    int64_t begin = cells->times[cell], end = cells->times[cell + 1];
    struct windows only = cells->parts->only;
    double covered = 0;
    for (size_t i = windows_first(only, begin); i < only.n && only.items[i].begin_ns < end; i++) {
        int64_t from = only.items[i].begin_ns > begin ? only.items[i].begin_ns : begin;
        int64_t to = only.items[i].end_ns < end ? only.items[i].end_ns : end;
        covered += (double)(to - from);
    }
    return covered;
}

/* The requested part of a cell is divided like the whole cell. */
static void divide_within(struct cells *cells, size_t c, const struct division *d) {
    const struct cell *all = cells_at(cells, c);
    struct cell *part = cells_within(cells, c);
    double length = cells_length(cells, c);
    double share_of_it = share(budget_covered_ns(cells, c), length);
    if (cells_has_events(cells, c) && d && d->known) {
        apply(part, d, length);
    } else if (cells_has_events(cells, c)) {
        apply_nothing(part, length);
    } else {
        for (int term = 0; term < BUDGET_TERMS; term++)
            part->term[term] = all->term[term] * share_of_it;
        part->unknown = all->unknown * share_of_it;
    }
    part->extra_cpu = all->extra_cpu * share_of_it;
    part->dark = all->dark;
    part->source = all->source;
}

/* lag_ns: in, of the interval before; out, of this one. */
static void divide_interval(const struct budget_interval *i, struct cells *cells, size_t first,
                            size_t end, double *lag_ns, struct budget_shares *ret_shares) {
    struct cell_sum s = sum_up(cells, first, end);
    double all = s.with + s.without, with = all > 0 ? s.with / all : 0, kept = 1;
    struct budget_interval rest = *i;
    bool gpu_known =
        s.with > 0 && budget_take_gpu(i, with, s.raw, &rest.cpu, cells, first, end, &kept);
    struct division d = divide(&rest, s.raw, with, s.with, lag_ns);
    d.gpu_known = gpu_known;
    for (size_t c = first; c < end; c++) {
        struct cell *cell = cells_at(cells, c);
        double length = cells_length(cells, c);
        if (!cells_has_events(cells, c))
            divide_counters(i, 1 - with, s.without, length, cell);
        else if (d.known)
            apply(cell, &d, length);
        else
            apply_nothing(cell, length);
        if (cells->parts)
            divide_within(cells, c, &d);
    }
    if (ret_shares)
        *ret_shares = (struct budget_shares){.cpu_of_dark = kept * d.cpu_of_dark,
                                             .queue_of_inside_off = d.queue_of_inside_off,
                                             .off_of_folded = d.off_of_folded,
                                             .queue_of_off = kept * d.queue_of_off,
                                             .quota_of_queue = d.quota_of_queue,
                                             .disk_of_off = kept * d.disk_of_off,
                                             .memory_of_off = kept * d.memory_of_off,
                                             .steal_of_off = kept * d.steal_of_off,
                                             .helped_of_off = kept * d.helped_of_off,
                                             .stopped_of_off = kept * d.stopped_of_off,
                                             .disk_of_io_off = d.disk_of_io_off,
                                             .memory_of_cpu = d.memory_of_cpu};
}

/* A cell that no interval of counters covers. */
static void divide_nothing(struct cells *cells, size_t c) {
    struct cell *cell = cells_at(cells, c);
    if (cells_has_events(cells, c))
        apply_nothing(cell, cells_length(cells, c));
    else
        cell->unknown = cells_length(cells, c);
    if (cells->parts)
        divide_within(cells, c, NULL);
}

/* The interval at the first cell that is not settled; NULL: none. */
static const struct budget_interval *interval_of_next(const struct cells *cells) {
    const struct budget_interval *i = cells->subject->n_intervals > cells->interval
                                          ? &cells->subject->intervals[cells->interval]
                                          : NULL;
    return i && i->begin_ns <= cells->times[cells->settled] ? i : NULL;
}

/* Finds the cells that are settled together: those of one interval. */
static void find_next(struct cells *cells) {
    const struct budget_subject *s = cells->subject;
    int64_t begin = cells->times[cells->settled];
    while (cells->interval < s->n_intervals && s->intervals[cells->interval].end_ns <= begin)
        cells->interval++;
    const struct budget_interval *interval = interval_of_next(cells);
    cells->next_end = cells->settled + 1;
    while (interval && cells->next_end < cells->n &&
           cells->times[cells->next_end] < interval->end_ns)
        cells->next_end++;
}

static void settle_next(struct cells *cells) {
    size_t first = cells->settled, end = cells->next_end;
    const struct budget_interval *interval = interval_of_next(cells);
    if (!cells_at(cells, end - 1))
        return;
    if (interval)
        divide_interval(interval, cells, first, end, &cells->lag_ns,
                        cells->shares ? &cells->shares[cells->interval] : NULL);
    else
        divide_nothing(cells, first);
    budget_add_cells(cells, first, end);
    cells->settled = end;
    cells->start += end - first;
}

void budget_settle(struct cells *cells, size_t known) {
    while (cells->settled < known && !cells->error) {
        if (cells->next_end <= cells->settled)
            find_next(cells);
        if (cells->next_end > known)
            return;
        settle_next(cells);
    }
}
