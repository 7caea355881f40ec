/* SPDX-License-Identifier: MIT */
/* Groups of runs. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "reports/comparison/comparison_private.h"

#define LABEL_MAX 40

static bool are_repeats(const struct report *a, const struct report *b) {
    return strcmp(a->run_name, b->run_name) == 0 && strcmp(a->command, b->command) == 0;
}

static void group_by_name(struct comparison *c) {
    for (size_t i = 0; i < c->n; i++) {
        size_t k = 0;
        while (k < i && !are_repeats(c->runs[k], c->runs[i]))
            k++;
        c->group_of[i] = k < i ? c->group_of[k] : c->n_groups++;
    }
}

static bool ended_well(const struct report *report) {
    return strcmp(report->state, "done") == 0;
}

bool comparison_counts(const struct comparison *c, size_t run) {
    const struct comparison_group *group = &c->groups[c->group_of[run]];
    return group->counted == 0 || ended_well(c->runs[run]);
}

static size_t runs_no_longer(const struct comparison *c, const struct comparison_group *group,
                             double duration_s) {
    size_t n = 0;
    for (size_t i = 0; i < group->n; i++)
        n += comparison_counts(c, group->runs[i]) &&
             c->runs[group->runs[i]]->duration_s <= duration_s;
    return n;
}

/* The shortest run that at least half of them do not exceed. */
static size_t typical_run(const struct comparison *c, const struct comparison_group *group) {
    size_t half = ((group->counted ? group->counted : group->n) + 1) / 2, best = SIZE_MAX;
    for (size_t i = 0; i < group->n; i++) {
        size_t run = group->runs[i];
        double s = c->runs[run]->duration_s;
        if (comparison_counts(c, run) && runs_no_longer(c, group, s) >= half &&
            (best == SIZE_MAX || s < c->runs[best]->duration_s))
            best = run;
    }
    return best == SIZE_MAX ? group->runs[0] : best;
}

static bool name_is_taken(const struct comparison *c, size_t group, const char *name) {
    for (size_t g = 0; g < c->n_groups; g++)
        if (g != group && strcmp(c->runs[c->groups[g].runs[0]]->run_name, name) == 0)
            return true;
    return false;
}

static int fill_group(struct comparison *c, size_t g) {
    struct comparison_group *group = &c->groups[g];
    group->runs = calloc(c->n + 1, sizeof *group->runs);
    if (!group->runs)
        return -ENOMEM;
    for (size_t i = 0; i < c->n; i++)
        if (c->group_of[i] == g) {
            group->runs[group->n++] = i;
            group->counted += ended_well(c->runs[i]);
        }
    return group->n ? 0 : -EINVAL;
}

static int label_group(struct comparison *c, size_t g) {
    struct comparison_group *group = &c->groups[g];
    const struct report *first = c->runs[group->runs[0]];
    if (name_is_taken(c, g, first->run_name))
        group->label = text_format("%.*s (%lld%s)", LABEL_MAX, first->run_name,
                                   (long long)first->run_id, group->n > 1 ? "..." : "");
    else
        group->label = text_format("%.*s", LABEL_MAX, first->run_name);
    group->typical = typical_run(c, group);
    return group->label ? 0 : -ENOMEM;
}

int comparison_fill_groups(struct comparison *c, const size_t *group_of, size_t baseline) {
    int result = 0;
    c->group_of = calloc(c->n + 1, sizeof *c->group_of);
    if (!c->group_of)
        return -ENOMEM;
    if (!group_of)
        group_by_name(c);
    for (size_t i = 0; group_of && i < c->n; i++) {
        c->group_of[i] = group_of[i];
        c->n_groups = group_of[i] >= c->n_groups ? group_of[i] + 1 : c->n_groups;
    }
    c->groups = calloc(c->n_groups + 1, sizeof *c->groups);
    if (!c->groups)
        return -ENOMEM;
    for (size_t g = 0; result == 0 && g < c->n_groups; g++)
        result = fill_group(c, g);
    for (size_t g = 0; result == 0 && g < c->n_groups; g++)
        result = label_group(c, g);
    c->baseline_group = c->group_of[baseline];
    c->baseline = result == 0 ? c->groups[c->baseline_group].runs[0] : 0;
    return result;
}
