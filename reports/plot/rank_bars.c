/* SPDX-License-Identifier: MIT */
#include "reports/plot/rank_bars.h"

#include <math.h>

#include "reports/model/budget_words.h"
#include "reports/says/text_list.h"

#define MOMENT .01 /* of the longest life: a process that lived less has no bar */

/* A process that lived only for a moment would have as wide a bar as the others. */
static void add_bars(struct rank_bars *bars, const struct report_budget *budgets, size_t n) {
    double longest = 0;
    for (size_t i = 0; i < n; i++)
        longest = fmax(longest, budgets[i].wall_s);
    for (size_t i = 0; i < n && bars->n < BUDGET_BARS_MAX; i++)
        if (budgets[i].rank >= 0 || budgets[i].wall_s >= MOMENT * longest)
            bars->items[bars->n++] = &budgets[i];
}

struct rank_bars rank_bars_of(const struct report *report) {
    size_t first, n = budget_of_phase(report, report->main_phase, &first);
    struct rank_bars bars = {.n = 0};
    add_bars(&bars, report->budget + first, n);
    for (int term = 0; term < BUDGET_TERMS; term++)
        if (budget_term_shown(report->budget + first, n, (enum budget_term)term))
            bars.terms[bars.n_terms++] = (enum budget_term)term;
    return bars;
}

double rank_bar_share(const struct report_budget *bar, enum budget_term term) {
    double s = bar->term_s[term];
    return isnan(s) || bar->wall_s <= 0 ? 0 : s / bar->wall_s;
}

char *rank_bars_title(const struct report *report) {
    return text_format("Share of the wall time of %s%s, by %s", budget_phase_before(report),
                       budget_main_phase(report), budget_owner(report));
}
