/* SPDX-License-Identifier: MIT */
/* Sentences about the peers for which ranks waited, about causes that held up their data, and about
 * the critical path. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/error.h"
#include "reports/model/budget_words.h"
#include "reports/model/layout.h"
#include "reports/sections/sections.h"

#define WORDS_MAX 16 /* ranks with sentences of their own */

/* "the path 97 %, receivers 3 % of the time it had data to send" */
static void put_holders(FILE *out, const struct report_budget *b) {
    const struct {
        double pct;
        const char *who;
    } holders[] = {{b->path_pct, "the path"},
                   {b->receiver_pct, "receivers"},
                   {b->send_buffer_pct, "send buffers"}};
    size_t said = 0;
    for (size_t i = 0; i < ARRAY_SIZE(holders); i++)
        if (holders[i].pct >= 0.5)
            fprintf(out, "%s%s %.0f %%", said++ ? ", " : "", holders[i].who, holders[i].pct);
    fputs(said ? " of the time it had data to send" : "nothing", out);
}

static bool held_alike(const struct report_budget *a, const struct report_budget *b) {
    return round(a->path_pct) == round(b->path_pct) && /* NAN equals nothing */
           round(a->receiver_pct) == round(b->receiver_pct) &&
           round(a->send_buffer_pct) == round(b->send_buffer_pct);
}

/* Whether moving data took part of the phase: else its causes do not matter. */
static bool is_held(const struct report_budget *b, double phase_s) {
    return !isnan(b->path_pct) && b->term_s[BUDGET_TRANSFER] >= BUDGET_SHOWN_MIN * phase_s;
}

static double longest_s(const struct report_budget *budgets, size_t n) {
    double s = 0;
    for (size_t i = 0; i < n; i++)
        s = fmax(s, budgets[i].wall_s);
    return s;
}

/* One sentence for all ranks if it is true of each. NULL: it is not. */
static char *held_all(const struct report_budget *budgets, size_t n) {
    char *text = NULL;
    size_t size;
    for (size_t i = 0; i < n; i++)
        if (!is_held(&budgets[i], longest_s(budgets, n)) || !held_alike(&budgets[0], &budgets[i]))
            return NULL;
    FILE *out = n > 1 ? open_memstream(&text, &size) : NULL;
    if (!out)
        return NULL;
    fprintf(out, "each of the %zu %s: the data it sent was held up by ", n,
            budgets[0].rank < 0 ? "processes" : "ranks");
    put_holders(out, budgets);
    if (fclose(out) == 0)
        return text;
    free(text);
    return NULL;
}

/* NULL: nothing to add. */
static char *more_of(const struct report *report, const struct report_budget *b, bool says_held) {
    char who[128], *text = NULL;
    size_t size;
    bool waited = b->awaited_rank >= 0 && b->awaited_s >= BUDGET_SHOWN_MIN * b->wall_s;
    FILE *out = waited || says_held ? open_memstream(&text, &size) : NULL;
    if (!out)
        return NULL;
    budget_whose(report, b, who, sizeof who);
    fprintf(out, "%s", who);
    if (waited)
        fprintf(out, " waited most for rank %d on %s (%.3g s)", b->awaited_rank,
                layout_host(report, b->awaited_host), b->awaited_s);
    if (says_held) {
        fprintf(out, "%s the data it sent was held up by ", waited ? ";" : ":");
        put_holders(out, b);
    }
    if (fclose(out) == 0)
        return text;
    free(text);
    return NULL;
}

void section_budget_said(const struct report *report, struct page *page) {
    size_t first, n = budget_of_phase(report, report->shown_phase, &first), said = 0;
    const struct report_budget *budgets = report->budget + first;
    char *items[WORDS_MAX + 1], *all = held_all(budgets, n);
    if (all)
        items[said++] = all;
    for (size_t i = 0; i < n && i < WORDS_MAX; i++)
        if ((items[said] =
                 more_of(report, &budgets[i], !all && is_held(&budgets[i], longest_s(budgets, n)))))
            said++;
    page_list(page, NULL, items, said);
    for (size_t i = 0; i < said; i++)
        free(items[i]);
    char *path = critical_sentence(report);
    if (path)
        page_paragraph(page, STYLE_PLAIN, "%s", path);
    free(path);
}
