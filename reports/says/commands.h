/* SPDX-License-Identifier: MIT */
/*
 * Commands that are printed work as pasted. A text of ours writes one in backticks, "`chokepoint
 * VERB ...`", with "{run}" for the run it speaks of; here it gets the path by which this program
 * was called and the database it reads.
 */
#ifndef CHOKEPOINT_REPORTS_SAYS_COMMANDS_H
#define CHOKEPOINT_REPORTS_SAYS_COMMANDS_H

#include <stdint.h>

/* How this program is called, for the whole process: as its words began, and the database that was
 * named (NULL: the default one, which needs no option). Both are borrowed. */
void commands_call_program(const char *program);
void commands_use_database(const char *path);

/* The text with its commands completed. run: 0 where there is none, then "last" stands for it.
 * Owned; NULL: no memory. */
char *commands_complete(const char *text, int64_t run);

/* One command alone, without backticks: "VERB ARGUMENTS". Owned; NULL: no memory. */
char *commands_line(const char *verb_and_arguments, int64_t run);

/* A word as an argument of such a command: in quotes where it needs them. Owned; NULL. */
char *commands_word(const char *word);

#endif
