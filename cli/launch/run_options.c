/* SPDX-License-Identifier: MIT */
#include "cli/launch/run_options.h"
#include "common/clock.h"
#include "common/error.h"
#include "common/text.h"

#include <getopt.h>
#include <stdio.h>

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
    "      --flows            capture packets: who exchanges how much with whom\n"
    "      --allow-missing    go on when a host does not answer\n"
    "      --start-timeout S  how long hosts may take to answer; default: 20\n"
    "      --no-shim          preload nothing: MPI calls are not recorded\n"
    "      --no-report        no verdict at the end\n"
    "  -q, --quiet            say nothing but errors\n"
    "\n"
    "Hosts other than this one are reached by COMMAND's own mpirun, else by ssh "
    "($CHOKEPOINT_RSH).\n";

enum {
    OPTION_HOSTS = 256,
    OPTION_DB,
    OPTION_RATE,
    OPTION_PROCESS_RATE,
    OPTION_CALL_SPOOL_LIMIT,
    OPTION_FLOWS,
    OPTION_ALLOW_MISSING,
    OPTION_START_TIMEOUT,
    OPTION_NO_SHIM,
    OPTION_NO_REPORT
};

static const struct option long_options[] = {
    {"name", required_argument, NULL, 'n'},
    {"hosts", required_argument, NULL, OPTION_HOSTS},
    {"db", required_argument, NULL, OPTION_DB},
    {"rate", required_argument, NULL, OPTION_RATE},
    {"process-rate", required_argument, NULL, OPTION_PROCESS_RATE},
    {"call-spool-limit", required_argument, NULL, OPTION_CALL_SPOOL_LIMIT},
    {"flows", no_argument, NULL, OPTION_FLOWS},
    {"allow-missing", no_argument, NULL, OPTION_ALLOW_MISSING},
    {"start-timeout", required_argument, NULL, OPTION_START_TIMEOUT},
    {"no-shim", no_argument, NULL, OPTION_NO_SHIM},
    {"no-report", no_argument, NULL, OPTION_NO_REPORT},
    {"quiet", no_argument, NULL, 'q'},
    {"help", no_argument, NULL, 'h'},
    {0},
};

static int complain(const char *what, const char *word, const char *advice) {
    fprintf(stderr, "chokepoint run: %s%s%s%s; %s\n", what, word ? " '" : "", word ? word : "",
            word ? "'" : "", advice);
    return -EINVAL;
}

static int read_number(const char *option, const char *text, double least, double most,
                       double *ret_value) {
    char advice[100];
    double value;
    if (text_parse_double(text, &value) == 0 && value >= least && value <= most) {
        *ret_value = value;
        return 0;
    }
    snprintf(advice, sizeof advice, "give a number from %g to %g", least, most);
    fprintf(stderr, "chokepoint run: %s '%s' is out of range; %s\n", option, text, advice);
    return -EINVAL;
}

/* The agents read it again, so it stays text. */
static int read_spool_limit(const char *text, struct run_options *o) {
    uint64_t bytes;
    o->call_spool_limit = text;
    if (text_parse_bytes(text, &bytes) == 0 && bytes >= 128u << 10 && bytes <= UINT64_C(1) << 44)
        return 0;
    return complain("--call-spool-limit", text, "give bytes such as 64m or 1g, 128k at least");
}

static int take(int option, struct run_options *o) {
    double value = 0;
    int r;
    switch (option) {
    case 'n':
        o->name = optarg;
        return 0;
    case OPTION_HOSTS:
        o->hosts = optarg;
        return 0;
    case OPTION_DB:
        o->database = optarg;
        return 0;
    case OPTION_RATE:
        o->rate = optarg;
        return read_number("--rate", optarg, 0.1, 1000, &o->rate_hz);
    case OPTION_PROCESS_RATE:
        o->process_rate = optarg;
        return read_number("--process-rate", optarg, 0.01, 1000, &o->process_rate_hz);
    case OPTION_CALL_SPOOL_LIMIT:
        return read_spool_limit(optarg, o);
    case OPTION_FLOWS:
        o->flows = true;
        return 0;
    case OPTION_ALLOW_MISSING:
        o->allow_missing = true;
        return 0;
    case OPTION_START_TIMEOUT:
        r = read_number("--start-timeout", optarg, 0.1, 86400, &value);
        o->start_timeout_ns = (int64_t)(value * (double)NS_PER_S);
        return r;
    case OPTION_NO_SHIM:
        o->shim = false;
        return 0;
    case OPTION_NO_REPORT:
        o->report = false;
        return 0;
    default: /* 'q' */
        o->quiet = true;
        return 0;
    }
}

static int refuse(int condition, char **argv) {
    /* A long option is the word before the next one; of "-xyz" only the letter is known. */
    char letter[3] = {'-', (char)optopt, 0};
    const char *word = optopt > 0 && optopt < 256 ? letter : argv[optind - 1];
    return complain(condition == ':' ? "a value is missing after" : "unknown option", word,
                    "`chokepoint run --help` lists all");
}

int run_options_read(int argc, char **argv, struct run_options *ret_options) {
    struct run_options o = {.database = "./chokepoint.db",
                            .rate = "10",
                            .rate_hz = 10,
                            .call_spool_limit = "256m",
                            .start_timeout_ns = 20 * NS_PER_S,
                            .report = true,
                            .shim = true};
    int option, r = 0;
    optind = 0; /* glibc: begin anew, also with '+' */
    opterr = 0;
    while (r == 0 && (option = getopt_long(argc, argv, "+:n:qh", long_options, NULL)) != -1) {
        if (option == 'h')
            return fputs(help, stdout), RUN_OPTIONS_HELP;
        r = option == '?' || option == ':' ? refuse(option, argv) : take(option, &o);
    }
    if (r < 0)
        return r;
    if (!argv[optind])
        return complain("the command is missing", NULL, "chokepoint run [OPTIONS] [--] COMMAND...");
    if (!o.database[0] || (o.name && !o.name[0]))
        return complain("an empty name", NULL, "--db and --name need one");
    if (o.process_rate_hz > o.rate_hz)
        return complain("--process-rate above --rate", NULL, "processes are sampled with the rest");
    if (!o.process_rate)
        o.process_rate = o.rate_hz < 1 ? o.rate : "1";
    o.command = argv + optind;
    *ret_options = o;
    return 0;
}
