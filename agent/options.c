/* SPDX-License-Identifier: MIT */
#include "agent/options.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/ring/ring.h"
#include "agent/spool/spool.h"
#include "common/clock.h"
#include "common/error.h"
#include "common/options.h"
#include "common/secret.h"
#include "common/text.h"

static const char usage[] =
    "usage: chokepoint-agent --collector URL --spool DIR [options]\n"
    "Samples this host and pushes what it finds to a collector. `chokepoint run` starts it.\n"
    "\n";

static const char end[] =
    "\n"
    "CHOKEPOINT_TOKEN holds this host's key, which the collector asks for.\n"
    "Exit status: 0 stopped, all delivered; 3 stopped, undelivered samples are kept; 2 usage;\n"
    "1 could not start or go on.\n";

#define RATE_MIN_HZ (1.0 / 3600)
#define RATE_MAX_HZ 1000.0
#define SECONDS_MAX (366.0 * 86400)
#define RING_HOURS_MIN 0.01
#define FOREIGN_PROCESSES 5
#define RING_PROCESSES 32

static int take_rate(const struct option_word *word, void *to) {
    double hz;
    int r = option_read_number(word, RATE_MIN_HZ, RATE_MAX_HZ, &hz);
    if (r == 0)
        *(int64_t *)to = (int64_t)(1e9 / hz + 0.5);
    return r;
}

static int take_seconds(const struct option_word *word, void *to) {
    double seconds;
    int r = option_read_number(word, 0, SECONDS_MAX, &seconds);
    if (r == 0)
        *(int64_t *)to = (int64_t)(seconds * 1e9 + 0.5);
    return r;
}

static bool parse_scope(const char *text, enum scope_kind *ret_kind) {
    static const char *const names[] = {
        [SCOPE_HOST] = "host", [SCOPE_CGROUP] = "cgroup", [SCOPE_JOB] = "job"};
    for (size_t i = 0; i < ARRAY_SIZE(names); i++)
        if (strcmp(text, names[i]) == 0)
            return *ret_kind = (enum scope_kind)i, true;
    return false;
}

static int take_scope(const struct option_word *word, void *to) {
    return parse_scope(word->text, to) ? 0 : option_expects(word, "host, cgroup or job");
}

static int take_host(const struct option_word *word, void *to) {
    size_t size = strlen(word->text);
    if (!instance_name_valid(word->text, size))
        return option_expects(word, "a name of visible characters");
    memcpy(to, word->text, size + 1);
    return 0;
}

static int take_limit(const struct option_word *word, void *to) {
    uint64_t bytes;
    if (text_parse_bytes(word->text, &bytes) < 0 || bytes < SPOOL_LIMIT_MIN ||
        bytes > UINT64_C(1) << 44)
        return option_expects(word, "bytes such as 64m");
    *(uint64_t *)to = bytes;
    return 0;
}

static int take_ring_size(const struct option_word *word, void *to) {
    uint64_t bytes;
    if (text_parse_bytes(word->text, &bytes) < 0 || bytes < RING_LIMIT_MIN ||
        bytes > UINT64_C(1) << 44)
        return option_expects(word, "bytes such as 2g, 1m at least");
    *(uint64_t *)to = bytes;
    return 0;
}

static int take_hours(const struct option_word *word, void *to) {
    double hours;
    int r = option_read_number(word, RING_HOURS_MIN, SECONDS_MAX / 3600, &hours);
    if (r == 0)
        *(int64_t *)to = (int64_t)(hours * 3600e9);
    return r;
}

static int take_choice(const struct option_word *word, void *to) {
    struct agent_options *o = to;
    char why[120];
    if (o->n_choices == JOB_CHOICES_MAX ||
        job_choice_parse(word->text, &o->choices[o->n_choices], why, sizeof why) < 0)
        return option_expects(word, "up to %d of KIND=VALUE", JOB_CHOICES_MAX);
    o->n_choices++;
    return 0;
}

static int take_url(const struct option_word *word, void *to) {
    *(const char **)to = word->text;
    return strncmp(word->text, "http://", 7) == 0 || strncmp(word->text, "https://", 8) == 0
               ? 0
               : option_expects(word, "https://HOST:PORT");
}

static int take_pin(const struct option_word *word, void *to) {
    *(const char **)to = word->text;
    return strncmp(word->text, "sha256//", 8) == 0 && strlen(word->text) == 8 + 44
               ? 0
               : option_expects(word, "sha256//HASH");
}

static int take_path(const struct option_word *word, void *to) {
    *(const char **)to = word->text;
    return *word->text ? 0 : option_expects(word, "a path");
}

static int take_delivered(const struct option_word *word, void *to) {
    struct agent_options *o = to;
    o->delivered = word->text;
    o->collector = "the relay of the run";
    return *word->text == '/' ? 0 : option_expects(word, "a path from /");
}

/* Nothing: there is none. */
static int take_library(const struct option_word *word, void *to) {
    *(const char **)to = word->text;
    return *word->text == '/' || !*word->text ? 0
                                              : option_expects(word, "a path from /, or nothing");
}

static int default_host(char *ret_host) {
    char name[256] = "";
    if (gethostname(name, sizeof name - 1) < 0 || !name[0])
        return -EINVAL;
    text_sanitize(ret_host, INSTANCE_MAX + 1, name, strlen(name));
    return 0;
}

static const char *whats_missing(struct agent_options *options) {
    if (options->doctor)
        return NULL;
    if (options->ring && (options->collector || options->send_ring || options->spool))
        return "--ring keeps samples here: it goes without --collector, --spool and --send-ring";
    if (options->send_ring && options->from_ns >= options->to_ns)
        return "--send-ring needs --from NS and a later --to NS";
    bool by_http = options->push && !options->delivered && !options->ring;
    if (by_http && !options->collector)
        return "say where the collector is: --collector https://HOST:PORT (or --no-push)";
    if (by_http && strncmp(options->collector, "https://", 8) != 0)
        return "samples leave by TLS only: --collector https://HOST:PORT";
    if (by_http && !options->pin)
        return "say whose key the collector has: --pin sha256//HASH, as it prints it";
    if (options->process_period_ns < options->period_ns)
        return "--process-rate may not be above --rate";
    if (!options->host[0] && default_host(options->host) < 0)
        return "this host has no name: use --host NAME";
    return NULL;
}

static int refuse(char *why, size_t why_size, const char *text, const char *detail) {
    snprintf(why, why_size, "%s%s", text, detail);
    return -EINVAL;
}

static bool take_marks(struct agent_options *options) {
    const char *marks = getenv("CHOKEPOINT_MARKS");
    return !marks || (size_t)snprintf(options->marks, sizeof options->marks, "%s", marks) <
                         sizeof options->marks;
}

static int refuse_option(const struct option_trouble *t, char *why, size_t why_size) {
    static const char *const wrong[] = {[OPTION_UNKNOWN] = "no such option, see --help: ",
                                        [OPTION_NO_VALUE] = "a value is missing after ",
                                        [OPTION_TAKES_NONE] = "this option takes no value: "};
    if (t->wrong == OPTION_BAD_VALUE)
        snprintf(why, why_size, "bad value of --%s, see --help: %s", t->name, t->word);
    else if (t->nearest[0])
        snprintf(why, why_size, "no such option: %s; did you mean --%s? See --help", t->word,
                 t->nearest);
    else
        snprintf(why, why_size, "%s%s", wrong[t->wrong], t->word);
    return -EINVAL;
}

static const struct agent_options defaults = {.proc = "/proc",
                                              .sys = "/sys",
                                              .ring_span_ns = 24 * 3600 * NS_PER_S,
                                              .ring_limit_bytes = UINT64_C(2) << 30,
                                              .orphan_after_ns = 3600 * NS_PER_S,
                                              .drain_ns = 20 * NS_PER_S,
                                              .spool_limit_bytes = 64u << 20,
                                              .call_spool_limit_bytes = 256u << 20,
                                              .call_drain_ns = 60 * NS_PER_S,
                                              .foreign_processes = -1,
                                              .supervise = true,
                                              .push = true};

static int read_words(int argc, char **argv, struct agent_options *o, char *why, size_t why_size) {
    bool shows_tables = false, shows_version = false;
    struct option_trouble trouble;
    char **rest;
    const struct option_row rows[] = {
        {"--collector URL", "https://HOST:PORT of the collector", .take = take_url,
         .to = &o->collector},
        {"--pin PIN", "sha256//HASH of its public key, as it prints it", .take = take_pin,
         .to = &o->pin},
        {"--token-stdin", "the token is the first line of standard input", .flag = &o->token_stdin},
        {"--spool DIR",
         "where samples wait until the collector has them (default: a new\n"
         "directory in $TMPDIR or /tmp, which is told on standard error)",
         .take = take_path, .to = &o->spool},
        {"--spool-limit BYTES", "at most that much, e.g. 64m (the default); the oldest goes first",
         .take = take_limit, .to = &o->spool_limit_bytes},
        {"--call-spool-limit BYTES", "of single MPI calls, which wait for the end (default 256m)",
         .take = take_limit, .to = &o->call_spool_limit_bytes},
        {"--no-push", "spool only", .not_flag = &o->push},
        {"--ring DIR", "keep samples of the last hours there, for `chokepoint cut`; no collector",
         .take = take_path, .to = &o->ring},
        {"--ring-hours H", "how old they may be (default 24)", .take = take_hours,
         .to = &o->ring_span_ns},
        {"--ring-size BYTES", "at most that much, e.g. 2g (the default); the oldest goes first",
         .take = take_ring_size, .to = &o->ring_limit_bytes},
        {"--ring-group-reads", "the group of that directory may read them",
         .flag = &o->ring_group_reads},
        {"--send-ring DIR", "send what is in a ring to the collector, and end", .take = take_path,
         .to = &o->send_ring},
        {"--from NS", "of --send-ring: wall time of the first sample, in ns", .count = &o->from_ns,
         .high = INT64_MAX},
        {"--step S", "of --send-ring: one sample for those of so many seconds",
         .take = take_seconds, .to = &o->step_ns},
        {"--to NS", "of --send-ring: of the last one", .count = &o->to_ns, .high = INT64_MAX},
        {"--host NAME", "name of this host (default: its host name)", .take = take_host,
         .to = o->host},
        {"--scope host|cgroup|job",
         "the machine, the cgroup the agent lives in, or that of its batch job\n"
         "(default: $CHOKEPOINT_SCOPE, or host)",
         .take = take_scope, .to = &o->scope},
        {"--rate HZ", "samples a second (default 10; of a ring 1)", .take = take_rate,
         .to = &o->period_ns},
        {"--process-rate HZ", "of processes (default 1)", .take = take_rate,
         .to = &o->process_period_ns},
        {"--foreign-processes N",
         "busiest processes outside the job to report (default 5; of a ring 32)",
         .small = &o->foreign_processes, .high = 1000},
        {"--job-parent PID", "its children are the job, besides those that carry CHOKEPOINT_RUN",
         .small = &o->job_parent, .high = INT32_MAX},
        {"--job KIND=VALUE",
         "these are the job, too: unit=, port=, cgroup=, user=, session=, pid=,\n"
         "container=, slurm=; up to 16 times",
         .take = take_choice, .to = o},
        {"--no-command-lines", "name processes as the kernel does, not by script, class or role",
         .flag = &o->no_command_lines},
        {"--flows", "capture packets: who exchanges how much with whom", .flag = &o->flows},
        {"--wait-clocks", "load programs into the kernel that clock the job's waits",
         .flag = &o->wait_clocks},
        {"--samples N", "stop after N samples; of --send-ring: send about so many at most",
         .count = &o->max_frames, .low = 1},
        {"--orphan-after S", "stop when the collector is silent for S seconds (default 3600)",
         .take = take_seconds, .to = &o->orphan_after_ns},
        {"--drain S", "on stopping, try to deliver for S seconds (default 20)",
         .take = take_seconds, .to = &o->drain_ns},
        {"--call-drain S", "on stopping, deliver MPI calls for S seconds at most (default 60)",
         .take = take_seconds, .to = &o->call_drain_ns},
        {"--delivered DIR", "push over standard output, and leave DIR, in which this program came",
         .take = take_delivered, .to = o},
        {"--library PATH", "tell which MPI library this host has; put one that came there",
         .take = take_library, .to = &o->library},
        {"--library-size BYTES", "so many came, at the end of this program's file",
         .count = &o->library_size, .high = INT32_MAX},
        {"--proc DIR", "root of /proc", .take = take_path, .to = &o->proc},
        {"--sys DIR", "root of /sys", .take = take_path, .to = &o->sys},
        {"--no-supervise", "do not restart the sampling process when it dies",
         .not_flag = &o->supervise},
        {"--doctor", "check this host, print what was found, and end", .flag = &o->doctor},
        {"--peers A,B", "the other hosts, to which --doctor checks the routes", .text = &o->peers},
        {"--tables", "print what is measured: every table and column, as Markdown",
         .flag = &shows_tables},
        {"--version", NULL, .flag = &shows_version},
        {.help = "  --help, --version\n"},
    };
    const struct option_table table = {usage, rows, ARRAY_SIZE(rows), end, 2, 24, true};
    int r = options_read(&table, argc, argv, &rest, &trouble);
    if (r < 0)
        return refuse_option(&trouble, why, why_size);
    if (r == OPTIONS_HELP)
        options_print_help(&table, stdout);
    if (r == 0 && *rest)
        return refuse(why, why_size, "not understood, see --help: ", *rest);
    return shows_version ? OPTIONS_SHOW_VERSION : shows_tables ? OPTIONS_SHOW_TABLES : r;
}

/* An agent that always runs samples less often, and has no job: more others are of interest. */
static void settle_defaults(struct agent_options *options) {
    if (!options->period_ns)
        options->period_ns = options->ring ? NS_PER_S : NS_PER_S / 10;
    if (!options->process_period_ns)
        options->process_period_ns = options->period_ns > NS_PER_S ? options->period_ns : NS_PER_S;
    if (options->foreign_processes < 0)
        options->foreign_processes = options->ring ? RING_PROCESSES : FOREIGN_PROCESSES;
}

int agent_options_read(int argc, char **argv, struct agent_options *ret_options, char *why,
                       size_t why_size) {
    struct agent_options options = defaults;
    const char *scope = getenv("CHOKEPOINT_SCOPE");
    if (scope && *scope && !parse_scope(scope, &options.scope))
        return refuse(why, why_size, "CHOKEPOINT_SCOPE is not host, cgroup or job: ", scope);
    if (!take_marks(&options))
        return refuse(why, why_size, "CHOKEPOINT_MARKS is too long", "");
    int r = read_words(argc, argv, &options, why, why_size);
    if (r)
        return r;
    settle_defaults(&options);
    const char *missing = whats_missing(&options);
    if (missing)
        return refuse(why, why_size, missing, "");
    if (options.ring) {
        options.spool = options.ring;
        options.spool_limit_bytes = ring_spool_bytes(options.ring_limit_bytes);
        options.push = false;
    }
    *ret_options = options;
    return 0;
}

/* %h in the path of a ring is the host: emulated hosts, and hosts with one file system, share a
 * directory. */
int agent_options_place_ring(struct agent_options *options, char *why, size_t why_size) {
    const char **path = options->ring ? &options->ring : &options->send_ring;
    const char *host = *path ? strstr(*path, "%h") : NULL;
    if (!host)
        return 0;
    int n = snprintf(options->ring_path, sizeof options->ring_path, "%.*s%s%s", (int)(host - *path),
                     *path, options->host, host + 2);
    if (n < 0 || (size_t)n >= sizeof options->ring_path)
        return refuse(why, why_size, "the path of the ring is too long", "");
    *path = options->ring_path;
    if (options->ring)
        options->spool = options->ring;
    return 0;
}

static bool is_visible(const char *text) {
    for (; *text; text++)
        if (*text <= ' ' || *text >= 0x7f)
            return false;
    return true;
}

/* The second word of the line, if there is one, goes to the stem of the directory of marks. */
static bool split_line(struct agent_options *options) {
    char *key = strchr(options->token, ' ');
    if (!key)
        return true;
    *key++ = '\0';
    size_t size = strlen(options->marks), room = sizeof options->marks - size;
    bool fits = size && (size_t)snprintf(options->marks + size, room, "-%s", key) < room;
    explicit_bzero(key, strlen(key));
    return fits;
}

int agent_options_take_secrets(struct agent_options *options, char *why, size_t why_size) {
    int token = secret_take("CHOKEPOINT_TOKEN", options->token, sizeof options->token);
    int run = secret_take("CHOKEPOINT_RUN", options->run, sizeof options->run);
    char forgets[2];
    options->forgets = secret_take("CHOKEPOINT_FORGET", forgets, sizeof forgets) == 0 && forgets[0];
    secret_take("CHOKEPOINT_RUN_NAME", options->run_name, sizeof options->run_name);
    secret_take("CHOKEPOINT_RUN_COMMAND", options->run_command, sizeof options->run_command);
    secret_take("CHOKEPOINT_RUN_DATABASE", options->run_database, sizeof options->run_database);
    if (options->token_stdin)
        token = secret_read_line(STDIN_FILENO, options->token, sizeof options->token);
    if (token == 0 && options->token_stdin && !split_line(options))
        token = -EINVAL;
    if (token < 0 || !is_visible(options->token))
        return refuse(why, why_size,
                      options->token_stdin ? "the line on standard input" : "CHOKEPOINT_TOKEN",
                      " is not 1 to 128 visible characters");
    if (run < 0 || !is_visible(options->run))
        return refuse(why, why_size, "CHOKEPOINT_RUN", " is not 1 to 128 visible characters");
    return 0;
}
