/* SPDX-License-Identifier: MIT */
#include "cli/base/listing.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "collector/store_edit.h"
#include "collector/store_verdict.h"
#include "common/clock.h"
#include "common/error.h"

static const char *state_name(enum run_state state) {
    static const char *const names[] = {"unfinished", "done",        "failed",
                                        "killed",     "interrupted", "not-started"};
    return names[state];
}

static int count_hosts(struct store *store, int64_t run, size_t *ret_n) {
    struct store_host *hosts;
    int r = store_list_hosts(store, run, &hosts, ret_n);
    if (r == 0)
        store_hosts_free(hosts, *ret_n);
    return r;
}

/* Comments come in the order of the runs. */
static void take_notes(struct listing *l, struct listed_run *run) {
    size_t first = 0;
    while (first < l->n_comments && l->comments[first].run != run->id)
        first++;
    run->notes = l->notes + first;
    while (first + run->n_notes < l->n_comments && l->comments[first + run->n_notes].run == run->id)
        run->n_notes++;
}

static int compare_verdicts(const void *a, const void *b) {
    const struct store_verdict *x = a, *y = b;
    return (x->run > y->run) - (x->run < y->run);
}

static void take_limit(const struct listing *l, struct listed_run *run) {
    const struct store_verdict key = {.run = run->id};
    const struct store_verdict *found =
        l->n_verdicts ? bsearch(&key, l->verdicts, l->n_verdicts, sizeof key, compare_verdicts)
                      : NULL;
    run->limit = found ? found->limit : NULL;
    run->confidence = found ? found->confidence : NAN;
    const struct store_use use =
        found ? found->use : (struct store_use){NAN, NAN, NAN, NAN, NAN, NAN};
    run->cores = use.cores;
    run->cores_used = use.cores_used;
    run->memory_gb = use.memory_gb;
    run->memory_peak_gb = use.memory_peak_gb;
    run->gpus = use.gpus;
    run->gpus_used = use.gpus_used;
}

static int describe(struct store *store, struct listing *l, size_t i) {
    const struct store_run *run = &l->runs[i];
    struct listed_run *to = &l->listed[i];
    *to = (struct listed_run){
        .id = run->id,
        .started_wall_ns = run->started_wall_ns,
        .name = run->name,
        .command = run->command,
        .state = state_name(run->state),
        .exit_status = run->exit_status,
        .duration_s = run->state == RUN_NOT_STARTED ? NAN : (double)run->duration_ns / NS_PER_S,
        .n_hosts_expected = run->n_hosts_expected,
        .repeat = run->repeat,
        .repeats = run->repeats,
        .group = run->group};
    take_notes(l, to);
    take_limit(l, to);
    return count_hosts(store, run->id, &to->n_hosts);
}

int listing_load(struct store *store, struct listing *l) {
    int r = store_list_runs(store, &l->runs, &l->n);
    if (r == 0)
        r = store_list_comments(store, 0, &l->comments, &l->n_comments);
    if (r == 0)
        r = store_list_verdicts(store, &l->verdicts, &l->n_verdicts);
    if (r)
        return r;
    l->listed = calloc(l->n + 1, sizeof *l->listed);
    l->notes = calloc(l->n_comments + 1, sizeof *l->notes);
    if (!l->listed || !l->notes)
        return -ENOMEM;
    for (size_t i = 0; i < l->n_comments; i++)
        l->notes[i] = l->comments[i].text;
    for (size_t i = 0; i < l->n && r == 0; i++)
        r = describe(store, l, i);
    return r;
}

void listing_release(struct listing *l) {
    free(l->listed);
    free(l->notes);
    store_comments_free(l->comments, l->n_comments);
    store_verdicts_free(l->verdicts, l->n_verdicts);
    store_runs_free(l->runs, l->n);
}
