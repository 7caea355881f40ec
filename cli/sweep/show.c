/* SPDX-License-Identifier: MIT */
/* Reading sweeps back and writing them in one of the formats: `chokepoint sweep report`. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/options.h"
#include "cli/output.h"
#include "cli/report.h"
#include "cli/sweep/sweep.h"
#include "cli/verb.h"
#include "common/error.h"

#define MEASURES "time,accuracy,examples"
#define TABLES "grid,verdicts"

static const char help[] =
    "usage: chokepoint sweep report [NAME] [--db FILE] [--measure M,...] [--table T,...]\n"
    "                               [--format FORMAT] [-o PATH]\n"
    "\n"
    "Shows a sweep: figures and verdicts by its first two parameters. NAME: default the\n"
    "last one. Figures are medians over the repeats of a cell.\n"
    "\n"
    "  --db FILE          default: ./chokepoint.db\n"
    "  --measure M,...    time, training, accuracy, examples, updates, iteration, staleness,\n"
    "                     cpu, recv, send, disk-read, disk-write, to:PERCENT (time to that\n"
    "                     accuracy), last:NAME (last marked value); default:\n"
    "                     time,accuracy,examples\n"
    "  --table T,...      grid, verdicts, hosts, job, peaks, roles, operators, arithmetic,\n"
    "                     pace, curves; default: grid,verdicts\n"
    "  --format FORMAT    text, md, html, csv or json; default: by the ending of PATH,\n"
    "                     else text\n"
    "  -o, --output PATH  write there; a file that exists is replaced when all is written\n";

/* ---- words with commas ---- */

int sweep_words_read(const char *text, const char *what, bool (*is_good)(const char *),
                     const char *good, struct sweep_words *ret_words) {
    struct sweep_words words = {.copy = strdup(text)};
    char *rest = NULL;
    if (!words.copy)
        return verb_complain("sweep", "out of memory"), -ENOMEM;
    for (char *word = strtok_r(words.copy, ",", &rest); word; word = strtok_r(NULL, ",", &rest)) {
        if (words.n == SWEEP_WORDS_MAX || !is_good(word)) {
            if (words.n == SWEEP_WORDS_MAX)
                verb_complain("sweep", "more than %d words of a --%s", SWEEP_WORDS_MAX, what);
            else
                verb_complain("sweep", "unknown %s '%s'; there are %s", what, word, good);
            sweep_words_release(&words);
            return -EINVAL;
        }
        words.items[words.n++] = word;
    }
    if (!words.n) {
        verb_complain("sweep", "no %s is named; there are %s", what, good);
        sweep_words_release(&words);
        return -EINVAL;
    }
    *ret_words = words;
    return 0;
}

void sweep_words_release(struct sweep_words *words) {
    free(words->copy);
    *words = (struct sweep_words){0};
}

/* ---- one sweep ---- */

struct shown {
    struct sweep *sweep;
    struct sweep_tables tables;
};

static int build(struct store *store, const struct sweep_view *view, struct shown *shown) {
    struct sweep_words measures, tables;
    if (sweep_words_read(view->measures ? view->measures : MEASURES, "measure", sweep_is_measure,
                         sweep_measure_words, &measures) < 0)
        return -EINVAL;
    if (sweep_words_read(view->tables ? view->tables : TABLES, "table", sweep_is_table,
                         sweep_table_words, &tables) < 0)
        return sweep_words_release(&measures), -EINVAL;
    int result = sweep_build(store, view->name, measures.items, measures.n, &shown->sweep);
    for (size_t i = 0; result == 0 && i < tables.n; i++)
        result = sweep_tables_add(&shown->tables, shown->sweep, tables.items[i], view->hosts_max);
    for (size_t i = 0; result == 0 && i < view->n_theirs; i++) {
        const struct sweep_theirs *t = &view->theirs[i];
        result =
            sweep_tables_put_beside(&shown->tables, t->table, t->of, t->row, t->column, t->text);
    }
    sweep_words_release(&measures);
    sweep_words_release(&tables);
    return result;
}

static int build_or_say(struct store *store, const char *database, const struct sweep_view *view,
                        struct shown *shown) {
    int result = build(store, view, shown);
    if (result == -ENOENT && view->name)
        verb_complain("sweep", "no sweep '%s' in %s; `chokepoint sweep -n %s ...` makes one",
                      view->name, database, view->name);
    else if (result == -ENOENT)
        verb_complain("sweep", "no sweep in %s yet; `chokepoint sweep --help` tells more",
                      database);
    else if (result == -EOVERFLOW)
        verb_complain("sweep", "the sweep has more than %d cells", SWEEP_CELLS_SHOWN_MAX);
    else if (result < 0 && result != -EINVAL)
        return report_cannot_read("sweep", store, database, result);
    return result == 0 ? 0 : result == -ENOENT || result == -EINVAL ? EXIT_USAGE : 1;
}

/* ---- all of them ---- */

static int write_to(sweep_writer *write, const struct sweep_section *sections, size_t n,
                    const char *path, FILE *out) {
    struct output output;
    if (!path && out)
        return write(sections, n, out) < 0 ? 1 : 0;
    int result = output_open(&output);
    if (result == 0)
        result = output_close(&output, path, write(sections, n, output.file));
    return result < 0 ? report_cannot_write("sweep", path, result) : 0;
}

static sweep_writer *choose_writer(const char *format, const char *path) {
    const struct report_format *found = report_choose_format("sweep", format, path);
    sweep_writer *write = found ? sweep_find_writer(found->name) : NULL;
    if (found && !write)
        verb_complain("sweep", "there is no screen of a sweep; formats are text, md, html, csv "
                               "and json");
    return write;
}

static int show(struct store *store, const char *database, const struct sweep_view *views, size_t n,
                sweep_writer *write, const char *path, FILE *out) {
    struct shown *shown = calloc(n + 1, sizeof *shown);
    struct sweep_section *sections = calloc(n + 1, sizeof *sections);
    int status = shown && sections ? 0 : 1;
    for (size_t i = 0; status == 0 && i < n; i++) {
        status = build_or_say(store, database, &views[i], &shown[i]);
        if (status == 0)
            sections[i] =
                (struct sweep_section){views[i].title ? views[i].title : shown[i].sweep->of.name,
                                       views[i].words, shown[i].sweep, &shown[i].tables};
    }
    if (status == 0)
        status = write_to(write, sections, n, path, out);
    for (size_t i = 0; shown && i < n; i++) {
        sweep_tables_free(&shown[i].tables);
        sweep_free(shown[i].sweep);
    }
    free(shown);
    free(sections);
    return status;
}

int sweep_show(const char *database, const struct sweep_view *views, size_t n, const char *format,
               const char *path, FILE *out) {
    struct store *store;
    sweep_writer *write = choose_writer(format, path);
    int status = write ? report_open_database("sweep", database, &store) : EXIT_USAGE;
    if (status)
        return status;
    status = show(store, database, views, n, write, path, out);
    store_close(store);
    return status;
}

int sweep_report_main(int argc, char **argv) {
    struct sweep_view view = {0};
    const char *database = REPORT_DATABASE, *format = NULL, *path = NULL;
    const struct verb_option takes[] = {{"db", 0, &database, NULL},
                                        {"measure", 0, &view.measures, NULL},
                                        {"table", 0, &view.tables, NULL},
                                        {"format", 0, &format, NULL},
                                        {"output", 'o', &path, NULL}};
    const struct verb_words words = {"sweep report", help, takes, ARRAY_SIZE(takes), false};
    char **rest;
    int result = verb_words_read(&words, argc, argv, &rest);
    if (result == 0 && rest[0] && rest[1])
        result = verb_refuse("sweep report", "one sweep at a time; what is", rest[1],
                             "chokepoint sweep report [NAME]");
    if (result)
        return verb_words_status(result);
    view.name = rest[0];
    return sweep_show(database, &view, 1, format, path, NULL);
}
