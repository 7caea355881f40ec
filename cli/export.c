/* SPDX-License-Identifier: MIT */
/* `chokepoint export`: a recording for other programs to read. */
#include "reports/export.h"

#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "cli/output_stream.h"
#include "cli/report.h"
#include "cli/verb.h"
#include "common/error.h"

static const char help[] =
    "usage: chokepoint export [RUN] --format FORMAT [--table NAME] [--db FILE] [-o PATH]\n"
    "\n"
    "Writes a recording for other programs to read. RUN is a number or a name from\n"
    "`chokepoint list`, last, last~1; default: last.\n"
    "\n"
    "  --format FORMAT  perfetto: a timeline for https://ui.perfetto.dev;\n"
    "                   csv: one table with names, percent and rates;\n"
    "                   openmetrics: the last value of everything, for Prometheus\n"
    "  --table NAME     the table csv writes: cpu, net, mark, ...\n"
    "  --db FILE        default: ./chokepoint.db\n"
    "  -o, --output PATH\n"
    "                   write there; a file that exists is replaced when all is written\n";

struct options {
    const char *run, *database, *format, *table, *path;
};

/* -1: go on. */
static int parse(int argc, char **argv, struct options *options) {
    static const struct option longs[] = {
        {"db", required_argument, NULL, 'd'},    {"format", required_argument, NULL, 'f'},
        {"table", required_argument, NULL, 't'}, {"output", required_argument, NULL, 'o'},
        {"help", no_argument, NULL, 'h'},        {0}};
    *options = (struct options){.run = "last", .database = REPORT_DATABASE};
    optind = 1;
    opterr = 0;
    for (int c; (c = getopt_long(argc, argv, ":o:h", longs, NULL)) != -1;)
        switch (c) {
        case 'd':
            options->database = optarg;
            break;
        case 'f':
            options->format = optarg;
            break;
        case 't':
            options->table = optarg;
            break;
        case 'o':
            options->path = optarg;
            break;
        case 'h':
            return fputs(help, stdout), 0;
        default:
            return report_refuse_option("export", c, argv);
        }
    if (argc - optind > 1) {
        fputs("chokepoint export: one run at a time; `chokepoint export --help` tells more\n",
              stderr);
        return EXIT_USAGE;
    }
    if (optind < argc)
        options->run = argv[optind];
    return -1;
}

static const struct export_format *choose_format(const struct options *options) {
    const struct export_format *format =
        options->format ? export_find_format(options->format) : NULL;
    if (!options->format)
        fputs("chokepoint export: --format is missing: perfetto, csv or openmetrics\n", stderr);
    else if (!format)
        fprintf(stderr,
                "chokepoint export: unknown format '%s'; there are perfetto, csv and openmetrics\n",
                options->format);
    else if (!format->of_one_table && options->table) {
        fprintf(stderr, "chokepoint export: %s has all tables; --table goes with csv\n",
                format->name);
        return NULL;
    }
    return format;
}

static int find_run(struct store *store, const struct options *options, struct store_run *run) {
    int result = store_find_run(store, options->run, run);
    if (result == 0)
        return 0;
    if (result == -ENOENT) {
        fprintf(stderr,
                "chokepoint export: no run '%s' in %s; `chokepoint list` shows what there is\n",
                options->run, options->database);
        return EXIT_USAGE;
    }
    fprintf(stderr, "chokepoint export: cannot read run '%s' in %s: %s\n", options->run,
            options->database, result == -EIO ? store_error(store) : strerror(-result));
    return 1;
}

/* One line that names the tables there are. */
static int refuse_table(const struct options *options, const struct store_table_info *tables,
                        size_t n) {
    if (options->table)
        fprintf(stderr, "chokepoint export: no table '%s' in run '%s'; ", options->table,
                options->run);
    else
        fputs("chokepoint export: csv is of one table: --table is missing; ", stderr);
    fputs(n ? "there are" : "it has none", stderr);
    for (size_t i = 0; i < n; i++)
        fprintf(stderr, "%s %s", i ? "," : "", tables[i].name);
    fputc('\n', stderr);
    return EXIT_USAGE;
}

static int check_table(struct store *store, const struct store_run *run,
                       const struct options *options) {
    struct store_table_info *tables;
    size_t n;
    int result = store_list_tables(store, run->id, &tables, &n);
    if (result < 0) {
        fprintf(stderr, "chokepoint export: cannot read %s: %s\n", options->database,
                store_error(store));
        return 1;
    }
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
    if (result == 0)
        result =
            output_stream_close(&output, format->write(store, run, options->table, output.file));
    if (result == 0)
        return 0;
    fprintf(stderr, "chokepoint export: cannot write %s: %s\n",
            options->path ? options->path : "standard output", strerror(-result));
    return options->path ? EXIT_USAGE : 1;
}

static int export_run(struct store *store, const struct export_format *format,
                      const struct options *options) {
    struct store_run run;
    int status = find_run(store, options, &run);
    if (status)
        return status;
    if (format->of_one_table)
        status = check_table(store, &run, options);
    if (status == 0)
        status = write_run(store, &run, format, options);
    store_run_release(&run);
    return status;
}

static int export_main(int argc, char **argv) {
    struct options options;
    struct store *store;
    int status = parse(argc, argv, &options);
    if (status >= 0)
        return status;
    const struct export_format *format = choose_format(&options);
    if (!format)
        return EXIT_USAGE;
    status = report_open_database("export", options.database, &store);
    if (status)
        return status;
    status = export_run(store, format, &options);
    store_close(store);
    return status;
}

const struct verb verb_export = {"export", "write a recording for Perfetto, Prometheus or as CSV",
                                 export_main};
