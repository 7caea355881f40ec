/* SPDX-License-Identifier: MIT */
/* `chokepoint rename` and `chokepoint note`: the name of a run, and comments on it. */
#include "cli/base/edit.h"
#include "cli/base/options.h"
#include "cli/base/report.h"
#include "cli/base/verb.h"
#include "common/error.h"

#include <stdio.h>
#include <string.h>

static const char rename_usage[] =
    "usage: chokepoint rename RUN NAME [--db FILE]\n"
    "\n"
    "Gives a run another name. RUN is its number, its name (the newest of that name), `last`\n"
    "or `last~N`.\n"
    "\n";

static const char note_usage[] =
    "usage: chokepoint note RUN TEXT [--db FILE]\n"
    "\n"
    "Writes a note on a run, which `list` and `report` show. RUN is its number, its name (the\n"
    "newest of that name), `last` or `last~N`. Notes are added to those that are there.\n"
    "\n";

typedef int change_run(struct store *store, int64_t run, const char *text);

typedef void say_change(const struct store_run *run, const char *text);

static void say_renamed(const struct store_run *run, const char *text) {
    verb_tell("run %lld, '%s', is called '%s' now", (long long)run->id, run->name, text);
}

static void say_noted(const struct store_run *run, const char *text) {
    verb_tell("run %lld, '%s', has the note '%s'", (long long)run->id, run->name, text);
}

static int change(const char *verb, const char *database, const char *which, const char *text,
                  change_run *to, say_change *say) {
    struct store *store;
    struct store_run run;
    int status = edit_open(verb, database, &store);
    if (status)
        return status;
    status = edit_find(verb, store, database, which, &run);
    if (status == 0) {
        int r = to(store, run.id, text);
        if (r < 0)
            status = edit_cannot_write(verb, store, database, r);
        else
            say(&run, text);
        store_run_release(&run);
    }
    store_close(store);
    return status;
}

static int read_and_change(const char *verb, const char *help, const char *usage, int argc,
                           char **argv, change_run *to, say_change *say) {
    const char *database = REPORT_DATABASE;
    const struct option_row rows[] = {VERB_DATABASE(&database)};
    const struct option_table table = {help, rows, ARRAY_SIZE(rows), NULL, 6, 17, false};
    char **rest;
    int r = verb_words_read(verb, &table, argc, argv, &rest);
    if (r == 0 && (!rest[0] || !rest[1]))
        r = verb_refuse(verb, "a word is missing", NULL, usage);
    else if (r == 0 && rest[2])
        r = verb_refuse(verb, "one word too many:", rest[2], usage);
    else if (r == 0 && !rest[1][strspn(rest[1], " \t\n")])
        r = verb_refuse(verb, "an empty text", rest[1], usage);
    return r ? verb_words_status(r) : change(verb, database, rest[0], rest[1], to, say);
}

static int rename_main(int argc, char **argv) {
    return read_and_change("rename", rename_usage, "chokepoint rename RUN NAME", argc, argv,
                           store_run_rename, say_renamed);
}

static int note_main(int argc, char **argv) {
    return read_and_change("note", note_usage, "chokepoint note RUN 'TEXT'", argc, argv,
                           store_run_comment, say_noted);
}

const struct verb verb_rename = {
    .name = "rename", .help = "give a run another name", .main = rename_main, .takes_runs = true};
const struct verb verb_note = {
    .name = "note", .help = "write a note on a run", .main = note_main, .takes_runs = true};
