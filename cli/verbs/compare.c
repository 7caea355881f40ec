/* SPDX-License-Identifier: MIT */
/* `chokepoint compare`: groups of runs side by side. */
#include "cli/base/options.h"
#include "cli/base/output.h"
#include "cli/base/report.h"
#include "cli/base/verb.h"
#include "collector/store_sweep.h"
#include "common/error.h"
#include "common/text.h"
#include "reports/comparison/comparison.h"
#include "reports/says/commands.h"
#include "reports/writer.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char usage[] =
    "usage: chokepoint compare GROUP GROUP... [--baseline GROUP] [-v] [--gate PERCENT]\n"
    "                          [--db FILE] [--format FORMAT] [-o PATH]\n"
    "\n"
    "Puts groups of runs side by side, with their differences from the baseline (the\n"
    "first, unless --baseline names another): on one screen, or with -v in full. GROUP is a name "
    "from `chokepoint list`,\n"
    "which stands for all its repeats; a number, last or last~1 for one run; or several\n"
    "of these with commas. Numbers of runs of the same name and command are one group.\n"
    "The name of a sweep is a group for each of its cells.\n"
    "With five or more runs on both sides it is tested whether a difference is real.\n"
    "\n";

#define EXIT_GATE 3 /* a group is slower than the gate allows */
#define WORDS_MAX 64
#define RUNS_MAX 128 /* runs in all groups: the figures of each are in memory */
#define HELD_MAX 8   /* with more runs, recordings are closed and read again for the details */

struct options {
    const char *words[WORDS_MAX], *baseline, *database, *format, *path;
    size_t n;
    bool all;    /* not only one screen */
    double gate; /* 0.05: 5 %; NAN: none */
};

/* A sweep alone is several groups, so a word is judged when its meaning is known. */
static int refuse_one(void) {
    return verb_refuse("compare", "name at least two runs", NULL,
                       "`chokepoint list` shows what there is");
}

static int take_words(struct options *options, char **words) {
    for (; *words; words++) {
        if (options->n == WORDS_MAX) {
            verb_complain("compare", "at most %d groups", WORDS_MAX);
            return -EINVAL;
        }
        options->words[options->n++] = *words;
    }
    uint64_t number;
    bool may_be_sweep = options->n == 1 && text_parse_u64(options->words[0], &number) != 0;
    return options->n >= 2 || (options->n == 1 && options->baseline) || may_be_sweep ? 0
                                                                                     : refuse_one();
}

/* "5%": a bare number could be a share. */
static int take_percent(const struct option_word *word, void *to) {
    size_t size = strlen(word->text);
    char number[32];
    double percent;
    if (size < 2 || size >= sizeof number || word->text[size - 1] != '%')
        return option_expects(word, "a percentage from 0%% to 1000%%, for example 5%%");
    snprintf(number, sizeof number, "%.*s", (int)size - 1, word->text);
    if (text_parse_double(number, &percent) || !(percent >= 0) || percent > 1000)
        return option_expects(word, "a percentage from 0%% to 1000%%, for example 5%%");
    *(double *)to = percent / 100;
    return 0;
}

static int read_compare_words(int argc, char **argv, struct options *options) {
    const struct option_row rows[] = {
        {"--baseline GROUP", NULL, .text = &options->baseline},
        {"-v, --verbose", "all tables, not one screen", .flag = &options->all},
        {"--gate PERCENT",
         "exit with status 3 if a group is slower than the baseline by\n"
         "more than this; with five runs or more of both, only if that\n"
         "is no chance",
         .take = take_percent, .to = &options->gate},
        VERB_DATABASE(&options->database),
        {"--format FORMAT",
         "text, md, html, csv or json; default: one screen, or by the\n"
         "ending of PATH",
         .text = &options->format},
        {"-o, --output PATH", "write there; a file that exists is replaced when all is written",
         .text = &options->path},
    };
    const struct option_table table = {usage, rows, ARRAY_SIZE(rows), NULL, 2, 19, false};
    char **rest;
    *options = (struct options){.database = REPORT_DATABASE, .gate = NAN};
    int result = verb_words_read("compare", &table, argc, argv, &rest);
    return result ? result : take_words(options, rest);
}

/* ---- which runs ---- */

/* The runs that the words of the command line mean, before anything is read. */
struct chosen {
    int64_t run[RUNS_MAX];
    size_t word[RUNS_MAX]; /* index of its word */
    bool named[RUNS_MAX];  /* the word is a group of its own: a name with several runs, or a list */
    size_t n, n_words, baseline_word;
    size_t others[WORDS_MAX + 1]; /* runs of that name with other commands */
};

static bool has_run(const struct chosen *chosen, size_t word, int64_t run) {
    for (size_t i = 0; i < chosen->n; i++)
        if (chosen->word[i] == word && chosen->run[i] == run)
            return true;
    return false;
}

static int choose_run(struct chosen *chosen, size_t word, int64_t run, bool named) {
    if (has_run(chosen, word, run)) {
        verb_complain("compare", "run %lld is named twice in one group", (long long)run);
        return EXIT_USAGE;
    }
    if (chosen->n == RUNS_MAX) {
        verb_complain("compare", "at most %d runs; name fewer, by their numbers", RUNS_MAX);
        return EXIT_USAGE;
    }
    chosen->run[chosen->n] = run;
    chosen->named[chosen->n] = named;
    chosen->word[chosen->n++] = word;
    return 0;
}

/* One name, number or place. */
static int choose_one(struct store *store, const struct options *options, const char *text,
                      bool listed, struct chosen *chosen, size_t word) {
    struct store_run *runs;
    size_t n, others;
    int status = 0, result = store_find_repeats(store, text, &runs, &n, &others);
    if (result < 0)
        return report_cannot_read_run("compare", store, options->database, text, result);
    chosen->others[word] += others;
    for (size_t i = 0; status == 0 && i < n; i++)
        status = choose_run(chosen, word, runs[i].id, listed || n > 1);
    store_runs_free(runs, n);
    return status;
}

/* A name may have a comma, so the whole word is tried first. */
static int choose_word(struct store *store, const struct options *options, const char *text,
                       struct chosen *chosen, size_t word) {
    struct store_run run;
    int status = 0, result = store_find_run(store, text, &run);
    if (result == 0)
        store_run_release(&run);
    if (result == 0 || !strchr(text, ','))
        return choose_one(store, options, text, false, chosen, word);
    char *copy = strdup(text), *rest = NULL;
    if (!copy)
        return report_cannot_read_run("compare", store, options->database, text, -ENOMEM);
    for (char *part = strtok_r(copy, ",", &rest); status == 0 && part;
         part = strtok_r(NULL, ",", &rest))
        status = choose_one(store, options, part, true, chosen, word);
    free(copy);
    return status;
}

static bool same_set(const struct chosen *chosen, size_t a, size_t b) {
    size_t of_a = 0, of_b = 0, shared = 0;
    for (size_t i = 0; i < chosen->n; i++) {
        of_a += chosen->word[i] == a;
        of_b += chosen->word[i] == b;
        shared += chosen->word[i] == a && has_run(chosen, b, chosen->run[i]);
    }
    return of_a == of_b && shared == of_a;
}

/* A run in two groups says nothing about their difference; a group may be compared with itself. */
static int check_overlap(const struct chosen *chosen) {
    for (size_t i = 0; i < chosen->n; i++)
        for (size_t k = 0; k < i; k++)
            if (chosen->run[i] == chosen->run[k] &&
                !(chosen->named[i] && chosen->named[k] &&
                  same_set(chosen, chosen->word[i], chosen->word[k]))) {
                verb_complain("compare",
                              "run %lld is named twice: there is nothing to compare it with",
                              (long long)chosen->run[i]);
                return EXIT_USAGE;
            }
    return 0;
}

/* ---- a sweep: each of its cells is a group ---- */

static bool same_cell(const struct store_sweep *sweep, const struct store_sweep_run *a,
                      const struct store_sweep_run *b) {
    return memcmp(a->value, b->value, sweep->n_parameters * sizeof *a->value) == 0;
}

/* Adds run i and all later runs of its cell as one word, unless an earlier run of that cell was
 * added. */
static int choose_cell(const struct store_sweep *sweep, const struct store_sweep_run *runs,
                       size_t n, size_t i, struct chosen *chosen) {
    int status = 0;
    for (size_t k = 0; k < i; k++)
        if (same_cell(sweep, &runs[k], &runs[i]))
            return 0;
    if (chosen->n_words > WORDS_MAX) {
        verb_complain("compare", "at most %d groups", WORDS_MAX);
        return EXIT_USAGE;
    }
    size_t word = chosen->n_words++;
    for (size_t k = i; status == 0 && k < n; k++)
        if (same_cell(sweep, &runs[k], &runs[i]))
            status = choose_run(chosen, word, runs[k].run.id, true);
    return status;
}

static int choose_cells(struct store *store, const struct store_sweep *sweep,
                        struct chosen *chosen) {
    struct store_sweep_run *runs;
    size_t n;
    int status = 0, result = store_list_sweep_runs(store, sweep, &runs, &n);
    if (result < 0) {
        verb_complain("compare", "cannot read the sweep: %s", strerror(-result));
        return 1;
    }
    for (size_t i = 0; status == 0 && i < n; i++)
        status = choose_cell(sweep, runs, n, i, chosen);
    store_sweep_runs_free(runs, n);
    return status;
}

/* A run has priority over a sweep of the same name. */
static bool is_sweep(struct store *store, const char *text, struct store_sweep *ret_sweep) {
    struct store_run run;
    if (store_find_run(store, text, &run) == 0)
        return store_run_release(&run), false;
    return store_find_sweep(store, text, ret_sweep) == 0;
}

static int choose_word_or_sweep(struct store *store, const struct options *options,
                                const char *text, struct chosen *chosen) {
    struct store_sweep sweep;
    if (!is_sweep(store, text, &sweep)) {
        if (chosen->n_words > WORDS_MAX) {
            verb_complain("compare", "at most %d groups", WORDS_MAX);
            return EXIT_USAGE;
        }
        return choose_word(store, options, text, chosen, chosen->n_words++);
    }
    int status = choose_cells(store, &sweep, chosen);
    store_sweep_release(&sweep);
    return status;
}

/* The words of the command line; --baseline is one of them, or an additional one, which then comes
 * first. */
static int choose(struct store *store, const struct options *options, struct chosen *chosen) {
    int status = 0;
    *chosen = (struct chosen){0};
    if (options->baseline)
        status = choose_word(store, options, options->baseline, chosen, chosen->n_words++);
    for (size_t i = 0; status == 0 && i < options->n; i++)
        status = choose_word_or_sweep(store, options, options->words[i], chosen);
    if (status == 0 && chosen->n_words < 2)
        return refuse_one(), EXIT_USAGE;
    for (size_t w = 1; status == 0 && options->baseline && w < chosen->n_words; w++)
        if (same_set(chosen, 0, w)) { /* it is one of them */
            chosen->baseline_word = w;
            while (chosen->n && chosen->word[0] == 0) {
                chosen->n--;
                memmove(chosen->run, chosen->run + 1, chosen->n * sizeof *chosen->run);
                memmove(chosen->word, chosen->word + 1, chosen->n * sizeof *chosen->word);
                memmove(chosen->named, chosen->named + 1, chosen->n * sizeof *chosen->named);
            }
            break;
        }
    return status ? status : check_overlap(chosen);
}

/* ---- their reports and groups ---- */

struct loaded {
    struct report *reports[RUNS_MAX];
    size_t group[RUNS_MAX];
    size_t n, n_groups, baseline;
};

static void loaded_free(struct loaded *loaded) {
    for (size_t i = 0; i < loaded->n; i++)
        report_free(loaded->reports[i]);
}

static int load(struct store *store, const struct options *options, const struct chosen *chosen,
                struct loaded *loaded) {
    char which[32];
    int status = 0;
    *loaded = (struct loaded){0};
    for (size_t i = 0; status == 0 && i < chosen->n; i++) {
        snprintf(which, sizeof which, "%lld", (long long)chosen->run[i]);
        status = report_build_or_say("compare", store, options->database, which,
                                     &loaded->reports[loaded->n]);
        if (status == 0)
            loaded->n++;
        if (status == 0 && chosen->n > HELD_MAX)
            report_let_go(loaded->reports[i]);
    }
    if (status)
        loaded_free(loaded);
    return status;
}

static bool are_repeats(const struct report *a, const struct report *b) {
    return strcmp(a->run_name, b->run_name) == 0 && strcmp(a->command, b->command) == 0;
}

/* Each word is a group, except that single runs of one name and command are repeats of each other.
 * If all of them are, each is compared with the first. */
static void make_groups(const struct chosen *chosen, struct loaded *loaded, bool merge) {
    loaded->n_groups = 0;
    for (size_t i = 0; i < loaded->n; i++) {
        size_t k = 0;
        while (k < i && chosen->word[k] != chosen->word[i] &&
               !(merge && !chosen->named[k] && !chosen->named[i] &&
                 are_repeats(loaded->reports[k], loaded->reports[i])))
            k++;
        loaded->group[i] = k < i ? loaded->group[k] : loaded->n_groups++;
        if (chosen->word[i] == chosen->baseline_word)
            loaded->baseline = i;
    }
    if (merge && loaded->n_groups == 1)
        make_groups(chosen, loaded, false);
}

static int note_others(const struct chosen *chosen, const struct loaded *loaded,
                       struct comparison *comparison) {
    int result = 0;
    for (size_t i = 0; i < loaded->n && result == 0; i++) {
        size_t others = chosen->others[chosen->word[i]];
        char *text;
        if (!others || (i && chosen->word[i - 1] == chosen->word[i]))
            continue;
        if (asprintf(&text, "%zu older run%s called %s had another command: left out", others,
                     others == 1 ? "" : "s", comparison->runs[i]->run_name) < 0)
            return -ENOMEM;
        result = comparison_add_note(comparison, text);
    }
    return result;
}

/* The groups as arguments of another command. Owned; NULL: no memory. */
static char *words_again(const struct options *options) {
    char *words = strdup("");
    for (size_t i = 0; words && i <= options->n; i++) {
        bool last = i == options->n;
        if (last && !options->baseline)
            break;
        char *word = command_argument(last ? options->baseline : options->words[i]), *longer = NULL;
        if (word && asprintf(&longer, "%s%s%s%s", words, *words ? " " : "",
                             last ? "--baseline " : "", word) < 0)
            longer = NULL;
        free(word);
        free(words);
        words = longer;
    }
    return words;
}

static int write_chosen(const struct comparison *comparison, const struct options *options,
                        const struct format *format, FILE *out) {
    if (options->all || options->format || options->path)
        return comparison_write(comparison, format, out);
    char *words = words_again(options);
    int result = words ? comparison_write_lines(comparison, words, out) : -ENOMEM;
    free(words);
    return result;
}

static int print_comparison(const struct comparison *comparison, const struct options *options,
                            const struct format *format) {
    struct output output;
    int result = output_open(&output);
    if (result == 0)
        result = output_close(&output, options->path,
                              write_chosen(comparison, options, format, output.file));
    if (result < 0)
        return report_cannot_write("compare", options->path, result);
    return comparison->gate.each && !comparison->gate.passed ? EXIT_GATE : 0;
}

/* The details of a report are those of the run that represents its group. */
static int hold_typical(struct store *store, struct comparison *comparison) {
    int result = 0;
    for (size_t g = 0; result == 0 && g < comparison->n_groups; g++) {
        struct report *typical = comparison->runs[comparison->groups[g].typical];
        if (!typical->run->model.recording)
            result = report_read_again(store, typical);
    }
    return result;
}

static int compare_and_print(struct store *store, const struct options *options,
                             const struct format *format) {
    struct chosen chosen;
    struct loaded loaded;
    struct comparison *comparison;
    int status = choose(store, options, &chosen);
    if (status == 0)
        status = load(store, options, &chosen, &loaded);
    if (status)
        return status;
    make_groups(&chosen, &loaded, true);
    int result =
        comparison_build(loaded.reports, loaded.group, loaded.n, loaded.baseline, &comparison);
    if (result < 0) {
        loaded_free(&loaded);
        verb_complain("compare", "%s", strerror(-result));
        return 1;
    }
    result = note_others(&chosen, &loaded, comparison);
    if (result == 0 && !isnan(options->gate))
        result = comparison_set_gate(comparison, options->gate);
    if (result == 0 && format->room >= ROOM_FULL)
        result = hold_typical(store, comparison);
    status = result < 0 ? 1 : print_comparison(comparison, options, format);
    comparison_free(comparison);
    return status;
}

static int compare_main(int argc, char **argv) {
    struct options options;
    struct store *store;
    int status = read_compare_words(argc, argv, &options);
    if (status)
        return verb_words_status(status);
    const struct format *format = report_choose_format("compare", options.format, options.path);
    if (format && !format->serves) {
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

const struct verb verb_compare = {.name = "compare",
                                  .help = "put runs side by side, with what differs",
                                  .main = compare_main,
                                  .formats = "text md html csv json",
                                  .takes_runs = true};
