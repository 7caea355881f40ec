/* SPDX-License-Identifier: MIT */
/* Bars of where the time of each rank went: a part of "budget" on a page. */
#include "reports/plot/rank_bars.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reports/model/budget_words.h"
#include "reports/plot/finding.h"
#include "reports/says/term_words.h"
#include "reports/sections/sections.h"

struct texts {
    char *title, *finding, *names[BUDGET_BARS_MAX]; /* owned */
};

static void release(struct texts *texts, size_t n) {
    free(texts->title);
    free(texts->finding);
    for (size_t i = 0; i < n; i++)
        free(texts->names[i]);
}

/* -ENOMEM. */
static int make(const struct report *report, const struct rank_bars *bars, struct texts *texts) {
    *texts = (struct texts){.title = rank_bars_title(report),
                            .finding = picture_finding(report, "budget")};
    bool whole = texts->title != NULL;
    for (size_t i = 0; i < bars->n; i++) {
        char who[128];
        budget_whose(report, bars->items[i], who, sizeof who);
        texts->names[i] = strdup(who);
        whole &= texts->names[i] != NULL;
    }
    return whole ? 0 : -ENOMEM;
}

static void put(struct page *page, const struct rank_bars *bars, const struct texts *texts) {
    double shares[BUDGET_BARS_MAX * BUDGET_TERMS], wholes_s[BUDGET_BARS_MAX];
    const char *parts[BUDGET_TERMS], *colours[BUDGET_TERMS];
    for (size_t t = 0; t < bars->n_terms; t++) {
        parts[t] = budget_term_words(bars->terms[t]);
        colours[t] = budget_term_colour(bars->terms[t]);
    }
    for (size_t i = 0; i < bars->n; i++) {
        wholes_s[i] = bars->items[i]->wall_s;
        for (size_t t = 0; t < bars->n_terms; t++)
            shares[i * bars->n_terms + t] = rank_bar_share(bars->items[i], bars->terms[t]);
    }
    page_bars(page, &(struct page_bars){.name = "budget",
                                        .caption = texts->title,
                                        .finding = texts->finding,
                                        .parts = parts,
                                        .colours = colours,
                                        .n_parts = bars->n_terms,
                                        .names = texts->names,
                                        .wholes_s = wholes_s,
                                        .shares = shares,
                                        .n = bars->n});
}

void section_put_rank_bars(const struct report *report, struct page *page) {
    struct rank_bars bars = rank_bars_of(report);
    struct texts texts;
    int result = make(report, &bars, &texts);
    if (result == 0)
        put(page, &bars, &texts);
    else
        page->error = page->error ? page->error : result;
    release(&texts, bars.n);
}
