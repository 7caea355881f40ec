/* SPDX-License-Identifier: MIT */
#include "agent/options.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/spool/spool.h"
#include "common/clock.h"
#include "common/error.h"
#include "common/secret.h"
#include "common/text.h"

const char options_help[] =
    "usage: chokepoint-agent --collector URL --spool DIR [options]\n"
    "Samples this host and pushes what it finds to a collector. `chokepoint run` starts it.\n"
    "\n"
    "  --collector URL       https://HOST:PORT of the collector\n"
    "  --pin PIN             sha256//HASH of its public key, as it prints it\n"
    "  --token-stdin         the token is the first line of standard input\n"
    "  --spool DIR           where samples wait until the collector has them (default: a new\n"
    "                        directory in $TMPDIR or /tmp, which is told on standard error)\n"
    "  --spool-limit BYTES   at most that much, e.g. 64m (the default); the oldest goes first\n"
    "  --call-spool-limit BYTES  of single MPI calls, which wait for the end (default 256m)\n"
    "  --no-push             spool only\n"
    "  --host NAME           name of this host (default: its host name)\n"
    "  --scope host|cgroup|job\n"
    "                        the machine, the cgroup the agent lives in, or that of its batch job\n"
    "                        (default: $CHOKEPOINT_SCOPE, or host)\n"
    "  --rate HZ             samples a second (default 10)\n"
    "  --process-rate HZ     of processes (default 1)\n"
    "  --foreign-processes N busiest processes outside the job to report (default 5)\n"
    "  --job-parent PID      its children are the job, besides those that carry CHOKEPOINT_RUN\n"
    "  --job KIND=VALUE      these are the job, too: unit=, port=, cgroup=, user=, session=, "
    "pid=,\n"
    "                        container=; up to 16 times\n"
    "  --no-command-lines    name processes as the kernel does, not by script, class or role\n"
    "  --flows               capture packets: who exchanges how much with whom\n"
    "  --wait-clocks         load programs into the kernel that clock the job's waits\n"
    "  --samples N           stop after N samples\n"
    "  --orphan-after S      stop when the collector is silent for S seconds (default 3600)\n"
    "  --drain S             on stopping, try to deliver for S seconds (default 20)\n"
    "  --call-drain S        on stopping, deliver MPI calls for S seconds at most (default 60)\n"
    "  --delivered DIR       push over standard output, and leave DIR, in which this program came\n"
    "  --library PATH        tell which MPI library this host has; put one that came there\n"
    "  --library-size BYTES  so many came, at the end of this program's file\n"
    "  --proc DIR, --sys DIR roots of /proc and /sys\n"
    "  --no-supervise        do not restart the sampling process when it dies\n"
    "  --doctor              check this host, print what was found, and end\n"
    "  --peers A,B           the other hosts, to which --doctor checks the routes\n"
    "  --tables              print what is measured: every table and column, as Markdown\n"
    "  --help, --version\n"
    "\n"
    "CHOKEPOINT_TOKEN holds this host's key, which the collector asks for.\n"
    "Exit status: 0 stopped, all delivered; 3 stopped, undelivered samples are kept; 2 usage;\n"
    "1 could not start or go on.\n";

enum option_id {
    OPTION_COLLECTOR = 256,
    OPTION_PIN,
    OPTION_TOKEN_STDIN,
    OPTION_SPOOL,
    OPTION_SPOOL_LIMIT,
    OPTION_CALL_SPOOL_LIMIT,
    OPTION_CALL_DRAIN,
    OPTION_NO_PUSH,
    OPTION_HOST,
    OPTION_SCOPE,
    OPTION_RATE,
    OPTION_PROCESS_RATE,
    OPTION_FOREIGN_PROCESSES,
    OPTION_NO_COMMAND_LINES,
    OPTION_FLOWS,
    OPTION_WAIT_CLOCKS,
    OPTION_SAMPLES,
    OPTION_ORPHAN_AFTER,
    OPTION_DRAIN,
    OPTION_DELIVERED,
    OPTION_LIBRARY,
    OPTION_LIBRARY_SIZE,
    OPTION_PROC,
    OPTION_SYS,
    OPTION_JOB,
    OPTION_JOB_PARENT,
    OPTION_NO_SUPERVISE,
    OPTION_DOCTOR,
    OPTION_PEERS,
    OPTION_TABLES,
    OPTION_HELP,
    OPTION_VERSION,
};

static const struct option option_list[] = {
    {"collector", required_argument, NULL, OPTION_COLLECTOR},
    {"pin", required_argument, NULL, OPTION_PIN},
    {"token-stdin", no_argument, NULL, OPTION_TOKEN_STDIN},
    {"spool", required_argument, NULL, OPTION_SPOOL},
    {"spool-limit", required_argument, NULL, OPTION_SPOOL_LIMIT},
    {"call-spool-limit", required_argument, NULL, OPTION_CALL_SPOOL_LIMIT},
    {"call-drain", required_argument, NULL, OPTION_CALL_DRAIN},
    {"no-push", no_argument, NULL, OPTION_NO_PUSH},
    {"host", required_argument, NULL, OPTION_HOST},
    {"scope", required_argument, NULL, OPTION_SCOPE},
    {"rate", required_argument, NULL, OPTION_RATE},
    {"process-rate", required_argument, NULL, OPTION_PROCESS_RATE},
    {"foreign-processes", required_argument, NULL, OPTION_FOREIGN_PROCESSES},
    {"no-command-lines", no_argument, NULL, OPTION_NO_COMMAND_LINES},
    {"flows", no_argument, NULL, OPTION_FLOWS},
    {"wait-clocks", no_argument, NULL, OPTION_WAIT_CLOCKS},
    {"samples", required_argument, NULL, OPTION_SAMPLES},
    {"orphan-after", required_argument, NULL, OPTION_ORPHAN_AFTER},
    {"drain", required_argument, NULL, OPTION_DRAIN},
    {"delivered", required_argument, NULL, OPTION_DELIVERED},
    {"library", required_argument, NULL, OPTION_LIBRARY},
    {"library-size", required_argument, NULL, OPTION_LIBRARY_SIZE},
    {"proc", required_argument, NULL, OPTION_PROC},
    {"sys", required_argument, NULL, OPTION_SYS},
    {"job", required_argument, NULL, OPTION_JOB},
    {"job-parent", required_argument, NULL, OPTION_JOB_PARENT},
    {"no-supervise", no_argument, NULL, OPTION_NO_SUPERVISE},
    {"doctor", no_argument, NULL, OPTION_DOCTOR},
    {"peers", required_argument, NULL, OPTION_PEERS},
    {"tables", no_argument, NULL, OPTION_TABLES},
    {"help", no_argument, NULL, OPTION_HELP},
    {"version", no_argument, NULL, OPTION_VERSION},
    {0},
};

#define RATE_MIN_HZ (1.0 / 3600)
#define RATE_MAX_HZ 1000.0
#define SECONDS_MAX (366.0 * 86400)

static bool parse_rate(const char *text, int64_t *ret_period_ns) {
    double hz;
    if (text_parse_double(text, &hz) < 0 || !(hz >= RATE_MIN_HZ && hz <= RATE_MAX_HZ))
        return false;
    *ret_period_ns = (int64_t)(1e9 / hz + 0.5);
    return true;
}

static bool parse_seconds(const char *text, int64_t *ret_ns) {
    double seconds;
    if (text_parse_double(text, &seconds) < 0 || !(seconds >= 0 && seconds <= SECONDS_MAX))
        return false;
    *ret_ns = (int64_t)(seconds * 1e9 + 0.5);
    return true;
}

static bool parse_count(const char *text, uint64_t max, uint64_t *ret_value) {
    uint64_t value;
    if (text_parse_u64(text, &value) < 0 || value > max)
        return false;
    *ret_value = value;
    return true;
}

static bool parse_scope(const char *text, enum scope_kind *ret_kind) {
    static const char *const names[] = {
        [SCOPE_HOST] = "host", [SCOPE_CGROUP] = "cgroup", [SCOPE_JOB] = "job"};
    for (size_t i = 0; i < ARRAY_SIZE(names); i++)
        if (strcmp(text, names[i]) == 0)
            return *ret_kind = (enum scope_kind)i, true;
    return false;
}

static bool parse_host(const char *text, char *ret_host) {
    size_t size = strlen(text);
    if (!instance_name_valid(text, size))
        return false;
    memcpy(ret_host, text, size + 1);
    return true;
}

static bool parse_limit(const char *text, uint64_t *ret_bytes) {
    uint64_t bytes;
    if (text_parse_bytes(text, &bytes) < 0 || bytes < SPOOL_LIMIT_MIN || bytes > UINT64_C(1) << 44)
        return false;
    *ret_bytes = bytes;
    return true;
}

static bool add_choice(struct agent_options *options, const char *text) {
    char why[120];
    if (options->n_choices == JOB_CHOICES_MAX ||
        job_choice_parse(text, &options->choices[options->n_choices], why, sizeof why) < 0)
        return false;
    options->n_choices++;
    return true;
}

/* False: the value makes no sense. */
static bool take_option(struct agent_options *options, int id, const char *value) {
    uint64_t count = options->foreign_processes, parent = 0;
    bool good = true;
    switch (id) {
    case OPTION_COLLECTOR:
        options->collector = value;
        return strncmp(value, "http://", 7) == 0 || strncmp(value, "https://", 8) == 0;
    case OPTION_SPOOL:
        options->spool = value;
        return *value;
    case OPTION_SPOOL_LIMIT:
        return parse_limit(value, &options->spool_limit_bytes);
    case OPTION_CALL_SPOOL_LIMIT:
        return parse_limit(value, &options->call_spool_limit_bytes);
    case OPTION_CALL_DRAIN:
        return parse_seconds(value, &options->call_drain_ns);
    case OPTION_NO_PUSH:
        options->push = false;
        return true;
    case OPTION_HOST:
        return parse_host(value, options->host);
    case OPTION_SCOPE:
        return parse_scope(value, &options->scope);
    case OPTION_RATE:
        return parse_rate(value, &options->period_ns);
    case OPTION_PROCESS_RATE:
        return parse_rate(value, &options->process_period_ns);
    case OPTION_FOREIGN_PROCESSES:
        good = parse_count(value, 1000, &count);
        options->foreign_processes = (size_t)count;
        return good;
    case OPTION_DOCTOR:
        options->doctor = true;
        return true;
    case OPTION_PEERS:
        options->peers = value;
        return true;
    case OPTION_NO_COMMAND_LINES:
        options->no_command_lines = true;
        return true;
    case OPTION_FLOWS:
        options->flows = true;
        return true;
    case OPTION_WAIT_CLOCKS:
        options->wait_clocks = true;
        return true;
    case OPTION_SAMPLES:
        return parse_count(value, INT64_MAX, &options->max_frames) && options->max_frames > 0;
    case OPTION_ORPHAN_AFTER:
        return parse_seconds(value, &options->orphan_after_ns);
    case OPTION_DRAIN:
        return parse_seconds(value, &options->drain_ns);
    case OPTION_DELIVERED:
        options->delivered = value;
        options->collector = "the relay of the run";
        return *value == '/';
    case OPTION_LIBRARY:
        options->library = value;
        return *value == '/' || !*value;
    case OPTION_LIBRARY_SIZE:
        return parse_count(value, INT32_MAX, &options->library_size);
    case OPTION_PROC:
        options->proc = value;
        return *value;
    case OPTION_SYS:
        options->sys = value;
        return *value;
    case OPTION_JOB:
        return add_choice(options, value);
    case OPTION_JOB_PARENT:
        good = parse_count(value, INT32_MAX, &parent);
        options->job_parent = (int32_t)parent;
        return good;
    case OPTION_PIN:
        options->pin = value;
        return strncmp(value, "sha256//", 8) == 0 && strlen(value) == 8 + 44;
    case OPTION_TOKEN_STDIN:
        options->token_stdin = true;
        return true;
    case OPTION_NO_SUPERVISE:
        options->supervise = false;
        return true;
    default:
        return false;
    }
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
    bool by_http = options->push && !options->delivered;
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

static const char *option_name(int id) {
    for (const struct option *option = option_list; option->name; option++)
        if (option->val == id)
            return option->name;
    return "?";
}

int options_parse(int argc, char **argv, struct agent_options *ret_options, char *why,
                  size_t why_size) {
    struct agent_options options = {.proc = "/proc",
                                    .sys = "/sys",
                                    .period_ns = NS_PER_S / 10,
                                    .process_period_ns = NS_PER_S,
                                    .orphan_after_ns = 3600 * NS_PER_S,
                                    .drain_ns = 20 * NS_PER_S,
                                    .spool_limit_bytes = 64u << 20,
                                    .call_spool_limit_bytes = 256u << 20,
                                    .call_drain_ns = 60 * NS_PER_S,
                                    .foreign_processes = 5,
                                    .supervise = true,
                                    .push = true};
    const char *scope = getenv("CHOKEPOINT_SCOPE");
    if (scope && *scope && !parse_scope(scope, &options.scope))
        return refuse(why, why_size, "CHOKEPOINT_SCOPE is not host, cgroup or job: ", scope);
    if (!take_marks(&options))
        return refuse(why, why_size, "CHOKEPOINT_MARKS is too long", "");
    optind = 0;
    opterr = 0;
    for (int id; (id = getopt_long(argc, argv, "+:", option_list, NULL)) != -1;) {
        if (id == OPTION_HELP || id == OPTION_VERSION)
            return id == OPTION_HELP ? OPTIONS_SHOW_HELP : OPTIONS_SHOW_VERSION;
        if (id == OPTION_TABLES)
            return OPTIONS_SHOW_TABLES;
        if (id == '?')
            return refuse(why, why_size, "no such option, see --help: ", argv[optind - 1]);
        if (id == ':')
            return refuse(why, why_size, "a value is missing after ", argv[optind - 1]);
        if (!take_option(&options, id, optarg)) {
            snprintf(why, why_size, "bad value of --%s, see --help: %s", option_name(id), optarg);
            return -EINVAL;
        }
    }
    if (optind < argc)
        return refuse(why, why_size, "not understood, see --help: ", argv[optind]);
    const char *missing = whats_missing(&options);
    if (missing)
        return refuse(why, why_size, missing, "");
    *ret_options = options;
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

int options_take_secrets(struct agent_options *options, char *why, size_t why_size) {
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
