/* SPDX-License-Identifier: MIT */
/* `chokepoint whatif`: the duration of a run under other conditions. */
#include "cli/base/options.h"
#include "cli/base/output.h"
#include "cli/base/report.h"
#include "cli/base/verb.h"
#include "collector/store.h"
#include "common/error.h"
#include "reports/model/prediction.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static const char usage[] =
    "usage: chokepoint whatif [RUN] WHAT... [--together] [--db FILE] [--format FORMAT]\n"
    "                         [-o PATH]\n"
    "\n"
    "Says how long the main phase of a run would have taken if something had been otherwise,\n"
    "from a replay of its MPI calls. RUN is a number or a name from `chokepoint list`, last,\n"
    "last~1; default: last. Each WHAT is answered by itself:\n"
    "\n";

#define WORDS_MAX 64

struct options {
    const char *run, *database, *format, *path;
    bool together;
    struct prediction_word words[WORDS_MAX + 1];
    size_t n_words;
};

static int take_word(const struct option_word *word, void *to) {
    static const char *const asked[] = {
        "link", "without", "without-straggler", "balanced", "cpu", "disk",
        "rank", "quota",   "workers",           "latency"};
    struct options *options = to;
    for (size_t i = 0; i < ARRAY_SIZE(asked); i++)
        if (strcmp(word->name, asked[i]) == 0 && options->n_words <= WORDS_MAX)
            options->words[options->n_words++] = (struct prediction_word){asked[i], word->text};
    return 0;
}

static bool takes_word(const char *option) {
    static const char *const alone[] = {"--together", "--balanced", "--without-straggler"};
    for (size_t i = 0; i < ARRAY_SIZE(alone); i++)
        if (strcmp(option, alone[i]) == 0)
            return false;
    return strchr(option, '=') == NULL && (option[1] == '-' || (option[1] && !option[2]));
}

/* A number, "slowest", or a host if RUN has come before; otherwise the word may be RUN. */
static bool names_rank(const char *word, bool run_came) {
    return isdigit((unsigned char)word[0]) || strcmp(word, "slowest") == 0 ||
           (run_came && word[0] != '-');
}

/* --without-straggler may stand alone: its rank is then "slowest". The caller frees *ret_argv. */
static char **with_ranks(int argc, char **argv, int *ret_argc) {
    static char slowest[] = "slowest";
    char **words = calloc(2 * (size_t)argc + 1, sizeof *words);
    bool run_came = false, is_value = true; /* the first is the verb */
    int n = 0;
    for (int i = 0; words && i < argc; i++) {
        bool straggler = !is_value && strcmp(argv[i], "--without-straggler") == 0;
        bool named = straggler && i + 1 < argc && names_rank(argv[i + 1], run_came);
        words[n++] = argv[i];
        if (straggler && !named)
            words[n++] = slowest;
        run_came |= !is_value && argv[i][0] != '-';
        is_value = named || (!is_value && argv[i][0] == '-' && takes_word(argv[i]));
    }
    *ret_argc = n;
    return words;
}

static int read_whatif_words(int argc, char **argv, struct options *options) {
    const struct option_row rows[] = {
        {"--link HOST[:egress|:ingress]=2x",
         "the host's link so many times as fast, or with a speed: =200mbit,\n"
         "with what it lets pass at once after a pause: =200mbit,64kB",
         .take = take_word, .to = options},
        {"--without HOST:CAUSE",
         "nobody waits for contention, quota, steal, disk, memory, sleep, stop or\n"
         "files there",
         .take = take_word, .to = options},
        {"--without-straggler [RANK|HOST]",
         "that rank, or the host's, takes as long as its peers, and work that it\n"
         "had more is shared out among all; its process where there are no ranks;\n"
         "default: the one waited for most. HOST after RUN",
         .take = take_word, .to = options},
        {"--balanced", "all ranks of a role have the same amount to compute", .take = take_word,
         .to = options},
        {"--cpu HOST=2x", "the host computes so many times as fast", .take = take_word,
         .to = options},
        {"--disk HOST=2x", "its disks answer so many times as fast", .take = take_word,
         .to = options},
        {"--rank RANK=2x", "that rank is so many times as fast between its calls",
         .take = take_word, .to = options},
        {"--latency 0.5x", "each message between hosts takes so many times its latency",
         .take = take_word, .to = options},
        {"--quota HOST=55%", "a CPU quota for the host's ranks, in percent of one CPU",
         .take = take_word, .to = options},
        {"--workers +N|-N", "more or fewer workers, each with the same work (parameter servers)",
         .take = take_word, .to = options},
        {"--together", "all of them at once instead", .flag = &options->together},
        {.help =
             "\nHOST may be all. Factors below 1 make slower: 0.5x. A number needs its unit.\n\n"},
        VERB_DATABASE(&options->database),
        {"--format FORMAT",
         "text or json; default: by the ending of PATH, text if it has\n"
         "none",
         .text = &options->format},
        {"-o, --output PATH", "write there; a file that exists is replaced when all is written",
         .text = &options->path},
    };
    const struct option_table table = {usage, rows, ARRAY_SIZE(rows), NULL, 2, 19, false};
    char **rest;
    *options = (struct options){.run = "last", .database = REPORT_DATABASE};
    int result = verb_words_read("whatif", &table, argc, argv, &rest);
    if (result == 0 && rest[0] && rest[1])
        return verb_refuse("whatif", "one run at a time", NULL,
                           "`chokepoint whatif --help` lists what can be asked");
    if (result == 0 && rest[0])
        options->run = rest[0];
    if (result == 0 && !options->n_words)
        return verb_refuse("whatif", "nothing was asked", NULL, "for example --link vm1=2x");
    if (result == 0 && options->n_words > WORDS_MAX)
        return verb_refuse("whatif", "too much was asked at once", NULL, "64 are possible");
    return result;
}

/* The text of a format. */
typedef int writer(const struct prediction *prediction, FILE *out);

static writer *choose_writer(const struct options *options) {
    const char *wanted = options->format ? options->format : report_format_of_ending(options->path);
    if (wanted && strcmp(wanted, "json") == 0)
        return prediction_write_json;
    if (wanted && strcmp(wanted, "text") == 0)
        return prediction_write_text;
    if (options->format)
        verb_complain("whatif", "unknown format '%s'; there are text and json", options->format);
    else
        verb_complain("whatif", "unknown file type '%s': use .txt or .json, or give --format",
                      options->path);
    return NULL;
}

static int print_prediction(const struct prediction *prediction, writer *write, const char *path) {
    struct output output;
    int result = output_open(&output);
    if (result == 0)
        result = output_close(&output, path, write(prediction, output.file));
    return result < 0 ? report_cannot_write("whatif", path, result) : 0;
}

static int answer(const struct options *options, writer *write) {
    struct store *store;
    struct prediction *prediction;
    char why[300] = "";
    int status = report_open_database("whatif", options->database, &store);
    if (status)
        return status;
    int result = prediction_build(store, options->run, options->words, options->n_words,
                                  options->together, why, sizeof why, &prediction);
    if (result < 0 && why[0]) {
        verb_complain("whatif", "%s", why);
        status = EXIT_USAGE;
    } else if (result < 0) {
        status = report_cannot_read_run("whatif", store, options->database, options->run, result);
    } else {
        status = print_prediction(prediction, write, options->path);
        prediction_free(prediction);
    }
    store_close(store);
    return status;
}

static int whatif_main(int argc, char **argv) {
    struct options options;
    int n;
    char **words = with_ranks(argc, argv, &n);
    if (!words)
        return 1;
    int status = read_whatif_words(n, words, &options);
    writer *write = status ? NULL : choose_writer(&options);
    if (status)
        status = verb_words_status(status);
    else
        status = write ? answer(&options, write) : EXIT_USAGE;
    free(words);
    return status;
}

const struct verb verb_whatif = {.name = "whatif",
                                 .help = "say what a run would have taken if something were "
                                         "otherwise",
                                 .main = whatif_main,
                                 .formats = "text json",
                                 .takes_runs = true};
