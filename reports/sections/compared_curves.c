/* SPDX-License-Identifier: MIT */
/* F1: the curves of the groups' typical runs in one picture. Pictures only. */
#include <stdlib.h>
#include <string.h>

#include "common/error.h"
#include "reports/plot/plot.h"
#include "reports/sections/compared.h"

static const char *const first_curves[] = {"accuracy", "test loss", "loss", "error"};

static bool is_first(const char *name) {
    for (size_t i = 0; i < ARRAY_SIZE(first_curves); i++)
        if (strcmp(name, first_curves[i]) == 0)
            return true;
    return false;
}

static bool has_curve(const struct comparison *c, const char *name) {
    for (size_t g = 0; g < c->n_groups; g++)
        for (size_t i = 0; i < typical_run(c, g)->n_curves; i++)
            if (typical_run(c, g)->curves[i].n > 1 &&
                strcmp(typical_run(c, g)->curves[i].name, name) == 0)
                return true;
    return false;
}

/* Whether any typical run before (group, at) has a curve of that name. */
static bool name_seen(const struct comparison *c, size_t group, size_t at) {
    const char *name = typical_run(c, group)->curves[at].name;
    for (size_t g = 0; g <= group; g++)
        for (size_t i = 0; i < (g == group ? at : typical_run(c, g)->n_curves); i++)
            if (strcmp(typical_run(c, g)->curves[i].name, name) == 0)
                return true;
    return false;
}

static void put_pair(struct page *page, const struct report *const *runs, size_t n,
                     const char *name) {
    page_picture(page, plot_curve(runs, NULL, n, name, PLOT_ITERATION));
    page_picture(page, plot_curve(runs, NULL, n, name, PLOT_TIME));
}

/* Curves of a program's goal are shown at once, its other values on demand. */
static void put_others(const struct comparison *c, const struct report *const *runs,
                       struct page *page) {
    page_fold(page, "Other values that the programs counted");
    for (size_t g = 0; g < c->n_groups; g++)
        for (size_t i = 0; i < runs[g]->n_curves; i++)
            if (!is_first(runs[g]->curves[i].name) && has_curve(c, runs[g]->curves[i].name) &&
                !name_seen(c, g, i))
                put_pair(page, runs, c->n_groups, runs[g]->curves[i].name);
    page_unfold(page);
}

void section_compared_curves(const struct comparison *c, struct page *page) {
    const struct report **runs = page_draws(page) ? calloc(c->n_groups + 1, sizeof *runs) : NULL;
    size_t n_curves = 0;
    for (size_t g = 0; runs && g < c->n_groups; g++) {
        runs[g] = typical_run(c, g);
        n_curves += runs[g]->n_curves;
    }
    if (n_curves) {
        page_heading(page, 2, "Progress as the programs reported it");
        for (size_t i = 0; i < ARRAY_SIZE(first_curves); i++)
            if (has_curve(c, first_curves[i]))
                put_pair(page, runs, c->n_groups, first_curves[i]);
        put_others(c, runs, page);
    }
    free(runs);
}
