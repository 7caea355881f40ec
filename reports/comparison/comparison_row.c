/* SPDX-License-Identifier: MIT */
/* A row of a comparison. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/error.h"
#include "reports/comparison/comparison_private.h"

const char *comparison_section_title(enum comparison_section section) {
    static const char *const titles[COMPARISON_SECTIONS] = {
        "run time",   "the job as a whole", "pace", "what the program reached",
        "efficiency", "averages per host"};
    return titles[section];
}

double comparison_least(const char *unit) {
    static const struct {
        const char *unit;
        double least;
    } of_units[] = {
        {"MB/s", 0.1}, /* what services of an idle host move */
        {"%", 1},      /* of a core: the agent itself and the kernel's own threads */
        {"GB", 0.01},
        {"W", 1}, /* the resolution of the GPUs' sensors */
    };
    for (size_t i = 0; i < ARRAY_SIZE(of_units); i++)
        if (strcmp(unit, of_units[i].unit) == 0)
            return of_units[i].least;
    return 0;
}

static bool any_known(const double *values, size_t n) {
    for (size_t i = 0; i < n; i++)
        if (!isnan(values[i]))
            return true;
    return false;
}

int comparison_init_row(struct comparison_row *row, const struct comparison *c) {
    row->value = calloc(c->n + 1, sizeof *row->value);
    row->difference = calloc(c->n + 1, sizeof *row->difference);
    row->judgement = calloc(c->n + 1, sizeof *row->judgement);
    row->groups = calloc(c->n_groups + 1, sizeof *row->groups);
    return row->label && row->value && row->difference && row->judgement && row->groups ? 0
                                                                                        : -ENOMEM;
}

/* Takes over row->label. */
struct comparison_row *comparison_add_row(struct comparison *c, struct comparison_row **rows,
                                          size_t *n, const struct comparison_row *row,
                                          const double *values, int *ret_error) {
    struct comparison_row *grown;
    *ret_error = 0;
    if (row->label && !any_known(values, c->n)) {
        free(row->label);
        return NULL;
    }
    grown = realloc(*rows, (*n + 1) * sizeof *grown);
    if (!grown) {
        free(row->label);
        *ret_error = -ENOMEM;
        return NULL;
    }
    *rows = grown;
    struct comparison_row *added = &grown[(*n)++];
    *added = *row;
    *ret_error = comparison_init_row(added, c);
    for (size_t i = 0; *ret_error == 0 && i < c->n; i++) {
        added->value[i] = values[i];
        added->difference[i] = i == c->baseline ? NAN : values[i] - values[c->baseline];
    }
    return *ret_error ? NULL : added;
}
