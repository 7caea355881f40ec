/* SPDX-License-Identifier: MIT */
/*
 * `chokepoint attach`: records what already runs, as `run` records what it starts. It is a run
 * without a command, whose job the user names; it ends after a time or by Ctrl-C.
 */
#include "cli/base/options.h"
#include "cli/base/verb.h"
#include "cli/launch/run_options.h"
#include "cli/run/run_repeat.h"
#include "common/duration.h"
#include "common/error.h"

#include <stdio.h>
#include <string.h>

#define DURATION_MIN_NS INT64_C(100000000)
#define DURATION_MAX_NS (INT64_C(366) * 86400 * 1000000000)

static const char usage[] =
    "usage: chokepoint attach --job [HOST:]KIND=VALUE [OPTIONS]\n"
    "\n"
    "Records processes that already run, and their hosts, until --duration is over or Ctrl-C;\n"
    "then says what limited them, as `chokepoint run` does of a command.\n"
    "\n";

static const char end[] = "\n"
                          "Hosts other than this one are reached by ssh ($CHOKEPOINT_RSH).\n";

static int take_duration(const struct option_word *word, void *to) {
    int64_t ns = 0;
    if (duration_parse(word->text, &ns) < 0 || ns < DURATION_MIN_NS || ns > DURATION_MAX_NS)
        return option_expects(word, "a time such as 60s, 5m or 1h");
    *(int64_t *)to = ns;
    return 0;
}

static int judge(const struct run_options *o, char **words) {
    if (*words)
        return verb_refuse("attach", "not understood:", *words,
                           "it starts no command; `chokepoint run` does");
    if (!o->jobs.n)
        return verb_refuse("attach", "say what to watch", NULL,
                           "for example --job pid=1234 or --job unit=nginx");
    return 0;
}

static int attach_main(int argc, char **argv) {
    struct run_words run;
    struct run_options options;
    struct run_turn turn = {0};
    struct run_options *o = &run.options;
    char **words, *command[] = {argv[0], NULL};
    run_words_init(&run);
    const struct option_row rows[] = {
        {"--job [HOST:]KIND=VALUE",
         "the processes that are the job, with all children; repeatable\n"
         "  unit=NAME       a unit of systemd\n"
         "  port=N          who listens on that TCP port\n"
         "  cgroup=PATH     a control group and all below it\n"
         "  user=NAME       all processes of a user\n"
         "  session=PID     a session\n"
         "  pid=PID         a process\n"
         "  container=ID    a container",
         .take = run_take_job, .to = &o->jobs},
        {"--duration TIME", "such as 60s, 5m, 1h; default: until Ctrl-C", .take = take_duration,
         .to = &o->duration_ns},
        {"-n, --name NAME", "of the run; default: the first --job", .text = &o->name},
        {"--hosts FILE|A,B", "default: of the batch system (Slurm, PBS), else this machine",
         .text = &o->hosts},
        VERB_DATABASE(&o->database),
        RUN_HOST_ROWS(&run),
        {"--live", "serve a live view to a browser here meanwhile", .flag = &o->live},
        {"--no-command-lines",
         "record nothing of this command line but its verb,\n"
         "and name processes as the kernel does",
         .flag = &o->no_command_lines},
        {"--no-mask", "record what looks like a secret in it as it is, not as ***",
         .flag = &o->no_mask},
        RUN_END_ROWS(o),
    };
    const struct option_table table = {usage, rows, ARRAY_SIZE(rows), end, 6, 25, false};
    int r = verb_words_read("attach", &table, argc, argv, &words);
    if (r == 0)
        r = judge(o, words);
    o->command = o->no_command_lines ? command : argv;
    o->attached = true;
    o->shim = false;
    if (!o->name && !o->no_command_lines && o->jobs.n)
        o->name = o->jobs.items[0].text;
    if (r == 0)
        r = run_words_judge("attach", &run, &options);
    if (r)
        return verb_words_status(r);
    run_once(&options, &turn);
    return turn.exit_status;
}

const struct verb verb_attach = {
    .name = "attach", .help = "record what already runs, and its hosts", .main = attach_main};
