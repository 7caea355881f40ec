/* SPDX-License-Identifier: MIT */
/* The time of each rank so far: a bar of letters for each, in the colours of its terms. If there
 * are more ranks than lines, the first line is the mean of all. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/top/draw.h"
#include "reports/says/term_words.h"
#include "reports/text/budget_bars.h"

static double share_of(const struct live_budget *b, int term) {
    return b->wall_s > 0 && !isnan(b->term_s[term]) ? b->term_s[term] / b->wall_s : 0;
}

/* A process without a rank that was always asleep: the launcher, a shell around the program. */
static bool is_shown(const struct live_budget *b, int host) {
    bool bystander = b->rank < 0 && share_of(b, BUDGET_IDLE) >= 0.98;
    return !bystander && (host < 0 || b->host == host);
}

static size_t count_shown(const struct live_snapshot *s, int host) {
    size_t n = 0;
    for (size_t i = 0; i < s->n_budgets; i++)
        n += is_shown(&s->budgets[i], host);
    return n;
}

size_t top_budget_rows(const struct live_snapshot *snapshot, int host) {
    size_t n = count_shown(snapshot, host);
    return n ? n + 1 : 0;
}

static struct live_budget mean_of(const struct live_snapshot *s, int host) {
    struct live_budget sum = {.rank = -1};
    for (size_t i = 0; i < s->n_budgets; i++) {
        const struct live_budget *b = &s->budgets[i];
        if (!is_shown(b, host))
            continue;
        sum.wall_s += b->wall_s;
        for (int t = 0; t < BUDGET_TERMS; t++)
            sum.term_s[t] += isnan(b->term_s[t]) ? 0 : b->term_s[t];
    }
    return sum;
}

static void draw_bar(struct canvas *c, size_t row, size_t column, size_t width,
                     const struct live_budget *b) {
    double sum = 0;
    size_t used = 0;
    for (int term = 0; term < BUDGET_TERMS; term++) {
        sum += share_of(b, term);
        size_t until = (size_t)lround(fmin(sum, 1) * (double)width);
        for (; used < until; used++)
            canvas_fill(c, row, column + used, top_term_role((enum budget_term)term),
                        budget_letter((enum budget_term)term));
    }
    for (; used < width; used++)
        canvas_put(c, row, column + used, 1, ROLE_DIM, "?");
}

/* The largest share of at least `least` that is not in `taken`, a mask of terms; -1: none. */
static int largest_left(const struct live_budget *b, unsigned taken, double least) {
    int best = -1;
    for (int t = 0; t < BUDGET_TERMS; t++)
        if (!(taken >> t & 1) && share_of(b, t) >= least &&
            (best < 0 || share_of(b, t) > share_of(b, best)))
            best = t;
    return best;
}

/* "computing 45 %, waiting for a peer 30 %": the largest first, as many as fit. */
static void draw_words(struct canvas *c, size_t row, size_t column, const struct live_budget *b) {
    unsigned taken = 0;
    for (size_t i = 0; i < 4; i++) {
        char text[80];
        int best = largest_left(b, taken, 0.02);
        if (best < 0)
            return;
        taken |= 1u << best;
        int n = snprintf(text, sizeof text, "%s%s %.0f %%", i ? ", " : "",
                         budget_term_words((enum budget_term)best), 100 * share_of(b, best));
        if (n < 0 || column + (size_t)n > c->columns)
            return;
        column += canvas_put(c, row, column, (size_t)n, ROLE_PLAIN, text);
    }
}

static void put_who(char *who, size_t size, const struct live_snapshot *s,
                    const struct live_budget *b) {
    const char *host = s->hosts[b->host].name;
    if (b->rank >= 0)
        snprintf(who, size, "rank %d %s", b->rank, host);
    else
        snprintf(who, size, "%s%s%s", b->process, s->n_hosts > 1 ? " " : "",
                 s->n_hosts > 1 ? host : "");
}

static void draw_budget(struct top_area *area, size_t row, const char *who,
                        const struct live_budget *b) {
    size_t name = area->canvas->columns / 4 < 30 ? area->canvas->columns / 4 : 30;
    size_t width = area->canvas->columns * 2 / 5 < 80 ? area->canvas->columns * 2 / 5 : 80;
    canvas_put(area->canvas, row, 1, name - 2, ROLE_PLAIN, who);
    draw_bar(area->canvas, row, name, width, b);
    draw_words(area->canvas, row, name + width + 2, b);
}

/* "C computing  " */
static size_t put_letter(char *text, size_t size, int term) {
    int n = snprintf(text, size, "%c %s  ", budget_letter((enum budget_term)term),
                     budget_term_words((enum budget_term)term));
    return n < 0 ? 0 : (size_t)n;
}

/* Terms whose letters fit into the head, as a mask: the largest first. */
static unsigned terms_that_fit(const struct live_budget *mean, size_t columns) {
    unsigned fit = 0, looked = 0;
    for (int i = 0; i < BUDGET_TERMS; i++) {
        char text[60];
        int best = largest_left(mean, looked, 0.005);
        if (best < 0)
            break;
        looked |= 1u << best;
        size_t n = put_letter(text, sizeof text, best);
        if (n > columns + 2)
            continue;
        columns -= n < columns ? n : columns;
        fit |= 1u << best;
    }
    return fit;
}

static bool has_ranks(const struct live_snapshot *s) {
    for (size_t i = 0; i < s->n_budgets; i++)
        if (s->budgets[i].rank >= 0)
            return true;
    return false;
}

/* Only the letters that occur, in the order of the bars. */
static void draw_budget_title(struct top_area *area, const struct live_budget *mean) {
    const struct live_snapshot *s = area->snapshot;
    struct canvas *c = area->canvas;
    size_t at = 1;
    canvas_stripe(c, area->row, ROLE_HEAD);
    at += canvas_print(c, area->row, at, c->columns, ROLE_HEAD, "%s%s  ",
                       has_ranks(s) ? "RANKS" : "PROCESSES",
                       s->state == LIVE_RUNNING ? " SO FAR" : "");
    unsigned fit = terms_that_fit(mean, c->columns - at);
    for (int t = 0; t < BUDGET_TERMS; t++) {
        char text[60];
        if (fit >> t & 1)
            at += canvas_put(c, area->row, at, put_letter(text, sizeof text, t), ROLE_HEAD, text);
    }
}

static double busy_s(const struct live_budget *b) {
    return b->wall_s * (1 - share_of(b, BUDGET_IDLE));
}

/* Ranks by their numbers, then other processes: the most active first, since some lived only
 * briefly. */
static int compare_budgets(const void *a, const void *b) {
    const struct live_budget *x = *(const struct live_budget *const *)a;
    const struct live_budget *y = *(const struct live_budget *const *)b;
    if ((x->rank < 0) != (y->rank < 0))
        return x->rank < 0 ? 1 : -1;
    if (x->rank < 0 && busy_s(x) != busy_s(y))
        return busy_s(x) < busy_s(y) ? 1 : -1;
    return (x > y) - (x < y);
}

/* The shown ones in order; owned. NULL: no memory. */
static const struct live_budget **in_order(const struct live_snapshot *s, int host) {
    const struct live_budget **order = malloc((s->n_budgets + 1) * sizeof *order);
    size_t n = 0;
    for (size_t i = 0; order && i < s->n_budgets; i++)
        if (is_shown(&s->budgets[i], host))
            order[n++] = &s->budgets[i];
    if (n)
        qsort(order, n, sizeof *order, compare_budgets);
    return order;
}

void top_draw_budgets(struct top_area *area) {
    const struct live_snapshot *s = area->snapshot;
    size_t n = count_shown(s, area->host), row = area->row + 1, end = area->row + area->rows;
    struct live_budget mean = mean_of(s, area->host);
    if (area->rows < 2 || !n)
        return;
    const struct live_budget **order = in_order(s, area->host);
    if (!order)
        return;
    draw_budget_title(area, &mean);
    if (n + 1 > area->rows) {
        char who[40];
        snprintf(who, sizeof who, "mean of %zu", n);
        draw_budget(area, row++, who, &mean);
    }
    for (size_t i = 0; i < n && row < end; i++) {
        char who[200];
        put_who(who, sizeof who, s, order[i]);
        draw_budget(area, row++, who, order[i]);
    }
    free(order);
}
