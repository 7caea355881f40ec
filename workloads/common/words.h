/* SPDX-License-Identifier: MIT */
/*
 * Command lines: one loop over getopt_long() and checked readers of values, so that every workload
 * refuses in the same words. Options that all trainings and products share are rows of a list here;
 * the caller numbers its own options from WORDS_FIRST on.
 */
#ifndef CHOKEPOINT_WORKLOADS_WORDS_H
#define CHOKEPOINT_WORKLOADS_WORDS_H

#include <getopt.h>
#include <stdbool.h>
#include <stdint.h>

#include "workloads/common/plant.h"

enum {
    WORDS_BEGIN = 256, /* above all characters */
    WORD_SEED = WORDS_BEGIN,
    WORD_TIME_LIMIT,
    WORD_JSON,
    WORD_PLANT,
    WORD_SPIN,
    WORD_QUIET,
    WORD_HELP,
    WORDS_FIRST,
};

/* Rows of a struct option[], which ends with {0}. */
/* clang-format off */
#define WORDS_SHARED                                          \
    {"seed", required_argument, NULL, WORD_SEED},             \
    {"time-limit", required_argument, NULL, WORD_TIME_LIMIT}, \
    {"json", required_argument, NULL, WORD_JSON},             \
    {"plant", required_argument, NULL, WORD_PLANT},           \
    {"spin", no_argument, NULL, WORD_SPIN},                   \
    {"quiet", no_argument, NULL, WORD_QUIET},                 \
    {"help", no_argument, NULL, WORD_HELP}
/* clang-format on */

struct words_error {
    char text[320];
};

/* An option with its value, and the place for its error. */
struct word {
    const char *name, *text; /* NULL: a flag */
    struct words_error *error;
};

/*
 * Passes each option to take(), which returns 0, negative with the error filled, or positive to
 * stop (--help). Returns the last result of take(), or -EINVAL with ret_error filled: an unknown
 * option, a missing value, or a word that belongs to no option.
 */
int words_parse(int argc, char **argv, const struct option *options,
                int (*take)(int option, const struct word *word, void *into), void *into,
                struct words_error *ret_error);

/* Each returns 0, or -EINVAL with the error filled and ret untouched. */
int word_count(const struct word *word, uint64_t least, uint64_t most, uint64_t *ret);
int word_small(const struct word *word, int most, int *ret); /* from 1 to most */
int word_number(const struct word *word, double least, double most, double *ret);
int word_positive(const struct word *word, double *ret);
/* choices end with NULL; returns the index of the given one. */
int word_choice(const struct word *word, const char *const *choices, int *ret);

/* Never fails. The text belongs to the command line. */
int word_text(const struct word *word, const char **ret);
int word_flag(bool *ret);

int word_plant(const struct word *word, struct plants *plants);

/* -EINVAL: "--NAME is missing; see --help". */
int words_missing(const char *name, struct words_error *ret_error);

#endif
