/* SPDX-License-Identifier: MIT */
/*
 * The words after a verb: one loop for every verb, from a list of what it takes. Values are kept as
 * text, since what a good one is differs from verb to verb and is judged when all are known. The
 * user's words go back to the terminal only through verb_complain.
 */
#ifndef CHOKEPOINT_CLI_OPTIONS_H
#define CHOKEPOINT_CLI_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>

struct verb_option {
    const char *name;  /* --name */
    char letter;       /* -x too; 0: none */
    const char **text; /* with a value, which ends here (borrowed of argv); the last one wins */
    bool *flag;        /* or (text NULL) without one: true here */
};

struct verb_words {
    const char *verb;
    const char *help; /* what --help and -h print */
    const struct verb_option *options;
    size_t n_options; /* at most VERB_OPTIONS_MAX */
    bool one_command; /* options end at the first word that is none: the rest is a command */
};

#define VERB_OPTIONS_MAX 40
#define VERB_HELP 1 /* help was asked for and printed */

/* argv[0] is the verb. ret_words: the words that are no options, NULL-terminated, in argv (which is
 * put in order). 0, VERB_HELP, or -EINVAL after one line on standard error. */
int verb_words_read(const struct verb_words *words, int argc, char **argv, char ***ret_words);

/* Told of an option as it comes, with its value (NULL: it takes none). rest: the words behind it,
 * NULL-terminated; returns how many of them are further values of it, or negative after one line on
 * standard error. */
typedef int verb_heard(void *context, const char *name, const char *value, char *const *rest);

/* The same, for options that may be given several times or take several values. */
int verb_words_read_each(const struct verb_words *words, int argc, char **argv, verb_heard *heard,
                         void *context, char ***ret_words);

/* The exit status after an answer other than 0 of verb_words_read. */
int verb_words_status(int result);

/* "chokepoint VERB: ..." (NULL: "chokepoint: ...") in one line on standard error, in which nothing
 * from outside moves the cursor or begins a line of its own. */
void verb_complain(const char *verb, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Says so where the database is another user's; nothing otherwise. */
void verb_say_owner(const char *verb, const char *database);

/* Whether the file of --hostfile is there (NULL: it was not given): 0, or -EINVAL after a line. A
 * name that is no file would else be taken for a host. */
int verb_check_hostfile(const char *verb, const char *hostfile);

/* "chokepoint VERB: WHAT 'WORD'; ADVICE", without the word if it is NULL. Returns -EINVAL. */
int verb_refuse(const char *verb, const char *what, const char *word, const char *advice);

#endif
