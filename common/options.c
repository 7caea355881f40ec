/* SPDX-License-Identifier: MIT */
#include "common/options.h"
#include "common/nearest.h"
#include "common/text.h"

#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

#define VALUES_FROM 256 /* of long options: getopt tells letters by their own value */
#define VALUE_HELP (VALUES_FROM + OPTIONS_MAX)
#define LETTER_INDENT 2 /* of an option with a letter, in the help */

/* ---- values ---- */

int option_expects(const struct option_word *word, const char *format, ...) {
    va_list values;
    word->trouble->wrong = OPTION_BAD_VALUE;
    va_start(values, format);
    vsnprintf(word->trouble->text, sizeof word->trouble->text, format, values);
    va_end(values);
    return -EINVAL;
}

int option_refuse(const struct option_word *word, const char *format, ...) {
    va_list values;
    word->trouble->wrong = OPTION_WRONG_IN_ALL;
    va_start(values, format);
    vsnprintf(word->trouble->text, sizeof word->trouble->text, format, values);
    va_end(values);
    return -EINVAL;
}

int option_read_count(const struct option_word *word, uint64_t low, uint64_t high, uint64_t *ret) {
    uint64_t value;
    if (text_parse_u64(word->text, &value) < 0 || value < low || value > high)
        return high < UINT64_MAX
                   ? option_expects(word, "a whole number from %" PRIu64 " to %" PRIu64, low, high)
                   : option_expects(word, "a whole number from %" PRIu64 " on", low);
    *ret = value;
    return 0;
}

int option_read_number(const struct option_word *word, double low, double high, double *ret) {
    double value;
    bool positive = low == 0 && high == 0;
    bool good = text_parse_double(word->text, &value) == 0 &&
                (positive ? value > 0 : value >= low && value <= high);
    if (!good && positive)
        return option_expects(word, "a positive number");
    if (!good)
        return option_expects(word, "a number from %g to %g", low, high);
    *ret = value;
    return 0;
}

/* "a, b or c" */
static int expects_choice(const struct option_word *word, const char *const *choices) {
    char expected[200] = "";
    size_t n = 0;
    for (size_t i = 0; choices[i] && n < sizeof expected; i++)
        n += (size_t)snprintf(expected + n, sizeof expected - n, "%s%s",
                              i == 0           ? ""
                              : choices[i + 1] ? ", "
                                               : " or ",
                              choices[i]);
    return option_expects(word, "%s", expected);
}

static int take_choice(const struct option_row *row, const struct option_word *word) {
    int i = 0;
    while (row->choices[i] && strcmp(word->text, row->choices[i]) != 0)
        i++;
    if (!row->choices[i])
        return expects_choice(word, row->choices);
    if (row->choice)
        *row->choice = i;
    if (row->second)
        *row->second = i == 1;
    return 0;
}

static int take_count(const struct option_row *row, const struct option_word *word) {
    uint64_t value, most = row->count32 ? UINT32_MAX : row->small ? INT32_MAX : UINT64_MAX;
    int r = option_read_count(word, (uint64_t)row->low, row->high > 0 ? (uint64_t)row->high : most,
                              &value);
    if (r < 0)
        return r;
    if (row->count)
        *row->count = value;
    if (row->count32)
        *row->count32 = (uint32_t)value;
    if (row->small)
        *row->small = (int)value;
    return 0;
}

static int take_value(const struct option_row *row, const struct option_word *word) {
    if (row->given)
        *row->given = true;
    if (row->flag)
        *row->flag = true;
    if (row->not_flag)
        *row->not_flag = false;
    if (row->text)
        *row->text = word->text;
    if (row->count || row->count32 || row->small)
        return take_count(row, word);
    if (row->number)
        return option_read_number(word, row->low, row->high, row->number);
    if (row->choices)
        return take_choice(row, word);
    return row->take ? row->take(word, row->to) : 0;
}

/* ---- words ---- */

struct option_name option_name(const struct option_row *row) {
    struct option_name parts = {0};
    const char *at = row->spelling;
    if (!at)
        return parts;
    if (at[1] != '-') {
        parts.letter = at[1];
        at += strlen("-x, ");
    }
    at += strlen("--");
    size_t n = strcspn(at, " ");
    snprintf(parts.name, sizeof parts.name, "%.*s", (int)n, at);
    parts.argument = at[n] ? at + n + 1 : NULL;
    return parts;
}

struct getopt_words {
    struct option_name names[OPTIONS_MAX];
    struct option longs[OPTIONS_MAX + 2];
    char letters[2 * OPTIONS_MAX + 4];
};

static void make_getopt_words(const struct option_table *table, struct getopt_words *to) {
    char *letters = to->letters;
    size_t n = 0;
    *to = (struct getopt_words){0};
    if (table->one_command)
        *letters++ = '+';
    *letters++ = ':';
    for (size_t i = 0; i < table->n; i++) {
        struct option_name *name = &to->names[i];
        *name = option_name(&table->rows[i]);
        int argument = name->argument ? required_argument : no_argument;
        if (name->name[0])
            to->longs[n++] = (struct option){name->name, argument, NULL, VALUES_FROM + (int)i};
        if (name->letter)
            *letters++ = name->letter;
        if (name->letter && name->argument)
            *letters++ = ':';
    }
    *letters = 'h';
    to->longs[n] = (struct option){"help", no_argument, NULL, VALUE_HELP};
}

/* The row that getopt's value stands for; OPTIONS_MAX: none. */
static size_t find_row(const struct getopt_words *known, int value) {
    size_t i = 0;
    while (i < OPTIONS_MAX && value != VALUES_FROM + (int)i &&
           (!known->names[i].letter || value != known->names[i].letter))
        i++;
    return i;
}

/* "--fromat=x" is nearest to "--format". NULL: to none. */
static const char *nearest_option(const struct getopt_words *known, const char *word) {
    char name[NEAREST_WORD_MAX + 1];
    struct nearest nearest = {.word = name};
    size_t n = strcspn(word, "=");
    if (strncmp(word, "--", 2) != 0 || n - 2 > NEAREST_WORD_MAX)
        return NULL;
    snprintf(name, sizeof name, "%.*s", (int)n - 2, word + 2);
    for (const struct option *option = known->longs; option->val != VALUE_HELP; option++)
        nearest_try(&nearest, option->name);
    return nearest.best;
}

/* getopt tells a letter by optopt, a long option by the word before optind. */
static int tell_wrong(const struct getopt_words *known, int condition, char **argv,
                      struct option_trouble *trouble) {
    bool is_letter = optopt > 0 && optopt < VALUES_FROM;
    trouble->wrong = condition == ':'        ? OPTION_NO_VALUE
                     : optopt >= VALUES_FROM ? OPTION_TAKES_NONE
                                             : OPTION_UNKNOWN;
    if (is_letter)
        snprintf(trouble->word, sizeof trouble->word, "-%c", (char)optopt);
    else
        snprintf(trouble->word, sizeof trouble->word, "%s", argv[optind - 1]);
    const char *near = trouble->wrong == OPTION_UNKNOWN && !is_letter
                           ? nearest_option(known, argv[optind - 1])
                           : NULL;
    snprintf(trouble->nearest, sizeof trouble->nearest, "%s", near ? near : "");
    return -EINVAL;
}

/* Values beyond the first are words of their own, among which options end at none. */
static int hear(const struct option_row *row, const struct option_name *name, char **argv,
                struct option_trouble *trouble) {
    struct option_word word = {name->name, name->argument ? optarg : NULL, argv + optind, trouble};
    memcpy(trouble->name, name->name, sizeof name->name);
    snprintf(trouble->word, sizeof trouble->word, "%s", word.text ? word.text : "");
    int taken = take_value(row, &word);
    if (taken > 0)
        optind += taken;
    return taken < 0 ? taken : 0;
}

int options_read(const struct option_table *table, int argc, char **argv, char ***ret_words,
                 struct option_trouble *ret_trouble) {
    struct getopt_words known;
    int value;
    *ret_trouble = (struct option_trouble){0};
    if (table->n > OPTIONS_MAX)
        return -EINVAL;
    make_getopt_words(table, &known);
    optind = 0; /* glibc: begin anew, also with '+' */
    opterr = 0;
    while ((value = getopt_long(argc, argv, known.letters, known.longs, NULL)) != -1) {
        if (value == 'h' || value == VALUE_HELP)
            return OPTIONS_HELP;
        size_t i = find_row(&known, value);
        int r = i < table->n ? hear(&table->rows[i], &known.names[i], argv, ret_trouble)
                             : tell_wrong(&known, value, argv, ret_trouble);
        if (r < 0)
            return r;
    }
    *ret_words = argv + optind;
    return 0;
}

/* ---- help ---- */

static void print_row(const struct option_table *table, const struct option_row *row, FILE *out) {
    const char *help = row->help;
    unsigned indent = row->spelling[1] == '-' ? table->indent : LETTER_INDENT;
    unsigned n = indent + (unsigned)strlen(row->spelling);
    fprintf(out, "%*s%s", (int)indent, "", row->spelling);
    if (n >= table->column) {
        fputc('\n', out);
        n = 0;
    }
    for (size_t size; *help; help += size + (help[size] == '\n'), n = 0) {
        size = strcspn(help, "\n");
        fprintf(out, "%*s%.*s\n", (int)(table->column - n), "", (int)size, help);
    }
}

int options_print_help(const struct option_table *table, FILE *out) {
    fputs(table->usage, out);
    for (size_t i = 0; i < table->n; i++)
        if (table->rows[i].spelling && table->rows[i].help)
            print_row(table, &table->rows[i], out);
        else if (table->rows[i].help)
            fputs(table->rows[i].help, out);
    if (table->end)
        fputs(table->end, out);
    return ferror(out) ? -EIO : 0;
}
