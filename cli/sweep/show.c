/* SPDX-License-Identifier: MIT */
/* Reads sweeps and writes them in one of the formats: `chokepoint sweep report`. */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/base/options.h"
#include "cli/base/output.h"
#include "cli/base/report.h"
#include "cli/base/verb.h"
#include "cli/sweep/references.h"
#include "cli/sweep/sweep.h"
#include "common/error.h"

#define GPU_MEASURES "gpu-sm,gpu-tensor,gpu-dram,gpu-pcie,gpu-power,gpu-energy"
#define MEASURES "time,accuracy,examples," GPU_MEASURES /* those of GPUs where there are some */
#define TABLES "grid,verdicts"

static const char usage[] =
    "usage: chokepoint sweep report [NAME] [--db FILE] [--measure M,...] [--table T,...]\n"
    "                               [--format FORMAT] [-o PATH] [--pictures DIR]\n"
    "\n"
    "Shows a sweep: figures and verdicts by its first two parameters. NAME: default the\n"
    "last one. Figures are medians over the repeats of a cell. Those of a published report\n"
    "stand under ours in a sweep of `chokepoint sweep reference`.\n"
    "\n";

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
    struct sweep_pictures pictures;
};

/* Differences are tested run by run. */
static bool needs_all_runs(const struct sweep_words *tables) {
    for (size_t i = 0; i < tables->n; i++)
        if (strcmp(tables->items[i], "differences") == 0)
            return true;
    return false;
}

/* Only ready sweeps have published figures. */
static int put_theirs(struct sweep_tables *tables, const struct reference *reference) {
    int result = 0;
    for (size_t i = 0; reference && i < reference->n_theirs && result == 0; i++) {
        const struct sweep_theirs *t = &reference->theirs[i];
        result = sweep_tables_put_beside(tables, t->table, t->of, t->row, t->column, t->text);
    }
    return result;
}

static int build(struct store *store, const struct sweep_view *view, struct shown *shown) {
    struct sweep_words measures, tables;
    if (sweep_words_read(view->measures ? view->measures : MEASURES, "measure", sweep_is_measure,
                         sweep_measure_words, &measures) < 0)
        return -EINVAL;
    if (sweep_words_read(view->tables ? view->tables : TABLES, "table", sweep_is_table,
                         sweep_table_words, &tables) < 0)
        return sweep_words_release(&measures), -EINVAL;
    int result = sweep_build(store, view->name, measures.items, measures.n, needs_all_runs(&tables),
                             &shown->sweep);
    for (size_t i = 0; result == 0 && i < tables.n; i++)
        result = sweep_tables_add(&shown->tables, shown->sweep, tables.items[i], view->hosts_max);
    if (result == 0)
        result = put_theirs(&shown->tables, reference_find(shown->sweep->of.name));
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

/* ---- pictures ---- */

int sweep_pictures_directory(const char *verb, const char *directory) {
    struct stat st;
    int result = mkdir(directory, 0777) < 0 && errno != EEXIST ? negative_errno() : 0;
    if (result == 0 && stat(directory, &st) < 0)
        result = negative_errno();
    else if (result == 0 && !S_ISDIR(st.st_mode))
        result = -ENOTDIR;
    else if (result == 0 && access(directory, W_OK | X_OK) < 0)
        result = negative_errno();
    return result < 0 ? report_cannot_write(verb, directory, result) : 0;
}

static int write_picture(const char *directory, const struct sweep_picture *picture) {
    char path[PATH_MAX];
    struct output output;
    int n = snprintf(path, sizeof path, "%s/%s.svg", directory, picture->name);
    int result = n < 0 || (size_t)n >= sizeof path ? -ENAMETOOLONG : output_open(&output);
    if (result < 0)
        return result;
    return output_close(&output, path, fputs(picture->svg, output.file) < 0 ? -EIO : 0);
}

/* Exit status. */
static int write_pictures(const char *directory, const struct sweep_pictures *pictures) {
    int result = 0;
    for (size_t i = 0; i < pictures->n && result == 0; i++)
        if (pictures->items[i].svg)
            result = write_picture(directory, &pictures->items[i]);
        else if (pictures->items[i].why != ENOENT)
            verb_complain("sweep", "no picture '%s': gnuplot failed to draw it",
                          pictures->items[i].caption);
    return result < 0 ? report_cannot_write("sweep", directory, result) : 0;
}

static bool wants_gnuplot(const struct shown *shown, size_t n) {
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < shown[i].pictures.n; k++)
            if (!shown[i].pictures.items[k].svg && shown[i].pictures.items[k].why == ENOENT)
                return true;
    return false;
}

/* The relative path between two directories, given without links: "../pictures". */
static void find_way(const char *from, const char *to, char ret_way[PATH_MAX]) {
    size_t same = 0, n = 0;
    for (size_t i = 0; i == 0 || (from[i - 1] && from[i - 1] == to[i - 1]); i++)
        if ((from[i] == '/' || !from[i]) && (to[i] == '/' || !to[i]))
            same = i;
    for (const char *c = from + same; *c; c++)
        if (*c == '/' && c[1] && n + 3 < PATH_MAX)
            n += (size_t)snprintf(ret_way + n, PATH_MAX - n, "../");
    to += same + (to[same] == '/');
    if (*to || !n)
        snprintf(ret_way + n, PATH_MAX - n, "%s", *to ? to : ".");
    else
        ret_way[n - 1] = '\0';
}

/* The path from a page at `path` to an existing directory: the name as given if the page is in this
 * directory, or if nobody knows where it will be. */
static void seen_from(const char *path, const char *directory, char ret_seen[PATH_MAX]) {
    char page[PATH_MAX], real_page[PATH_MAX], real_directory[PATH_MAX];
    const char *slash = path ? strrchr(path, '/') : NULL;
    snprintf(ret_seen, PATH_MAX, "%s", directory);
    snprintf(page, sizeof page, "%.*s", slash ? (int)(slash - path) + 1 : 0, path ? path : "");
    if (slash && realpath(page, real_page) && realpath(directory, real_directory))
        find_way(real_page, real_directory, ret_seen);
}

/* ---- all sweeps ---- */

static int write_to(const struct format *format, const struct sweep_section *sections, size_t n,
                    const struct sweep_target *target) {
    struct output output;
    if (!target->path && target->out)
        return sweep_write(sections, n, format, target->out) < 0 ? 1 : 0;
    int result = output_open(&output);
    if (result == 0)
        result = output_close(&output, target->path, sweep_write(sections, n, format, output.file));
    return result < 0 ? report_cannot_write("sweep", target->path, result) : 0;
}

static const struct format *choose_format(const char *name, const char *path) {
    const struct format *format = report_choose_format("sweep", name, path);
    if (!format || format->serves)
        return format;
    verb_complain("sweep",
                  "there is no screen of a sweep; formats are text, md, html, csv and json");
    return NULL;
}

/* Exit status. */
static int draw(struct shown *shown, const struct format *format,
                const struct sweep_target *target) {
    if (!format->pictures && !target->pictures)
        return 0;
    if (sweep_pictures_make(shown->sweep, &shown->tables, &shown->pictures) < 0)
        return verb_complain("sweep", "out of memory"), 1;
    return target->pictures ? write_pictures(target->pictures, &shown->pictures) : 0;
}

/* at: directory of pictures as seen from the page; "": none. */
static struct sweep_section section_of(const struct sweep_view *view, const struct shown *shown,
                                       const char *at) {
    return (struct sweep_section){.title = view->title,
                                  .words = view->words,
                                  .sweep = shown->sweep,
                                  .tables = &shown->tables,
                                  .pictures = &shown->pictures,
                                  .pictures_at = *at ? at : NULL};
}

static int show(struct store *store, const char *database, const struct sweep_view *views, size_t n,
                const struct format *format, const struct sweep_target *target) {
    char at[PATH_MAX] = "";
    struct shown *shown = calloc(n + 1, sizeof *shown);
    struct sweep_section *sections = calloc(n + 1, sizeof *sections);
    int status = shown && sections ? 0 : 1;
    if (target->pictures)
        seen_from(target->path, target->pictures, at);
    for (size_t i = 0; status == 0 && i < n; i++) {
        status = build_or_say(store, database, &views[i], &shown[i]);
        if (status == 0)
            status = draw(&shown[i], format, target);
        if (status == 0)
            sections[i] = section_of(&views[i], &shown[i], at);
    }
    if (status == 0 && target->pictures && wants_gnuplot(shown, n))
        verb_complain("sweep", "no pictures: gnuplot is not installed here");
    if (status == 0)
        status = write_to(format, sections, n, target);
    for (size_t i = 0; shown && i < n; i++) {
        sweep_pictures_free(&shown[i].pictures);
        sweep_tables_free(&shown[i].tables);
        sweep_free(shown[i].sweep);
    }
    free(shown);
    free(sections);
    return status;
}

int sweep_show(const char *database, const struct sweep_view *views, size_t n,
               const struct sweep_target *target) {
    struct store *store;
    const struct format *format = choose_format(target->format, target->path);
    int status = format ? report_open_database("sweep", database, &store) : EXIT_USAGE;
    if (status == 0 && target->pictures &&
        (status = sweep_pictures_directory("sweep", target->pictures)))
        store_close(store);
    if (status)
        return status;
    status = show(store, database, views, n, format, target);
    store_close(store);
    return status;
}

/* A ready sweep is shown as `chokepoint sweep reference` shows it, unless the user asks for
 * something else. */
static void fill_in(struct sweep_view *view) {
    const struct reference *reference = view->name ? reference_find(view->name) : NULL;
    if (!reference)
        return;
    view->title = reference->title;
    view->words = reference->words;
    view->measures = view->measures ? view->measures : reference->measures;
    view->tables = view->tables ? view->tables : reference->tables;
}

int sweep_report_main(int argc, char **argv) {
    struct sweep_view view = {0};
    struct sweep_target target = {0};
    const char *database = REPORT_DATABASE;
    const struct option_row rows[] = {
        VERB_DATABASE(&database),
        {"--measure M,...",
         "time, training, accuracy, examples, updates, iteration, staleness,\n"
         "cpu, recv, send, disk-read, disk-write, gpu-busy, gpu-sm,\n"
         "gpu-tensor, gpu-dram, gpu-pcie, gpu-power, gpu-energy (an\n"
         "example), to:PERCENT (time to that accuracy), for:EXAMPLES (time\n"
         "for so many, by the rate), last:NAME (last marked value);\n"
         "default: time,accuracy,examples and those of GPUs",
         .text = &view.measures},
        {"--table T,...",
         "grid, means, verdicts, hosts, phases, differences, job, peaks,\n"
         "roles, operators, timeline, arithmetic, pace, curves; default:\n"
         "grid,verdicts",
         .text = &view.tables},
        {"--format FORMAT",
         "text, md, html, csv or json; default: by the ending of PATH,\n"
         "text if it has none",
         .text = &target.format},
        {"-o, --output PATH", "write there; a file that exists is replaced when all is written",
         .text = &target.path},
        {"--pictures DIR", "also write its pictures there, as SVG; md links to them",
         .text = &target.pictures},
    };
    const struct option_table table = {usage, rows, ARRAY_SIZE(rows), NULL, 2, 21, false};
    char **rest;
    int result = verb_words_read("sweep report", &table, argc, argv, &rest);
    if (result == 0 && rest[0] && rest[1])
        result = verb_refuse("sweep report", "one sweep at a time; what is", rest[1],
                             "chokepoint sweep report [NAME]");
    if (result)
        return verb_words_status(result);
    view.name = rest[0];
    fill_in(&view);
    return sweep_show(database, &view, 1, &target);
}
