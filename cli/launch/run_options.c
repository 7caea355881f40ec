/* SPDX-License-Identifier: MIT */
#include "cli/launch/run_options.h"
#include "cli/base/options.h"
#include "common/clock.h"
#include "common/error.h"
#include "common/text.h"

#include <stdio.h>
#include <string.h>

static const char help[] =
    "usage: chokepoint run [OPTIONS] [--] COMMAND...\n"
    "\n"
    "Runs COMMAND unchanged and records what its hosts do meanwhile. Its standard streams are its\n"
    "own, its exit status is ours; what Chokepoint says goes to standard error.\n"
    "\n"
    "  -n, --name NAME        of the run; default: the program's\n"
    "      --hosts FILE|A,B   default: of COMMAND's --hostfile, --host or -H, else of the batch\n"
    "                         system (Slurm, PBS), else this machine\n"
    "      --db FILE          default: ./chokepoint.db\n"
    "      --rate HZ          samples a second of each host; default: 10\n"
    "      --process-rate HZ  of its processes; default: 1\n"
    "      --call-spool-limit BYTES\n"
    "                         of single MPI calls, which each host keeps until the command has\n"
    "                         ended; default: 256m, about 14 million calls\n"
    "  -r, --repeat N         record COMMAND N times, one after the other, as repeats of one run\n"
    "      --ignore-failure   of --repeat: go on after a run that failed\n"
    "      --warmup N         run COMMAND N times before, unrecorded\n"
    "      --prepare CMD      run CMD (by sh) before each run of COMMAND\n"
    "      --job [HOST:]KIND=VALUE\n"
    "                         these processes are the job, too, with their children: unit=,\n"
    "                         port=, cgroup=, user=, session=, pid=, container=; repeatable\n"
    "      --flows            capture packets: who exchanges how much with whom\n"
    "      --allow-missing    go on when a host does not answer\n"
    "      --live             serve a live view to a browser here while COMMAND runs\n"
    "      --start-timeout S  how long hosts may take to answer; default: 20\n"
    "      --no-shim          preload nothing: MPI calls are not recorded\n"
    "      --wait-clocks      clock the job's waits with programs in the kernels of hosts\n"
    "      --no-command-lines record of COMMAND its program alone, and name\n"
    "                         processes as the kernel does\n"
    "      --no-mask          record what looks like a password, a token or a key in COMMAND\n"
    "                         as it is, not as ***\n"
    "      --why              at the end the verdict with what it rests on, not five lines\n"
    "      --progress         on a terminal: time, samples, what is full, each second\n"
    "      --no-report        no verdict at the end\n"
    "  -q, --quiet            say nothing but errors\n"
    "\n"
    "Hosts other than this one are reached by COMMAND's own mpirun, else by ssh "
    "($CHOKEPOINT_RSH).\n";

static int read_number(const char *verb, const char *option, const char *text, double least,
                       double most, double *ret_value) {
    char advice[100];
    double value;
    if (text_parse_double(text, &value) == 0 && value >= least && value <= most) {
        *ret_value = value;
        return 0;
    }
    snprintf(advice, sizeof advice, "give a number from %g to %g", least, most);
    verb_complain(verb, "%s '%s' is out of range; %s", option, text, advice);
    return -EINVAL;
}

/* The agents read it again, so it stays text. */
static int check_spool_limit(const char *verb, const char *text) {
    uint64_t bytes;
    if (text_parse_bytes(text, &bytes) == 0 && bytes >= 128u << 10 && bytes <= UINT64_C(1) << 44)
        return 0;
    return verb_refuse(verb, "--call-spool-limit", text,
                       "give bytes such as 64m or 1g, 128k at least");
}

static int read_start_timeout(const char *verb, const char *text, int64_t *ret_ns) {
    double value = 0;
    int r = read_number(verb, "--start-timeout", text, 0.1, 86400, &value);
    if (r == 0)
        *ret_ns = (int64_t)(value * (double)NS_PER_S);
    return r;
}

static int read_warmups(const char *text, int *ret_warmups) {
    uint64_t warmups = 0;
    char advice[64];
    snprintf(advice, sizeof advice, "give a whole number from 0 to %d", RUN_REPEATS_MAX);
    if (text && (text_parse_u64(text, &warmups) != 0 || warmups > RUN_REPEATS_MAX))
        return verb_refuse("run", "--warmup", text, advice);
    *ret_warmups = (int)warmups;
    return 0;
}

static int read_repeats(const char *verb, const char *text, int *ret_repeats) {
    uint64_t repeats;
    char advice[64];
    snprintf(advice, sizeof advice, "give a whole number from 1 to %d", RUN_REPEATS_MAX);
    if (text_parse_u64(text, &repeats) != 0 || repeats < 1 || repeats > RUN_REPEATS_MAX)
        return verb_refuse(verb, "--repeat", text, advice);
    *ret_repeats = (int)repeats;
    return 0;
}

/* Checks options one by one. */
static int judge(const char *verb, struct run_options *o, const char *start_timeout) {
    int r = read_number(verb, "--rate", o->rate, 0.1, 1000, &o->rate_hz);
    if (r == 0 && o->process_rate)
        r = read_number(verb, "--process-rate", o->process_rate, 0.01, 1000, &o->process_rate_hz);
    if (r == 0)
        r = check_spool_limit(verb, o->call_spool_limit);
    return r ? r : read_start_timeout(verb, start_timeout, &o->start_timeout_ns);
}

void run_words_init(struct run_words *words) {
    *words = (struct run_words){
        .options = {.database = "./chokepoint.db", .rate = "10", .call_spool_limit = "256m"},
        .start_timeout = "20",
        .repeats = "1"};
}

size_t run_words_takes(struct run_words *words, struct verb_option *takes) {
    struct run_options *o = &words->options;
    const struct verb_option list[] = {
        {.name = "name", .letter = 'n', .text = &o->name},
        {.name = "hosts", .text = &o->hosts},
        {.name = "db", .text = &o->database},
        {.name = "rate", .text = &o->rate},
        {.name = "process-rate", .text = &o->process_rate},
        {.name = "call-spool-limit", .text = &o->call_spool_limit},
        {.name = "repeat", .letter = 'r', .text = &words->repeats},
        {.name = "flows", .flag = &o->flows},
        {.name = "allow-missing", .flag = &o->allow_missing},
        {.name = "start-timeout", .text = &words->start_timeout},
        {.name = "no-shim", .flag = &words->no_shim},
        {.name = "wait-clocks", .flag = &o->wait_clocks},
        {.name = "no-command-lines", .flag = &o->no_command_lines},
        {.name = "no-mask", .flag = &o->no_mask},
        {.name = "no-report", .flag = &words->no_report},
        {.name = "why", .flag = &o->why},
        {.name = "quiet", .letter = 'q', .flag = &o->quiet},
    };
    _Static_assert(ARRAY_SIZE(list) == RUN_WORDS_TAKES, "room for them is made by this number");
    memcpy(takes, list, sizeof list);
    return ARRAY_SIZE(list);
}

int run_words_judge(const char *verb, struct run_words *words, struct run_options *ret_options) {
    struct run_options *o = &words->options;
    int r = judge(verb, o, words->start_timeout);
    if (r == 0)
        r = read_repeats(verb, words->repeats, &o->repeats);
    if (r)
        return r;
    if (!o->command[0])
        return verb_refuse(verb, "the command is missing", NULL,
                           "it follows the options, which `--help` lists");
    if (!o->database[0] || (o->name && !o->name[0]))
        return verb_refuse(verb, "an empty name", NULL, "--db and --name need one");
    if (o->process_rate_hz > o->rate_hz)
        return verb_refuse(verb, "--process-rate above --rate", NULL,
                           "processes are sampled with the rest");
    if (!o->process_rate)
        o->process_rate = o->rate_hz < 1 ? o->rate : "1";
    o->report = !words->no_report;
    o->shim = !words->no_shim;
    *ret_options = *o;
    return 0;
}

int run_words_hear(void *words, const char *name, const char *value, char *const *rest) {
    struct run_words *run = words;
    char why[120];
    (void)rest;
    if (strcmp(name, "job") != 0 || job_words_add(&run->options.jobs, value, why, sizeof why) == 0)
        return 0;
    return verb_refuse(run->verb, "--job", value, why);
}

int run_options_read(int argc, char **argv, struct run_options *ret_options) {
    struct run_words run;
    struct verb_option takes[RUN_WORDS_TAKES + 6];
    const char *warmups = NULL;
    run_words_init(&run);
    run.verb = "run";
    size_t n = run_words_takes(&run, takes);
    takes[n++] =
        (struct verb_option){.name = "ignore-failure", .flag = &run.options.ignore_failure};
    takes[n++] = (struct verb_option){.name = "live", .flag = &run.options.live};
    takes[n++] = (struct verb_option){.name = "progress", .flag = &run.options.progress};
    takes[n++] = (struct verb_option){.name = "warmup", .text = &warmups};
    takes[n++] = (struct verb_option){.name = "prepare", .text = &run.options.prepare};
    takes[n++] = (struct verb_option){.name = "job", .text = &run.job};
    const struct verb_words words = {"run", help, takes, n, true};
    int r = verb_words_read_each(&words, argc, argv, run_words_hear, &run, &run.options.command);
    if (r == 0)
        r = read_warmups(warmups, &run.options.warmups);
    return r ? r : run_words_judge("run", &run, ret_options);
}
