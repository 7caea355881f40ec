/* SPDX-License-Identifier: MIT */
#include "cli/launch/run_options.h"
#include "cli/base/options.h"
#include "cli/launch/preload.h"
#include "common/clock.h"
#include "common/error.h"
#include "common/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char usage[] =
    "usage: chokepoint run [OPTIONS] [--] COMMAND...\n"
    "\n"
    "Runs COMMAND unchanged and records what its hosts do meanwhile. Its standard streams are its\n"
    "own, its exit status is ours; what Chokepoint says goes to standard error.\n"
    "\n";

static const char end[] = "\n"
                          "Hosts other than this one are reached by COMMAND's own mpirun, else by "
                          "ssh ($CHOKEPOINT_RSH).\n";

/* Kept as text, since the agents parse it again. */
int run_take_spool_limit(const struct option_word *word, void *to) {
    uint64_t bytes;
    if (text_parse_bytes(word->text, &bytes) < 0 || bytes < 128u << 10 || bytes > UINT64_C(1) << 44)
        return option_expects(word, "bytes such as 64m or 1g, 128k at least");
    *(const char **)to = word->text;
    return 0;
}

int run_take_job(const struct option_word *word, void *to) {
    char why[120];
    if (job_words_add(to, word->text, why, sizeof why) < 0)
        return option_refuse(word, "--job '%.100s'; %s", word->text, why);
    return 0;
}

void run_words_init(struct run_words *words) {
    *words = (struct run_words){.options = {.database = "./chokepoint.db",
                                            .rate = "10",
                                            .rate_hz = 10,
                                            .call_spool_limit = "256m",
                                            .repeats = 1,
                                            .report = true,
                                            .shim = true},
                                .start_timeout_s = 20};
}

int run_words_judge(const char *verb, struct run_words *words, struct run_options *ret_options) {
    struct run_options *o = &words->options;
    if (!o->command[0])
        return verb_refuse(verb, "the command is missing", NULL,
                           "it follows the options, which `--help` lists");
    if (!o->database[0] || (o->name && !o->name[0]))
        return verb_refuse(verb, "an empty name", NULL, "--db and --name need one");
    if (o->process_rate_hz > o->rate_hz)
        return verb_refuse(verb, "--process-rate above --rate", NULL,
                           "processes are sampled with the rest");
    if (o->gpu_kernels && !o->shim)
        return verb_refuse(verb, "--gpu-kernels with --no-shim", NULL,
                           "the library that is not preloaded records kernels, too");
    if (o->gpu_kernels && getenv(KERNELS_VARIABLE))
        return verb_refuse(verb, "--gpu-kernels", NULL,
                           KERNELS_VARIABLE " is set: one tool alone can record kernels");
    int r = remote_words_check(verb, &o->remote);
    if (r)
        return r;
    if (!o->process_rate)
        o->process_rate = o->rate_hz < 1 ? o->rate : "1";
    o->start_timeout_ns = (int64_t)(words->start_timeout_s * (double)NS_PER_S);
    *ret_options = *o;
    return 0;
}

int run_options_read(int argc, char **argv, struct run_options *ret_options) {
    struct run_words run;
    struct run_options *o = &run.options;
    run_words_init(&run);
    const struct option_row rows[] = {
        {"-n, --name NAME", "of the run; default: the program's", .text = &o->name},
        {"--hosts FILE|A,B",
         "default: of COMMAND's --hostfile, --host or -H, else of the batch\n"
         "system (Slurm, PBS), else this machine",
         .text = &o->hosts},
        VERB_DATABASE(&o->database),
        RUN_HOST_ROWS(&run),
        RUN_CALL_ROWS(o),
        {"-r, --repeat N", "record COMMAND N times, one after the other, as repeats of one run",
         .small = &o->repeats, .low = 1, .high = RUN_REPEATS_MAX},
        {"--ignore-failure", "of --repeat: go on after a run that failed",
         .flag = &o->ignore_failure},
        {"--warmup N", "run COMMAND N times before, unrecorded", .small = &o->warmups,
         .high = RUN_REPEATS_MAX},
        {"--prepare CMD", "run CMD (by sh) before each run of COMMAND", .text = &o->prepare},
        {"--job [HOST:]KIND=VALUE",
         "these processes are the job, too, with their children: unit=,\n"
         "port=, cgroup=, user=, session=, pid=, container=, slurm=; repeatable",
         .take = run_take_job, .to = &o->jobs},
        {"--live", "serve a live view to a browser here while COMMAND runs", .flag = &o->live},
        REMOTE_ROWS(&o->remote),
        {"--no-command-lines",
         "record of COMMAND its program alone, and name\n"
         "processes as the kernel does",
         .flag = &o->no_command_lines},
        {"--no-mask",
         "record what looks like a password, a token or a key in COMMAND\n"
         "as it is, not as ***",
         .flag = &o->no_mask},
        RUN_END_ROWS(o),
    };
    const struct option_table table = {usage, rows, ARRAY_SIZE(rows), end, 6, 25, true};
    int r = verb_words_read("run", &table, argc, argv, &o->command);
    return r ? r : run_words_judge("run", &run, ret_options);
}
