/* SPDX-License-Identifier: MIT */
/*
 * Commands that are printed work as pasted: with the path by which this program was called, and
 * with the database that it reads. A command is a value until it is written.
 */
#ifndef CHOKEPOINT_REPORTS_SAYS_COMMANDS_H
#define CHOKEPOINT_REPORTS_SAYS_COMMANDS_H

#include <stddef.h>
#include <stdint.h>

/* How this program is called. Texts are borrowed. */
struct caller {
    const char *program;  /* as its command line began; NULL: by its name */
    const char *database; /* that was named; NULL: the default one, which needs no option */
    int64_t run;          /* "{run}" in arguments; 0: "last" */
};

/* The words behind the program's name, "whatif" and "{run} --cpu all=2x". */
struct command {
    const char *verb, *arguments;
};

/* The command as it is to be pasted, without backticks. Owned; NULL: no memory. */
char *command_words(const struct caller *caller, struct command command);
/* The same of words in one text of `size` bytes, "whatif {run} --cpu all=2x". */
char *command_words_of(const struct caller *caller, const char *words, size_t size);

/* A word as an argument of such a command: in quotes where it needs them. Owned; NULL. */
char *command_argument(const char *word);

#endif
