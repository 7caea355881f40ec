/* SPDX-License-Identifier: MIT */
/* The parts of secret_words.c. Each recognizes one sign of a secret by tables. */
#ifndef CHOKEPOINT_CLI_SECRET_PRIVATE_H
#define CHOKEPOINT_CLI_SECRET_PRIVATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#define SECRET_MASK "***"

/* ---- secret_names.c: the name before a value ---- */

bool secret_name(const char *text, size_t size);
/* With `option` its first letter may be an option: in -eTOKEN=x, -DTOKEN=x. */
bool secret_option_name(const char *text, size_t size, bool option);
/* As secret_name, for a parameter in the query of a URL, where more names are secret. */
bool secret_query_name(const char *text, size_t size);
/* A character of a name, or of a secret that is recognized by its shape. */
bool secret_token_char(char c);

/* ---- secret_text.c: the text itself ---- */

/* Writes text with its secrets masked: names with values (also in JSON and queries), URLs with
 * passwords, shapes of issued tokens. */
void secret_put_text(FILE *out, const char *text);

/* ---- secret_programs.c: options that are secret for certain programs ---- */

enum secret_value {
    VALUE_NONE,       /* the next word is not secret */
    VALUE_WHOLE,      /* all of the next word is secret */
    VALUE_BEHIND,     /* the part behind one of `signs` is secret: user:secret */
    VALUE_CREDENTIALS /* part of a header: a scheme, then the secret */
};

struct secret_option {
    const char *programs; /* words separated by blanks, as in the next three members */
    const char *verb;     /* only after one of these words; NULL: always */
    const char *options;
    enum secret_value value; /* VALUE_NONE: only in the same word */
    bool joined;             /* the value may follow in the same word */
    const char *before;      /* letters that may stand before the option's own in one word */
    const char *signs;       /* for VALUE_BEHIND */
};

/* A program whose words from some position on are secret. */
struct secret_place {
    const char *programs, *verb;
    int from; /* position among the words that are not options, from the program or the verb */
    const char *signs; /* "": all of the word is secret; else the part behind one of them */
};

#define SECRET_LISTED_MAX 24 /* size of the longest program and verb in the tables, with a NUL */

struct secret_program {
    char name[SECRET_LISTED_MAX]; /* "": no word so far is a program in the tables */
    char verb[SECRET_LISTED_MAX]; /* the first word that is one of its verbs; "": none so far */
    bool wraps;                   /* its first word that is not an option is another program */
    int n_words; /* words so far that were not options, since the program or the verb */
};

/* Looks whether a word is a program in the tables; *ret_program is then that program. */
bool secret_program_find(const char *word, struct secret_program *ret_program);
/* Counts a word that is not an option. Not NULL: its position makes it secret. */
const struct secret_place *secret_program_count(struct secret_program *program, const char *word);
/* The option at the beginning of the word, and its size in *ret_size; NULL: none. */
const struct secret_option *secret_program_option(const struct secret_program *program,
                                                  const char *word, size_t *ret_size);
/* A script in which a program reads a secret from its standard input. */
bool secret_script_is_fed(const char *script);

#endif
