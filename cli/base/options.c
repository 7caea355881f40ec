/* SPDX-License-Identifier: MIT */
#include "cli/base/options.h"
#include "cli/base/complete.h"
#include "cli/base/verb.h"
#include "common/error.h"
#include "common/text.h"
#include "reports/says/commands.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The name that this process was called by, and its database; set while words are read. */
static struct caller caller;

void verb_called_as(const char *program) {
    caller.program = program;
}

const struct caller *verb_caller(void) {
    return &caller;
}

int verb_take_database(const struct option_word *word, void *to) {
    *(const char **)to = caller.database = word->text;
    return 0;
}

static int refuse_option(const char *verb, const struct option_trouble *trouble) {
    static const char *const wrong[] = {[OPTION_UNKNOWN] = "unknown option",
                                        [OPTION_NO_VALUE] = "a value is missing after",
                                        [OPTION_TAKES_NONE] = "this option takes no value:"};
    char what[48], advice[400];
    if (trouble->wrong == OPTION_WRONG_IN_ALL)
        return verb_complain(verb, "%s", trouble->text), -EINVAL;
    if (trouble->wrong == OPTION_BAD_VALUE) {
        snprintf(what, sizeof what, "--%s", trouble->name);
        snprintf(advice, sizeof advice, "give %s", trouble->text);
        return verb_refuse(verb, what, trouble->word, advice);
    }
    if (trouble->nearest[0])
        snprintf(advice, sizeof advice, "did you mean '--%s'? `chokepoint %s --help` lists all",
                 trouble->nearest, verb);
    else
        snprintf(advice, sizeof advice, "`chokepoint %s --help` lists all", verb);
    return verb_refuse(verb, wrong[trouble->wrong], trouble->word, advice);
}

int verb_words_read(const char *verb, const struct option_table *table, int argc, char **argv,
                    char ***ret_words) {
    struct option_trouble trouble;
    if (complete_answers(verb, table, argc, argv))
        return OPTIONS_HELP;
    int r = options_read(table, argc, argv, ret_words, &trouble);
    if (r == OPTIONS_HELP)
        options_print_help(table, stdout);
    return r < 0 ? refuse_option(verb, &trouble) : r;
}

int verb_words_status(int result) {
    return result == OPTIONS_HELP ? 0 : EXIT_USAGE;
}

/* Completes commands in messages, "`chokepoint VERB ...`", so that they work when pasted. */
static void put_completed(FILE *out, const char *text) {
    static const char begin[] = "`chokepoint ";
    const char *command, *end;
    while ((command = strstr(text, begin)) && (end = strchr(command + 1, '`'))) {
        command += strlen(begin);
        char *words = command_words_of(&caller, command, (size_t)(end - command));
        fprintf(out, "%.*s`%s`", (int)(command - strlen(begin) - text), text, words ? words : "");
        free(words);
        text = end + 1;
    }
    fputs(text, out);
}

static void complete_commands(char **text) {
    char *completed = NULL;
    size_t size;
    FILE *out = open_memstream(&completed, &size);
    if (!out)
        return;
    put_completed(out, *text);
    if (fclose(out) != 0) {
        free(completed);
        return;
    }
    free(*text);
    *text = completed;
}

static void say(const char *verb, const char *format, va_list values) {
    char *text = NULL, *clean;
    int n = vasprintf(&text, format, values);
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

void verb_complain(const char *verb, const char *format, ...) {
    va_list values;
    va_start(values, format);
    say(verb, format, values);
    va_end(values);
}

void verb_tell(const char *format, ...) {
    va_list values;
    if (!isatty(STDERR_FILENO))
        return;
    va_start(values, format);
    say(NULL, format, values);
    va_end(values);
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
