/* SPDX-License-Identifier: MIT */
/*
 * The words after a verb, read by the table of its options. Most values are kept as text, since
 * what a good one is differs from verb to verb and is judged when all are known. The user's words
 * go back to the terminal only through verb_complain.
 */
#ifndef CHOKEPOINT_CLI_OPTIONS_H
#define CHOKEPOINT_CLI_OPTIONS_H

#include "common/options.h"
#include "reports/says/commands.h"

/* The row of the database that a verb reads; `to` is a const char **. */
#define VERB_DATABASE(place)                                                                       \
    { "--db FILE", "default: ./chokepoint.db", .take = verb_take_database, .to = (place) }

/* For rows of databases: commands that are printed later name it. */
int verb_take_database(const struct option_word *word, void *to);

/* argv[0] is the verb. ret_words: the words that are no options, NULL-terminated, in argv (which is
 * put in order). 0, OPTIONS_HELP after the help was printed, or -EINVAL after one line on standard
 * error. */
int verb_words_read(const char *verb, const struct option_table *table, int argc, char **argv,
                    char ***ret_words);

/* The exit status after a result other than 0 of verb_words_read. */
int verb_words_status(int result);

/* The words that called this program, and the database that --db named. */
void verb_called_as(const char *program);
const struct caller *verb_caller(void);

/* Prints "chokepoint VERB: ..." (NULL: "chokepoint: ...") as one line on standard error. Text from
 * outside in it cannot move the cursor or begin a new line. */
void verb_complain(const char *verb, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* As verb_complain, for what was done. Silent unless standard error is a terminal. */
void verb_tell(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Reports if the database belongs to another user. */
void verb_say_owner(const char *verb, const char *database);

/* Whether the file of --hostfile exists (NULL: not given): 0, or -EINVAL after a line. Otherwise a
 * misspelt file would be taken for a host. */
int verb_check_hostfile(const char *verb, const char *hostfile);

/* Prints "chokepoint VERB: WHAT 'WORD'; ADVICE", without the word if it is NULL. Returns
 * -EINVAL. */
int verb_refuse(const char *verb, const char *what, const char *word, const char *advice);

#endif
