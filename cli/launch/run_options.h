/* SPDX-License-Identifier: MIT */
/* The command line of `chokepoint run`. Options end at the first word that is none. */
#ifndef CHOKEPOINT_CLI_RUN_OPTIONS_H
#define CHOKEPOINT_CLI_RUN_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/launch/job_words.h"

#define RUN_REPEATS_MAX 1000

struct run_options {
    const char *name;  /* NULL: the program's */
    const char *hosts; /* NULL: from the command */
    const char *database;
    const char *rate, *process_rate; /* Hz, as given: the agents read them again */
    double rate_hz, process_rate_hz;
    const char *call_spool_limit; /* bytes, as given */
    int64_t start_timeout_ns;
    int repeats;         /* how often the command is to run */
    int warmups;         /* and how often before, unrecorded */
    const char *prepare; /* a command of sh, before each of them; NULL: none */
    bool allow_missing, report, why, quiet, flows, wait_clocks, shim, ignore_failure;
    struct job_words jobs; /* who else is the job */
    bool attached;         /* no command runs: the job is what runs already */
    int64_t duration_ns;   /* of an attached run; 0: until it is interrupted */
    bool progress;         /* shown while the command runs */
    bool live;             /* a live view is served meanwhile */
    bool forgets;          /* a view: what agents cannot deliver is of no use */
    bool no_command_lines; /* of the command only the program is recorded */
    bool no_mask;          /* what looks like a secret in it is recorded, too */
    char **command;        /* NULL-terminated, at least one word */
    char **shown_command;  /* recorded in its place; NULL: it is itself */
};

/* The words of these options, before they are judged: `chokepoint sweep` takes them, too. */
struct run_words {
    struct run_options options;
    const char *verb; /* for run_words_hear */
    const char *start_timeout, *repeats;
    const char *job; /* the last of them */
    bool no_report, no_shim;
};

#define RUN_WORDS_TAKES 17 /* options that run_words_takes lists */

struct verb_option;

void run_words_init(struct run_words *words);
/* Fills takes[RUN_WORDS_TAKES] with the options to parse; their values go to words. Returns how
 * many. */
size_t run_words_takes(struct run_words *words, struct verb_option *takes);
/* A verb_heard (cli/base/options.h) of a struct run_words, for options that may come again. */
int run_words_hear(void *words, const char *name, const char *value, char *const *rest);
/* words->options.command is set. 0, or -EINVAL after one line on stderr. */
int run_words_judge(const char *verb, struct run_words *words, struct run_options *ret_options);

/* 0, VERB_HELP (cli/base/options.h), or -EINVAL after one line on stderr. Points into argv. */
int run_options_read(int argc, char **argv, struct run_options *ret_options);

#endif
