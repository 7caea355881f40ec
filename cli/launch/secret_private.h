/* SPDX-License-Identifier: MIT */
/* The parts of secret_words.c. Each knows one sign of a secret, and has it in tables. */
#ifndef CHOKEPOINT_CLI_SECRET_PRIVATE_H
#define CHOKEPOINT_CLI_SECRET_PRIVATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#define SECRET_MASK "***"

/* ---- secret_names.c: what the name before a value says of it ---- */

bool secret_name(const char *text, size_t size);
/* With `option` its first letter may be an option's own: of -eTOKEN=x, -DTOKEN=x. */
bool secret_option_name(const char *text, size_t size, bool option);
/* The same for a parameter in the query of a URL, where more names are secret. */
bool secret_query_name(const char *text, size_t size);
/* A character of a name, or of a secret that is told by its shape. */
bool secret_token_char(char c);

/* ---- secret_text.c: what a text tells by itself ---- */

/* Writes text with its secrets masked: names with values (also of JSON and of queries), URLs with
 * passwords, shapes that issuers give. */
void secret_put_text(FILE *out, const char *text);

/* ---- secret_programs.c: options that only their program makes secret ---- */

enum secret_value {
    VALUE_NONE,       /* nothing is secret about the next word */
    VALUE_WHOLE,      /* all of it is */
    VALUE_BEHIND,     /* what follows one of `signs`: user:secret */
    VALUE_CREDENTIALS /* of a header that was begun: a scheme, then the secret */
};

struct secret_option {
    const char *programs; /* words with blanks between them, as in the next three */
    const char *verb;     /* only after one of these words; NULL: always */
    const char *options;
    enum secret_value value; /* VALUE_NONE: only in the same word */
    bool joined;             /* the value may follow in the same word */
    const char *before;      /* letters that may stand before the option's own in one word */
    const char *signs;       /* of VALUE_BEHIND */
};

/* A program whose words from a place on are secret. */
struct secret_place {
    const char *programs, *verb;
    int from;          /* of the words that are no options, counted from the program or the verb */
    const char *signs; /* "": all of the word is secret; else what follows one of them */
};

#define SECRET_LISTED_MAX 24 /* the longest program and verb of the tables, and its end */

struct secret_program {
    char name[SECRET_LISTED_MAX]; /* "": no word so far is a program of the tables */
    char verb[SECRET_LISTED_MAX]; /* the first word that is one of its verbs; "": none so far */
    bool wraps;                   /* its first word that is no option is another program */
    int n_words;                  /* that were no options, since the program or the verb */
};

/* Looks whether a word is a program of the tables; then *ret_program is that. */
bool secret_program_find(const char *word, struct secret_program *ret_program);
/* Counts a word that is no option; not NULL if its place makes it secret. */
const struct secret_place *secret_program_count(struct secret_program *program, const char *word);
/* The option that begins word, and in *ret_size its bytes; NULL: none. */
const struct secret_option *secret_program_option(const struct secret_program *program,
                                                  const char *word, size_t *ret_size);
/* A script in which a program reads a secret from its standard input. */
bool secret_script_is_fed(const char *script);

#endif
