/* SPDX-License-Identifier: MIT */
/*
 * `chokepoint list`: the runs in a database, oldest first. A run whose end was never written is
 * "unfinished": it is running now, or its recorder was killed; the file cannot tell.
 */
#include "cli/base/options.h"
#include "cli/base/report.h"
#include "cli/base/verb.h"
#include "cli/list/list_text.h"
#include "collector/store_edit.h"
#include "collector/store_verdict.h"
#include "common/clock.h"
#include "common/error.h"
#include "reports/formats/formats.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char usage[] =
    "usage: chokepoint list [-v] [--db FILE] [--format FORMAT]\n"
    "\n"
    "Lists the runs in a database: number, name, which repeat of it, start, duration,\n"
    "hosts that were recorded (of those expected), how it ended, command, the limit\n"
    "that was found when it had ended, notes.\n"
    "\n";

struct listing {
    struct store_run *runs;         /* owned */
    struct store_comment *comments; /* owned; by run */
    struct listed_run *listed;      /* owned; borrows from both */
    struct store_verdict *verdicts; /* owned; by run */
    char **notes;                   /* owned; texts borrowed from comments */
    size_t n, n_comments, n_verdicts;
};

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

static int load(struct store *store, struct listing *l) {
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

static void release(struct listing *l) {
    free(l->listed);
    free(l->notes);
    store_comments_free(l->comments, l->n_comments);
    store_verdicts_free(l->verdicts, l->n_verdicts);
    store_runs_free(l->runs, l->n);
}

/* format NULL: text. */
static int list(const char *database, const struct format *format, bool whole) {
    struct store *store;
    struct listing l = {0};
    int status = report_open_database("list", database, &store);
    if (status)
        return status;
    int r = load(store, &l);
    if (r < 0)
        status = report_cannot_read("list", store, database, r);
    else if (format)
        status = runs_write(l.listed, l.n, format, stdout) < 0;
    else if (l.n)
        status = list_print(l.listed, l.n, whole) < 0;
    else
        verb_complain("list", "%s has no runs yet", database);
    release(&l);
    store_close(store);
    return fflush(stdout) != 0 && status == 0 ? 1 : status;
}

/* 0, or -EINVAL after one line on standard error. */
static int choose_format(const char *name, const struct format **ret_format) {
    *ret_format = strcmp(name, "json") == 0  ? &format_json
                  : strcmp(name, "csv") == 0 ? &format_csv
                                             : NULL;
    return *ret_format || strcmp(name, "text") == 0
               ? 0
               : verb_refuse("list", "unknown format", name, "text, csv or json");
}

static int list_main(int argc, char **argv) {
    const char *database = "./chokepoint.db", *name = "text";
    const struct format *format;
    bool whole = false;
    const struct option_row rows[] = {
        {"-v, --verbose", "whole commands and limits", .flag = &whole},
        VERB_DATABASE(&database),
        {"--format FORMAT", "text (default), csv or json", .text = &name},
    };
    const struct option_table table = {usage, rows, ARRAY_SIZE(rows), NULL, 6, 23, false};
    char **rest;
    int r = verb_words_read("list", &table, argc, argv, &rest);
    if (r == 0 && rest[0])
        r = verb_refuse("list", "one word too many:", rest[0], "chokepoint list [-v] [--db FILE]");
    if (r == 0)
        r = choose_format(name, &format);
    return r ? verb_words_status(r) : list(database, format, whole);
}

const struct verb verb_list = {.name = "list",
                               .help = "list the runs in a database",
                               .main = list_main,
                               .formats = "text csv json"};
