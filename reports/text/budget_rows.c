/* SPDX-License-Identifier: MIT */
#include "reports/text/budget_rows.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reports/formats/terminal.h"
#include "reports/model/budget_words.h"
#include "reports/model/layout.h"
#include "reports/model/reported.h"

#define BRIEF 0.1       /* of its phase: a bar of less covers a moment, and says so */
#define HARDLY 0.01     /* of its phase: what lived for less is folded */
#define BYSTANDING 0.98 /* of its time asleep */

double budget_row_share(const struct report_budget *b, enum budget_term term) {
    return b->wall_s > 0 && !isnan(b->term_s[term]) ? b->term_s[term] / b->wall_s : 0;
}

static double phase_s(const struct report *report) {
    return report->resources[report->shown_phase].duration_s;
}

static double of_terms(const struct report_budget *b, unsigned terms) {
    double sum = 0;
    for (int term = 0; term < BUDGET_TERMS; term++)
        if (terms >> term & 1 && b->term_s[term] > 0)
            sum += b->term_s[term];
    return sum;
}

static void add_budget(struct report_budget *to, const struct report_budget *b) {
    to->wall_s += b->wall_s;
    to->trusted &= b->trusted;
    for (int term = 0; term < BUDGET_TERMS; term++)
        if (!isnan(b->term_s[term]))
            to->term_s[term] += b->term_s[term];
}

static struct report_budget empty_budget(void) {
    return (struct report_budget){.awaited_rank = -1, .awaited_host = -1, .trusted = true};
}

/* ---- names ---- */

static int program_length(const struct report_budget *b) {
    return (int)strcspn(b->process, "[");
}

/* A name that is too wide loses its process number, then its end; the host stays. */
static void name_process(const struct report *report, const struct budget_row *row, size_t width,
                         char *who, size_t size) {
    const struct report_budget *b = &row->budget;
    const char *host = layout_host(report, b->host);
    int program = program_length(b), excess;
    if (row->processes > 1)
        snprintf(who, size, "%zu %.*s %s", row->processes, program, b->process, host);
    else
        snprintf(who, size, "%s %s", b->process, host);
    if (terminal_width(who) <= width)
        return;
    snprintf(who, size, "%.*s %s", program, b->process, host);
    excess = (int)terminal_width(who) - (int)width;
    if (excess > 0 && excess < program && terminal_width(host) < width / 2)
        snprintf(who, size, "%.*s %s", program - excess, b->process, host);
}

static void finish_row(const struct report *report, size_t width, struct budget_row *row) {
    const struct report_budget *b = &row->budget;
    row->brief = b->wall_s < BRIEF * phase_s(report) * (double)row->processes;
    if (b->rank >= 0)
        snprintf(row->who, sizeof row->who, "rank %d %s", b->rank, layout_host(report, b->host));
    else
        name_process(report, row, width, row->who, sizeof row->who);
}

/* ---- ranks ---- */

/* A process without a rank that slept all the time: the launcher, a shell around the program. */
static bool is_bystander(const struct report_budget *b) {
    return b->rank < 0 && budget_row_share(b, BUDGET_IDLE) >= BYSTANDING;
}

/* The budgets of a phase that are worth a bar: all except bystanders. */
struct worth {
    const struct report_budget *budgets;
    size_t n, n_worth;
};

static struct worth worth_of(const struct report_budget *budgets, size_t n) {
    struct worth worth = {budgets, n, 0};
    for (size_t i = 0; i < n; i++)
        worth.n_worth += !is_bystander(&budgets[i]);
    return worth;
}

/* Returns the next budget from *at on and moves *at behind it; NULL: none. */
static const struct report_budget *next_worth(const struct worth *worth, size_t *at) {
    while (*at < worth->n) {
        const struct report_budget *b = &worth->budgets[(*at)++];
        if (!is_bystander(b))
            return b;
    }
    return NULL;
}

/* Share of time without waits for a peer: the rank with the largest holds the others up; if two are
 * equal, computing decides. */
static double own_share(const struct report_budget *b) {
    return 1 - budget_row_share(b, BUDGET_PEER_WAIT) + 1e-3 * budget_row_share(b, BUDGET_CPU);
}

/* The mean, the rank that holds the others up most, and the one that holds them up least. */
static size_t extremes_of(const struct worth *worth, struct budget_row rows[3]) {
    size_t at = 0;
    const struct report_budget *b = next_worth(worth, &at), *most = b, *least = b;
    rows[0] = (struct budget_row){.budget = empty_budget(), .processes = worth->n_worth};
    for (; b; b = next_worth(worth, &at)) {
        add_budget(&rows[0].budget, b);
        most = own_share(b) > own_share(most) ? b : most;
        least = own_share(b) < own_share(least) ? b : least;
    }
    snprintf(rows[0].who, sizeof rows[0].who, "mean of %zu", worth->n_worth);
    rows[1] = (struct budget_row){.budget = *most, .processes = 1};
    rows[2] = (struct budget_row){.budget = *least, .processes = 1};
    return most == least ? 2 : 3;
}

static size_t make_ranks(const struct report *report, const struct worth *worth, size_t width,
                         struct budget_row rows[BUDGET_LINES_MAX]) {
    size_t n = 0, at = 0, first = worth->n_worth > BUDGET_LINES_MAX;
    const struct report_budget *b;
    if (first)
        n = extremes_of(worth, rows);
    else
        while ((b = next_worth(worth, &at)))
            rows[n++] = (struct budget_row){.budget = *b, .processes = 1};
    for (size_t i = first; i < n; i++)
        finish_row(report, width, &rows[i]);
    return n;
}

/* ---- processes without ranks ---- */

/* Terms that the verdict is about, on a host (-1: on any). Without terms: all of a life. */
struct about {
    unsigned terms;
    int host;
};

static struct about about_of(const struct report *report) {
    const struct judgement *judgement = report->run ? &report->run->judgement : NULL;
    const struct candidate *c = judgement ? judgement->verdict.candidate : NULL;
    if (!c || !verdict_blames(report->verdict.state))
        return (struct about){0, -1};
    unsigned terms = c->path.terms ? c->path.terms : 1u << BUDGET_CPU;
    return (struct about){terms, c->everywhere || c->path.all_hosts ? -1 : c->host};
}

/* Sleep and waiting for another process are nobody's work. */
static double worked_s(const struct report_budget *b) {
    return of_terms(b, ~(1u << BUDGET_IDLE | 1u << BUDGET_PEER_WAIT));
}

static double weight_of(const struct about *about, const struct report_budget *b) {
    bool here = about->host < 0 || about->host == b->host;
    return !here ? 0 : about->terms ? of_terms(b, about->terms) : b->wall_s;
}

/* Whether a row comes before another one: it has more of what the verdict is about, else it worked
 * longer. */
static bool is_before(const struct about *about, const struct report_budget *a,
                      const struct report_budget *b) {
    double x = weight_of(about, a), y = weight_of(about, b);
    return x > y || (x >= y && worked_s(a) > worked_s(b));
}

/* Equal ones keep their order. */
static void sort_rows(const struct about *about, struct budget_row *rows, size_t n) {
    for (size_t i = 1; i < n; i++) {
        struct budget_row row = rows[i];
        size_t k = i;
        for (; k && is_before(about, &row.budget, &rows[k - 1].budget); k--)
            rows[k] = rows[k - 1];
        rows[k] = row;
    }
}

/* Processes that ended before they were seen twice, which are counted by their names: only what
 * they used is known, not how long they waited. */
static bool is_ended(const struct report_budget *b) {
    return b->rank < 0 && strstr(b->process, "[ended]");
}

static void forget_waits(struct report_budget *b) {
    b->term_s[BUDGET_IDLE] = b->term_s[BUDGET_PEER_WAIT] = b->term_s[BUDGET_TRANSFER] = 0;
    b->wall_s = of_terms(b, ~0u);
}

/* Whether a row is folded, if another one is, too. */
static bool is_small(const struct report *report, const struct budget_row *row) {
    double most = is_ended(&row->budget) ? BRIEF : HARDLY;
    return row->budget.wall_s < most * phase_s(report);
}

/* Adds rows [first, n) up in the row `first`. Returns the number of rows left. */
static size_t fold(struct budget_row *rows, size_t first, size_t n) {
    struct budget_row folded = {.budget = empty_budget()};
    for (size_t i = first; i < n; i++) {
        folded.processes += rows[i].processes;
        add_budget(&folded.budget, &rows[i].budget);
    }
    snprintf(folded.who, sizeof folded.who, "%zu more, %.2g s", folded.processes,
             folded.budget.wall_s);
    rows[first] = folded;
    return first + 1;
}

/* Moves small rows behind the others, the first row excepted. Returns the number of the others. */
static size_t part_small(const struct report *report, struct budget_row *rows, size_t n) {
    size_t large = n > 0;
    for (size_t i = 1; i < n; i++) {
        struct budget_row row = rows[i];
        if (is_small(report, &row))
            continue;
        memmove(rows + large + 1, rows + large, (i - large) * sizeof *rows);
        rows[large++] = row;
    }
    return large;
}

static bool is_one_program(const struct report_budget *a, const struct report_budget *b) {
    int length = program_length(a);
    return a->host == b->host && length == program_length(b) &&
           strncmp(a->process, b->process, (size_t)length) == 0;
}

/* Processes of one program on one host become one row. Returns the number of rows left. */
static size_t group_programs(struct budget_row *rows, size_t n) {
    size_t kept = 0;
    for (size_t i = 0; i < n; i++) {
        size_t k = 0;
        while (k < kept && !is_one_program(&rows[k].budget, &rows[i].budget))
            k++;
        if (k == kept) {
            rows[kept++] = rows[i];
            continue;
        }
        rows[k].processes++;
        add_budget(&rows[k].budget, &rows[i].budget);
    }
    return kept;
}

/* Leaves at most BUDGET_LINES_MAX rows; the last one may be all others together. */
static size_t choose_rows(const struct report *report, const struct about *about,
                          struct budget_row *rows, size_t n) {
    size_t large = part_small(report, rows, n);
    if (large + (large < n) > BUDGET_LINES_MAX) {
        size_t grouped = group_programs(rows, large);
        memmove(rows + grouped, rows + large, (n - large) * sizeof *rows);
        n -= large - grouped;
        large = grouped;
        sort_rows(about, rows, large);
    }
    if (n <= BUDGET_LINES_MAX && n - large < 2)
        return n;
    return fold(rows, large < BUDGET_LINES_MAX ? large : BUDGET_LINES_MAX - 1, n);
}

static size_t make_processes(const struct report *report, const struct report_budget *budgets,
                             size_t n, size_t width, struct budget_row rows[BUDGET_LINES_MAX]) {
    struct about about = about_of(report);
    struct budget_row *all = calloc(n + 1, sizeof *all);
    for (size_t i = 0; all && i < n; i++) {
        all[i] = (struct budget_row){.budget = budgets[i], .processes = 1};
        if (is_ended(&budgets[i]))
            forget_waits(&all[i].budget);
    }
    if (!all)
        return 0;
    sort_rows(&about, all, n);
    n = choose_rows(report, &about, all, n);
    memcpy(rows, all, n * sizeof *rows);
    free(all);
    for (size_t i = 0; i < n; i++)
        if (!*rows[i].who)
            finish_row(report, width, &rows[i]);
    return n;
}

size_t budget_rows_make(const struct report *report, size_t width,
                        struct budget_row rows[BUDGET_LINES_MAX]) {
    size_t first, n = budget_of_phase(report, report->shown_phase, &first);
    const struct report_budget *budgets = report->budget + first;
    for (size_t i = 0; i < n; i++)
        if (budgets[i].rank >= 0) {
            struct worth worth = worth_of(budgets, n);
            return make_ranks(report, &worth, width, rows);
        }
    return make_processes(report, budgets, n, width, rows);
}
