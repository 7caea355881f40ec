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

static const char *program = NAME, *database;

void commands_call_program(const char *words) {
    program = words && *words ? words : NAME;
}

void commands_use_database(const char *path) {
    database = path;
}

/* How a verb is told the database. */
static const char *database_option(const char *verb, size_t size) {
    static const char *const with_option[] = {"report", "whatif", "compare", "calibrate", "import",
                                              "list",   "export", "run",     "sweep",     "rm",
                                              "rename", "note",   "top",     "serve"};
    if (size == strlen("verify") && strncmp(verb, "verify", size) == 0)
        return " ";
    for (size_t i = 0; i < ARRAY_SIZE(with_option); i++)
        if (strlen(with_option[i]) == size && strncmp(verb, with_option[i], size) == 0)
            return " --db ";
    return NULL;
}

/* One word of a shell's command line; in quotes only where it needs them. */
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

static void put_arguments(FILE *out, const char *text, size_t size, int64_t run) {
    for (size_t i = 0; i < size;) {
        if (size - i < strlen(RUN) || strncmp(text + i, RUN, strlen(RUN)) != 0) {
            fputc(text[i++], out);
            continue;
        }
        if (run)
            fprintf(out, "%" PRId64, run);
        else
            fputs("last", out);
        i += strlen(RUN);
    }
}

static bool begins(const char *text, size_t size, const char *with) {
    return size >= strlen(with) && strncmp(text, with, strlen(with)) == 0;
}

static bool ends(const char *text, size_t size, const char *with) {
    return size >= strlen(with) && begins(text + size - strlen(with), strlen(with), with);
}

/* Another program's words come last, and its options are not ours. */
static bool takes_command(const char *command, size_t size) {
    return begins(command, size, "run ") ||
           (begins(command, size, "sweep ") && !begins(command, size, "sweep report"));
}

static void put_command(FILE *out, const char *command, size_t size, int64_t run) {
    size_t verb = 0;
    while (verb < size && command[verb] >= 'a' && command[verb] <= 'z')
        verb++;
    const char *option =
        database && !ends(command, size, "--help") ? database_option(command, verb) : NULL;
    size_t before = takes_command(command, size) ? verb : size;
    put_word(out, program);
    fputc(' ', out);
    put_arguments(out, command, before, run);
    if (option) {
        fputs(option, out);
        put_word(out, database);
    }
    put_arguments(out, command + before, size - before, run);
}

char *commands_word(const char *word) {
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    if (!out)
        return NULL;
    put_word(out, word);
    if (fclose(out) == 0)
        return text;
    free(text);
    return NULL;
}

char *commands_line(const char *verb_and_arguments, int64_t run) {
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    if (!out)
        return NULL;
    put_command(out, verb_and_arguments, strlen(verb_and_arguments), run);
    if (fclose(out) == 0)
        return text;
    free(text);
    return NULL;
}

char *commands_complete(const char *text, int64_t run) {
    static const char begin[] = "`" NAME " ";
    char *completed = NULL;
    size_t size;
    FILE *out = open_memstream(&completed, &size);
    if (!out)
        return NULL;
    for (const char *at = text; *at;) {
        const char *command = strstr(at, begin), *end;
        if (!command || !(end = strchr(command + 1, '`'))) {
            fputs(at, out);
            break;
        }
        fprintf(out, "%.*s`", (int)(command - at), at);
        command += strlen(begin);
        put_command(out, command, (size_t)(end - command), run);
        fputc('`', out);
        at = end + 1;
    }
    if (fclose(out) == 0)
        return completed;
    free(completed);
    return NULL;
}
