/* SPDX-License-Identifier: MIT */
#include "reports/says/commands.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/error.h"

#define NAME "chokepoint"
#define RUN "{run}"

/* The option by which a verb takes the database. */
static const char *database_option(const char *verb) {
    static const char *const with_option[] = {"report", "whatif", "compare", "calibrate", "import",
                                              "list",   "export", "run",     "sweep",     "rm",
                                              "rename", "note",   "top",     "serve"};
    if (strcmp(verb, "verify") == 0)
        return " ";
    for (size_t i = 0; i < ARRAY_SIZE(with_option); i++)
        if (strcmp(with_option[i], verb) == 0)
            return " --db ";
    return NULL;
}

/* Writes a word of a shell's command line, in quotes only if it needs them. */
static void put_word(FILE *out, const char *word) {
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                "%+,-./:=@_";
    if (*word && !word[strspn(word, plain)]) {
        fputs(word, out);
        return;
    }
    fputc('\'', out);
    for (; *word; word++)
        if (*word == '\'')
            fputs("'\\''", out);
        else
            fputc(*word, out);
    fputc('\'', out);
}

static void put_arguments(FILE *out, const char *text, int64_t run) {
    for (const char *at; (at = strstr(text, RUN)); text = at + strlen(RUN)) {
        fwrite(text, 1, (size_t)(at - text), out);
        if (run)
            fprintf(out, "%" PRId64, run);
        else
            fputs("last", out);
    }
    fputs(text, out);
}

static bool ends(const char *text, const char *with) {
    size_t size = strlen(text), end = strlen(with);
    return size >= end && strcmp(text + size - end, with) == 0;
}

/* Whether another program's words follow, whose options are not ours. */
static bool takes_command(struct command c) {
    return strcmp(c.verb, "run") == 0 ||
           (strcmp(c.verb, "sweep") == 0 && strncmp(c.arguments, "report", strlen("report")) != 0);
}

static void put_database(FILE *out, const struct caller *caller, struct command c) {
    const char *option = caller->database && !ends(c.arguments, "--help") && !ends(c.verb, "--help")
                             ? database_option(c.verb)
                             : NULL;
    if (!option)
        return;
    fputs(option, out);
    put_word(out, caller->database);
}

static void put_command(FILE *out, const struct caller *caller, struct command c) {
    bool before = takes_command(c);
    put_word(out, caller->program && *caller->program ? caller->program : NAME);
    fprintf(out, " %s", c.verb);
    if (before)
        put_database(out, caller, c);
    if (*c.arguments)
        fputc(' ', out);
    put_arguments(out, c.arguments, caller->run);
    if (!before)
        put_database(out, caller, c);
}

static char *closed(FILE *out, char **text) {
    if (fclose(out) == 0)
        return *text;
    free(*text);
    return NULL;
}

char *command_argument(const char *word) {
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    if (!out)
        return NULL;
    put_word(out, word);
    return closed(out, &text);
}

char *command_words(const struct caller *caller, struct command command) {
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    if (!out)
        return NULL;
    put_command(out, caller, command);
    return closed(out, &text);
}

char *command_words_of(const struct caller *caller, const char *words, size_t size) {
    char *verb = strndup(words, size);
    char *blank = verb ? strchr(verb, ' ') : NULL;
    if (blank)
        *blank = '\0';
    char *text =
        verb ? command_words(caller, (struct command){verb, blank ? blank + 1 : ""}) : NULL;
    free(verb);
    return text;
}
