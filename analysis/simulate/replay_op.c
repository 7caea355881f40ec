/* SPDX-License-Identifier: MIT */
/* Adds operations to a rank; time between calls is split where counters were read. */
#include <errno.h>
#include <math.h>

#include "analysis/simulate/replay_build.h"

struct replay_op *replay_add_op(struct rank_builder *rb, enum replay_op_kind kind, uint32_t first,
                                int64_t ns, int64_t end_ns) {
    struct replay_op *op = &rb->nowhere;
    if (replay_room(&rb->to->ops, rb->to->n, &rb->to->capacity, sizeof *op))
        op = &rb->to->ops[rb->to->n++];
    else
        rb->error = -ENOMEM;
    *op = (struct replay_op){.kind = kind, .first = first, .ns = ns, .end_ns = end_ns};
    return op;
}

void replay_add_fixed(struct rank_builder *rb, int64_t ns, int64_t end_ns, float spins) {
    struct replay_op *last = rb->to->n ? &rb->to->ops[rb->to->n - 1] : NULL;
    if (last && last->kind == REPLAY_FIXED && !last->late_ns && !last->n) {
        double spun = (double)last->ns * (double)last->spins + (double)ns * (double)spins;
        last->ns += ns;
        last->end_ns = end_ns;
        last->spins = last->ns > 0 ? (float)(spun / (double)last->ns) : 1;
    } else if (ns > 0) {
        replay_add_op(rb, REPLAY_FIXED, 0, ns, end_ns)->spins = spins;
    }
}

static double unknown_cpu(const struct rank_builder *rb, uint32_t interval) {
    return interval == REPLAY_NONE ? 1 : rb->to->shares[interval].cpu_of_dark;
}

/* Counted CPU time in a part of an interval; NAN if not known. */
static double counted_ns(const struct budget_interval *i, int64_t begin, int64_t end) {
    double length = (double)(end - begin), all = (double)(i->end_ns - i->begin_ns);
    return isnan(i->cpu) || all <= 0 ? NAN : fmin(fmax(i->cpu, 0) * (length / all), length);
}

/* A time whose total CPU time is known, and what counters say about parts of it. */
struct spread {
    double per_ns, covered, counted;
};

static struct spread spread_of(const struct rank_builder *rb, int64_t begin, int64_t end,
                               double cpu_per_ns) {
    const struct builder *b = rb->b;
    struct spread s = {.per_ns = cpu_per_ns};
    for (size_t i = rb->interval; i < b->n_intervals && b->intervals[i].begin_ns < end; i++) {
        const struct budget_interval *x = &b->intervals[i];
        int64_t from = x->begin_ns > begin ? x->begin_ns : begin;
        int64_t to = x->end_ns < end ? x->end_ns : end;
        double counted = to > from ? counted_ns(x, from, to) : NAN;
        s.covered += isnan(counted) ? 0 : (double)(to - from);
        s.counted += isnan(counted) ? 0 : counted;
    }
    return s;
}

/* Counters tell better than an even spread when the rank computed. The budget counts alike, so that
 * a wait for a disk is not charged to a time full of computing.
 */
static double cpu_of_part(const struct spread *s, double counted, double length) {
    double own = s->per_ns * s->covered;
    if (isnan(counted) || !(s->counted > 0))
        return s->per_ns * length;
    if (own <= s->counted)
        return counted * (own / s->counted);
    return counted + (own - s->counted) * ((length - counted) / (s->covered - s->counted));
}

void replay_add_gap(struct rank_builder *rb, int64_t begin, int64_t end, double cpu_per_ns) {
    const struct builder *b = rb->b;
    struct spread spread = spread_of(rb, begin, end, cpu_per_ns);
    while (begin < end && !rb->error) {
        while (rb->interval < b->n_intervals && b->intervals[rb->interval].end_ns <= begin)
            rb->interval++;
        bool inside = rb->interval < b->n_intervals && b->intervals[rb->interval].begin_ns <= begin;
        int64_t to = end;
        if (inside && b->intervals[rb->interval].end_ns < end)
            to = b->intervals[rb->interval].end_ns;
        else if (!inside && rb->interval < b->n_intervals &&
                 b->intervals[rb->interval].begin_ns < end)
            to = b->intervals[rb->interval].begin_ns;
        uint32_t shares = inside ? (uint32_t)rb->interval : REPLAY_NONE;
        double length = (double)(to - begin);
        double counted = inside ? counted_ns(&b->intervals[rb->interval], begin, to) : NAN;
        double cpu = isnan(cpu_per_ns) ? unknown_cpu(rb, shares) * length
                                       : cpu_of_part(&spread, counted, length);
        struct replay_op *op = replay_add_op(rb, REPLAY_GAP, shares, to - begin, to);
        op->cpu_ns = (int64_t)fmin(fmax(cpu, 0), length);
        begin = to;
    }
}
