/* SPDX-License-Identifier: MIT */
#include "analysis/time/claims.h"

#include <math.h>

#include "analysis/time/budget_private.h"
#include "common/error.h" /* ARRAY_SIZE */

/* Two sources of one moment are read one after the other, and the kernel counts running threads by
 * ticks: intervals that miss each other by less meet.
 */
#define CLAIM_SLACK_SHARE 0.02
#define CLAIM_SLACK_S 0.03

const char *claim_source_name(enum claim_source source) {
    static const char *const names[CLAIM_SOURCES] = {"counters", "clocks", "slices", "calls",
                                                     "connections"};
    return names[source];
}

/* Whether the source is a bound for others. */
static bool is_exact(enum claim_source source) {
    return source != CLAIM_SLICES;
}

/* ---- one interval of counters ---- */

static void add(struct claims *claims, enum budget_term term, enum claim_source source, double part,
                double low, double high) {
    struct claim *c = &claims->terms[term].by[source];
    c->low_s += part * low / 1e9;
    c->high_s += part * high / 1e9;
    c->made = true;
}

/* The process as one has at most as much of a term as all its threads have together. */
static void add_counters(struct claims *claims, const struct budget_interval *i,
                         const struct claim_facts *facts, double part) {
    double length = (double)(i->end_ns - i->begin_ns);
    double groups = facts->groups ? 0 : NAN;
    double throttled = fmin(budget_amount(i->quota), budget_amount(i->queued)) + groups;
    double queued = i->queued - throttled;
    double polled = i->clocks.gpu + i->clocks.gpu_copy; /* on a core, and no computing */
    const struct {
        enum budget_term term;
        double ns, least;
    } counted[] = {{BUDGET_CPU, i->cpu, (i->one_thread ? i->cpu : i->longest) - polled},
                   {BUDGET_RUN_QUEUE, queued, i->one_thread ? queued : 0},
                   {BUDGET_QUOTA, throttled, i->one_thread ? throttled : 0},
                   {BUDGET_DISK, i->disk, 0}};
    for (size_t c = 0; c < ARRAY_SIZE(counted); c++)
        if (!isnan(counted[c].ns))
            add(claims, counted[c].term, CLAIM_COUNTERS, part,
                fmin(budget_amount(counted[c].least), length),
                fmin(budget_amount(counted[c].ns), length));
}

/* Clocks say nothing about the time before they began. */
static void add_clocks(struct claims *claims, const struct budget_interval *i,
                       const struct claim_facts *facts, double part) {
    const struct process_time *t = &i->clocks;
    enum claim_source source = facts->sliced ? CLAIM_SLICES : CLAIM_CLOCKS;
    double groups = facts->groups ? 0 : NAN;
    double queued = t->runnable - fmin(budget_amount(i->quota), t->runnable) + groups;
    const struct {
        enum budget_term term;
        double ns;
    } states[] = {{BUDGET_CPU, t->told_run},         {BUDGET_RUN_QUEUE, queued},
                  {BUDGET_DISK, t->disk + t->fault}, {BUDGET_STOPPED, t->stopped},
                  {BUDGET_IDLE, t->asleep},          {BUDGET_PEER_WAIT, t->peer},
                  {BUDGET_TRANSFER, t->send}};
    double dark = fmax((double)(i->end_ns - i->begin_ns) - process_time_sum(t), 0);
    for (size_t s = 0; s < ARRAY_SIZE(states); s++)
        if (!isnan(states[s].ns))
            add(claims, states[s].term, source, part, states[s].ns, states[s].ns + dark);
}

/* Inside a call a rank neither computes nor sleeps for itself; outside it waits for no message. */
static void add_calls(struct claims *claims, const struct budget_interval *i, double part) {
    double length = (double)(i->end_ns - i->begin_ns);
    double inside = fmin(budget_amount(i->mpi), length);
    add(claims, BUDGET_CPU, CLAIM_CALLS, part, 0, length - inside);
    add(claims, BUDGET_IDLE, CLAIM_CALLS, part, 0, length - inside);
    add(claims, BUDGET_PEER_WAIT, CLAIM_CALLS, part, 0, inside);
    add(claims, BUDGET_TRANSFER, CLAIM_CALLS, part, 0, inside);
}

static void add_statements(struct claims *claims, const struct budget_interval *i,
                           const struct claim_facts *facts, double part) {
    if (!isnan(i->mpi)) /* the CPU time of a call is its spinning */
        add_calls(claims, i, part);
    else
        add_counters(claims, i, facts, part);
    if (process_time_sum(&i->clocks) > 0)
        add_clocks(claims, i, facts, part);
    if (!isnan(i->sending) && isnan(i->mpi))
        add(claims, BUDGET_TRANSFER, CLAIM_CONNECTIONS, part, 0, budget_amount(i->sending));
}

/* ---- what they allow together ---- */

static double gap_between(const struct claim *one, const struct claim *other) {
    return fmax(one->low_s - other->high_s, other->low_s - one->high_s);
}

static void allow(struct claimed *c, const struct claim *claim) {
    c->low_s = fmax(c->low_s, claim->low_s);
    c->high_s = fmin(c->high_s, claim->high_s);
}

/* The exact source that states least leeway comes first, so that it is the one that holds. */
static void intersect(struct claimed *c, double wall_s) {
    double slack = fmax(CLAIM_SLACK_SHARE * wall_s, CLAIM_SLACK_S), widest = slack;
    c->low_s = 0;
    c->high_s = wall_s;
    for (enum claim_source s = 0; s < CLAIM_SOURCES; s++) {
        if (!c->by[s].made || !is_exact(s))
            continue;
        for (enum claim_source other = s + 1; other < CLAIM_SOURCES; other++)
            if (c->by[other].made && is_exact(other) &&
                gap_between(&c->by[s], &c->by[other]) > widest) {
                widest = gap_between(&c->by[s], &c->by[other]);
                c->disputed = true;
                c->one = s;
                c->other = other;
            }
        if (c->by[s].low_s <= c->high_s + slack && c->by[s].high_s >= c->low_s - slack)
            allow(c, &c->by[s]);
    }
    c->high_s = fmax(c->high_s, c->low_s);
}

static double overlap(const struct budget_interval *i, struct window w) {
    int64_t begin = i->begin_ns > w.begin_ns ? i->begin_ns : w.begin_ns;
    int64_t end = i->end_ns < w.end_ns ? i->end_ns : w.end_ns;
    return end > begin ? (double)(end - begin) : 0;
}

/* Where every call is known, the time of a term is: what it was for is inferred. */
static void know_calls(struct claims *claims, const struct claim_facts *facts,
                       const struct budget *taken) {
    bool known = taken->source == BUDGET_FROM_EVENTS;
    unsigned terms = 1u << BUDGET_PEER_WAIT | 1u << BUDGET_TRANSFER;
    terms |= facts->groups ? 1u << BUDGET_RUN_QUEUE : 0;
    for (int term = 0; known && term < BUDGET_TERMS; term++)
        if (terms >> term & 1)
            claims->terms[term].low_s =
                fmax(claims->terms[term].low_s, budget_amount(taken->term_s[term]));
}

/* Each term has at most what the known seconds of the others leave. */
static void close_terms(struct claims *claims) {
    double known = 0;
    for (int term = 0; term < BUDGET_TERMS; term++)
        known += claims->terms[term].low_s;
    for (int term = 0; term < BUDGET_TERMS; term++) {
        struct claimed *c = &claims->terms[term];
        c->high_s = fmax(fmin(c->high_s, claims->wall_s - known + c->low_s), c->low_s);
    }
}

void claims_make(const struct claim_facts *facts, struct windows windows,
                 const struct budget *taken, struct claims *ret_claims) {
    struct claims claims = {0};
    for (size_t n = 0; n < facts->n; n++)
        for (size_t w = 0; w < windows.n; w++) {
            const struct budget_interval *i = &facts->intervals[n];
            double covered = overlap(i, windows.items[w]);
            if (covered <= 0)
                continue;
            claims.wall_s += covered / 1e9;
            add_statements(&claims, i, facts, covered / (double)(i->end_ns - i->begin_ns));
        }
    for (int term = 0; term < BUDGET_TERMS; term++) {
        intersect(&claims.terms[term], claims.wall_s);
        claims.terms[term].taken_s = taken->term_s[term];
    }
    know_calls(&claims, facts, taken);
    close_terms(&claims);
    *ret_claims = claims;
}

double claims_known(const struct claims *claims, unsigned terms) {
    double most = 0;
    for (int term = 0; term < BUDGET_TERMS; term++)
        if (terms >> term & 1) /* slices bound nothing, and yet they are a source */
            most = fmax(
                most, fmax(claims->terms[term].low_s, claims->terms[term].by[CLAIM_SLICES].low_s));
    return most;
}

double claims_waited(const struct claims *claims) {
    double left = claims->wall_s;
    for (enum budget_term term = 0; term < BUDGET_TERMS; term++) {
        const struct claimed *c = &claims->terms[term];
        bool made = false;
        for (int s = 0; s < CLAIM_SOURCES; s++)
            made |= c->by[s].made;
        left -= made && term != BUDGET_PEER_WAIT && term != BUDGET_TRANSFER ? c->high_s : 0;
    }
    return fmax(left, claims_known(claims, 1u << BUDGET_PEER_WAIT | 1u << BUDGET_TRANSFER));
}

enum budget_term claims_worst(const struct claims *claims, unsigned terms, double *ret_gap_s) {
    enum budget_term worst = BUDGET_TERMS;
    *ret_gap_s = 0;
    for (enum budget_term term = 0; term < BUDGET_TERMS; term++) {
        const struct claimed *c = &claims->terms[term];
        double gap = c->disputed ? gap_between(&c->by[c->one], &c->by[c->other]) : 0;
        if (terms >> term & 1 && gap > *ret_gap_s) {
            *ret_gap_s = gap;
            worst = term;
        }
    }
    return worst;
}
