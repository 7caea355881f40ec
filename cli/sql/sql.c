/* SPDX-License-Identifier: MIT */
/* `chokepoint sql`: a query of a database by hand, in which blocks of events are rows. */
#include "cli/sql/sql_rows.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/base/options.h"
#include "cli/base/report.h"
#include "cli/base/verb.h"
#include "common/error.h"

static const char usage[] =
    "usage: chokepoint sql [--db FILE] [--format FORMAT] [QUERY]\n"
    "\n"
    "Prints the rows of a SELECT over a database, which it cannot change. Without QUERY it\n"
    "is read from standard input. Tables and columns: `man chokepoint-metrics`.\n"
    "\n";

#define QUERY_BYTES 65536

struct options {
    const char *database, *query;
    enum sql_format format;
};

static int choose_format(const char *name, enum sql_format *ret_format) {
    static const char *const names[] = {"text", "csv", "json"};
    for (size_t i = 0; i < ARRAY_SIZE(names); i++)
        if (strcmp(names[i], name) == 0)
            return *ret_format = (enum sql_format)i, 0;
    return verb_refuse("sql", "unknown format", name, "text, csv or json");
}

static int read_words(int argc, char **argv, struct options *options) {
    const char *format = "text";
    const struct option_row rows[] = {
        VERB_DATABASE(&options->database),
        {"--format FORMAT", "text (default), csv or json", .text = &format},
    };
    const struct option_table table = {usage, rows, ARRAY_SIZE(rows), NULL, 2, 19, false};
    char **rest;
    *options = (struct options){.database = REPORT_DATABASE};
    int r = verb_words_read("sql", &table, argc, argv, &rest);
    if (r == 0 && rest[0] && rest[1])
        r = verb_refuse("sql", "one query at a time", NULL, "put it in quotes");
    if (r == 0)
        r = choose_format(format, &options->format);
    if (r == 0)
        options->query = rest[0];
    return r;
}

/* The query from standard input, owned; NULL: it is too long, or there is no memory. */
static char *read_query(void) {
    char *text = malloc(QUERY_BYTES + 1);
    size_t n = text ? fread(text, 1, QUERY_BYTES + 1, stdin) : 0;
    if (text && n <= QUERY_BYTES) {
        text[n] = '\0';
        return text;
    }
    free(text);
    return NULL;
}

static int say_failure(struct store *store, const struct options *options, int r, const char *why) {
    if (r == -EINVAL)
        verb_complain("sql", "%s", why);
    else if (r == -ETIME)
        verb_complain("sql", "stopped: the query works longer than this database explains; join"
                             " tables by their keys");
    else if (r == -EPIPE)
        return report_cannot_write("sql", NULL, -EIO);
    else
        return report_cannot_read("sql", store, options->database, r);
    return EXIT_USAGE;
}

static int ask(struct store *store, const struct options *options, const char *query) {
    struct sql_rows *rows;
    struct store_view_reader reader;
    char why[600] = "";
    int r = sql_rows_new(options->format, stdout, &rows, &reader);
    if (r)
        return say_failure(store, options, r, why);
    r = store_query(store, query, &reader, why, sizeof why);
    if (r == 0)
        r = sql_rows_end(rows);
    sql_rows_free(rows);
    return r ? say_failure(store, options, r, why) : 0;
}

static int sql_main(int argc, char **argv) {
    struct options options;
    struct store *store;
    int status = read_words(argc, argv, &options);
    if (status)
        return verb_words_status(status);
    char *read = options.query ? NULL : read_query();
    if (!options.query && !read) {
        verb_complain("sql", "a query of more than 64 KiB");
        return EXIT_USAGE;
    }
    status = report_open_database("sql", options.database, &store);
    if (status == 0) {
        status = ask(store, &options, read ? read : options.query);
        store_close(store);
    }
    free(read);
    return status;
}

const struct verb verb_sql = {.name = "sql", .help = "query a database by hand", .main = sql_main};
