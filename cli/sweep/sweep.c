/* SPDX-License-Identifier: MIT */
/*
 * `chokepoint sweep`: records a command for each combination of the values of its parameters. The
 * first word may be `report` or `reference`; a command of that name comes after its -L.
 */
#include "cli/sweep/sweep.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/base/options.h"
#include "cli/base/verb.h"
#include "cli/launch/command_words.h"
#include "cli/launch/program_file.h"
#include "cli/launch/run_session.h"
#include "cli/sweep/make.h"
#include "common/error.h"
#include "reports/says/commands.h"
#include "reports/says/text_list.h"

static const char usage[] =
    "usage: chokepoint sweep -L NAME A,B,C [-L ...] [-P NAME MIN MAX] [OPTIONS] [--] COMMAND...\n"
    "       chokepoint sweep report [NAME] [--db FILE] [--measure M,...] [--table T,...]\n"
    "                  [--format FORMAT] [--output PATH] [--pictures DIR]\n"
    "       chokepoint sweep reference [NAME]... [--size short|full] [--hosts FILE|A,B]\n"
    "                  [--db FILE] [--data-dir DIR] [--repeat N] [--show] [--format FORMAT]\n"
    "                  [--output PATH] [--pictures DIR]\n"
    "\n"
    "Records COMMAND, in which {NAME} stands for a value, for each combination of values, as\n"
    "`chokepoint run` does, and shows figures and verdicts by the first two parameters. The\n"
    "same words again go on with what is missing. `reference` makes sweeps that are ready;\n"
    "`chokepoint sweep report --help` and `chokepoint sweep reference --help` tell more.\n"
    "\n";

struct scan {
    const char *name, *from, *until;
};

struct options {
    struct run_words run;
    struct sweep_parameters parameters;
    struct scan scans[SWEEP_PARAMETERS_MAX];
    size_t n_scans;
    const char *step, *measures;
    bool stop_on_failure, retry_failed;
    char why[PARAMETERS_WHY];
};

/* ---- words ---- */

static int refuse(const char *why) {
    verb_complain("sweep", "%s", why);
    return -EINVAL;
}

static int take_list(const struct option_word *word, void *to) {
    struct options *o = to;
    if (!word->rest[0])
        return option_refuse(word, "values are missing after -L NAME");
    if (parameters_add_list(&o->parameters, word->text, word->rest[0], o->why) < 0)
        return option_refuse(word, "%s", o->why);
    return 1;
}

/* Scans wait until the step is known, which may come after them. */
static int take_scan(const struct option_word *word, void *to) {
    struct options *o = to;
    if (!word->rest[0] || !word->rest[1])
        return option_refuse(word, "two numbers are missing after -P NAME");
    if (o->n_scans == SWEEP_PARAMETERS_MAX)
        return option_refuse(word, "too many parameters");
    o->scans[o->n_scans++] = (struct scan){word->text, word->rest[0], word->rest[1]};
    return 2;
}

static int read_words(int argc, char **argv, struct options *o) {
    struct run_options *run = &o->run.options;
    const struct option_row rows[] = {
        {"-L, --parameter-list NAME A,B,C",
         "values one by one; \\, is a comma in one; NAME may be two that\n"
         "change together: -L mode:ranks single:1,sync:4",
         .take = take_list, .to = o},
        {"-P, --parameter-scan NAME MIN MAX", "numbers, 1 apart", .take = take_scan, .to = o},
        {"-D, --parameter-step-size N", "or so far apart", .text = &o->step},
        {"-r, --repeat N", "runs of each combination, in turn (A B C A B C); default: 1",
         .small = &run->repeats, .low = 1, .high = RUN_REPEATS_MAX},
        {"--stop-on-failure", "end with the first run that fails", .flag = &o->stop_on_failure},
        {"--retry-failed", "make runs again that failed", .flag = &o->retry_failed},
        {"-n, --name NAME", "name of the sweep; default: the program's", .text = &run->name},
        {"--measure M,...", "what to show at the end, as of `sweep report`", .text = &o->measures},
        {"--no-report", "show nothing at the end, and keep no time budgets",
         .not_flag = &run->report},
        {"-q, --quiet", "say nothing but errors and what is shown at the end", .flag = &run->quiet},
        {.help = "\nOptions of each run, as for `chokepoint run`:\n"},
        {"--hosts FILE|A,B", "default: of COMMAND, else of the batch system, else this machine",
         .text = &run->hosts},
        VERB_DATABASE(&run->database),
        RUN_HOST_ROWS(&o->run),
        RUN_CALL_ROWS(run),
        {"--no-command-lines", "record of COMMAND its program alone",
         .flag = &run->no_command_lines},
        {"--no-mask", "record and show secrets in COMMAND and in values as they are",
         .flag = &run->no_mask},
    };
    const struct option_table table = {usage, rows, ARRAY_SIZE(rows), NULL, 6, 25, true};
    *o = (struct options){.step = "1"};
    run_words_init(&o->run);
    return verb_words_read("sweep", &table, argc, argv, &run->command);
}

static int check_measures(const char *text) {
    struct sweep_words words;
    int r =
        text ? sweep_words_read(text, "measure", sweep_is_measure, sweep_measure_words, &words) : 0;
    if (text && r == 0)
        sweep_words_release(&words);
    return r;
}

static int check_parameters(struct options *o) {
    for (size_t i = 0; i < o->n_scans; i++)
        if (parameters_add_scan(&o->parameters, o->scans[i].name, o->scans[i].from,
                                o->scans[i].until, o->step, o->why) < 0)
            return refuse(o->why);
    if (!o->parameters.n)
        return verb_refuse("sweep", "no parameter is given", NULL,
                           "for example -L batch 100,1000 with {batch} in the command");
    if (parameters_check(&o->parameters, o->run.options.command, o->why) < 0)
        return refuse(o->why);
    if (!parameters_cells(&o->parameters))
        return refuse("more combinations of values than 10000");
    return 0;
}

/* ---- texts made of the words ---- */

/* "chokepoint-sgd", from the command with its placeholders. */
static const char *default_name(char *const *command) {
    struct command_words words;
    const char *program =
        command_words_read(command, &words) == 0 && words.program ? words.program : command[0];
    const char *slash = strrchr(program, '/');
    return slash && slash[1] ? slash + 1 : program;
}

/* A word without placeholder is the same for all runs: an error in it is reported once. */
static int check_command(char *const *command) {
    int r = strchr(command[0], '{') ? 0 : command_find(command[0]);
    if (r == 0)
        return 0;
    verb_complain("sweep", "%s: %s", command[0], r == -ENOENT ? "command not found" : strerror(-r));
    return r == -ENOENT ? 127 : 126;
}

/* The command that shows the sweep as a page, for pasting. */
static void tell_more(const char *name) {
    AUTO(text_free) char *word = command_argument(name);
    AUTO(text_free) char *words = word ? text_format("report %s -o sweep.html", word) : NULL;
    AUTO(text_free)
    char *command = words ? command_words(verb_caller(), (struct command){"sweep", words}) : NULL;
    if (command)
        verb_complain(NULL, "page: %s", command);
}

static int make_and_show(const struct options *o, const struct run_options *run) {
    const struct sweep_request request = {.name =
                                              run->name ? run->name : default_name(run->command),
                                          .options = *run,
                                          .parameters = &o->parameters,
                                          .stop_on_failure = o->stop_on_failure,
                                          .retry_failed = o->retry_failed,
                                          .quiet = run->quiet};
    const struct sweep_view view = {.name = request.name, .measures = o->measures};
    const struct sweep_target target = {.format = "text", .out = stderr};
    int status = sweep_make(&request);
    if (run->report && status != EXIT_USAGE) {
        int shown = sweep_show(run->database, &view, 1, &target);
        status = status ? status : shown;
        if (!run->quiet)
            tell_more(request.name);
    }
    return status;
}

static int sweep_options_main(int argc, char **argv) {
    struct options o;
    struct run_options run;
    int r = read_words(argc, argv, &o);
    if (r == 0)
        r = run_words_judge("sweep", &o.run, &run);
    if (r == 0)
        r = check_parameters(&o);
    if (r == 0)
        r = check_measures(o.measures);
    int status = r ? verb_words_status(r) : check_command(run.command);
    if (status == 0 && r == 0)
        status = make_and_show(&o, &run);
    parameters_release(&o.parameters);
    return status;
}

static int sweep_main(int argc, char **argv) {
    if (argc > 1 && strcmp(argv[1], "report") == 0)
        return sweep_report_main(argc - 1, argv + 1);
    if (argc > 1 && strcmp(argv[1], "reference") == 0)
        return sweep_reference_main(argc - 1, argv + 1);
    return sweep_options_main(argc, argv);
}

const struct verb verb_sweep = {.name = "sweep",
                                .help = "record a command for each combination of parameters",
                                .main = sweep_main,
                                .words = "report reference"};
