/* SPDX-License-Identifier: MIT */
/* The program that sends a run to an engine by Prometheus remote write, and the options that verbs
 * pass on to it. A build may lack it. */
#ifndef CHOKEPOINT_CLI_REMOTE_PROGRAM_H
#define CHOKEPOINT_CLI_REMOTE_PROGRAM_H

#include <linux/limits.h>
#include <stdbool.h>
#include <stdint.h>

/* A token where no file has one: a command line is for all to see. */
#define REMOTE_TOKEN_VARIABLE "CHOKEPOINT_REMOTE_WRITE_TOKEN"

struct remote_words {
    const char *url; /* NULL: nothing is sent */
    const char *token_file, *login_file, *authorities;
};

/* Rows of an option table. */
#define REMOTE_ROWS(words)                                                                         \
    {"--remote-write URL", "send the hosts' samples to an engine (Prometheus remote write)",       \
     .text = &(words)->url},                                                                       \
        {"--remote-write-token FILE", "its bearer token is the first line of FILE",                \
         .text = &(words)->token_file},                                                            \
        {"--remote-write-login FILE", "user:password is the first line of FILE",                   \
         .text = &(words)->login_file},                                                            \
    {                                                                                              \
        "--remote-write-ca FILE", "its certificate is signed by one of FILE, not of the system",   \
            .text = &(words)->authorities                                                          \
    }

#define REMOTE_WORDS_MAX 20

/* The words that start it, NULL-terminated; texts are borrowed. `number` keeps the run's id. */
struct remote_call {
    char program[PATH_MAX], number[24];
    const char *words[REMOTE_WORDS_MAX];
};

/* 0; -EINVAL after one line on standard error: this build has no such program, or options lack an
 * address. */
int remote_call_fill(struct remote_call *call, const char *verb, const struct remote_words *words,
                     const char *database, int64_t run, bool follows);

/* The same checks without a run. */
int remote_words_check(const char *verb, const struct remote_words *words);

#endif
