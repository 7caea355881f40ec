/* SPDX-License-Identifier: MIT */
/*
 * `chokepoint cut`: the command line. A cut is a run that was never planned: agents with a ring
 * kept what hosts did, and the time and the job are named afterwards.
 */
#include "cli/cut/cut.h"
#include "cli/base/moment.h"
#include "cli/base/options.h"
#include "cli/base/verb.h"
#include "common/clock.h"
#include "common/duration.h"
#include "common/error.h"

#include <stdio.h>
#include <string.h>

#define RING_USUAL "/var/lib/chokepoint-agent/ring"
#define LAST_USUAL_NS (600 * NS_PER_S)
#define SPAN_MIN_NS (2 * NS_PER_S)
#define SPAN_MAX_NS (INT64_C(31) * 86400 * NS_PER_S)

static const char usage[] =
    "usage: chokepoint cut [--from T] [--to T | --last TIME] [JOB] [--hosts FILE|A,B] [OPTIONS]\n"
    "\n"
    "Makes a run of what agents with --ring have kept of that time, and says what limited it, as\n"
    "`chokepoint run` does of a command. T is such as -10min, 14:05, yesterday or\n"
    "\"2026-11-28 14:05\".\n"
    "\n";

static const char end[] =
    "\n"
    "Without a job all that was busy is the job. Hosts other than this one are "
    "reached by ssh\n($CHOKEPOINT_RSH).\n";

struct words {
    struct run_words run;
    const char *ring, *from, *to, *last, *step, *hostfile;
    char texts[JOB_CHOICES_MAX][JOB_CHOICE_VALUE_MAX + 32]; /* short forms of --job */
    size_t n;
};

static int take_short(const struct option_word *word, void *to, const char *kind) {
    struct words *words = to;
    char why[120] = "too long or too many";
    char *text = words->texts[words->n < JOB_CHOICES_MAX ? words->n : 0];
    int length = words->n < JOB_CHOICES_MAX
                     ? snprintf(text, sizeof words->texts[0], "%s=%s", kind, word->text)
                     : -1;
    if (length < 0 || (size_t)length >= sizeof words->texts[0] ||
        job_words_add(&words->run.options.jobs, text, why, sizeof why) < 0)
        return option_refuse(word, "--%s '%.100s'; %s", word->name, word->text, why);
    words->n++;
    return 0;
}

static int take_pid(const struct option_word *word, void *to) {
    return take_short(word, to, "pid");
}

static int take_unit(const struct option_word *word, void *to) {
    return take_short(word, to, "unit");
}

static int take_cgroup(const struct option_word *word, void *to) {
    return take_short(word, to, "cgroup");
}

static int take_slurm(const struct option_word *word, void *to) {
    return take_short(word, to, "slurm");
}

static int read_moment(const char *option, const char *text, int64_t now_ns, int64_t *ns) {
    if (!text || moment_parse(text, now_ns, ns) == 0)
        return 0;
    verb_complain("cut", "%s '%.60s' is no time; give one such as " MOMENT_FORMS, option, text);
    return -EINVAL;
}

static int choose_time(const struct words *words, struct cut *cut) {
    int64_t span_ns = LAST_USUAL_NS;
    if (words->last && words->from)
        return verb_refuse("cut", "--last with --from", NULL, "one of them tells the beginning");
    if (words->last && (duration_parse(words->last, &span_ns) < 0 || span_ns <= 0))
        return verb_refuse("cut", "no span of time", words->last, "give one such as 10m, 1h or 2d");
    cut->to_ns = cut->now_ns;
    int r = read_moment("--to", words->to, cut->now_ns, &cut->to_ns);
    if (cut->to_ns > cut->now_ns)
        cut->to_ns = cut->now_ns;
    cut->from_ns = cut->to_ns - span_ns;
    if (r == 0)
        r = read_moment("--from", words->from, cut->now_ns, &cut->from_ns);
    if (r < 0)
        return r;
    if (cut->from_ns <= 0 || cut->to_ns - cut->from_ns < SPAN_MIN_NS)
        return verb_refuse("cut", "nothing lies between these times", NULL,
                           "--from comes before --to, and before now");
    if (cut->to_ns - cut->from_ns > SPAN_MAX_NS)
        return verb_refuse("cut", "a cut of more than 31 days", NULL, "name a shorter time");
    return 0;
}

/* Without one each agent chooses it by what its ring has: reading an hour of each second takes
 * long, and shows no more than its shares. */
static int choose_step(const struct words *words, struct cut *cut) {
    int64_t span_ns = cut->to_ns - cut->from_ns;
    if (!words->step)
        return 0;
    if (duration_parse(words->step, &cut->step_ns) == 0 && cut->step_ns > 0 &&
        cut->step_ns <= span_ns / 2)
        return 0;
    return verb_refuse("cut", "no step", words->step, "give one such as 1s, 10s or 1m");
}

static int judge(struct words *words, struct cut *cut) {
    struct run_options *o = &words->run.options;
    if (words->hostfile && o->hosts)
        return verb_refuse("cut", "--hosts with --hostfile", NULL, "one of them names the hosts");
    if (words->hostfile && verb_check_hostfile("cut", words->hostfile) < 0)
        return -EINVAL;
    if (words->hostfile)
        o->hosts = words->hostfile;
    for (size_t i = 0; i < o->jobs.n; i++)
        if (strncmp(o->jobs.items[i].choice, "port=", 5) == 0)
            return verb_refuse("cut", "a port", o->jobs.items[i].text,
                               "rings do not keep who listened; name a unit, cgroup or process");
    if (!o->name)
        o->name = o->jobs.n ? o->jobs.items[0].text : "cut";
    int r = choose_time(words, cut);
    if (r == 0)
        r = choose_step(words, cut);
    return r < 0 ? r : run_words_judge("cut", &words->run, &cut->options);
}

static int cut_main(int argc, char **argv) {
    struct words words = {.ring = RING_USUAL};
    struct cut cut = {.now_ns = clock_wall_ns()};
    struct run_options *o = &words.run.options;
    char **rest;
    run_words_init(&words.run);
    const struct option_row rows[] = {
        {"--ring DIR", "of the agents; default: " RING_USUAL "; %h is the host",
         .text = &words.ring},
        {"--from T", "beginning; default: ten minutes before the end", .text = &words.from},
        {"--to T", "end; default: now", .text = &words.to},
        {"--last TIME", "so long before the end, such as 10m, 1h or 2d", .text = &words.last},
        {"--step TIME", "one sample for those of so long; default: about 1,200 samples",
         .text = &words.step},
        {"-p, --pid PID", "the job is this process with all below it", .take = take_pid,
         .to = &words},
        {"-c, --cgroup PATH", "the job is this control group", .take = take_cgroup, .to = &words},
        {"-u, --unit NAME", "the job is this unit of systemd", .take = take_unit, .to = &words},
        {"--slurm-job ID", "the job is this job of Slurm", .take = take_slurm, .to = &words},
        {"--job [HOST:]KIND=VALUE",
         "the same as the last four, and user=, session= and container=;\n"
         "repeatable, also these",
         .take = run_take_job, .to = &o->jobs},
        {"--hosts FILE|A,B", "default: of the batch system (Slurm, PBS), else this machine",
         .text = &o->hosts},
        {"--hostfile FILE", "the same, a file", .text = &words.hostfile},
        {"-n, --name NAME", "of the run; default: the first word of the job, or cut",
         .text = &o->name},
        VERB_DATABASE(&o->database),
        RUN_TIMEOUT_ROW(&words.run.start_timeout_s),
        {"--why", "at the end the verdict with what it rests on, not five lines", .flag = &o->why},
        {"--no-report", "no verdict at the end", .not_flag = &o->report},
        {"-q, --quiet", "say nothing but errors", .flag = &o->quiet},
    };
    const struct option_table table = {usage, rows, ARRAY_SIZE(rows), end, 6, 25, false};
    int r = verb_words_read("cut", &table, argc, argv, &rest);
    if (r == 0 && *rest)
        r = verb_refuse("cut", "not understood:", *rest, "`chokepoint cut --help` lists options");
    o->command = argv;
    o->attached = true;
    o->shim = false;
    o->rate = o->process_rate = "1";
    o->rate_hz = o->process_rate_hz = 1;
    if (r == 0)
        r = judge(&words, &cut);
    if (r)
        return verb_words_status(r);
    cut.ring = words.ring;
    return cut_make(&cut);
}

const struct verb verb_cut = {
    .name = "cut", .help = "make a run of what agents have kept", .main = cut_main};
