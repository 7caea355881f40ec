/* SPDX-License-Identifier: MIT */
/*
 * The options of a program: one table, a row an option, which has its spelling, its help, where its
 * value goes and what a good value is. Parsing, the text of --help, "did you mean" and completion
 * are made of it. Nothing is printed here but the help: the words for what is wrong are the
 * program's.
 */
#ifndef CHOKEPOINT_COMMON_OPTIONS_H
#define CHOKEPOINT_COMMON_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define OPTIONS_MAX 48 /* rows of a table */
#define OPTIONS_HELP 1 /* --help or -h came: nothing after it was read */

enum option_wrong {
    OPTION_UNKNOWN,
    OPTION_NO_VALUE,    /* it needs one */
    OPTION_TAKES_NONE,  /* and has one */
    OPTION_BAD_VALUE,   /* `text` is what is expected: "a number from 1 to 9" */
    OPTION_WRONG_IN_ALL /* `text` is the whole sentence */
};

struct option_trouble {
    enum option_wrong wrong;
    char word[104];   /* as it was given: the option, or (OPTION_BAD_VALUE) its value */
    char name[32];    /* of the option, without "--"; "": unknown */
    char nearest[32]; /* the option that an unknown one is nearest to; "": to none */
    char text[320];
};

struct option_word {
    const char *name;  /* of the option */
    const char *text;  /* the value; NULL: it takes none */
    char *const *rest; /* the words behind it, NULL-terminated */
    struct option_trouble *trouble;
};

/* Reads a value. Returns how many of the words behind it are further values of the option, or
 * -EINVAL: option_expects() or option_refuse() has said why. */
typedef int option_take(const struct option_word *word, void *to);

/* A row has one of the places for its value. Numbers lie from low to high; both 0: counts may be
 * anything, and a number anything above 0. Without a spelling it is a line of the help, `help`. */
struct option_row {
    const char *spelling;  /* as the help shows it: "-o, --output PATH", "--quiet" */
    const char *help;      /* "\n" begins a line; NULL: the help does not show it */
    bool *flag, *not_flag; /* true or false here if it came */
    const char **text;     /* borrowed of argv; the last one wins */
    uint64_t *count;
    uint32_t *count32;
    int *small;
    double *number;
    const char *const *choices; /* NULL ends them: which one, from 0, or whether it is the second */
    int *choice;
    bool *second;
    option_take *take;
    void *to;    /* for take */
    bool *given; /* NULL, or true here if it came, besides */
    double low, high;
};

struct option_table {
    const char *usage; /* what --help begins with, up to the first option */
    const struct option_row *rows;
    size_t n;
    const char *end;  /* what --help ends with; NULL: with the options */
    unsigned indent;  /* of an option that has no letter, in the help */
    unsigned column;  /* at which help begins */
    bool one_command; /* options end at the first word that is no option */
};

/* The parts of a spelling. */
#define OPTION_NAME_MAX 31
struct option_name {
    char name[OPTION_NAME_MAX + 1]; /* "output"; "" for a line of the help */
    char letter;                    /* 0: none */
    const char *argument;           /* "PATH"; NULL: it takes no value */
};
struct option_name option_name(const struct option_row *row);

/* argv[0] is the program or verb. ret_words: the words that are no options, NULL-terminated, in
 * argv, which is put in order. 0, OPTIONS_HELP, or -EINVAL with ret_trouble. */
int options_read(const struct option_table *table, int argc, char **argv, char ***ret_words,
                 struct option_trouble *ret_trouble);

/* Negative errno of writing. */
int options_print_help(const struct option_table *table, FILE *out);

/* For option_take. Both return -EINVAL; option_expects keeps the value for the program's words. */
int option_expects(const struct option_word *word, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
int option_refuse(const struct option_word *word, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Values for option_take, checked as those of rows: 0 or -EINVAL. */
int option_read_count(const struct option_word *word, uint64_t low, uint64_t high, uint64_t *ret);
int option_read_number(const struct option_word *word, double low, double high, double *ret);

#endif
