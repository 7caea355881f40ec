/* SPDX-License-Identifier: MIT */
/*
 * Repeats: runs of one name with the same command, whether `run --repeat` made them in succession
 * or a script made them in turn with other runs.
 */
#include "collector/store_private.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "collector/store_read.h"
#include "common/error.h"
#include "common/text.h"

/* Whether the word matched a run's name, and not its number or position. */
static bool found_by_name(const char *which, const struct store_run *run) {
    uint64_t number;
    return strcmp(which, run->name) == 0 &&
           !(text_parse_u64(which, &number) == 0 && number == (uint64_t)run->id) &&
           strcmp(which, "last") != 0 && strncmp(which, "last~", 5) != 0;
}

/* Keeps the runs of that name and command in their order. Returns their number. */
static size_t keep_repeats(struct store_run *runs, size_t n, const struct store_run *of,
                           size_t *ret_others) {
    size_t kept = 0;
    *ret_others = 0;
    for (size_t i = 0; i < n; i++) {
        bool same_name = strcmp(runs[i].name, of->name) == 0;
        bool started = runs[i].state != RUN_NOT_STARTED;
        if (started && same_name && strcmp(runs[i].command, of->command) == 0) {
            runs[kept++] = runs[i];
            continue;
        }
        *ret_others += started && same_name;
        store_run_release(&runs[i]);
    }
    return kept;
}

int store_find_repeats(struct store *store, const char *which, struct store_run **ret_runs,
                       size_t *ret_n, size_t *ret_others) {
    struct store_run newest, *runs;
    size_t n = 0;
    int r = store_find_run(store, which, &newest);
    if (r)
        return r;
    if (found_by_name(which, &newest)) {
        r = store_list_runs(store, &runs, &n);
        if (r == 0)
            *ret_n = keep_repeats(runs, n, &newest, ret_others);
        store_run_release(&newest);
    } else if ((runs = malloc(sizeof *runs))) {
        *runs = newest;
        *ret_n = 1;
        *ret_others = 0;
    } else {
        store_run_release(&newest);
        r = -ENOMEM;
    }
    if (r == 0)
        *ret_runs = runs;
    return r;
}
