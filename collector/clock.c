/* SPDX-License-Identifier: MIT */
/*
 * Turns intervals into a line in three steps. First: the rates that no pair of intervals forbids.
 * Second: the tube that is left when these rates carry each interval to all other times. Third: a
 * few straight pieces through the middle of the tube, each with the distance to its walls as its
 * bound.
 *
 * All numbers are doubles relative to the first exchange: a double is exact to the ns for a hundred
 * days.
 */
#include "collector/clock.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

/* 2^61 ns are 73 years: a sum of two such values is still an int64. */
#define CLOCK_LIMIT_NS (INT64_C(1) << 61)
#define DRIFT (CLOCK_DRIFT_PPM / 1e6)
#define WANDER (CLOCK_WANDER_PPM / 1e6)

/* A line keeps this distance from the walls of the tube: a part of the tube's least half width, and
 * a little more. A wider distance bends more often; a narrower one widens the bound. */
#define TOLERANCE_PART 0.5
#define TOLERANCE_NS 2000.0
#define STARTS 16 /* points tried as the start of the first line */

/* A line is cut where its error grows by more than this, so that bad minutes do not spoil good
 * ones. */
#define ERROR_FACTOR 2.0
#define ERROR_SPARE_NS 20000.0

struct point {
    double t, low, high; /* host's time; the offset lies between low and high */
};

struct rates {
    double low, high;
};

struct solver {
    struct point *points;       /* owned: all exchanges, and one point at either end */
    size_t *hull;               /* owned: room for all points */
    struct clock_piece *pieces; /* owned until it is handed out; at most one for each point */
    size_t n_pieces;
    int64_t t_ns, offset_ns; /* origin of the points */
};

static bool within_limit(int64_t ns) {
    return ns > -CLOCK_LIMIT_NS && ns < CLOCK_LIMIT_NS;
}

bool clock_estimate_valid(const struct clock_estimate *e) {
    return e->mono_ns >= 0 && within_limit(e->mono_ns) && within_limit(e->offset_ns) &&
           e->error_ns >= 0 && e->error_ns < CLOCK_LIMIT_NS / 2;
}

bool clock_piece_valid(const struct clock_piece *p) {
    return p->from_ns >= 0 && p->until_ns >= p->from_ns && p->at_ns >= 0 &&
           within_limit(p->until_ns) && within_limit(p->at_ns) && within_limit(p->offset_ns) &&
           p->error_ns >= 0 && within_limit(p->error_ns) && fabs(p->drift_ppm) <= 1000;
}

/* ---- rates ---- */

/* The greatest slope from an earlier point's `from` to a later point's `to`. Only corners of the
 * lower convex hull of all `from` can be where it begins. sign -1 mirrors all offsets. */
static double steepest(struct solver *s, const struct point *p, size_t n, double sign) {
    double greatest = -INFINITY;
    size_t m = 0;
    for (size_t j = 0; j < n; j++) {
        if (isinf(p[j].low))
            continue;
        double to = sign > 0 ? p[j].low : -p[j].high;
        for (size_t k = 0; k < m; k++) {
            const struct point *i = &p[s->hull[k]];
            double from = sign > 0 ? i->high : -i->low;
            greatest = fmax(greatest, (to - from) / (p[j].t - i->t));
        }
        double y = sign > 0 ? p[j].high : -p[j].low;
        while (m >= 2) {
            const struct point *a = &p[s->hull[m - 2]], *b = &p[s->hull[m - 1]];
            double ya = sign > 0 ? a->high : -a->low, yb = sign > 0 ? b->high : -b->low;
            if ((yb - ya) * (p[j].t - a->t) < (y - ya) * (b->t - a->t))
                break;
            m--;
        }
        s->hull[m++] = j;
    }
    return greatest;
}

/* The rates that the exchanges leave open; all possible rates if the exchanges contradict
 * CLOCK_WANDER_PPM. */
static struct rates find_rates(struct solver *s, const struct point *p, size_t n) {
    double low = fmax(steepest(s, p, n, 1) - WANDER, -DRIFT);
    double high = fmin(-steepest(s, p, n, -1) + WANDER, DRIFT);
    return low <= high ? (struct rates){low, high} : (struct rates){-DRIFT, DRIFT};
}

/* ---- the tube ---- */

/* False when the tube is empty somewhere. */
static bool tighten(struct point *p, size_t n, struct rates rates) {
    bool good = true;
    for (size_t i = 1; i < n; i++) {
        double dt = p[i].t - p[i - 1].t;
        p[i].low = fmax(p[i].low, p[i - 1].low + rates.low * dt);
        p[i].high = fmin(p[i].high, p[i - 1].high + rates.high * dt);
    }
    for (size_t i = n - 1; i-- > 0;) {
        double dt = p[i + 1].t - p[i].t;
        p[i].low = fmax(p[i].low, p[i + 1].low - rates.high * dt);
        p[i].high = fmin(p[i].high, p[i + 1].high - rates.low * dt);
    }
    for (size_t i = 0; i < n; i++)
        good &= p[i].low <= p[i].high;
    return good;
}

/* The number of exchanges that fit a clock of some possible rate; the next one fits none. */
static size_t count_until_jump(const struct point *p, size_t n) {
    double low = p[0].low, high = p[0].high;
    for (size_t i = 1; i < n; i++) {
        double dt = p[i].t - p[i - 1].t;
        low = fmax(p[i].low, low - DRIFT * dt);
        high = fmin(p[i].high, high + DRIFT * dt);
        if (low > high)
            return i;
    }
    return n;
}

/* ---- pieces ---- */

static double middle(const struct point *p) {
    return (p->low + p->high) / 2;
}

static double half(const struct point *p) {
    return (p->high - p->low) / 2;
}

/* Between two exchanges the tube is widest where the walls of both meet. */
static double worst_between(const struct point *a, const struct point *b, struct rates rates,
                            double y, double slope) {
    double dt = b->t - a->t, spread = rates.high - rates.low, worst = 0;
    if (spread <= 0 || dt <= 0)
        return 0;
    double up = fmin(fmax((b->high - a->high - rates.low * dt) / spread, 0), dt);
    double down = fmin(fmax((a->low - b->low + rates.high * dt) / spread, 0), dt);
    worst = fmax(worst, a->high + rates.high * up - (y + slope * up));
    return fmax(worst, y + slope * down - (a->low + rates.low * down));
}

static double worst_of_piece(const struct point *p, size_t n, struct rates rates, double y,
                             double slope) {
    double worst = 0;
    for (size_t i = 0; i < n; i++) {
        double here = y + slope * (p[i].t - p[0].t);
        worst = fmax(worst, fmax(p[i].high - here, here - p[i].low));
        if (i + 1 < n)
            worst = fmax(worst, worst_between(&p[i], &p[i + 1], rates, here, slope));
    }
    return worst;
}

static bool is_known_alike(const struct point *a, const struct point *b) {
    return half(a) <= ERROR_FACTOR * half(b) + ERROR_SPARE_NS &&
           half(b) <= ERROR_FACTOR * half(a) + ERROR_SPARE_NS;
}

/* How many points one straight line from (p[0].t, y) passes, and its slope. The line passes through
 * gates in the tube; each gate narrows the cone of slopes until the cone misses one. At least two
 * points, if there are two. Where the tube is wide, so is the gate: a straight line is likelier
 * there than the middle of the tube. */
static size_t extend(const struct point *p, size_t n, struct rates rates, double y, double margin,
                     double *ret_slope) {
    double low = -INFINITY, high = INFINITY;
    size_t taken = 1;
    for (; taken < n; taken++) {
        const struct point *q = &p[taken];
        double dt = q->t - p[0].t, gate = TOLERANCE_NS + half(q) - margin;
        double from = fmax(low, (middle(q) - gate - y) / dt);
        double to = fmin(high, (middle(q) + gate - y) / dt);
        if (taken > 1 && from > to)
            break;
        low = from;
        high = to;
    }
    double slope = taken > 1 ? (low + high) / 2 : 0;
    *ret_slope = fmin(fmax(slope, rates.low), rates.high);
    return taken;
}

static int64_t to_ns(double ns) {
    return (int64_t)llround(ns);
}

/* 2 ns more for rounding. */
static int64_t to_error_ns(double ns) {
    return to_ns(fmin(ceil(ns) + 2, (double)CLOCK_LIMIT_NS / 2));
}

static void add_piece(struct solver *s, const struct point *p, size_t n, struct rates rates,
                      double y, double slope) {
    s->pieces[s->n_pieces++] = (struct clock_piece){
        .from_ns = s->t_ns + to_ns(p[0].t),
        .until_ns = s->t_ns + to_ns(p[n - 1].t),
        .at_ns = s->t_ns + to_ns(p[0].t),
        .offset_ns = s->offset_ns + to_ns(y),
        .drift_ppm = slope * 1e6,
        .error_ns = to_error_ns(worst_of_piece(p, n, rates, y, slope)),
    };
}

/* Cuts a line where its error changes much. */
static void add_line(struct solver *s, const struct point *p, size_t n, struct rates rates,
                     double y, double slope) {
    for (size_t first = 0; first + 1 < n || first == 0;) {
        size_t taken = n - first < 2 ? n - first : 2;
        while (first + taken < n && is_known_alike(&p[first], &p[first + taken]))
            taken++;
        double here = y + slope * (p[first].t - p[0].t);
        add_piece(s, p + first, taken, rates, here, slope);
        first += taken > 1 ? taken - 1 : 1;
    }
}

static double least_half(const struct point *p, size_t n) {
    double least = INFINITY;
    for (size_t i = 0; i < n; i++)
        least = fmin(least, half(&p[i]));
    return least;
}

/* The point that is furthest from the first line. */
static double choose_start(const struct point *p, size_t n, struct rates rates, double margin) {
    double best = middle(p), slope;
    size_t furthest = extend(p, n, rates, best, margin, &slope);
    for (int i = 1; i < STARTS && furthest < n; i++) {
        double y = p->low + (p->high - p->low) * i / STARTS;
        size_t taken = extend(p, n, rates, y, margin, &slope);
        if (taken > furthest) {
            furthest = taken;
            best = y;
        }
    }
    return best;
}

static void add_lines(struct solver *s, const struct point *p, size_t n, struct rates rates,
                      const double *start) {
    double margin = TOLERANCE_PART * least_half(p, n), slope;
    bool joined = start && *start >= p->low && *start <= p->high;
    double y = joined ? *start : choose_start(p, n, rates, margin);
    for (size_t first = 0; first + 1 < n || first == 0;) {
        size_t taken = extend(p + first, n - first, rates, y, margin, &slope);
        add_line(s, p + first, taken, rates, y, slope);
        y += slope * (p[first + taken - 1].t - p[first].t);
        first += taken > 1 ? taken - 1 : 1;
    }
}

/* ---- the whole clock ---- */

/* Solves exchanges without a jump between them. */
static void solve_part(struct solver *s, struct point *p, size_t n, struct point *copy,
                       const double *start) {
    struct rates rates = find_rates(s, p, n);
    for (size_t i = 0; i < n; i++)
        copy[i] = p[i];
    if (!tighten(copy, n, rates)) {
        rates = (struct rates){-DRIFT, DRIFT};
        for (size_t i = 0; i < n; i++)
            copy[i] = p[i];
        tighten(copy, n, rates);
    }
    add_lines(s, copy, n, rates, start);
}

/* The truth may be on either side of a jump between the exchanges around it. */
static void widen_before_jump(struct solver *s, const struct point *before,
                              const struct point *after) {
    struct clock_piece gap = s->pieces[s->n_pieces - 1];
    double dt = after->t - before->t;
    gap.from_ns = gap.until_ns;
    gap.until_ns = s->t_ns + to_ns(after->t);
    double here = (double)(gap.offset_ns - s->offset_ns) +
                  gap.drift_ppm / 1e6 * (double)(gap.from_ns - gap.at_ns);
    double jump = fmax(fabs(after->high - here), fabs(here - after->low));
    gap.error_ns = to_error_ns(fmax(jump, (double)gap.error_ns) + 2 * DRIFT * dt);
    /* A piece that lasts an instant adds nothing. */
    bool instant = gap.from_ns == s->pieces[s->n_pieces - 1].from_ns;
    s->pieces[s->n_pieces - instant] = gap;
    s->n_pieces += !instant;
}

static size_t fill_points(struct solver *s, const struct clock_estimate *e, size_t n,
                          const struct clock_span *span) {
    size_t m = 0;
    s->t_ns = e[0].mono_ns;
    s->offset_ns = e[0].offset_ns;
    if (span->from_ns >= 0 && span->from_ns < e[0].mono_ns)
        s->points[m++] = (struct point){(double)(span->from_ns - s->t_ns), -INFINITY, INFINITY};
    for (size_t i = 0; i < n; i++) {
        double y = (double)(e[i].offset_ns - s->offset_ns), error = (double)e[i].error_ns + 1;
        s->points[m++] = (struct point){(double)(e[i].mono_ns - s->t_ns), y - error, y + error};
    }
    if (span->until_ns > e[n - 1].mono_ns && within_limit(span->until_ns))
        s->points[m++] = (struct point){(double)(span->until_ns - s->t_ns), -INFINITY, INFINITY};
    return m;
}

static int solver_new(size_t n, struct solver *s, struct point **ret_copy) {
    *s = (struct solver){.points = malloc(n * sizeof *s->points),
                         .hull = malloc(n * sizeof *s->hull),
                         .pieces = malloc(2 * n * sizeof *s->pieces)};
    *ret_copy = malloc(n * sizeof **ret_copy);
    if (s->points && s->hull && s->pieces && *ret_copy)
        return 0;
    free(s->points);
    free(s->hull);
    free(s->pieces);
    free(*ret_copy);
    return -ENOMEM;
}

int clock_solve(const struct clock_estimate *estimates, size_t n, const struct clock_span *span,
                struct clock_piece **ret_pieces, size_t *ret_n, bool *ret_jumped) {
    struct solver s;
    struct point *copy;
    bool jumped = false;
    if (n == 0 || n > CLOCK_ESTIMATES_MAX)
        return -EINVAL;
    int r = solver_new(n + 2, &s, &copy);
    if (r)
        return r;
    size_t m = fill_points(&s, estimates, n, span);
    double start = (double)(span->offset_ns - s.offset_ns);
    for (size_t first = 0, next; first < m; first = next) {
        next = first + count_until_jump(s.points + first, m - first);
        bool joined = span->joined && first == 0 && s.t_ns + to_ns(s.points[0].t) == span->from_ns;
        solve_part(&s, s.points + first, next - first, copy, joined ? &start : NULL);
        if (next < m)
            widen_before_jump(&s, &copy[next - first - 1], &s.points[next]);
        /* The end point after the last exchange contradicts nothing. */
        jumped |= next < m && s.t_ns + to_ns(s.points[next].t) == estimates[n - 1].mono_ns;
    }
    free(s.points);
    free(s.hull);
    free(copy);
    *ret_pieces = s.pieces;
    *ret_n = s.n_pieces;
    if (ret_jumped)
        *ret_jumped = jumped;
    return 0;
}

/* The last piece that begins at or before mono_ns, else the first. */
static const struct clock_piece *find_piece(const struct clock_piece *pieces, size_t n,
                                            int64_t mono_ns) {
    size_t low = 0, high = n;
    while (high - low > 1) {
        size_t at = low + (high - low) / 2;
        if (pieces[at].from_ns <= mono_ns)
            low = at;
        else
            high = at;
    }
    return &pieces[low];
}

bool clock_read(const struct clock_piece *pieces, size_t n, int64_t mono_ns, int64_t *ret_offset_ns,
                int64_t *ret_error_ns) {
    if (n == 0)
        return false;
    const struct clock_piece *p = find_piece(pieces, n, mono_ns);
    double dt = (double)mono_ns - (double)p->at_ns;
    double beyond = mono_ns > p->until_ns  ? (double)mono_ns - (double)p->until_ns
                    : mono_ns < p->from_ns ? (double)p->from_ns - (double)mono_ns
                                           : 0;
    *ret_offset_ns = p->offset_ns + to_ns(p->drift_ppm / 1e6 * dt);
    if (ret_error_ns)
        *ret_error_ns = p->error_ns + to_ns(ceil(beyond * (DRIFT + fabs(p->drift_ppm) / 1e6)));
    return true;
}
