/* SPDX-License-Identifier: MIT */
#include "cli/base/options.h"
#include "cli/base/complete.h"
#include "cli/base/nearest.h"
#include "cli/base/verb.h"
#include "common/error.h"
#include "common/text.h"
#include "reports/says/commands.h"

#include <errno.h>
#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define VALUES_FROM 256 /* of long options: getopt tells letters by their own value */
#define VALUE_HELP (VALUES_FROM + VERB_OPTIONS_MAX)

struct getopt_words {
    struct option longs[VERB_OPTIONS_MAX + 2];
    char letters[2 * VERB_OPTIONS_MAX + 4];
};

static void make_getopt_words(const struct verb_words *words, struct getopt_words *to) {
    char *letters = to->letters;
    *to = (struct getopt_words){0};
    if (words->one_command)
        *letters++ = '+';
    *letters++ = ':';
    for (size_t i = 0; i < words->n_options; i++) {
        const struct verb_option *option = &words->options[i];
        int argument = option->text ? required_argument : no_argument;
        to->longs[i] = (struct option){option->name, argument, NULL, VALUES_FROM + (int)i};
        if (option->letter)
            *letters++ = option->letter;
        if (option->letter && option->text)
            *letters++ = ':';
    }
    *letters = 'h';
    to->longs[words->n_options] = (struct option){"help", no_argument, NULL, VALUE_HELP};
}

static const struct verb_option *find(const struct verb_words *words, int value) {
    for (size_t i = 0; i < words->n_options; i++)
        if (value == VALUES_FROM + (int)i || value == words->options[i].letter)
            return &words->options[i];
    return NULL;
}

/* "--fromat=x" is nearest to "--format". NULL: to none. */
static const char *nearest_option(const struct verb_words *words, const char *word) {
    char name[NEAREST_WORD_MAX + 1];
    struct nearest nearest = {.word = name};
    size_t n = strcspn(word, "=");
    if (strncmp(word, "--", 2) != 0 || n - 2 > NEAREST_WORD_MAX)
        return NULL;
    snprintf(name, sizeof name, "%.*s", (int)n - 2, word + 2);
    for (size_t i = 0; i < words->n_options; i++)
        nearest_try(&nearest, words->options[i].name);
    return nearest.best;
}

static int refuse(const struct verb_words *words, int condition, char **argv) {
    char advice[160], letter[3] = {'-', (char)optopt, 0};
    bool is_letter = optopt > 0 && optopt < VALUES_FROM, is_unknown = false;
    const char *what = condition == ':'        ? "a value is missing after"
                       : optopt >= VALUES_FROM ? "this option takes no value:"
                                               : (is_unknown = true, "unknown option");
    const char *near = is_unknown && !is_letter ? nearest_option(words, argv[optind - 1]) : NULL;
    if (near)
        snprintf(advice, sizeof advice, "did you mean '--%s'? `chokepoint %s --help` lists all",
                 near, words->verb);
    else
        snprintf(advice, sizeof advice, "`chokepoint %s --help` lists all", words->verb);
    return verb_refuse(words->verb, what, is_letter ? letter : argv[optind - 1], advice);
}

int verb_words_read(const struct verb_words *words, int argc, char **argv, char ***ret_words) {
    return verb_words_read_each(words, argc, argv, NULL, NULL, ret_words);
}

/* Values beyond the first are words of their own, among which options end at none. */
static int hear(verb_heard *heard, void *context, const struct verb_option *option, char **argv) {
    int taken = heard(context, option->name, option->text ? optarg : NULL, argv + optind);
    if (taken > 0)
        optind += taken;
    return taken < 0 ? taken : 0;
}

int verb_words_read_each(const struct verb_words *words, int argc, char **argv, verb_heard *heard,
                         void *context, char ***ret_words) {
    struct getopt_words known;
    int value;
    if (words->n_options > VERB_OPTIONS_MAX)
        return -EINVAL;
    if (complete_answers(words, argc, argv))
        return VERB_HELP;
    make_getopt_words(words, &known);
    optind = 0; /* glibc: begin anew, also with '+' */
    opterr = 0;
    while ((value = getopt_long(argc, argv, known.letters, known.longs, NULL)) != -1) {
        if (value == 'h' || value == VALUE_HELP)
            return fputs(words->help, stdout), VERB_HELP;
        const struct verb_option *option = find(words, value);
        if (!option)
            return refuse(words, value, argv);
        if (option->text)
            *option->text = optarg;
        else
            *option->flag = true;
        if (option->text && strcmp(option->name, "db") == 0)
            commands_use_database(optarg);
        int r = heard ? hear(heard, context, option, argv) : 0;
        if (r < 0)
            return r;
    }
    *ret_words = argv + optind;
    return 0;
}

int verb_words_status(int result) {
    return result == VERB_HELP ? 0 : EXIT_USAGE;
}

/* Commands in our words are completed, so that they work as pasted. */
static void complete_commands(char **text) {
    char *completed = commands_complete(*text, 0);
    if (!completed)
        return;
    free(*text);
    *text = completed;
}

void verb_complain(const char *verb, const char *format, ...) {
    char *text = NULL, *clean;
    va_list values;
    va_start(values, format);
    int n = vasprintf(&text, format, values);
    va_end(values);
    if (n < 0)
        return;
    complete_commands(&text);
    n = (int)strlen(text);
    clean = malloc((size_t)n + 1);
    if (clean) {
        text_sanitize(clean, (size_t)n + 1, text, (size_t)n);
        fprintf(stderr, "chokepoint%s%s: %s\n", verb ? " " : "", verb ? verb : "", clean);
    }
    free(clean);
    free(text);
}

int verb_check_hostfile(const char *verb, const char *hostfile) {
    if (!hostfile || access(hostfile, R_OK) == 0)
        return 0;
    char advice[160];
    snprintf(advice, sizeof advice, "%s; give a file with a host a line, or --hosts a,b",
             strerror(errno));
    return verb_refuse(verb, "--hostfile", hostfile, advice);
}

int verb_refuse(const char *verb, const char *what, const char *word, const char *advice) {
    if (word)
        verb_complain(verb, "%s '%s'; %s", what, word, advice);
    else
        verb_complain(verb, "%s; %s", what, advice);
    return -EINVAL;
}

void verb_say_owner(const char *verb, const char *database) {
    struct stat st;
    if (stat(database, &st) == 0 && st.st_uid != geteuid())
        verb_complain(verb, "%s belongs to another user (uid %u)", database, (unsigned)st.st_uid);
}
