/* SPDX-License-Identifier: MIT */
/* The command line of `chokepoint run`. Options end at the first word that is no option. */
#ifndef CHOKEPOINT_CLI_RUN_OPTIONS_H
#define CHOKEPOINT_CLI_RUN_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/launch/job_words.h"
#include "cli/launch/remote_program.h"

#define RUN_REPEATS_MAX 1000

struct run_options {
    const char *name;  /* NULL: the program's name */
    const char *hosts; /* NULL: from the command */
    const char *database;
    const char *rate, *process_rate; /* Hz, as given: the agents parse it again */
    double rate_hz, process_rate_hz;
    const char *call_spool_limit; /* bytes, as given */
    const char *pack_after;       /* seconds, as given: the collector parses it again */
    double pack_after_s;
    int64_t start_timeout_ns;
    int repeats;         /* recorded runs of the command */
    int warmups;         /* unrecorded runs before them */
    const char *prepare; /* a command for sh before each of them; NULL: none */
    bool allow_missing, report, why, quiet, flows, wait_clocks, no_wait_clocks, shim, gpu_kernels,
        ignore_failure, separate_launchers;
    struct job_words jobs;      /* further job processes by choice */
    bool attached;              /* no command: the job is what runs already */
    int64_t duration_ns;        /* duration of an attached run; 0: until it is interrupted */
    bool progress;              /* progress is shown while the command runs */
    bool live;                  /* a live view is served meanwhile */
    bool forgets;               /* a view: agents discard what they cannot deliver */
    bool no_command_lines;      /* only the command's program is recorded, not its words */
    bool no_mask;               /* apparent secrets in the command are recorded, too */
    struct remote_words remote; /* an engine that gets the samples meanwhile */
    char **command;             /* NULL-terminated, at least one word */
    char **shown_command;       /* recorded in place of the command; NULL: the command itself */
};

/* Bounds of their values. */
#define RUN_RATE_MIN_HZ 0.1
#define RUN_RATE_MAX_HZ 1000
#define RUN_PROCESS_RATE_MIN_HZ 0.01
#define RUN_PACK_AFTER_MAX_S (30 * 86400)
#define RUN_TIMEOUT_MIN_S 0.1
#define RUN_TIMEOUT_MAX_S 86400

/* These options before they are judged: other verbs that record take them, too. */
struct run_words {
    struct run_options options;
    double start_timeout_s;
};

/* Rows of options for hosts; `place` is a double *, `words` a struct run_words *. */
#define RUN_TIMEOUT_ROW(place)                                                                     \
    {                                                                                              \
        "--start-timeout S", "how long hosts may take to answer; default: 20",                     \
            .number = (place), .low = RUN_TIMEOUT_MIN_S, .high = RUN_TIMEOUT_MAX_S                 \
    }
#define RUN_HOST_ROWS(words)                                                                       \
    {"--rate HZ",                                                                                  \
     "samples a second of each host; default: 10",                                                 \
     .text = &(words)->options.rate,                                                               \
     .number = &(words)->options.rate_hz,                                                          \
     .low = RUN_RATE_MIN_HZ,                                                                       \
     .high = RUN_RATE_MAX_HZ},                                                                     \
        {"--process-rate HZ",                                                                      \
         "of its processes; default: 1",                                                           \
         .text = &(words)->options.process_rate,                                                   \
         .number = &(words)->options.process_rate_hz,                                              \
         .low = RUN_PROCESS_RATE_MIN_HZ,                                                           \
         .high = RUN_RATE_MAX_HZ},                                                                 \
        {"--flows", "capture packets: who exchanges how much with whom",                           \
         .flag = &(words)->options.flows},                                                         \
        {"--wait-clocks",                                                                          \
         "clock the job's waits with programs in the kernels of\n"                                 \
         "hosts also under mpirun; default: where it is not MPI",                                  \
         .flag = &(words)->options.wait_clocks},                                                   \
        {"--no-wait-clocks", "load no programs into kernels",                                      \
         .flag = &(words)->options.no_wait_clocks},                                                \
        {"--allow-missing", "go on when a host does not answer",                                   \
         .flag = &(words)->options.allow_missing},                                                 \
        {"--separate-launchers", "start each host's agent by an mpirun or srun of its own",        \
         .flag = &(words)->options.separate_launchers},                                            \
        {"--pack-after S",                                                                         \
         "pack samples when they are S seconds old, for runs of days:\n"                           \
         "chokepoint alone reads the file then",                                                   \
         .text = &(words)->options.pack_after,                                                     \
         .number = &(words)->options.pack_after_s,                                                 \
         .low = 1,                                                                                 \
         .high = RUN_PACK_AFTER_MAX_S},                                                            \
        RUN_TIMEOUT_ROW(&(words)->start_timeout_s)

/* Rows of options for MPI calls, and for the end of a run; `o` is a struct run_options *. */
#define RUN_CALL_ROWS(o)                                                                           \
    {"--call-spool-limit BYTES",                                                                   \
     "of single MPI calls, which each host keeps until the command has\n"                          \
     "ended; default: 256m, about 14 million calls",                                               \
     .take = run_take_spool_limit, .to = &(o)->call_spool_limit},                                  \
        {"--gpu-kernels", "record kernels of GPUs in bursts, by the program's own CUPTI",          \
         .flag = &(o)->gpu_kernels},                                                               \
    {                                                                                              \
        "--no-shim", "preload nothing: calls of MPI and NCCL are not recorded",                    \
            .not_flag = &(o)->shim                                                                 \
    }
#define RUN_END_ROWS(o)                                                                            \
    {"--why", "at the end the verdict with what it rests on, not five lines", .flag = &(o)->why},  \
        {"--progress", "on a terminal: time, samples, what is full, each second",                  \
         .flag = &(o)->progress},                                                                  \
        {"--no-report", "no verdict at the end", .not_flag = &(o)->report}, {                      \
        "-q, --quiet", "say nothing but errors", .flag = &(o)->quiet                               \
    }

struct option_word;

void run_words_init(struct run_words *words);
/* For rows of options: `to` is a const char **, or a struct job_words. */
int run_take_spool_limit(const struct option_word *word, void *to);
int run_take_job(const struct option_word *word, void *to);
/* words->options.command must be set. 0, or -EINVAL after one line on stderr. */
int run_words_judge(const char *verb, struct run_words *words, struct run_options *ret_options);

/* 0, OPTIONS_HELP, or -EINVAL after one line on stderr. Points into argv. */
int run_options_read(int argc, char **argv, struct run_options *ret_options);

#endif
