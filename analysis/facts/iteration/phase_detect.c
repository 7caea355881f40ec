/* SPDX-License-Identifier: MIT */
/*
 * Makes the signal that is divided, and phases of the pieces. A cell is as long as an iteration,
 * and at least half a second, so that changes within an iteration do not show.
 */
#include "analysis/facts/iteration/phase_detect.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/facts/recording/metric.h"
#include "analysis/facts/series/rate.h"
#include "analysis/facts/series/stats.h"

#define CELL_MIN_NS INT64_C(500000000)
#define CELLS_MAX 4096
#define DOMINATES 0.2 /* of the time: a smaller share names no phase */

enum feature { FEATURE_CPU, FEATURE_MPI, FEATURE_DISK, FEATURE_NETWORK };
_Static_assert(FEATURE_NETWORK + 1 == PHASE_FEATURES, "one column each");

static const char *const feature_names[] = {"compute", "communication", "disk", "network"};

struct cells {
    double *values;
    size_t n;
    int64_t length_ns;
};

static int64_t median_iteration(const struct iterations *iterations) {
    const struct rank_iterations *reference = iterations_reference(iterations);
    struct window all = {INT64_MIN / 2, INT64_MAX / 2};
    double median = reference ? iteration_median(reference, (struct windows){&all, 1}) : NAN;
    return isnan(median) ? 0 : (int64_t)(median * 1e9);
}

/* ---- the signal ---- */

static struct window cell_window(const struct cells *cells, size_t i) {
    return (struct window){cells->length_ns * (int64_t)i, cells->length_ns * (int64_t)(i + 1)};
}

/* Adds the mean over ranks of a counter's growth, as a share of time; 0 if absent. A rank that is
 * not there yet, or any more, counts with its own mean, so that its end is no change of the others.
 */
static void add_counter(const struct recording *recording, enum recording_table table,
                        size_t column, enum feature feature, double factor, struct cells *cells) {
    const struct series_set *set = &recording->tables[table];
    struct window all = {0, cells->length_ns * (int64_t)cells->n};
    for (size_t s = 0; s < set->n; s++) {
        const struct series *rank = &set->items[s];
        int64_t life_ns, there_ns;
        double sum = series_growth(set, rank, column, (struct windows){&all, 1}, &life_ns);
        if (series_last(set, rank, column) == VALUE_ABSENT || life_ns <= 0)
            continue;
        for (size_t i = 0; i < cells->n; i++) {
            struct window w = cell_window(cells, i);
            double grown = series_growth(set, rank, column, (struct windows){&w, 1}, &there_ns);
            grown += sum / (double)life_ns * (double)(cells->length_ns - there_ns);
            cells->values[i * PHASE_FEATURES + feature] +=
                factor * grown / (double)cells->length_ns / (double)set->n;
        }
    }
}

/* Network use is a share of the highest rate that occurs repeatedly, as the mean of hosts that send
 * more than a little. One that hardly sends has no part in it.
 */
#define NETWORK_MIN_MB_S 1.0

static double add_network_of(const struct rate *rate, int64_t duration_ns, struct cells *cells) {
    struct window all = {0, duration_ns};
    double ceiling = rate_ceiling(rate, (struct windows){&all, 1}, CELL_MIN_NS);
    for (size_t i = 0; ceiling >= NETWORK_MIN_MB_S && i < cells->n; i++) {
        struct window w = cell_window(cells, i);
        double mean = rate_mean_between(rate, w.begin_ns, w.end_ns);
        cells->values[i * PHASE_FEATURES + FEATURE_NETWORK] +=
            mean >= NETWORK_MIN_MB_S ? fmin(mean / ceiling, 1) : 0;
    }
    return ceiling;
}

static int add_network(const struct recording *recording, struct cells *cells) {
    size_t senders = 0;
    for (size_t h = 0; h < recording->n_hosts; h++) {
        struct rate rate;
        int result = metric_rate(recording, (int)h, METRIC_NET_SEND, &rate);
        if (result < 0)
            return result;
        senders += add_network_of(&rate, recording->duration_ns, cells) >= NETWORK_MIN_MB_S;
        rate_release(&rate);
    }
    for (size_t i = 0; senders && i < cells->n; i++)
        cells->values[i * PHASE_FEATURES + FEATURE_NETWORK] /= (double)senders;
    return 0;
}

static int add_disk(const struct recording *recording, struct cells *cells) {
    for (size_t h = 0; h < recording->n_hosts; h++) {
        struct rate rate;
        int result = metric_rate(recording, (int)h, METRIC_DISK_BUSY, &rate);
        if (result < 0)
            return result;
        for (size_t i = 0; i < cells->n; i++) {
            struct window w = cell_window(cells, i);
            double busy = rate_mean_between(&rate, w.begin_ns, w.end_ns) / 100;
            double *value = &cells->values[i * PHASE_FEATURES + FEATURE_DISK];
            *value = fmax(*value, isnan(busy) ? 0 : fmin(busy, 1));
        }
        rate_release(&rate);
    }
    return 0;
}

static void clip(struct cells *cells) {
    for (size_t i = 0; i < cells->n * PHASE_FEATURES; i++)
        cells->values[i] = fmin(fmax(cells->values[i], 0), 1);
}

static int cells_make(const struct recording *recording, const struct iterations *iterations,
                      struct cells *cells) {
    int64_t length = median_iteration(iterations);
    length = length > CELL_MIN_NS ? length : CELL_MIN_NS;
    while (recording->duration_ns / length > CELLS_MAX)
        length *= 2;
    *cells = (struct cells){.n = (size_t)(recording->duration_ns / length), .length_ns = length};
    cells->values = calloc(cells->n * PHASE_FEATURES + 1, sizeof *cells->values);
    if (!cells->values)
        return -ENOMEM;
    /* spinning inside MPI is not computing */
    add_counter(recording, RECORDING_RANK, RANK_RUN, FEATURE_CPU, 1, cells);
    add_counter(recording, RECORDING_MPI, MPI_CPU, FEATURE_CPU, -1, cells);
    add_counter(recording, RECORDING_MPI, MPI_INSIDE, FEATURE_MPI, 1, cells);
    int result = add_network(recording, cells);
    if (result == 0)
        result = add_disk(recording, cells);
    clip(cells);
    return result;
}

/* ---- pieces ---- */

struct piece {
    size_t begin, end;
    double means[PHASE_FEATURES];
    size_t kind; /* pieces of the same kind are alike */
};

static void measure(const struct cells *cells, struct piece *piece) {
    for (size_t f = 0; f < PHASE_FEATURES; f++) {
        piece->means[f] = 0;
        for (size_t i = piece->begin; i < piece->end; i++)
            piece->means[f] +=
                cells->values[i * PHASE_FEATURES + f] / (double)(piece->end - piece->begin);
    }
}

static double spread(const struct cells *cells, const struct piece *piece, size_t f) {
    double sum = 0;
    for (size_t i = piece->begin; i < piece->end; i++) {
        double d = cells->values[i * PHASE_FEATURES + f] - piece->means[f];
        sum += d * d;
    }
    size_t n = piece->end - piece->begin;
    return n > 1 ? sum / (double)(n - 1) / (double)n : 0;
}

static double difference(const struct piece *a, const struct piece *b) {
    double most = 0;
    for (size_t f = 0; f < PHASE_FEATURES; f++)
        most = fmax(most, fabs(a->means[f] - b->means[f]));
    return most;
}

/* Tests the share that differs most, by Welch's t: it must differ by more than a tenth of the time,
 * and beyond chance.
 */
static bool differ(const struct cells *cells, const struct piece *a, const struct piece *b) {
    for (size_t f = 0; f < PHASE_FEATURES; f++) {
        double d = fabs(a->means[f] - b->means[f]);
        double error = sqrt(spread(cells, a, f) + spread(cells, b, f));
        if (d >= PHASE_DIFFERENCE && d >= PHASE_SIGNIFICANT * error)
            return true;
    }
    return false;
}

/* Joins the two most similar neighbours while any two are the same. */
static size_t merge(const struct cells *cells, struct piece *pieces, size_t n) {
    for (;;) {
        size_t best = n;
        for (size_t i = 0; i + 1 < n; i++)
            if (!differ(cells, &pieces[i], &pieces[i + 1]) &&
                (best == n || difference(&pieces[i], &pieces[i + 1]) <
                                  difference(&pieces[best], &pieces[best + 1])))
                best = i;
        if (best == n)
            return n;
        pieces[best].end = pieces[best + 1].end;
        measure(cells, &pieces[best]);
        memmove(&pieces[best + 1], &pieces[best + 2], (n - best - 2) * sizeof *pieces);
        n--;
    }
}

static void number_kinds(const struct cells *cells, struct piece *pieces, size_t n) {
    size_t kinds = 0, k;
    for (size_t i = 0; i < n; i++) {
        for (k = 0; k < i && differ(cells, &pieces[k], &pieces[i]); k++)
            ;
        pieces[i].kind = k < i ? pieces[k].kind : kinds++;
    }
}

static const char *word_of(const struct piece *piece) {
    size_t most = 0;
    for (size_t f = 1; f < PHASE_FEATURES; f++)
        most = piece->means[f] > piece->means[most] ? f : most;
    return piece->means[most] >= DOMINATES ? feature_names[most] : "idle";
}

/* "compute"; "compute 2" for another kind that computes most, too. */
static void name_piece(const struct piece *pieces, size_t i, char *name) {
    size_t same = 1, last = pieces[i].kind;
    const struct piece *first = &pieces[i];
    for (size_t k = i; k-- > 0;)
        if (pieces[k].kind == pieces[i].kind)
            first = &pieces[k];
    for (size_t kind = 0; kind < last; kind++)
        for (size_t k = 0; k < i; k++)
            if (pieces[k].kind == kind) {
                same += strcmp(word_of(&pieces[k]), word_of(first)) == 0;
                break;
            }
    if (same == 1)
        snprintf(name, MARK_NAME_SIZE, "%s", word_of(first));
    else
        snprintf(name, MARK_NAME_SIZE, "%s %zu", word_of(first), same);
}

static int name_pieces(const struct cells *cells, const struct piece *pieces, size_t n,
                       int64_t duration_ns, struct phase **ret_phases) {
    struct phase *phases = calloc(n + 1, sizeof *phases);
    if (!phases)
        return -ENOMEM;
    for (size_t i = 0; i < n; i++) {
        phases[i].begin_ns = cells->length_ns * (int64_t)pieces[i].begin;
        phases[i].end_ns = i + 1 < n ? cells->length_ns * (int64_t)pieces[i].end : duration_ns;
        name_piece(pieces, i, phases[i].name);
    }
    *ret_phases = phases;
    return 0;
}

static int divide_run(const struct cells *cells, size_t least, struct piece **ret_pieces,
                      size_t *ret_n) {
    size_t *ends = calloc(cells->n + 1, sizeof *ends), n = 0;
    struct piece *pieces = calloc(cells->n + 1, sizeof *pieces);
    int result =
        ends && pieces
            ? phase_change_points((struct phase_signal){cells->values, cells->n}, least, ends, &n)
            : -ENOMEM;
    for (size_t i = 0; result == 0 && i < n; i++) {
        pieces[i] = (struct piece){.begin = i ? ends[i - 1] : 0, .end = ends[i]};
        measure(cells, &pieces[i]);
    }
    free(ends);
    if (result < 0) {
        free(pieces);
        return result;
    }
    *ret_n = n ? merge(cells, pieces, n) : 0;
    *ret_pieces = pieces;
    return 0;
}

int phases_detect(const struct recording *recording, const struct iterations *iterations,
                  struct phase **ret_phases, size_t *ret_n) {
    struct cells cells;
    struct piece *pieces = NULL;
    size_t n = 0;
    int result = cells_make(recording, iterations, &cells);
    double least_ns =
        fmax((double)PHASE_MIN_NS, PHASE_ITERATIONS * (double)median_iteration(iterations));
    if (result == 0)
        result = divide_run(&cells, (size_t)ceil(least_ns / (double)cells.length_ns), &pieces, &n);
    *ret_n = 0;
    *ret_phases = NULL;
    if (result == 0 && n > 1) {
        number_kinds(&cells, pieces, n);
        result = name_pieces(&cells, pieces, n, recording->duration_ns, ret_phases);
        *ret_n = result == 0 ? n : 0;
    }
    free(pieces);
    free(cells.values);
    return result;
}
