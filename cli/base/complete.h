/* SPDX-License-Identifier: MIT */
/*
 * Completions of one verb for a shell, made from the table of its options. A verb is asked by
 * calling its main with the single word COMPLETE_WORD and the shell's name behind it, so that there
 * is one table of options, the one that parses the verb's words.
 */
#ifndef CHOKEPOINT_CLI_COMPLETE_H
#define CHOKEPOINT_CLI_COMPLETE_H

#include <stdbool.h>

#include "common/options.h"

#define COMPLETE_WORD "--list-options="

/* Whether these are the words of such a question; it is answered on standard output, then. */
bool complete_answers(const char *verb, const struct option_table *table, int argc, char **argv);

#endif
