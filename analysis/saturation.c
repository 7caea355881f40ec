/* SPDX-License-Identifier: MIT */
#include "analysis/saturation.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/stats.h"

/* A phase shorter than this has too few samples to be judged alone. */
#define GROUP_MIN_NS INT64_C(2000000000)

typedef int survey(const struct scene *scene, size_t group, struct candidates *candidates);
static survey *const surveys[] = {saturation_cpu, saturation_steal, saturation_disk,
                                  saturation_memory, saturation_network};

struct candidate *candidates_add(struct candidates *candidates, const struct candidate *candidate) {
    if (candidates->n == candidates->capacity) {
        size_t capacity = candidates->capacity ? 2 * candidates->capacity : 8;
        struct candidate *items = realloc(candidates->items, capacity * sizeof *items);
        if (!items)
            return NULL;
        candidates->items = items;
        candidates->capacity = capacity;
    }
    struct candidate *added = &candidates->items[candidates->n++];
    *added = *candidate;
    return added;
}

static double weight(const struct candidate *candidate) {
    return candidate->run_share * (candidate->supply ? 1 : UNSUPPLIED_WEIGHT);
}

static int compare(const void *a, const void *b) {
    double x = weight(a), y = weight(b);
    return (x < y) - (x > y);
}

/* Of candidates of one host and resource in several phases the greatest stays. */
static void drop_repeats(struct candidates *candidates) {
    size_t kept = 0;
    for (size_t i = 0; i < candidates->n; i++) {
        struct candidate *c = &candidates->items[i];
        size_t k = 0;
        while (k < kept && (candidates->items[k].host != c->host ||
                            strcmp(candidates->items[k].resource, c->resource) != 0))
            k++;
        if (k == kept) {
            candidates->items[kept++] = *c;
            continue;
        }
        free(c->cause);
        text_list_release(&c->evidence);
        text_list_release(&c->against);
    }
    candidates->n = kept;
}

static int survey_all(const struct scene *scene, struct candidates *found) {
    int result = arithmetic_make(scene, &found->arithmetic, &found->n_arithmetic);
    double run_ns = (double)windows_length(phase_windows(&scene->groups[0]));
    for (size_t g = scene->n_groups > 1 ? 1 : 0; result == 0 && g < scene->n_groups; g++) {
        size_t first = found->n;
        int64_t length = windows_length(phase_windows(&scene->groups[g]));
        if (length < GROUP_MIN_NS && g > 0)
            continue;
        for (size_t s = 0; result == 0 && s < sizeof surveys / sizeof *surveys; s++)
            result = surveys[s](scene, g, found);
        for (size_t i = first; i < found->n; i++)
            found->items[i].run_share = found->items[i].blocked * (double)length / run_ns;
    }
    return result;
}

int saturation_find(const struct scene *scene, struct candidates *ret_candidates) {
    struct candidates found = {0};
    int result = survey_all(scene, &found);
    for (size_t i = 0; result == 0 && i < found.n; i++) {
        const struct candidate *c = &found.items[i];
        result = c->cause ? c->evidence.error + c->against.error : -ENOMEM;
    }
    if (result < 0) {
        candidates_release(&found);
        return result;
    }
    if (found.n)
        qsort(found.items, found.n, sizeof *found.items, compare);
    drop_repeats(&found);
    *ret_candidates = found;
    return 0;
}

void candidates_release(struct candidates *candidates) {
    for (size_t i = 0; i < candidates->n; i++) {
        free(candidates->items[i].cause);
        text_list_release(&candidates->items[i].evidence);
        text_list_release(&candidates->items[i].against);
    }
    free(candidates->items);
    free(candidates->arithmetic);
    text_list_release(&candidates->ruled_out);
    *candidates = (struct candidates){0};
}

double candidate_blocked(const struct candidate *candidate, struct windows windows) {
    double share = candidate->factor * rate_mean(candidate->signal, windows);
    return share > 1 ? 1 : share;
}

/* Without ranks: a host's processes together keep it busy at most all the time. */
static size_t hosts_busy(const struct scene *scene, size_t group, double *shares) {
    size_t n = 0;
    for (size_t h = 0; h < scene->n_hosts; h++) {
        double cpu = scene_mean(scene, (int)h, METRIC_JOB_CPU, group);
        double queue = scene_mean(scene, (int)h, METRIC_JOB_RUN_QUEUE, group);
        if (!isnan(cpu))
            shares[n++] = fmin(1, (cpu + (isnan(queue) ? 0 : queue)) / 100);
    }
    return n;
}

const struct budget *saturation_budget(const struct scene *scene,
                                       const struct scene_process *process, size_t group) {
    int64_t pid =
        series_last(&scene->recording->tables[RECORDING_PROCESS], process->series, PROCESS_PID);
    return rank_budget_trusted(&scene->budgets, process->host, pid, group);
}

static double term(const struct budget *budget, enum budget_term which) {
    return isnan(budget->term_s[which]) ? 0 : budget->term_s[which];
}

/* Outside MPI, running or wanting to. */
static double busy_share(const struct budget *b) {
    return (term(b, BUDGET_CPU) + term(b, BUDGET_RUN_QUEUE) + term(b, BUDGET_QUOTA)) / b->wall_s;
}

double ranks_busy(const struct scene *scene, size_t group) {
    struct windows windows = phase_windows(&scene->groups[group]);
    double *shares = malloc((scene->n_processes + scene->n_hosts + 1) * sizeof *shares);
    size_t n = 0;
    for (size_t p = 0; shares && p < scene->n_processes; p++) {
        const struct scene_process *process = &scene->processes[p];
        if (!process->job || process->rank < 0)
            continue;
        struct process_use use = scene_process_use(scene, process, windows);
        const struct budget *budget = saturation_budget(scene, process, group);
        double share = (use.cpu_s + (isnan(use.run_queue_s) ? 0 : use.run_queue_s)) / use.wall_s;
        if (budget)
            share = busy_share(budget);
        if (!isnan(share))
            shares[n++] = share;
    }
    if (shares && !n)
        n = hosts_busy(scene, group, shares);
    double busy = stats_median(shares, n);
    free(shares);
    return busy;
}
