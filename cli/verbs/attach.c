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

static const char help[] =
    "usage: chokepoint attach --job [HOST:]KIND=VALUE [OPTIONS]\n"
    "\n"
    "Records processes that already run, and their hosts, until --duration is over or Ctrl-C;\n"
    "then says what limited them, as `chokepoint run` does of a command.\n"
    "\n"
    "      --job [HOST:]KIND=VALUE\n"
    "                         the processes that are the job, with all children; repeatable\n"
    "                           unit=NAME       a unit of systemd\n"
    "                           port=N          who listens on that TCP port\n"
    "                           cgroup=PATH     a control group and all below it\n"
    "                           user=NAME       all processes of a user\n"
    "                           session=PID     a session\n"
    "                           pid=PID         a process\n"
    "                           container=ID    a container\n"
    "      --duration TIME    such as 60s, 5m, 1h; default: until Ctrl-C\n"
    "  -n, --name NAME        of the run; default: the first --job\n"
    "      --hosts FILE|A,B   default: of the batch system (Slurm, PBS), else this machine\n"
    "      --db FILE          default: ./chokepoint.db\n"
    "      --rate HZ          samples a second of each host; default: 10\n"
    "      --process-rate HZ  of its processes; default: 1\n"
    "      --flows            capture packets: who exchanges how much with whom\n"
    "      --allow-missing    go on when a host does not answer\n"
    "      --live             serve a live view to a browser here meanwhile\n"
    "      --start-timeout S  how long hosts may take to answer; default: 20\n"
    "      --wait-clocks      clock the job's waits with programs in the kernels of hosts\n"
    "      --no-command-lines record nothing of this command line but its verb,\n"
    "                         and name processes as the kernel does\n"
    "      --no-mask          record what looks like a secret in it as it is, not as ***\n"
    "      --why              at the end the verdict with what it rests on, not five lines\n"
    "      --progress         on a terminal: time, samples, what is full, each second\n"
    "      --no-report        no verdict at the end\n"
    "  -q, --quiet            say nothing but errors\n"
    "\n"
    "Hosts other than this one are reached by ssh ($CHOKEPOINT_RSH).\n";

/* Leaves the options of `run` that make sense without a command. */
static size_t keep_words(struct verb_option *takes, size_t n) {
    static const char *const others[] = {"call-spool-limit", "repeat", "no-shim"};
    size_t kept = 0;
    for (size_t i = 0; i < n; i++) {
        bool other = false;
        for (size_t k = 0; k < ARRAY_SIZE(others); k++)
            other |= strcmp(takes[i].name, others[k]) == 0;
        if (!other)
            takes[kept++] = takes[i];
    }
    return kept;
}

static int read_duration(const char *text, int64_t *ret_ns) {
    int64_t ns = 0;
    if (text && (duration_parse(text, &ns) < 0 || ns < DURATION_MIN_NS || ns > DURATION_MAX_NS))
        return verb_refuse("attach", "--duration", text, "give a time such as 60s, 5m or 1h");
    *ret_ns = ns;
    return 0;
}

static int judge(struct run_words *run, char **words, const char *duration) {
    if (*words)
        return verb_refuse("attach", "not understood:", *words,
                           "it starts no command; `chokepoint run` does");
    if (!run->options.jobs.n)
        return verb_refuse("attach", "whom to watch is missing", NULL,
                           "give --job unit=NAME, --job port=N or another");
    return read_duration(duration, &run->options.duration_ns);
}

static int attach_main(int argc, char **argv) {
    struct run_words run;
    struct run_options options;
    struct run_turn turn = {0};
    struct verb_option takes[RUN_WORDS_TAKES + 4];
    const char *duration = NULL;
    char **words, *command[] = {argv[0], NULL};
    run_words_init(&run);
    run.verb = "attach";
    size_t n = keep_words(takes, run_words_takes(&run, takes));
    takes[n++] = (struct verb_option){.name = "job", .text = &run.job};
    takes[n++] = (struct verb_option){.name = "duration", .text = &duration};
    takes[n++] = (struct verb_option){.name = "live", .flag = &run.options.live};
    takes[n++] = (struct verb_option){.name = "progress", .flag = &run.options.progress};
    const struct verb_words known = {"attach", help, takes, n, false};
    int r = verb_words_read_each(&known, argc, argv, run_words_hear, &run, &words);
    if (r == 0)
        r = judge(&run, words, duration);
    run.options.command = run.options.no_command_lines ? command : argv;
    run.options.attached = run.no_shim = true;
    if (!run.options.name && !run.options.no_command_lines && run.options.jobs.n)
        run.options.name = run.options.jobs.items[0].text;
    if (r == 0)
        r = run_words_judge("attach", &run, &options);
    if (r)
        return verb_words_status(r);
    run_once(&options, &turn);
    return turn.exit_status;
}

const struct verb verb_attach = {
    .name = "attach", .help = "record what already runs, and its hosts", .main = attach_main};
