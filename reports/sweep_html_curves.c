/* SPDX-License-Identifier: MIT */
/*
 * F1 of a sweep: how well each cell's program had learned, a curve a cell. More than twelve curves
 * in one picture are a tangle, so more cells are more pictures, and what is left out is said.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "common/error.h"
#include "reports/curve.h"
#include "reports/html_page.h"
#include "reports/plot.h"
#include "reports/sweep_private.h"

#define CURVES_MAX 12
#define PICTURES_MAX 4 /* of a kind */

/* The cells of one picture. */
struct group {
    const struct report *reports[CURVES_MAX];
    char values[CURVES_MAX][300];
    const char *titles[CURVES_MAX];
    size_t n;
};

static bool is_drawn(const struct sweep_cell *cell, const char *name) {
    return cell->typical && curve_of_run(cell->typical, name) != NULL;
}

/* Takes cells from *at on. */
static void take_group(const struct sweep *sweep, const char *name, size_t *at, struct group *ret) {
    ret->n = 0;
    for (; *at < sweep->n_cells && ret->n < CURVES_MAX; ++*at) {
        if (!is_drawn(&sweep->cells[*at], name))
            continue;
        sweep_values(sweep, &sweep->cells[*at], ret->values[ret->n], sizeof ret->values[0]);
        ret->titles[ret->n] = ret->values[ret->n];
        ret->reports[ret->n++] = sweep->cells[*at].typical;
    }
}

static size_t count_drawn(const struct sweep *sweep, const char *name) {
    size_t n = 0;
    for (size_t i = 0; i < sweep->n_cells; i++)
        n += is_drawn(&sweep->cells[i], name);
    return n;
}

static void put_group(FILE *out, const struct group *group, const char *name, enum plot_axis axis,
                      size_t first, size_t all) {
    static const char *const words[] = {"time", "iteration", "updates of the model"};
    char caption[160];
    int n = snprintf(caption, sizeof caption, "%s against %s", name, words[axis]);
    if (all > CURVES_MAX)
        snprintf(caption + n, sizeof caption - (size_t)n, ", cells %zu to %zu of %zu", first + 1,
                 first + group->n, all);
    *caption = (char)toupper((unsigned char)*caption);
    html_picture(out, plot_curve(group->reports, group->titles, group->n, name, axis), caption);
}

static void put_curves(FILE *out, const struct sweep *sweep, const char *name,
                       enum plot_axis axis) {
    struct group *group = malloc(sizeof *group);
    size_t at = 0, shown = 0, all = count_drawn(sweep, name);
    for (size_t i = 0; group && i < PICTURES_MAX && shown < all; i++) {
        take_group(sweep, name, &at, group);
        put_group(out, group, name, axis, shown, all);
        shown += group->n;
    }
    if (shown < all) {
        char text[80];
        snprintf(text, sizeof text, "%zu more cells are not drawn.", all - shown);
        html_element(out, "p", "muted", text);
    }
    free(group);
}

/* Updates count the same in all modes; iterations are what a program that counts none has. */
static enum plot_axis choose_axis(const struct sweep *sweep) {
    for (size_t i = 0; i < sweep->n_cells; i++)
        if (is_drawn(&sweep->cells[i], "updates"))
            return PLOT_UPDATES;
    return PLOT_ITERATION;
}

void sweep_html_put_curves(FILE *out, const struct sweep *sweep) {
    static const char *const names[] = {"accuracy", "test loss"};
    enum plot_axis axis = choose_axis(sweep);
    for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
        put_curves(out, sweep, names[i], PLOT_TIME);
        put_curves(out, sweep, names[i], axis);
    }
}
