/* SPDX-License-Identifier: MIT */
/* `chokepoint report`: one run in one of several formats. */
#include "cli/base/report.h"

#include "cli/base/heap.h"
#include "cli/base/options.h"
#include "cli/base/output.h"
#include "cli/base/progress.h"
#include "cli/base/verb.h"
#include "collector/store_read.h"
#include "common/error.h"
#include "common/link_guard.h"
#include "reports/model/budget_store.h"
#include "reports/model/layout.h"
#include "reports/plot/pictures.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

static const char help[] =
    "usage: chokepoint report [RUN] [--db FILE] [--format FORMAT] [-o PATH]\n"
    "                         [--why] [--alerts] [--plot NAME[,NAME...]] [--store-budget]\n"
    "\n"
    "Shows what limited a run, with the tables this rests on. RUN is a number or a\n"
    "name from `chokepoint list`, last, last~1; default: last.\n"
    "\n"
    "  --db FILE        default: ./chokepoint.db\n"
    "  --why            the verdict and what it rests on, on one screen\n"
    "  --format FORMAT  summary (the verdict in five lines), screen (--why), text, md, html,\n"
    "                   csv or json; svg, png or pdf: pictures alone; default: by the ending\n"
    "                   of PATH, text if it has none\n"
    "  --plot NAME[,NAME...]\n"
    "                   of the pictures only these; default: all that the run has.\n"
    "                   cpu, memory, network, disk, pressure (of each host), pairs (of\n"
    "                   hosts), cores, budget, budget-iterations, iterations, timeline,\n"
    "                   accuracy, marks (other values that the program marked)\n"
    "  -o, --output PATH\n"
    "                   write there; a file that exists is replaced when all is written\n"
    "  --alerts         only the alert log, judging nothing; also of a run that goes on\n"
    "  --store-budget   also make the rows of the run in the table budget of the database\n"
    "                   anew, as `chokepoint run` does at its end\n";

int report_open_database(const char *verb, const char *path, struct store **ret_store) {
    char why[256] = "";
    heap_use_large_pages();
    int result = store_open_read(path, ret_store, why, sizeof why);
    if (result == 0)
        verb_say_owner(verb, path);
    if (result == 0)
        return 0;
    if (result == -ENOENT)
        verb_complain(verb,
                      "there is no database '%s'; record a run first "
                      "(`chokepoint run COMMAND`) or name one with --db",
                      path);
    else
        verb_complain(verb, "cannot read '%s': %s", path,
                      why[0] ? why : strerror(result < 0 ? -result : EINVAL));
    return EXIT_USAGE;
}

/* The database cannot be read as it is, however often. */
static bool is_unreadable(int result) {
    return result == -EBADMSG || result == -E2BIG;
}

/* SQLite may have forgotten by now what it was that failed. */
static const char *failure_words(struct store *store, int result) {
    const char *words = store_error(store);
    return strcmp(words, STORE_NO_REASON) == 0 ? strerror(-result) : words;
}

static const char *damage_words(const struct store *store) {
    return store_damaged_page(store)
               ? "the database is damaged: a page of it is not as it was written; "
                 "`chokepoint verify` tells which"
               : "the database is damaged";
}

/* The reason why a database could not be read. */
static const char *reading_words(struct store *store, int result) {
    return result == -EBADMSG ? damage_words(store)
           : result == -E2BIG ? "it holds more than is read: more than a million instances of a "
                                "table of one host, or a text of more than 1 MiB"
           : result == -EIO || result == -EBUSY ? failure_words(store, result)
                                                : strerror(-result);
}

int report_cannot_read(const char *verb, struct store *store, const char *database, int result) {
    verb_complain(verb, "cannot read %s: %s", database, reading_words(store, result));
    return is_unreadable(result) ? EXIT_USAGE : 1;
}

/* A run whose command never ran has nothing to report but why. */
static int tell_refusal(const char *verb, struct store *store, const char *which) {
    struct store_run run;
    if (store_find_run(store, which, &run) < 0)
        return 1;
    verb_complain(verb, "the command of run %" PRId64 " was not started: %s", run.id,
                  run.refusal ? run.refusal : "it is not known why");
    store_run_release(&run);
    return 1;
}

int report_cannot_read_run(const char *verb, struct store *store, const char *database,
                           const char *which, int result) {
    if (result == -ENOENT) {
        verb_complain(verb, "no run '%s' in %s; `chokepoint list` shows what there is", which,
                      database);
        return EXIT_USAGE;
    }
    if (result == -ECANCELED)
        return tell_refusal(verb, store, which);
    verb_complain(verb, "cannot read run '%s' in %s: %s", which, database,
                  reading_words(store, result));
    return is_unreadable(result) ? EXIT_USAGE : 1;
}

int report_cannot_write(const char *verb, const char *path, int result) {
    char link[PATH_MAX];
    if (path && result == -EPERM && link_guard(path, link) == -EPERM)
        verb_complain(verb,
                      "cannot write %s: %s is a link that another user owns or can replace; name "
                      "the file that it leads to",
                      path, link);
    else
        verb_complain(verb, "cannot write %s: %s", path ? path : "standard output",
                      strerror(-result));
    return path ? EXIT_USAGE : 1;
}

int report_build_or_say(const char *verb, struct store *store, const char *database,
                        const char *which, struct report **ret_report) {
    struct progress *progress = progress_begin("judging the run");
    int result = report_build(store, which, ret_report);
    progress_end(progress);
    return result < 0 ? report_cannot_read_run(verb, store, database, which, result) : 0;
}

static bool may_colour(FILE *out) {
    const char *none = getenv("NO_COLOR"), *terminal = getenv("TERM");
    return isatty(fileno(out)) && !(none && *none) && terminal && strcmp(terminal, "dumb") != 0;
}

static int write_verdict(const struct report *report, bool why, FILE *out) {
    bool colour = may_colour(out);
    return why ? report_write_screen(report, colour, out) : report_write_lines(report, colour, out);
}

static const struct format screen = {.name = "screen"}, summary = {.name = "summary"};

/* The ending of the file's name, "" if it has none. */
static const char *ending_of(const char *path) {
    const char *slash = path ? strrchr(path, '/') : NULL;
    const char *dot = path ? strrchr(slash ? slash : path, '.') : NULL;
    return dot ? dot + 1 : "";
}

/* A word as endings are, small or large, not the random end of a temporary file's name: text under
 * the ending of another format would be opened as that. */
static bool promises_format(const char *ending) {
    size_t small = strspn(ending, "abcdefghijklmnopqrstuvwxyz"),
           large = strspn(ending, "ABCDEFGHIJKLMNOPQRSTUVWXYZ"), n = small ? small : large;
    return n > 0 && n <= 5 && !ending[n];
}

const char *report_format_of_ending(const char *path) {
    static const char *const endings[][2] = {{"txt", "text"},    {"text", "text"}, {"md", "md"},
                                             {"markdown", "md"}, {"html", "html"}, {"htm", "html"},
                                             {"csv", "csv"},     {"json", "json"}};
    const char *ending = ending_of(path);
    for (size_t i = 0; i < ARRAY_SIZE(endings); i++)
        if (strcasecmp(ending, endings[i][0]) == 0)
            return endings[i][1];
    return promises_format(ending) ? NULL : format_text.name;
}

const struct format *report_choose_format(const char *verb, const char *name, const char *path) {
    const char *wanted = name ? name : report_format_of_ending(path);
    const struct format *format = wanted ? format_find(wanted) : NULL;
    if (!format && name && strcmp(name, screen.name) == 0)
        return &screen;
    if (!format && name && strcmp(name, summary.name) == 0)
        return &summary;
    if (!format && name)
        verb_complain(verb, "unknown format '%s'; there are text, md, html, csv and json", name);
    else if (!format)
        verb_complain(
            verb, "unknown file type '.%s': use .txt, .md, .html, .csv or .json, or give --format",
            ending_of(path));
    return format;
}

static int build(const char *db_path, int64_t run_id, struct report **ret_report) {
    struct store *store;
    char which[32];
    heap_use_large_pages();
    int result = store_open_read(db_path, &store, NULL, 0);
    if (result != 0)
        return result < 0 ? result : -EINVAL;
    snprintf(which, sizeof which, "%" PRId64, run_id);
    result = report_build(store, which, ret_report);
    store_close(store);
    return result;
}

int report_print_verdict(const char *db_path, int64_t run_id, bool why, FILE *out) {
    struct report *report;
    int result = build(db_path, run_id, &report);
    if (result < 0)
        return result;
    result = write_verdict(report, why, out);
    report_free(report);
    return result;
}

/* A failure costs these rows and one line, since all of them can be made again. */
static int store_budget(const struct report *report, const char *db_path) {
    struct store *store;
    char why[256] = "";
    int result = store_open_write(db_path, &store, why, sizeof why);
    if (result == 0) {
        result = report_store_budget(report, store);
        if (result < 0)
            snprintf(why, sizeof why, "%s: %s", db_path,
                     result == -ENOMEM ? strerror(ENOMEM) : store_error(store));
        store_close(store);
    }
    if (result == 0)
        return 0;
    verb_complain(NULL,
                  "the table budget has no rows of run %" PRId64 ": %s; "
                  "`chokepoint report %" PRId64 " --store-budget` makes them",
                  report->run_id, why, report->run_id);
    return -EIO;
}

int report_conclude(const char *db_path, int64_t run_id, bool why, FILE *out) {
    struct report *report;
    int result = build(db_path, run_id, &report);
    if (result < 0)
        return result;
    if (out)
        result = write_verdict(report, why, out);
    store_budget(report, db_path);
    report_free(report);
    return result;
}

/* For a terminal: the verdict alone. */
static bool is_verdict(const struct format *format) {
    return format == &screen || format == &summary;
}

typedef int write_report(const struct report *report, const struct format *format, FILE *out);

static int print(const struct report *report, const struct format *format, const char *path,
                 write_report *write) {
    struct output output;
    bool verdict = is_verdict(format), to_terminal = verdict && !path && isatty(STDOUT_FILENO);
    int result =
        to_terminal ? write_verdict(report, format == &screen, stdout) : output_open(&output);
    if (result == 0 && !to_terminal)
        result = output_close(&output, path,
                              verdict ? write_verdict(report, format == &screen, output.file)
                                      : write(report, format, output.file));
    return result < 0 ? report_cannot_write("report", path, result) : 0;
}

/* ---- pictures ---- */

static const struct {
    const char *name;
    enum plot_file kind;
} files[] = {{"svg", PLOT_FILE_SVG}, {"png", PLOT_FILE_PNG}, {"pdf", PLOT_FILE_PDF}};

/* Index of the kind of picture that is asked for, by name or else by the ending of the path; -1:
 * none. */
static int file_of(const char *format, const char *path) {
    for (size_t i = 0; i < ARRAY_SIZE(files); i++)
        if (strcasecmp(format ? format : ending_of(path), files[i].name) == 0)
            return (int)i;
    return -1;
}

static int refuse_plot(const char *wrong) {
    char *names = NULL;
    size_t size;
    FILE *list = open_memstream(&names, &size);
    for (size_t i = 0; list && picture_name(i); i++)
        fprintf(list, "%s%s", !i ? "" : picture_name(i + 1) ? ", " : " and ", picture_name(i));
    if (list)
        fclose(list);
    verb_complain("report", "unknown plot '%s'; there are %s", wrong, names ? names : "others");
    free(names);
    return EXIT_USAGE;
}

/* "sync (run 3): 44.0 s on 3 hosts, 2026-11-20 09:41:11" */
static void put_heading(const struct report *report, char *text, size_t size) {
    char duration[LAYOUT_NUMBER_SIZE], begun[LAYOUT_NUMBER_SIZE];
    snprintf(text, size, "%.60s (run %" PRId64 "): %s on %zu host%s, %s",
             report->run_name ? report->run_name : "?", report->run_id,
             layout_duration(duration, report->duration_s), report->n_hosts,
             report->n_hosts == 1 ? "" : "s", layout_time(begun, report->started_wall_ns));
}

static int cannot_draw(const char *path, int result) {
    if (result == -ENOENT)
        verb_complain("report", "no pictures: gnuplot is not installed here");
    else if (result == -EIO)
        verb_complain("report", "no pictures: gnuplot failed to draw them");
    else
        return report_cannot_write("report", path, result);
    return result == -ENOENT ? EXIT_USAGE : 1;
}

static int write_pictures(const struct report *report, const struct pictures *pictures,
                          enum plot_file kind, const char *path) {
    struct output output;
    char heading[160];
    size_t fit = plots_that_fit(pictures->items, pictures->n, kind);
    put_heading(report, heading, sizeof heading);
    int result = output_open(&output);
    if (result < 0)
        return report_cannot_write("report", path, result);
    int drawn = plots_write(pictures->items, fit, heading, kind, output.file);
    result = output_close(&output, path, drawn);
    if (result < 0)
        return drawn < 0 ? cannot_draw(path, drawn) : report_cannot_write("report", path, result);
    if (fit < pictures->n)
        verb_complain("report",
                      "%zu of %zu pictures fit into one column; --plot chooses others, and a .pdf "
                      "has all of them",
                      fit, pictures->n);
    return 0;
}

static int print_pictures(const struct report *report, const char *names, enum plot_file kind,
                          const char *path) {
    struct pictures pictures = {0};
    int result = pictures_make(report, names, &pictures), status = 1;
    if (result < 0)
        status = report_cannot_write("report", path, result);
    else if (!pictures.n)
        verb_complain("report", "nothing to draw: run %" PRId64 " has no data of %s%s",
                      report->run_id, names ? "" : "any plot", names ? names : "");
    else
        status = write_pictures(report, &pictures, kind, path);
    pictures_release(&pictures);
    return status;
}

/* Checks the options about plots: EXIT_USAGE after one line. */
static int check_plots(const char *names, int file) {
    char wrong[64];
    if (names && pictures_check(names, wrong, sizeof wrong) < 0)
        return refuse_plot(wrong);
    if (!names || file >= 0)
        return 0;
    verb_complain("report", "--plot needs a file of pictures: -o FILE.png, .svg or .pdf");
    return EXIT_USAGE;
}

struct options {
    const char *run, *database, *format, *path, *plots;
    bool alerts, store_budget, why;
};

static int parse(int argc, char **argv, struct options *options) {
    const struct verb_option takes[] = {
        {"db", 0, &options->database, NULL},   {"format", 0, &options->format, NULL},
        {"output", 'o', &options->path, NULL}, {"alerts", 0, NULL, &options->alerts},
        {"plot", 0, &options->plots, NULL},    {"store-budget", 0, NULL, &options->store_budget},
        {"why", 0, NULL, &options->why}};
    const struct verb_words words = {"report", help, takes, ARRAY_SIZE(takes), false};
    char **rest;
    *options = (struct options){.run = "last", .database = REPORT_DATABASE};
    int result = verb_words_read(&words, argc, argv, &rest);
    if (result == 0 && rest[0] && rest[1])
        return verb_refuse("report", "one run at a time", NULL,
                           "`chokepoint compare` takes several");
    if (result == 0 && options->alerts && options->store_budget)
        return verb_refuse("report", "--alerts judges nothing", NULL,
                           "ask for --store-budget without it");
    if (result == 0 && options->why && options->format)
        return verb_refuse("report", "--why is a format", NULL, "ask for one of the two");
    if (result == 0 && options->why)
        options->format = screen.name;
    if (result == 0 && rest[0])
        options->run = rest[0];
    return result;
}

static int print_alerts(struct store *store, const struct options *options,
                        const struct format *format) {
    struct report *report;
    int result = report_build_alerts(store, options->run, &report);
    if (result < 0)
        return report_cannot_read_run("report", store, options->database, options->run, result);
    result = print(report, is_verdict(format) ? &format_text : format, options->path,
                   report_write_alerts);
    report_free(report);
    return result;
}

/* As a text of that format; NULL: as pictures, in a file of that kind. */
static int print_report(struct store *store, const struct options *options,
                        const struct format *format, int file) {
    struct report *report;
    int status = report_build_or_say("report", store, options->database, options->run, &report);
    if (status)
        return status;
    status = format ? print(report, format, options->path, report_write)
                    : print_pictures(report, options->plots, files[file].kind, options->path);
    if (options->store_budget && store_budget(report, options->database) < 0)
        status = status ? status : 1;
    report_free(report);
    return status;
}

static int report_main(int argc, char **argv) {
    struct options options;
    struct store *store;
    int status = parse(argc, argv, &options);
    if (status)
        return verb_words_status(status);
    int file = file_of(options.format, options.path);
    if (check_plots(options.plots, file))
        return EXIT_USAGE;
    if (options.alerts && file >= 0)
        return verb_words_status(verb_refuse("report", "--alerts draws nothing", NULL,
                                             "write it as text, md, html, csv or json"));
    const struct format *format =
        file < 0 ? report_choose_format("report", options.format, options.path) : NULL;
    if (!format && file < 0)
        return EXIT_USAGE;
    status = report_open_database("report", options.database, &store);
    if (status)
        return status;
    status = options.alerts ? print_alerts(store, &options, format)
                            : print_report(store, &options, format, file);
    store_close(store);
    return status;
}

const struct verb verb_report = {.name = "report",
                                 .help = "show what limited a run, and the tables it rests on",
                                 .main = report_main};
