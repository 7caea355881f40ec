/* SPDX-License-Identifier: MIT */
/*
 * `chokepoint rm RUN...`: removes runs from a database. All words are looked up before anything is
 * removed, and a name of several runs is refused: a report of a wrong run can be repeated, a
 * removal cannot.
 */
#include "cli/base/edit.h"
#include "cli/base/options.h"
#include "cli/base/report.h"
#include "cli/base/verb.h"
#include "common/error.h"
#include "common/text.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char usage[] =
    "usage: chokepoint rm [-f] [--db FILE] RUN...\n"
    "\n"
    "Removes runs with all that was recorded of them, and gives their space back. RUN is a "
    "number,\n"
    "`last`, `last~N`, or a name that one run alone has. A run that is being recorded is refused.\n"
    "\n";

struct removal {
    const char *database;
    bool force;
    struct store *store;
    struct store_run *runs; /* owned */
    size_t n;
};

static bool is_there(const struct removal *rm, int64_t id) {
    for (size_t i = 0; i < rm->n; i++)
        if (rm->runs[i].id == id)
            return true;
    return false;
}

static int find_one(struct removal *rm, const char *which) {
    struct store_run *runs;
    size_t n = 0, others = 0;
    int r = store_find_repeats(rm->store, which, &runs, &n, &others);
    if (r < 0)
        return report_cannot_read_run("rm", rm->store, rm->database, which, r);
    if (n + others > 1) {
        verb_complain("rm", "'%s' stands for %zu runs; give numbers, which `chokepoint list` shows",
                      which, n + others);
        store_runs_free(runs, n);
        return EXIT_USAGE;
    }
    if (n == 1 && !is_there(rm, runs[0].id)) {
        rm->runs[rm->n++] = runs[0];
        free(runs);
    } else {
        store_runs_free(runs, n);
    }
    return 0;
}

/* A recorder has the database open; only that tells a run in progress from one whose recorder was
 * killed. */
static int check_running(const struct removal *rm) {
    for (size_t i = 0; i < rm->n; i++)
        if (rm->runs[i].state == RUN_RUNNING && !store_is_alone(rm->store)) {
            verb_complain("rm",
                          "run %" PRId64 " has no end, and another program has %s open: it "
                          "may be being recorded; try again when that has ended",
                          rm->runs[i].id, rm->database);
            return EXIT_USAGE;
        }
    return 0;
}

static void print_name(const struct store_run *run) {
    char name[INSTANCE_MAX + 1];
    text_sanitize(name, sizeof name, run->name, strlen(run->name));
    fprintf(stderr, "%" PRId64 " '%s'", run->id, name);
}

static bool agrees(const struct removal *rm) {
    char answer[16] = "";
    if (rm->force || !isatty(STDIN_FILENO))
        return true;
    fputs("chokepoint rm: remove ", stderr);
    for (size_t i = 0; i < rm->n; i++) {
        fputs(i == 0 ? "run " : ", ", stderr);
        print_name(&rm->runs[i]);
    }
    fputs("? [y/N] ", stderr);
    return fgets(answer, sizeof answer, stdin) && (answer[0] == 'y' || answer[0] == 'Y');
}

/* Removed rows leave free pages, which later runs fill: it does no harm if they stay. */
static void give_space_back(const struct removal *rm) {
    int64_t bytes = 0;
    int r = store_free_bytes(rm->store, &bytes);
    if (r == 0 && bytes == 0)
        return;
    r = store_compact(rm->store);
    if (r < 0)
        verb_complain("rm",
                      "%.1f MB in %s are free for later runs and not given back: %s; the next "
                      "`rm` tries again",
                      (double)bytes / 1e6, rm->database,
                      r == -EBUSY ? "another program has it open" : strerror(-r));
}

static int remove_runs(const struct removal *rm) {
    for (size_t i = 0; i < rm->n; i++) {
        int r = store_run_remove(rm->store, rm->runs[i].id);
        if (r < 0)
            return edit_cannot_write("rm", rm->store, rm->database, r);
        verb_tell("removed run %" PRId64 ", '%s'", rm->runs[i].id, rm->runs[i].name);
    }
    give_space_back(rm);
    return 0;
}

static int rm_all(struct removal *rm, char **which) {
    int status = edit_open("rm", rm->database, &rm->store);
    for (size_t i = 0; status == 0 && which[i]; i++)
        status = find_one(rm, which[i]);
    if (status == 0)
        status = check_running(rm);
    if (status == 0)
        status = agrees(rm) ? remove_runs(rm) : 1;
    store_close(rm->store);
    return status;
}

static int rm_main(int argc, char **argv) {
    struct removal rm = {.database = REPORT_DATABASE};
    const struct option_row rows[] = {
        {"-f, --force", "do not ask; otherwise asks where standard input is a terminal",
         .flag = &rm.force},
        VERB_DATABASE(&rm.database),
    };
    const struct option_table table = {usage, rows, ARRAY_SIZE(rows), NULL, 6, 17, false};
    char **rest;
    int r = verb_words_read("rm", &table, argc, argv, &rest);
    if (r == 0 && !rest[0])
        r = verb_refuse("rm", "no run is named", NULL, "chokepoint rm RUN...");
    if (r)
        return verb_words_status(r);
    rm.runs = calloc((size_t)argc, sizeof *rm.runs);
    if (!rm.runs)
        return verb_complain("rm", "out of memory"), 1;
    int status = rm_all(&rm, rest);
    store_runs_free(rm.runs, rm.n);
    return status;
}

const struct verb verb_rm = {
    .name = "rm", .help = "remove runs from a database", .main = rm_main, .takes_runs = true};
