/* SPDX-License-Identifier: MIT */
/*
 * `chokepoint list`: the runs in a database, oldest first. A run whose end was never written is
 * "unfinished": it is running now, or its recorder was killed; the file cannot tell.
 */
#include "cli/base/listing.h"
#include "cli/base/options.h"
#include "cli/base/report.h"
#include "cli/base/verb.h"
#include "cli/list/list_text.h"
#include "common/error.h"
#include "reports/formats/formats.h"

#include <stdio.h>
#include <string.h>

static const char usage[] =
    "usage: chokepoint list [-v] [--db FILE] [--format FORMAT]\n"
    "\n"
    "Lists the runs in a database: number, name, which repeat of it, start, duration,\n"
    "hosts that were recorded (of those expected), how it ended, command, the limit\n"
    "that was found when it had ended, notes.\n"
    "\n";

/* format NULL: text. */
static int list(const char *database, const struct format *format, bool whole) {
    struct store *store;
    struct listing l = {0};
    int status = report_open_database("list", database, &store);
    if (status)
        return status;
    int r = listing_load(store, &l);
    if (r < 0)
        status = report_cannot_read("list", store, database, r);
    else if (format)
        status = runs_write(l.listed, l.n, format, stdout) < 0;
    else if (l.n)
        status = list_print(l.listed, l.n, whole) < 0;
    else
        verb_complain("list", "%s has no runs yet", database);
    listing_release(&l);
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
