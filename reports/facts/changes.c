/* SPDX-License-Identifier: MIT */
#include "reports/facts/changes.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/error.h"
#include "reports/says/candidate_words.h"
#include "reports/says/scenario_words.h"
#include "reports/says/text_list.h"

#define CANDIDATES_MAX 12 /* candidates with questions */
#define GAIN_SHOWN .005

/* A change whose gain is looked for. */
struct item {
    struct report_change change;
    struct whatif_scenario scenario;
    const struct candidate *of;
    bool first; /* its candidate's first change: the verdict mentions it */
};

struct items {
    struct item items[2 * CANDIDATES_MAX];
    size_t n;
};

static const char *source_of(const struct whatif_answer *answer) {
    return answer->iterations ? "iterations" : answer->replayed ? "replay" : "counters";
}

/* Returns 1 if there is no answer. */
static int ask(const struct judgement *j, const struct whatif_scenario *scenarios, size_t n,
               struct whatif_answer *ret_answer) {
    int result = whatif_ask(j->whatif, scenarios, n, ret_answer);
    if (result == -EINVAL || (result == 0 && isnan(ret_answer->run_gain)))
        return 1;
    return result;
}

static void take_gain(const struct whatif_answer *answer, double *gain, double *low, double *high) {
    *gain = 100 * fmax(0, answer->run_gain);
    *low = 100 * fmax(0, answer->run_low);
    *high = 100 * fmax(0, answer->run_high);
    if (isnan(answer->run_low) || isnan(answer->run_high))
        *low = *high = NAN;
}

/* ---- single changes ---- */

static struct item *known(struct items *items, const char *options) {
    for (size_t i = 0; options && i < items->n; i++)
        if (items->items[i].change.options && strcmp(items->items[i].change.options, options) == 0)
            return &items->items[i];
    return NULL;
}

static void item_release(struct item *item) {
    free(item->change.change);
    free(item->change.limit);
    free(item->change.options);
}

/* A change without an option has the candidate's own gain, if counters or a replay gave it. */
static int fill(const struct judgement *j, const struct candidate *c, struct item *item) {
    struct report_change *change = &item->change;
    struct whatif_answer answer;
    int result = change->options ? ask(j, &item->scenario, 1, &answer) : 1;
    if (result < 0)
        return result;
    if (result == 0) {
        take_gain(&answer, &change->gain_pct, &change->low_pct, &change->high_pct);
        change->source = source_of(&answer);
        return 0;
    }
    const struct gain *gain = candidate_gain(c);
    if (!item->first || !(gain->replayed || gain->counted))
        return 1;
    free(change->options);
    change->options = NULL;
    change->gain_pct = 100 * gain->estimate;
    change->low_pct = 100 * gain->low;
    change->high_pct = 100 * gain->high;
    change->source = gain->replayed ? "replay" : "counters";
    return 0;
}

static int add_change(const struct judgement *j, const struct candidate *c,
                      const struct whatif_scenario *scenario, bool first, struct items *items) {
    struct item item = {.scenario = *scenario, .of = c, .first = first};
    bool can = c->can_remove || c->sharing.can || c->can_double;
    item.change.options = can ? scenario_options(j->model, scenario) : NULL;
    item.change.advised = c == j->verdict.candidate && scenario == candidate_change(c);
    struct item *same = known(items, item.change.options);
    if (same) {
        same->change.advised |= item.change.advised;
        item_release(&item);
        return 0;
    }
    int result = fill(j, c, &item);
    if (result == 0 && item.change.gain_pct >= 100 * GAIN_SHOWN) {
        item.change.limit = candidate_words(j->model, c);
        item.change.change = item.change.options ? scenario_words(j->model, scenario)
                                                 : text_format("without this limit");
        items->items[items->n++] = item;
        return item.change.limit && item.change.change ? 0 : -ENOMEM;
    }
    item_release(&item);
    return result < 0 ? result : 0;
}

/* Whether the verdict mentions a link twice as fast, which needs a replay. */
static bool speaks_of_twice(const struct candidate *c) {
    return c->can_double && c->doubled.replayed && c->twice.kind == WHATIF_LINK;
}

static int add_all(const struct judgement *j, struct items *items) {
    const struct candidates *candidates = &j->candidates;
    size_t asked = 0;
    int result = 0;
    for (size_t i = 0; result == 0 && i < candidates->n && asked < CANDIDATES_MAX; i++) {
        const struct candidate *c = &candidates->items[i];
        const struct gain *gain = candidate_gain(c);
        if (c->repeated || !(gain->replayed || gain->counted) || !(gain->estimate > 0))
            continue;
        asked++;
        if (c->can_double)
            result = add_change(j, c, &c->twice, speaks_of_twice(c), items);
        if (result == 0)
            result = add_change(j, c, candidate_change(c), !speaks_of_twice(c), items);
    }
    return result;
}

static int compare_items(const void *a, const void *b) {
    const struct item *x = a, *y = b;
    return (x->change.gain_pct < y->change.gain_pct) - (x->change.gain_pct > y->change.gain_pct);
}

/* ---- two at once ---- */

static int fill_together(struct changes *all, const struct judgement *j, const struct items *items,
                         size_t first, size_t second) {
    struct report_together *to = &all->together[all->n_together];
    const struct whatif_scenario both[] = {items->items[first].scenario,
                                           items->items[second].scenario};
    struct whatif_answer answer;
    int result = ask(j, both, ARRAY_SIZE(both), &answer);
    if (result != 0)
        return result < 0 ? result : 0;
    *to = (struct report_together){.first = first,
                                   .second = second,
                                   .source = source_of(&answer),
                                   .options = text_format("%s %s --together",
                                                          items->items[first].change.options,
                                                          items->items[second].change.options)};
    all->n_together++;
    take_gain(&answer, &to->gain_pct, &to->low_pct, &to->high_pct);
    return to->options ? 0 : -ENOMEM;
}

static int compare_together(const void *a, const void *b) {
    const struct report_together *x = a, *y = b;
    return (x->gain_pct < y->gain_pct) - (x->gain_pct > y->gain_pct);
}

/* Asks for the best change of each limit, those with the largest gains. */
static int ask_together(struct changes *all, const struct judgement *j, struct items *items) {
    size_t chosen[REPORT_CHANGES_TOGETHER_MAX], n = 0;
    int result = 0;
    all->together = calloc(ARRAY_SIZE(chosen) * ARRAY_SIZE(chosen), sizeof *all->together);
    if (!all->together)
        return -ENOMEM;
    for (size_t i = 0; i < items->n && n < ARRAY_SIZE(chosen); i++)
        if (items->items[i].first && items->items[i].change.options)
            chosen[n++] = i;
    for (size_t i = 0; n > 1 && i < n; i++)
        items->items[chosen[i]].change.letter = (char)('A' + i);
    for (size_t i = 0; i < n; i++)
        for (size_t k = i + 1; result == 0 && k < n; k++)
            result = fill_together(all, j, items, chosen[i], chosen[k]);
    if (all->n_together)
        qsort(all->together, all->n_together, sizeof *all->together, compare_together);
    return result;
}

/* ---- at several factors ---- */

static const double *factors_of(enum whatif_kind kind) {
    static const double faster[REPORT_FACTORS] = {1.25, 1.5, 2, 3, 4},
                        sooner[REPORT_FACTORS] = {.8, .65, .5, .35, .2};
    return kind == WHATIF_LINK || kind == WHATIF_CPU ? faster
           : kind == WHATIF_LATENCY                  ? sooner
                                                     : NULL;
}

static int fill_points(struct report_factors *to, const struct judgement *j,
                       struct whatif_scenario scenario, const double *factors) {
    int result = 0;
    for (size_t i = 0; result == 0 && i < REPORT_FACTORS; i++) {
        struct report_factor *point = &to->points[to->n];
        struct whatif_answer answer;
        scenario.factor = factors[i];
        scenario.rate_bytes_s = 0;
        result = ask(j, &scenario, 1, &answer);
        if (result != 0)
            return result < 0 ? result : 0;
        to->n++;
        point->factor = factors[i];
        take_gain(&answer, &point->gain_pct, &point->low_pct, &point->high_pct);
        point->options = scenario_options(j->model, &scenario);
        result = point->options ? 0 : -ENOMEM;
    }
    return result;
}

/* Each limit gets its points once, and only if the question has a factor. */
static int ask_factors(struct changes *all, const struct judgement *j, const struct items *items) {
    int result = 0;
    for (size_t i = 0; result == 0 && i < items->n && all->n_factors < REPORT_FACTORS_MAX; i++) {
        const struct item *item = &items->items[i];
        const double *factors = factors_of(item->scenario.kind);
        bool again = false;
        for (size_t k = 0; k < all->n_factors; k++)
            again |= items->items[all->factors[k].change].of == item->of;
        if (!factors || !item->change.options || again)
            continue;
        struct report_factors *to = &all->factors[all->n_factors++];
        *to = (struct report_factors){.change = i,
                                      .what = scenario_object(j->model, &item->scenario)};
        result = to->what ? fill_points(to, j, item->scenario, factors) : -ENOMEM;
    }
    return result;
}

/* ---- all of it ---- */

static int take_items(struct changes *all, struct items *items) {
    all->single = calloc(items->n + 1, sizeof *all->single);
    for (size_t i = 0; i < items->n; i++) {
        if (all->single)
            all->single[all->n++] = items->items[i].change;
        else
            item_release(&items->items[i]);
    }
    return all->single ? 0 : -ENOMEM;
}

static int ask_all(const struct judgement *judgement, struct items *items, struct changes *all) {
    int result = add_all(judgement, items);
    if (items->n)
        qsort(items->items, items->n, sizeof *items->items, compare_items);
    if (result == 0)
        result = ask_together(all, judgement, items);
    return result < 0 ? result : ask_factors(all, judgement, items);
}

int changes_ask(const struct judgement *judgement, struct changes *ret_changes) {
    struct changes all = {0};
    struct items *items = calloc(1, sizeof *items);
    if (!items)
        return -ENOMEM;
    int result = ask_all(judgement, items, &all), taken = take_items(&all, items);
    free(items);
    if (result < 0 || taken < 0) {
        changes_release(&all);
        return result < 0 ? result : taken;
    }
    *ret_changes = all;
    return 0;
}

void changes_release(struct changes *changes) {
    for (size_t i = 0; i < changes->n; i++) {
        free(changes->single[i].change);
        free(changes->single[i].limit);
        free(changes->single[i].options);
    }
    for (size_t i = 0; i < changes->n_together; i++)
        free(changes->together[i].options);
    for (size_t i = 0; i < changes->n_factors; i++) {
        for (size_t k = 0; k < REPORT_FACTORS; k++)
            free(changes->factors[i].points[k].options);
        free(changes->factors[i].what);
    }
    free(changes->single);
    free(changes->together);
    *changes = (struct changes){0};
}
