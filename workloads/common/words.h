/* SPDX-License-Identifier: MIT */
/* The words of a command line: all workloads refuse them in the same words. */
#ifndef CHOKEPOINT_WORKLOADS_WORDS_H
#define CHOKEPOINT_WORKLOADS_WORDS_H

#include "common/options.h"

struct words_error {
    char text[480];
};

/* Reads the options; there are no other words. 0, OPTIONS_HELP, or -EINVAL with ret_error filled.
 */
int words_read(const struct option_table *table, int argc, char **argv,
               struct words_error *ret_error);

/* For rows of options: `to` is a struct plants. */
int word_take_plant(const struct option_word *word, void *to);

/* Both return -EINVAL with the error filled; the first says "--NAME is missing; see --help". */
int words_missing(const char *name, struct words_error *ret_error);
int words_refuse(struct words_error *ret_error, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
