/* SPDX-License-Identifier: MIT */
/* `chokepoint compare`: two or more runs side by side. */
#include "cli/options.h"
#include "cli/output.h"
#include "cli/report.h"
#include "cli/verb.h"
#include "collector/store.h"
#include "common/error.h"
#include "reports/comparison.h"

#include <stdlib.h>
#include <string.h>

static const char help[] =
    "usage: chokepoint compare RUN RUN... [--baseline RUN] [--db FILE]\n"
    "                          [--format FORMAT] [-o PATH]\n"
    "\n"
    "Puts runs side by side, with their differences from the baseline (the first,\n"
    "unless --baseline names another). Runs of the same name and command are repeats\n"
    "of each other; with five or more of both sides it is tested whether a\n"
    "difference is real. RUN is a number or a name from `chokepoint list`, last, last~1.\n"
    "\n"
    "  --db FILE        default: ./chokepoint.db\n"
    "  --format FORMAT  text, md, html, csv or json; default: by the ending of PATH,\n"
    "                   else text\n"
    "  -o, --output PATH\n"
    "                   write there; a file that exists is replaced when all is written\n";

#define RUNS_MAX 64

struct options {
    const char *runs[RUNS_MAX], *baseline, *database, *format, *path;
    size_t n;
};

static int take_runs(struct options *options, char **words) {
    for (; *words; words++) {
        if (options->n == RUNS_MAX) {
            verb_complain("compare", "at most %d runs", RUNS_MAX);
            return -EINVAL;
        }
        options->runs[options->n++] = *words;
    }
    if (options->n >= 2 || (options->n == 1 && options->baseline))
        return 0;
    return verb_refuse("compare", "name at least two runs", NULL,
                       "`chokepoint list` shows what there is");
}

static int parse(int argc, char **argv, struct options *options) {
    const struct verb_option takes[] = {{"db", 0, &options->database, NULL},
                                        {"format", 0, &options->format, NULL},
                                        {"baseline", 0, &options->baseline, NULL},
                                        {"output", 'o', &options->path, NULL}};
    const struct verb_words words = {"compare", help, takes, ARRAY_SIZE(takes), false};
    char **rest;
    *options = (struct options){.database = REPORT_DATABASE};
    int result = verb_words_read(&words, argc, argv, &rest);
    return result ? result : take_runs(options, rest);
}

struct loaded {
    struct report *reports[RUNS_MAX + 1];
    size_t n, baseline;
};

static void loaded_free(struct loaded *loaded) {
    for (size_t i = 0; i < loaded->n; i++)
        report_free(loaded->reports[i]);
}

/* The baseline may be one of the runs or a further one, which then comes first. */
static int load_baseline(struct store *store, const struct options *options,
                         struct loaded *loaded) {
    struct report *report;
    if (!options->baseline)
        return 0;
    int status =
        report_build_or_say("compare", store, options->database, options->baseline, &report);
    if (status)
        return status;
    for (size_t i = 0; i < loaded->n; i++)
        if (loaded->reports[i]->run_id == report->run_id) {
            loaded->baseline = i;
            report_free(report);
            return 0;
        }
    memmove(loaded->reports + 1, loaded->reports, loaded->n * sizeof *loaded->reports);
    loaded->reports[0] = report;
    loaded->n++;
    return 0;
}

static int load(struct store *store, const struct options *options, struct loaded *loaded) {
    int status = 0;
    *loaded = (struct loaded){0};
    for (size_t i = 0; status == 0 && i < options->n; i++) {
        status = report_build_or_say("compare", store, options->database, options->runs[i],
                                     &loaded->reports[loaded->n]);
        loaded->n += status == 0;
    }
    if (status == 0)
        status = load_baseline(store, options, loaded);
    for (size_t i = 0; status == 0 && i < loaded->n; i++)
        for (size_t k = 0; k < i; k++)
            if (loaded->reports[i]->run_id == loaded->reports[k]->run_id) {
                verb_complain("compare", "run %lld is named twice",
                              (long long)loaded->reports[i]->run_id);
                status = EXIT_USAGE;
            }
    if (status)
        loaded_free(loaded);
    return status;
}

static int print(const struct comparison *comparison, const struct report_format *format,
                 const char *path) {
    struct output output;
    int result = output_open(&output);
    if (result == 0)
        result = output_close(&output, path, format->comparison(comparison, output.file));
    return result < 0 ? report_cannot_write("compare", path, result) : 0;
}

static int compare_and_print(struct store *store, const struct options *options,
                             const struct report_format *format) {
    struct loaded loaded;
    struct comparison *comparison;
    int status = load(store, options, &loaded);
    if (status)
        return status;
    int result = comparison_build(loaded.reports, loaded.n, loaded.baseline, &comparison);
    if (result < 0) {
        loaded_free(&loaded);
        verb_complain("compare", "%s", strerror(-result));
        return 1;
    }
    status = print(comparison, format, options->path);
    comparison_free(comparison);
    return status;
}

static int compare_main(int argc, char **argv) {
    struct options options;
    struct store *store;
    int status = parse(argc, argv, &options);
    if (status)
        return verb_words_status(status);
    const struct report_format *format =
        report_choose_format("compare", options.format, options.path);
    if (format && !format->comparison) {
        verb_complain("compare", "there is no screen of a comparison; formats are text, md, html, "
                                 "csv and json");
        return EXIT_USAGE;
    }
    status = format ? report_open_database("compare", options.database, &store) : EXIT_USAGE;
    if (status)
        return status;
    status = compare_and_print(store, &options, format);
    store_close(store);
    return status;
}

const struct verb verb_compare = {"compare", "put runs side by side, with what differs",
                                  compare_main};
