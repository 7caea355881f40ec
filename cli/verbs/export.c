/* SPDX-License-Identifier: MIT */
/* `chokepoint export`: a recording for other programs to read. */
#include "reports/export/export.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/base/options.h"
#include "cli/base/output_stream.h"
#include "cli/base/report.h"
#include "cli/base/verb.h"
#include "cli/launch/remote_program.h"
#include "common/error.h"

static const char usage[] =
    "usage: chokepoint export [RUN] --format FORMAT [--table NAME] [--db FILE] [-o PATH]\n"
    "       chokepoint export [RUN] --remote-write URL [--db FILE]\n"
    "\n"
    "Writes a recording for other programs to read, or sends it to one, also while it is\n"
    "recorded. RUN is a number or a name from `chokepoint list`, last, last~1; default: last.\n"
    "\n";

struct options {
    const char *run, *database, *format, *table, *path;
    struct remote_words remote;
};

static int read_export_words(int argc, char **argv, struct options *options) {
    const struct option_row rows[] = {
        {"--format FORMAT",
         "perfetto: a timeline for https://ui.perfetto.dev;\n"
         "csv: one table with names, percent and rates;\n"
         "openmetrics: the last value of everything, for Prometheus;\n"
         "smpi: a folder with each rank's calls for SimGrid",
         .text = &options->format},
        {"--table NAME", "the table csv writes: cpu, net, mark, ...", .text = &options->table},
        VERB_DATABASE(&options->database),
        {"-o, --output PATH",
         "write there; a file that exists is replaced when all is written;\n"
         "for smpi a new or empty folder",
         .text = &options->path},
        REMOTE_ROWS(&options->remote),
    };
    const struct option_table table = {usage, rows, ARRAY_SIZE(rows), NULL, 2, 28, false};
    char **rest;
    *options = (struct options){.run = "last", .database = REPORT_DATABASE};
    int result = verb_words_read("export", &table, argc, argv, &rest);
    if (result == 0 && rest[0] && rest[1])
        return verb_refuse("export", "one run at a time", NULL,
                           "`chokepoint export --help` tells more");
    if (result == 0 && rest[0])
        options->run = rest[0];
    return result;
}

/* With an address nothing is written here. */
static int check_remote(const struct options *options) {
    if (options->remote.url && (options->format || options->table || options->path))
        return verb_refuse("export", "--remote-write sends and writes nothing", NULL,
                           "leave out --format, --table and -o");
    return remote_words_check("export", &options->remote);
}

static const struct export_format *choose_format(const struct options *options) {
    const struct export_format *format =
        options->format ? export_find_format(options->format) : NULL;
    if (!options->format)
        verb_complain("export", "--format is missing: perfetto, csv, openmetrics or smpi");
    else if (!format)
        verb_complain("export",
                      "unknown format '%s'; there are perfetto, csv, openmetrics and smpi",
                      options->format);
    else if (!format->of_one_table && options->table) {
        verb_complain("export", "%s has all tables; --table goes with csv", format->name);
        return NULL;
    } else if (format->write_folder && !options->path) {
        verb_complain("export", "%s is a folder: -o is missing", format->name);
        return NULL;
    }
    return format;
}

static int find_run(struct store *store, const struct options *options, struct store_run *run) {
    int result = store_find_run(store, options->run, run);
    return result < 0
               ? report_cannot_read_run("export", store, options->database, options->run, result)
               : 0;
}

/* One line that names the existing tables. */
static int refuse_table(const struct options *options, const struct store_table_info *tables,
                        size_t n) {
    char *names = NULL;
    size_t size;
    FILE *list = open_memstream(&names, &size);
    for (size_t i = 0; list && i < n; i++)
        fprintf(list, "%s %s", i ? "," : "", tables[i].name);
    if (list && fclose(list) != 0)
        return 1;
    const char *there = n ? "there are" : "it has none";
    if (options->table)
        verb_complain("export", "no table '%s' in run '%s'; %s%s", options->table, options->run,
                      there, list ? names : "");
    else
        verb_complain("export", "csv is of one table: --table is missing; %s%s", there,
                      list ? names : "");
    free(names);
    return EXIT_USAGE;
}

static int check_table(struct store *store, const struct store_run *run,
                       const struct options *options) {
    struct store_table_info *tables;
    size_t n;
    int result = store_list_tables(store, run->id, &tables, &n);
    if (result < 0)
        return report_cannot_read("export", store, options->database, result);
    bool found = false;
    for (size_t i = 0; i < n && options->table; i++)
        found |= strcmp(tables[i].name, options->table) == 0;
    int status = found ? 0 : refuse_table(options, tables, n);
    store_tables_free(tables, n);
    return status;
}

static int write_run(struct store *store, const struct store_run *run,
                     const struct export_format *format, const struct options *options) {
    struct output_stream output;
    int result = output_stream_open(&output, options->path);
    if (result < 0)
        return report_cannot_write("export", options->path, result);
    int written = format->write(store, run, options->table, output.file);
    bool is_unread = written < 0 && !ferror(output.file); /* both sides return -EIO */
    result = output_stream_close(&output, written);
    if (is_unread)
        return report_cannot_read_run("export", store, options->database, options->run, written);
    return result < 0 ? report_cannot_write("export", options->path, result) : 0;
}

/* ---- a folder ---- */

static bool is_empty(int fd) {
    bool empty = true;
    DIR *directory = fdopendir(dup(fd));
    for (const struct dirent *entry; directory && (entry = readdir(directory));)
        empty &= strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0;
    if (directory)
        closedir(directory);
    return directory && empty;
}

static int fill_folder(struct store *store, const struct store_run *run,
                       const struct export_format *format, const struct options *options, int fd) {
    struct export_folder folder = {.fd = fd};
    int result = format->write_folder(store, run, &folder);
    if (result < 0)
        return report_cannot_read_run("export", store, options->database, options->run, result);
    if (result > 0)
        verb_complain("export", "%s", folder.why);
    return result > 0 ? EXIT_USAGE : 0;
}

/* A folder made here goes if it cannot be filled. */
static int write_folder(struct store *store, const struct store_run *run,
                        const struct export_format *format, const struct options *options) {
    bool is_new = mkdir(options->path, 0777) == 0;
    int fd = open(options->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return report_cannot_write("export", options->path, negative_errno());
    int status = EXIT_USAGE;
    if (is_empty(fd))
        status = fill_folder(store, run, format, options, fd);
    else
        verb_complain("export", "%s is not empty", options->path);
    close(fd);
    if (status && is_new)
        rmdir(options->path);
    return status;
}

static int export_run(struct store *store, const struct export_format *format,
                      const struct options *options) {
    struct store_run run;
    int status = find_run(store, options, &run);
    if (status)
        return status;
    if (format->of_one_table)
        status = check_table(store, &run, options);
    if (status == 0 && format->write_folder)
        status = write_folder(store, &run, format, options);
    else if (status == 0)
        status = write_run(store, &run, format, options);
    store_run_release(&run);
    return status;
}

/* ---- to an engine ---- */

/* This process becomes the program that sends. */
static int become_sender(const struct options *options, int64_t run) {
    struct remote_call call;
    if (remote_call_fill(&call, "export", &options->remote, options->database, run, false) < 0)
        return EXIT_USAGE;
    execv(call.program, (char *const *)call.words);
    verb_complain("export", "%s: %s", call.program, strerror(errno));
    return EXIT_USAGE;
}

static int send_run(struct store *store, const struct options *options) {
    struct store_run run;
    int status = find_run(store, options, &run);
    int64_t id = status ? 0 : run.id;
    if (status == 0)
        store_run_release(&run);
    store_close(store);
    return status ? status : become_sender(options, id);
}

static int export_main(int argc, char **argv) {
    struct options options;
    struct store *store;
    int status = read_export_words(argc, argv, &options);
    if (status == 0)
        status = check_remote(&options);
    if (status)
        return verb_words_status(status);
    const struct export_format *format = options.remote.url ? NULL : choose_format(&options);
    if (!format && !options.remote.url)
        return EXIT_USAGE;
    status = report_open_database("export", options.database, &store);
    if (status)
        return status;
    if (!format)
        return send_run(store, &options);
    status = export_run(store, format, &options);
    store_close(store);
    return status;
}

const struct verb verb_export = {
    .name = "export",
    .help = "write a recording for Perfetto, SimGrid, or as CSV; send it to Prometheus",
    .main = export_main,
    .formats = "perfetto openmetrics smpi csv",
    .takes_runs = true};
