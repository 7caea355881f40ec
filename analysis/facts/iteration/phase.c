/* SPDX-License-Identifier: MIT */
#include "analysis/facts/iteration/phase.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/number.h"

/* Sorts marks by rank; programs without ranks come last. */
static int compare_owners(const struct mark *a, const struct mark *b) {
    int x = a->rank < 0 ? INT_MAX : a->rank, y = b->rank < 0 ? INT_MAX : b->rank;
    if (x != y)
        return x < y ? -1 : 1;
    if (a->host != b->host)
        return a->host < b->host ? -1 : 1;
    return (a->pid > b->pid) - (a->pid < b->pid);
}

/* Sorts by time; of two marks of one phase, the complete one comes first. */
static int compare_phase_marks(const void *a, const void *b) {
    const struct mark *x = a, *y = b;
    if (x->start_ns != y->start_ns)
        return x->start_ns < y->start_ns ? -1 : 1;
    return (x->duration_ns == VALUE_ABSENT) - (y->duration_ns == VALUE_ABSENT);
}

static bool is_phase(const struct mark *mark) {
    return mark->kind == MARK_PHASE && mark->name[0];
}

static size_t collect(const struct recording *recording, struct mark *to) {
    const struct mark *owner = NULL;
    size_t n = 0;
    for (size_t i = 0; i < recording->n_marks; i++)
        if (is_phase(&recording->marks[i]) &&
            (!owner || compare_owners(&recording->marks[i], owner) < 0))
            owner = &recording->marks[i];
    for (size_t i = 0; owner && i < recording->n_marks; i++)
        if (is_phase(&recording->marks[i]) && compare_owners(&recording->marks[i], owner) == 0)
            to[n++] = recording->marks[i];
    qsort(to, n, sizeof *to, compare_phase_marks);
    return n;
}

static int64_t mark_end(const struct mark *mark, const struct mark *next, int64_t duration_ns) {
    int64_t end = mark->duration_ns != VALUE_ABSENT ? mark->start_ns + mark->duration_ns
                  : next                            ? next->start_ns
                                                    : duration_ns;
    if (next && end > next->start_ns)
        end = next->start_ns;
    return end < duration_ns ? end : duration_ns;
}

int phases_from_marks(const struct recording *recording, struct phase **ret_phases, size_t *ret_n) {
    struct mark *marks = malloc((recording->n_marks + 1) * sizeof *marks);
    struct phase *phases = malloc((recording->n_marks + 1) * sizeof *phases);
    if (!marks || !phases) {
        free(marks);
        free(phases);
        return -ENOMEM;
    }
    size_t n_marks = collect(recording, marks), n = 0, next;
    for (size_t i = 0; i < n_marks; i = next) {
        for (next = i + 1; next < n_marks && marks[next].start_ns == marks[i].start_ns; next++)
            ;
        struct phase phase = {.begin_ns = marks[i].start_ns > 0 ? marks[i].start_ns : 0};
        phase.end_ns =
            mark_end(&marks[i], next < n_marks ? &marks[next] : NULL, recording->duration_ns);
        memcpy(phase.name, marks[i].name, sizeof phase.name);
        if (phase.end_ns > phase.begin_ns)
            phases[n++] = phase;
    }
    free(marks);
    *ret_phases = phases;
    *ret_n = n;
    return 0;
}

int compare_windows(const void *a, const void *b) {
    const struct window *x = a, *y = b;
    return (x->begin_ns > y->begin_ns) - (x->begin_ns < y->begin_ns);
}

static struct phase_group *find_group(struct phase_group *groups, size_t n, const char *name) {
    for (size_t i = 1; i < n; i++)
        if (strcmp(groups[i].name, name) == 0)
            return &groups[i];
    return NULL;
}

/* Makes room for all phases in each group, since a run has few names. */
static int group_begin(struct phase_group *group, const char *name, size_t room) {
    *group = (struct phase_group){.items = malloc(room * sizeof *group->items)};
    strncpy(group->name, name, sizeof group->name - 1);
    return group->items ? 0 : -ENOMEM;
}

/* Makes a group of the time outside all phases (which are in order and disjoint) if it is long
 * enough to be judged and to be worth naming; otherwise the group is empty.
 */
static int group_outside(const struct phase *phases, size_t n, int64_t duration_ns,
                         const struct judge *judge, struct phase_group *group) {
    int result = group_begin(group, PHASE_OUTSIDE, n + 1);
    int64_t until = 0;
    for (size_t i = 0; result == 0 && i <= n; i++) {
        int64_t begin = i < n ? phases[i].begin_ns : duration_ns;
        if (begin > until)
            group->items[group->n++] = (struct window){until, begin};
        until = i < n ? phases[i].end_ns : duration_ns;
    }
    int64_t length = windows_length(phase_windows(group));
    if (length < number_by(judge, GROUP_MIN_NS) ||
        (double)length < number_by(judge, GAIN_MIN) * (double)duration_ns)
        group->n = 0;
    return result;
}

int phase_groups_make(const struct phase *phases, size_t n, int64_t duration_ns,
                      const struct judge *judge, struct phase_group **ret_groups, size_t *ret_n) {
    struct phase_group *groups = calloc(n + 2, sizeof *groups);
    size_t n_groups = 0;
    int result = groups ? group_begin(&groups[n_groups++], "all", 1) : -ENOMEM;
    if (result == 0)
        groups[0].items[groups[0].n++] = (struct window){0, duration_ns};
    for (size_t i = 0; result == 0 && i < n; i++) {
        struct phase_group *group = find_group(groups, n_groups, phases[i].name);
        if (!group) {
            group = &groups[n_groups++];
            result = group_begin(group, phases[i].name, n - i);
        }
        if (result == 0)
            group->items[group->n++] = (struct window){phases[i].begin_ns, phases[i].end_ns};
    }
    if (result == 0 && n) {
        result = group_outside(phases, n, duration_ns, judge, &groups[n_groups]);
        bool kept = result < 0 || groups[n_groups].n;
        if (!kept)
            free(groups[n_groups].items);
        n_groups += kept;
    }
    if (result < 0) {
        phase_groups_free(groups, n_groups);
        return result;
    }
    *ret_groups = groups;
    *ret_n = n_groups;
    return 0;
}

void phase_groups_free(struct phase_group *groups, size_t n) {
    for (size_t i = 0; groups && i < n; i++)
        free(groups[i].items);
    free(groups);
}
