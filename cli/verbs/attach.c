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

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define DURATION_MIN_NS INT64_C(100000000)
#define DURATION_MAX_NS (INT64_C(366) * 86400 * 1000000000)

static const char usage[] =
    "usage: chokepoint attach {PID | -p PID | -u UNIT | --job [HOST:]KIND=VALUE}... [OPTIONS]\n"
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

/* Short forms of --job, whose texts live as long as the verb. */
struct short_jobs {
    struct job_words *jobs;
    char texts[JOB_CHOICES_MAX][JOB_CHOICE_VALUE_MAX + 32];
    size_t n;
};

static int add_short(struct short_jobs *to, const char *kind, const char *value, char *why,
                     size_t size) {
    if (to->n == JOB_CHOICES_MAX)
        return snprintf(why, size, "at most %d", JOB_CHOICES_MAX), -EINVAL;
    char *text = to->texts[to->n];
    int length = snprintf(text, sizeof to->texts[0], "%s=%s", kind, value);
    if (length < 0 || (size_t)length >= sizeof to->texts[0])
        return snprintf(why, size, "too long"), -EINVAL;
    int r = job_words_add(to->jobs, text, why, size);
    to->n += r == 0;
    return r;
}

static int take_short(const struct option_word *word, void *to, const char *kind) {
    char why[120];
    if (add_short(to, kind, word->text, why, sizeof why) < 0)
        return option_refuse(word, "--%s '%.100s'; %s", word->name, word->text, why);
    return 0;
}

static int take_pid(const struct option_word *word, void *to) {
    return take_short(word, to, "pid");
}

static int take_unit(const struct option_word *word, void *to) {
    return take_short(word, to, "unit");
}

/* A bare number is a process, as with strace and gdb; any other word is a mistake. */
static int take_jobs(struct short_jobs *to, char **words) {
    char why[120];
    for (; *words; words++) {
        bool number = **words && strspn(*words, "0123456789") == strlen(*words);
        if (!number)
            return verb_refuse("attach", "not understood:", *words,
                               "a process is named by its number, a unit by -u NAME; "
                               "`chokepoint run` starts a command");
        if (add_short(to, "pid", *words, why, sizeof why) < 0)
            return verb_refuse("attach", "no process:", *words, why);
    }
    if (!to->jobs->n)
        return verb_refuse("attach", "say what to watch", NULL,
                           "for example a process by its number, -u nginx or --job port=5432");
    return 0;
}

static int attach_main(int argc, char **argv) {
    struct run_words run;
    struct run_options options;
    struct run_turn turn = {0};
    struct run_options *o = &run.options;
    char **words, *command[] = {argv[0], NULL};
    run_words_init(&run);
    struct short_jobs shorts = {.jobs = &o->jobs};
    const struct option_row rows[] = {
        {"--job [HOST:]KIND=VALUE",
         "the processes that are the job, with all children; repeatable\n"
         "  unit=NAME       a unit of systemd\n"
         "  port=N          who listens on that TCP port\n"
         "  cgroup=PATH     a control group and all below it\n"
         "  user=NAME       all processes of a user\n"
         "  session=PID     a session\n"
         "  pid=PID         a process\n"
         "  container=ID    a container\n"
         "  slurm=ID        a job of Slurm",
         .take = run_take_job, .to = &o->jobs},
        {"-p, --pid PID", "the same as --job pid=PID, and as a bare number", .take = take_pid,
         .to = &shorts},
        {"-u, --unit NAME", "the same as --job unit=NAME", .take = take_unit, .to = &shorts},
        {"--duration TIME", "such as 60s, 5m, 1h; default: until Ctrl-C", .take = take_duration,
         .to = &o->duration_ns},
        {"-n, --name NAME", "of the run; default: the first --job", .text = &o->name},
        {"--hosts FILE|A,B", "default: of the batch system (Slurm, PBS), else this machine",
         .text = &o->hosts},
        VERB_DATABASE(&o->database),
        RUN_HOST_ROWS(&run),
        {"--live", "serve a live view to a browser here meanwhile", .flag = &o->live},
        REMOTE_ROWS(&o->remote),
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
        r = take_jobs(&shorts, words);
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
