/* SPDX-License-Identifier: MIT */
/* `chokepoint report`: one run in one of several formats. */
#include "cli/base/report.h"

#include "cli/base/options.h"
#include "cli/base/output.h"
#include "cli/base/verb.h"
#include "collector/store_read.h"
#include "common/error.h"
#include "reports/formats/json_page.h"
#include "reports/model/layout.h"
#include "reports/plot/pictures.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

static const char usage[] =
    "usage: chokepoint report [RUN] [--db FILE] [--format FORMAT] [-o PATH]\n"
    "                         [--why] [--alerts] [--plot NAME[,NAME...]] [--store-budget]\n"
    "                         [--max-bytes N [--cursor TEXT]]\n"
    "\n"
    "Shows what limited a run, with the tables this rests on. RUN is a number or a\n"
    "name from `chokepoint list`, last, last~1; default: last.\n"
    "\n";

/* For a terminal: the verdict alone. */
static bool is_verdict(const struct format *format) {
    return format == &report_screen || format == &report_summary;
}

static int write_job(const struct report *report, const struct format *format, FILE *out) {
    (void)format;
    return report_write_job(report, out);
}

typedef int write_report(const struct report *report, const struct format *format, FILE *out);

static int print_document(const struct report *report, const struct format *format,
                          const char *path, write_report *write) {
    struct output output;
    bool verdict = is_verdict(format), to_terminal = verdict && !path && isatty(STDOUT_FILENO);
    if (format == &report_job)
        write = write_job;
    int result = to_terminal ? report_write_verdict(report, format == &report_screen, stdout)
                             : output_open(&output);
    if (result == 0 && !to_terminal)
        result = output_close(
            &output, path,
            verdict ? report_write_verdict(report, format == &report_screen, output.file)
                    : write(report, format, output.file));
    return result < 0 ? report_cannot_write("report", path, result) : 0;
}

/* ---- pictures ---- */

static const struct {
    const char *name;
    enum plot_file kind;
} files[] = {{"svg", PLOT_FILE_SVG}, {"png", PLOT_FILE_PNG}, {"pdf", PLOT_FILE_PDF}};

/* Index of the requested kind of picture, by name or else by the ending of the path; -1: none. */
static int file_of(const char *format, const char *path) {
    for (size_t i = 0; i < ARRAY_SIZE(files); i++)
        if (strcasecmp(format ? format : report_ending(path), files[i].name) == 0)
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
    const char *run, *database, *format, *path, *plots, *cursor;
    uint64_t max_bytes; /* 0: no limit */
    bool alerts, store_budget, why;
};

static int read_report_words(int argc, char **argv, struct options *options) {
    const struct option_row rows[] = {
        VERB_DATABASE(&options->database),
        {"--why", "the verdict and what it rests on, on one screen", .flag = &options->why},
        {"--format FORMAT",
         "summary (the verdict in five lines), screen (--why), job (a line of\n"
         "JSON), text, md, html, csv or json; svg, png or pdf: pictures alone;\n"
         "default: by the ending of PATH, text if it has none",
         .text = &options->format},
        {"--plot NAME[,NAME...]",
         "of the pictures only these; default: all that the run has.\n"
         "cpu, memory, network, disk, pressure, gpu, gpu-link, gpu-memory,\n"
         "gpu-power (of each host), gpus, pairs (of hosts), cores, budget,\n"
         "budget-iterations, iterations, timeline, accuracy, marks (other\n"
         "values that the program marked)",
         .text = &options->plots},
        {"-o, --output PATH", "write there; a file that exists is replaced when all is written",
         .text = &options->path},
        {"--max-bytes N",
         "of json at most so many bytes, the most important members first; the\n"
         "member cursor asks for the rest",
         .count = &options->max_bytes, .low = JSON_PAGE_LEAST, .high = 1 << 30},
        {"--cursor TEXT", "with --max-bytes: the page that the cursor of the one before asks for",
         .text = &options->cursor},
        {"--alerts", "only the alert log, judging nothing; also of a run that goes on",
         .flag = &options->alerts},
        {"--store-budget",
         "also make the rows of the run in the table budget of the database\n"
         "anew, as `chokepoint run` does at its end",
         .flag = &options->store_budget},
    };
    const struct option_table table = {usage, rows, ARRAY_SIZE(rows), NULL, 2, 19, false};
    char **rest;
    *options = (struct options){.run = "last", .database = REPORT_DATABASE};
    int result = verb_words_read("report", &table, argc, argv, &rest);
    if (result == 0 && rest[0] && rest[1])
        return verb_refuse("report", "one run at a time", NULL,
                           "`chokepoint compare` takes several");
    if (result == 0 && options->alerts && options->store_budget)
        return verb_refuse("report", "--alerts judges nothing", NULL,
                           "ask for --store-budget without it");
    if (result == 0 && options->max_bytes &&
        (options->alerts || !options->format || strcmp(options->format, "json") != 0))
        return verb_refuse("report", "--max-bytes is for json", NULL, "add --format json");
    if (result == 0 && options->cursor && !options->max_bytes)
        return verb_refuse("report", "--cursor asks for a page", NULL, "add --max-bytes");
    if (result == 0 && options->why && options->format)
        return verb_refuse("report", "--why is a format", NULL, "ask for one of the two");
    if (result == 0 && options->why)
        options->format = report_screen.name;
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
    result = print_document(report, is_verdict(format) ? &format_text : format, options->path,
                            report_write_alerts);
    report_free(report);
    return result;
}

/* ---- pages of a document ---- */

static int refuse_page(const struct report *report, int result) {
    if (result == -EINVAL)
        return verb_refuse("report", "this is no cursor", NULL,
                           "take the member `cursor` of the page before, as it is"),
               EXIT_USAGE;
    if (result == -ESTALE) {
        verb_complain("report",
                      "the cursor is not of run %" PRId64
                      " as it is now: begin again without --cursor",
                      report->run_id);
        return EXIT_USAGE;
    }
    return report_cannot_write("report", NULL, result);
}

/* One page of the JSON document. */
static int print_page(const struct report *report, const struct options *options) {
    struct output output;
    char *text = NULL;
    size_t size = 0;
    FILE *document = open_memstream(&text, &size);
    int result = document ? report_write(report, &format_json, document) : -ENOMEM;
    if (document && fclose(document) != 0 && result == 0)
        result = -ENOMEM;
    struct json_page page = {.document = text,
                             .size = size,
                             .run = report->run_id,
                             .cursor = options->cursor,
                             .max_bytes = options->max_bytes};
    if (result == 0 && (result = output_open(&output)) == 0) {
        int written = json_page_write(&page, output.file);
        int closed = output_close(&output, options->path, written);
        free(text);
        return written < 0  ? refuse_page(report, written)
               : closed < 0 ? report_cannot_write("report", options->path, closed)
                            : 0;
    }
    free(text);
    return report_cannot_write("report", options->path, result);
}

/* As a text of that format; NULL: as pictures, in a file of that kind. */
static int print_report(struct store *store, const struct options *options,
                        const struct format *format, int file) {
    struct report *report;
    int status = report_build_or_say("report", store, options->database, options->run, &report);
    if (status)
        return status;
    status = options->max_bytes ? print_page(report, options)
             : format           ? print_document(report, format, options->path, report_write)
                      : print_pictures(report, options->plots, files[file].kind, options->path);
    if (options->store_budget && report_keep(report, options->database) < 0)
        status = status ? status : 1;
    report_free(report);
    return status;
}

static int report_main(int argc, char **argv) {
    struct options options;
    struct store *store;
    int status = read_report_words(argc, argv, &options);
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
                                 .main = report_main,
                                 .formats = "text md html csv json screen svg png pdf",
                                 .takes_runs = true};
