/* SPDX-License-Identifier: MIT */
/*
 * Candidate lags are the distances at which the same few calls (1, 2, 4, ... in a row) last
 * occurred: one pass for each length, no comparison of every lag with every other. Each candidate
 * is then compared with the whole sequence: the stretch in which it matches often enough is the
 * segment of greatest sum, where a match counts 1 and a miss -19 (so that a sum of 0 is 95 %).
 * Inserted calls count as misses themselves, but not the calls after them.
 */
#include "analysis/facts/iteration/iteration_loop.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/facts/iteration/iteration_gram.h"
#include "analysis/facts/series/stats.h"

#define SEARCH_MAX                                                                                 \
    ((size_t)1 << 18) /* calls in which candidates are looked for: the middle ones                 \
                       */
#define GRAM_MAX 1024 /* longest row of calls */
#define CANDIDATES_MAX 48
#define CANDIDATE_VOTES 0.08 /* of the calls: a candidate repeats for at least this share */
#define COLLAPSE_ROUNDS 6
#define COLLAPSE_GAIN 0.05 /* of the calls: a collapse must save at least this share */
#define LOOP_WHOLE 0.995   /* matches so well that there is no loop around it */

/* ---- candidate lags ---- */

struct candidates {
    size_t lags[CANDIDATES_MAX], n; /* the smallest lags first */
};

/* Counts votes[lag] for one length of row. */
static int vote(const uint64_t *prefix, size_t n, size_t k, size_t lag_max, uint32_t *votes) {
    struct gram_slots last;
    uint64_t factor = gram_power(k);
    int result = gram_slots_init(&last, n);
    for (size_t i = k; result == 0 && i <= n; i++) {
        uint32_t *at = gram_slots_at(&last, gram_at(prefix, i, k, factor));
        if (*at && i - *at <= lag_max)
            votes[i - *at]++;
        *at = (uint32_t)i;
    }
    gram_slots_release(&last);
    return result;
}

static void take_candidates(const uint32_t *votes, size_t lag_max, double least,
                            struct candidates *c) {
    for (size_t lag = 1; lag <= lag_max && c->n < CANDIDATES_MAX; lag++) {
        size_t k = 0;
        while (k < c->n && c->lags[k] != lag)
            k++;
        if (k == c->n && (double)votes[lag] >= least)
            c->lags[c->n++] = lag;
    }
}

static int compare_lags(const void *a, const void *b) {
    size_t x = *(const size_t *)a, y = *(const size_t *)b;
    return (x > y) - (x < y);
}

static int find_candidates(const struct loop_calls *calls, struct candidates *c) {
    size_t n = calls->n < SEARCH_MAX ? calls->n : SEARCH_MAX;
    size_t lag_max = n / LOOP_REPEATS;
    uint64_t *prefix = gram_hashes(calls->items + (calls->n - n) / 2, n);
    uint32_t *votes = malloc((lag_max + 1) * sizeof *votes);
    int result = prefix && votes ? 0 : -ENOMEM;
    c->n = 0;
    for (size_t k = 1; result == 0 && k <= GRAM_MAX && k <= lag_max; k *= 2) {
        memset(votes, 0, (lag_max + 1) * sizeof *votes);
        result = vote(prefix, n, k, lag_max, votes);
        take_candidates(votes, lag_max, CANDIDATE_VOTES * (double)n, c);
    }
    qsort(c->lags, c->n, sizeof *c->lags, compare_lags);
    free(prefix);
    free(votes);
    return result;
}

/* ---- how well a lag fits ---- */

static bool repeats(const struct loop_calls *calls, size_t i, size_t lag) {
    return calls->items[i].signature == calls->items[i - lag].signature;
}

#define RESUMED 4 /* matching calls in a row that end a miss: fewer may be chance */

/* The end of the misses that begin at i, including chance matches between them. */
static size_t misses_end(const struct loop_calls *calls, size_t i, size_t lag) {
    size_t again = lag < RESUMED ? lag : RESUMED, row = 0;
    for (; i < calls->n && row < again; i++)
        row = repeats(calls, i, lag) ? row + 1 : 0;
    return i - row;
}

/* The cost of so many misses in a row: after an insertion, a whole lag of calls is compared with
 * the wrong ones, though the loop goes on.
 */
static double cost_of(size_t misses, size_t lag) {
    size_t half = (misses + 1) / 2, shifted = misses > lag ? misses - lag : 0;
    return (double)(shifted > half ? shifted : half);
}

static struct loop stretch_of(const struct loop_calls *calls, size_t lag) {
    const double miss = LOOP_MATCH / (1 - LOOP_MATCH);
    struct loop best = {0};
    double sum = 0, most = 0, missed = 0;
    for (size_t i = lag, begin = lag, next; i < calls->n; i = next) {
        bool same = repeats(calls, i, lag);
        next = same ? i + 1 : misses_end(calls, i, lag);
        if (sum <= 0) {
            sum = missed = 0;
            begin = i;
        }
        double cost = same ? 0 : cost_of(next - i, lag);
        missed += cost;
        sum += (double)(next - i) - cost - miss * cost;
        if (sum <= most)
            continue;
        most = sum;
        best = (struct loop){lag, begin - lag, next, 1 - missed / (double)(next - begin), 0};
    }
    return best;
}

static double span_ns(const struct loop_calls *calls, size_t begin, size_t end) {
    return (double)(calls->items[end - 1].exit_ns - calls->items[begin].enter_ns);
}

static bool is_loop(const struct loop_calls *calls, struct loop *loop) {
    size_t n = loop->end - loop->begin;
    if (!loop->lag || n < LOOP_REPEATS * loop->lag)
        return false;
    double span = span_ns(calls, loop->begin, loop->end);
    loop->period_ns = span * (double)loop->lag / (double)n;
    return span >= LOOP_COVERS * span_ns(calls, 0, calls->n) && span > 0;
}

/* A multiple of a lag matches wherever the lag does; a loop around it also matches where the lag
 * does not.
 */
static bool surrounds(const struct loop *outer, const struct loop *inner) {
    return 1 - outer->match <= (1 - inner->match) / 2 && inner->match < LOOP_WHOLE &&
           outer->end - outer->begin >= inner->end - inner->begin;
}

/* Time of the rank outside MPI in the `lag` calls from i on. */
static double outside_ns(const struct loop_calls *calls, size_t i, size_t lag) {
    double sum = 0;
    for (size_t k = i; k < i + lag && k + 1 < calls->n; k++)
        sum += fmax(0, (double)(calls->items[k + 1].enter_ns - calls->items[k].exit_ns));
    return sum;
}

#define COMPUTES 0.1 /* of the mean computing of a round: the least in each */
#define OF_ROUNDS 0.8

/* A step of a program computes in each round. Pieces of one message do not: the computing lies
 * between the last piece and the next first one.
 */
static bool computes_in_each(const struct loop_calls *calls, const struct loop *loop) {
    size_t rounds = (loop->end - loop->begin) / loop->lag, computing = 0;
    double mean = outside_ns(calls, loop->begin, rounds * loop->lag) / (double)rounds;
    for (size_t r = 0; r < rounds; r++)
        computing += outside_ns(calls, loop->begin + r * loop->lag, loop->lag) >= COMPUTES * mean;
    return mean > 0 && (double)computing >= OF_ROUNDS * (double)rounds;
}

static bool is_meant(const struct loop_calls *calls, const struct loop *loop, double target_ns) {
    if (target_ns > 0)
        return fabs(loop->period_ns - target_ns) <= 0.1 * target_ns;
    return loop->period_ns >= (double)LOOP_LONG_NS ||
           (loop->period_ns >= (double)LOOP_STEP_NS && computes_in_each(calls, loop));
}

/* The smallest lag with a long enough period; else the smallest lag. */
static struct loop choose(const struct loop_calls *calls, const struct candidates *c,
                          double target_ns) {
    struct loop shorter = {0};
    for (size_t i = 0; i < c->n; i++) {
        struct loop loop = stretch_of(calls, c->lags[i]);
        if (!is_loop(calls, &loop))
            continue;
        if (is_meant(calls, &loop, target_ns) &&
            (target_ns > 0 || !shorter.lag || surrounds(&loop, &shorter)))
            return loop;
        if (!shorter.lag)
            shorter = loop;
    }
    return target_ns > 0 ? (struct loop){0} : shorter;
}

/* ---- collapsing ---- */

/* Fills runs[i]: how many calls from i on are the same a lag later. */
static void count_runs(const struct loop_calls *calls, size_t lag, uint32_t *runs) {
    for (size_t i = calls->n; i-- > 0;) {
        bool same =
            i + lag < calls->n && calls->items[i].signature == calls->items[i + lag].signature;
        runs[i] = same ? (i + 1 < calls->n ? runs[i + 1] : 0) + 1 : 0;
    }
}

static struct loop_call body_of(const struct loop_calls *calls, size_t at, size_t lag, size_t end) {
    uint64_t hash = lag;
    for (size_t k = 0; k < lag; k++) {
        hash ^= calls->items[at + k].signature;
        hash = stats_random(&hash);
    }
    return (struct loop_call){hash, calls->items[at].enter_ns, calls->items[end - 1].exit_ns};
}

/* The number of calls left if each round of this lag becomes one call; `into` NULL: only counts. */
static size_t collapse_at(const struct loop_calls *calls, size_t lag, const uint32_t *runs,
                          struct loop_call *into) {
    size_t n = 0;
    for (size_t i = 0, end; i < calls->n; i = end, n++) {
        size_t rounds = runs[i] / lag + 1;
        end = rounds > 1 ? i + rounds * lag : i + 1;
        if (into)
            into[n] = rounds > 1 ? body_of(calls, i, lag, end) : calls->items[i];
    }
    return n;
}

/* Collapses at the smallest lag that shortens the sequence. Returns whether there is one. -ENOMEM.
 */
static int collapse(struct loop_calls *calls, const struct candidates *c) {
    struct loop_call *room = malloc((calls->n + 1) * sizeof *room);
    uint32_t *runs = malloc((calls->n + 1) * sizeof *runs);
    int result = room && runs ? 0 : -ENOMEM;
    for (size_t i = 0; result == 0 && i < c->n; i++) {
        count_runs(calls, c->lags[i], runs);
        size_t left = collapse_at(calls, c->lags[i], runs, NULL);
        if ((double)left > (1 - COLLAPSE_GAIN) * (double)calls->n)
            continue;
        collapse_at(calls, c->lags[i], runs, room);
        memcpy(calls->items, room, left * sizeof *room);
        calls->n = left;
        result = 1;
    }
    free(room);
    free(runs);
    return result;
}

/* A short loop that does not explain everything may have another loop around it. */
static bool is_settled(const struct loop_calls *calls, const struct loop *loop, double target_ns) {
    return loop->lag && (loop->match >= LOOP_WHOLE || is_meant(calls, loop, target_ns));
}

static int keep(const struct loop_calls *calls, struct loop_calls *kept) {
    kept->items = malloc((calls->n + 1) * sizeof *kept->items);
    if (!kept->items)
        return -ENOMEM;
    memcpy(kept->items, calls->items, calls->n * sizeof *kept->items);
    kept->n = calls->n;
    return 0;
}

/* There is no loop around it: restores the calls in which the shorter loop was found. */
static void take_back(struct loop_calls *calls, const struct loop_calls *kept) {
    memcpy(calls->items, kept->items, kept->n * sizeof *kept->items);
    calls->n = kept->n;
}

int loop_find(struct loop_calls *calls, double target_ns, struct loop *ret_loop) {
    struct candidates candidates;
    struct loop_calls kept = {0};
    struct loop found = {0}, shorter = {0};
    int result = 1;
    for (int round = 0; result > 0 && round < COLLAPSE_ROUNDS && calls->n >= LOOP_REPEATS;
         round++) {
        result = find_candidates(calls, &candidates);
        found = result == 0 ? choose(calls, &candidates, target_ns) : (struct loop){0};
        if (result < 0 || is_settled(calls, &found, target_ns))
            break;
        if (found.lag && !shorter.lag) {
            shorter = found;
            result = keep(calls, &kept);
        }
        if (result == 0)
            result = collapse(calls, &candidates);
    }
    bool outer = found.lag && is_meant(calls, &found, target_ns);
    if (!outer && shorter.lag && kept.items) {
        take_back(calls, &kept);
        found = shorter;
    }
    free(kept.items);
    *ret_loop = found;
    return result < 0 ? result : 0;
}
