/* SPDX-License-Identifier: MIT */
/*
 * Printed commands work when they are pasted: they have the path by which this program was called,
 * and the database that it reads. A command is a value until it is written.
 */
#ifndef CHOKEPOINT_REPORTS_SAYS_COMMANDS_H
#define CHOKEPOINT_REPORTS_SAYS_COMMANDS_H

#include <stddef.h>
#include <stdint.h>

/* How the user called this program. Texts are borrowed. */
struct caller {
    const char *program;  /* as in its command line; NULL: its plain name */
    const char *database; /* as the user named it; NULL: the default, which needs no option */
    int64_t run;          /* replaces "{run}" in arguments; 0: "last" */
};

/* The words after the program's name: "whatif" and "{run} --cpu all=2x". */
struct command {
    const char *verb, *arguments;
};

/* The command in the form to paste, without backticks. Owned; NULL: no memory. */
char *command_words(const struct caller *caller, struct command command);
/* As command_words, from words in one text of `size` bytes: "whatif {run} --cpu all=2x". */
char *command_words_of(const struct caller *caller, const char *words, size_t size);

/* A word as an argument of a command, in quotes if it needs them. Owned; NULL: no memory. */
char *command_argument(const char *word);

#endif
