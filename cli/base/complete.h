/* SPDX-License-Identifier: MIT */
/*
 * Completions of one verb for a shell, made from the table of its options. A verb is asked by
 * calling its main with the single word COMPLETE_WORD and the shell's name behind it, so that
 * parsing and completion share one table.
 */
#ifndef CHOKEPOINT_CLI_COMPLETE_H
#define CHOKEPOINT_CLI_COMPLETE_H

#include <stdbool.h>

#include "common/options.h"

#define COMPLETE_WORD "--list-options="

/* Whether the words are such a question; then it is answered on standard output. */
bool complete_answers(const char *verb, const struct option_table *table, int argc, char **argv);

#endif
