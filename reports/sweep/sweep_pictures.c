/* SPDX-License-Identifier: MIT */
/*
 * The pictures of a sweep: each measure by its parameters; F1, how well each cell's program had
 * learned, a curve for each cell; timelines, if their tables are asked for. More than twelve curves
 * in one picture are unreadable, so more cells make more pictures, and captions say what is left
 * out.
 */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/error.h"
#include "reports/model/layout.h"
#include "reports/plot/curve.h"
#include "reports/plot/plot.h"
#include "reports/sweep/sweep_private.h"
#include "reports/sweep/sweep_write.h"

#define CURVES_MAX 12
#define PICTURES_MAX 4   /* of one kind of curves */
#define TIMELINES_MAX 12 /* each runs gnuplot, and is held until all are written */
#define VALUES_SIZE 300

/* ---- the list ---- */

/* Only characters that need no quoting in the name of a file or link. */
static void put_name(struct sweep_picture *picture, const char *sweep, const char *what) {
    snprintf(picture->name, sizeof picture->name, "%.40s-%.60s", sweep, what);
    for (char *c = picture->name; *c; c++)
        if (!isalnum((unsigned char)*c) && (*c != '.' || c == picture->name) && *c != '-')
            *c = '_';
}

static bool is_taken(const struct sweep_pictures *pictures, const char *name) {
    for (size_t i = 0; i < pictures->n; i++)
        if (strcmp(pictures->items[i].name, name) == 0)
            return true;
    return false;
}

/* Takes over the plot and draws it; if it is NULL, errno says why. */
static int add(struct sweep_pictures *pictures, const struct sweep *sweep, const char *what,
               const char *caption, struct plot *plot) {
    char *svg = plot_svg(plot);
    struct sweep_picture picture = {.svg = svg, .why = svg ? 0 : errno};
    plot_free(plot);
    if (picture.why == ENODATA)
        return 0;
    struct sweep_picture *grown = realloc(pictures->items, (pictures->n + 1) * sizeof *grown);
    picture.caption = strdup(caption);
    if (grown)
        pictures->items = grown;
    if (!grown || !picture.caption) {
        free(svg);
        free(picture.caption);
        return -ENOMEM;
    }
    put_name(&picture, sweep->of.name, what);
    if (is_taken(pictures, picture.name)) {
        size_t end = strlen(picture.name);
        snprintf(picture.name + end, sizeof picture.name - end, "-%zu", pictures->n);
    }
    grown[pictures->n++] = picture;
    return 0;
}

void sweep_pictures_free(struct sweep_pictures *pictures) {
    for (size_t i = 0; i < pictures->n; i++) {
        free(pictures->items[i].caption);
        free(pictures->items[i].svg);
    }
    free(pictures->items);
    *pictures = (struct sweep_pictures){0};
}

/* ---- curves ---- */

/* The cells of one picture. */
struct group {
    const struct report *reports[CURVES_MAX];
    char values[CURVES_MAX][VALUES_SIZE];
    const char *titles[CURVES_MAX];
    size_t n;
};

static bool is_drawn(const struct sweep_cell *cell, const char *name) {
    return cell->typical && curve_of_run(cell->typical, name) != NULL;
}

/* A begin and an end are no curve: if no cell was tested in between, nothing is drawn. */
static bool has_course(const struct sweep *sweep, const char *name) {
    for (size_t i = 0; i < sweep->n_cells; i++)
        if (is_drawn(&sweep->cells[i], name) && curve_of_run(sweep->cells[i].typical, name)->n > 2)
            return true;
    return false;
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

static int add_group(struct sweep_pictures *pictures, const struct sweep *sweep,
                     const struct group *group, const char *name, enum plot_axis axis, size_t first,
                     size_t all) {
    static const char *const words[] = {"time", "iteration", "updates of the model"};
    static const char *const shortly[] = {"time", "iteration", "updates"};
    char caption[200], what[64];
    int n = snprintf(caption, sizeof caption, "%s against %s", name, words[axis]);
    if (all > CURVES_MAX)
        snprintf(caption + n, sizeof caption - (size_t)n, ", cells %zu to %zu of %zu", first + 1,
                 first + group->n, all);
    *caption = (char)toupper((unsigned char)*caption);
    snprintf(what, sizeof what, "%s-%s", name, shortly[axis]);
    return add(pictures, sweep, what, caption,
               plot_curve(group->reports, group->titles, group->n, name, axis));
}

static int add_curves(struct sweep_pictures *pictures, const struct sweep *sweep, const char *name,
                      enum plot_axis axis) {
    struct group *group = malloc(sizeof *group);
    size_t at = 0, shown = 0, all = has_course(sweep, name) ? count_drawn(sweep, name) : 0;
    int result = group ? 0 : -ENOMEM;
    for (size_t i = 0; result == 0 && i < PICTURES_MAX && shown < all; i++) {
        take_group(sweep, name, &at, group);
        result = add_group(pictures, sweep, group, name, axis, shown, all);
        shown += group->n;
    }
    free(group);
    return result;
}

/* Updates mean the same in all modes; for a program that does not count them, iterations are the
 * axis.
 */
static enum plot_axis choose_axis(const struct sweep *sweep) {
    for (size_t i = 0; i < sweep->n_cells; i++)
        if (is_drawn(&sweep->cells[i], "updates"))
            return PLOT_UPDATES;
    return PLOT_ITERATION;
}

static int add_all_curves(struct sweep_pictures *pictures, const struct sweep *sweep) {
    static const char *const names[] = {"accuracy", "test loss"};
    enum plot_axis axis = choose_axis(sweep);
    int result = 0;
    for (size_t i = 0; i < ARRAY_SIZE(names) && result == 0; i++) {
        result = add_curves(pictures, sweep, names[i], PLOT_TIME);
        if (result == 0)
            result = add_curves(pictures, sweep, names[i], axis);
    }
    return result;
}

/* ---- measures, timelines ---- */

static int add_measures(struct sweep_pictures *pictures, const struct sweep *sweep) {
    int result = 0;
    for (size_t m = 0; m < sweep->n_measures && result == 0; m++) {
        char what[64];
        snprintf(what, sizeof what, "by-%.50s", sweep->measures[m].name);
        result = add(pictures, sweep, what, sweep->measures[m].title, sweep_plot(sweep, m));
    }
    return result;
}

static bool has_timelines(const struct sweep_tables *tables) {
    for (size_t i = 0; i < tables->n; i++)
        if (strcmp(tables->items[i].id, "timeline") == 0)
            return true;
    return false;
}

static bool has_timeline(const struct sweep_cell *cell) {
    return cell->typical && cell->typical->timeline.n_bars;
}

/* n_left_out: timelines of further cells, which are not drawn. */
static int add_timeline_picture(struct sweep_pictures *pictures, const struct sweep *sweep,
                                const struct sweep_cell *cell, size_t n_left_out) {
    char values[VALUES_SIZE], what[VALUES_SIZE + 16], title[160], more[64] = "",
                                                                  caption[VALUES_SIZE + 240];
    sweep_values(sweep, cell, values, sizeof values);
    layout_timeline_title(cell->typical, title, sizeof title);
    if (n_left_out)
        snprintf(more, sizeof more, "; %zu more cell%s not drawn", n_left_out,
                 n_left_out == 1 ? " is" : "s are");
    snprintf(what, sizeof what, "timeline-%s", values);
    snprintf(caption, sizeof caption, "%s: %s%s", values, title, more);
    return add(pictures, sweep, what, caption, plot_timeline(cell->typical));
}

static int add_timelines(struct sweep_pictures *pictures, const struct sweep *sweep) {
    size_t n = 0, shown = 0;
    int result = 0;
    for (size_t i = 0; i < sweep->n_cells; i++)
        n += has_timeline(&sweep->cells[i]);
    for (size_t i = 0; i < sweep->n_cells && shown < TIMELINES_MAX && result == 0; i++)
        if (has_timeline(&sweep->cells[i]))
            result = add_timeline_picture(pictures, sweep, &sweep->cells[i],
                                          ++shown == TIMELINES_MAX ? n - shown : 0);
    return result;
}

int sweep_pictures_make(const struct sweep *sweep, const struct sweep_tables *tables,
                        struct sweep_pictures *ret_pictures) {
    *ret_pictures = (struct sweep_pictures){0};
    int result = add_measures(ret_pictures, sweep);
    if (result == 0)
        result = add_all_curves(ret_pictures, sweep);
    if (result == 0 && has_timelines(tables))
        result = add_timelines(ret_pictures, sweep);
    return result;
}
