/* SPDX-License-Identifier: MIT */
#include "cli/base/complete.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#define HELP_MAX 200

/* ---- an option's line of the help ---- */

/* Where the help explains the option: behind its name at the head of a line; NULL: nowhere. */
static const char *find_line(const char *help, const char *name) {
    char sought[80];
    size_t n = (size_t)snprintf(sought, sizeof sought, "--%s", name);
    for (const char *at = help; (at = strstr(at, sought)); at += n) {
        const char *begin = at;
        while (begin > help && begin[-1] != '\n')
            begin--;
        bool ends = !isalnum((unsigned char)at[n]) && at[n] != '-';
        const char *head = begin + strspn(begin, " ");
        if (ends && head > begin && *head == '-' && at - head <= 4)
            return at + n;
    }
    return NULL;
}

/* The words behind the option and its value, which two blanks or a new line set apart. */
static void read_help(const char *help, const char *name, char to[HELP_MAX]) {
    const char *at = find_line(help, name);
    size_t n = 0;
    to[0] = '\0';
    if (!at)
        return;
    while (*at && *at != '\n' && !(at[0] == ' ' && at[1] == ' '))
        at++;
    at += strspn(at, " \n");
    if (*at != '-') /* the next option's line */
        n = strcspn(at, "\n;");
    snprintf(to, HELP_MAX, "%.*s", (int)n, at);
}

/* Within single quotes; the shell's other special characters go, too. */
static void put_quoted(const char *text, const char *not_these) {
    for (; *text; text++)
        if (*text == '\'')
            fputs("'\\''", stdout);
        else if (!strchr(not_these, *text))
            putchar(*text);
}

/* ---- shells ---- */

static void put_bash(const struct verb_words *words) {
    printf("            options='--help");
    for (size_t i = 0; i < words->n_options; i++)
        printf(" --%s", words->options[i].name);
    printf("'\n            valued='");
    for (size_t i = 0; i < words->n_options; i++) {
        if (!words->options[i].text)
            continue;
        printf(" --%s ", words->options[i].name);
        if (words->options[i].letter)
            printf(" -%c ", words->options[i].letter);
    }
    printf("'\n            command=%d\n", words->one_command);
}

static void put_zsh(const struct verb_words *words) {
    for (size_t i = 0; i < words->n_options; i++) {
        const struct verb_option *option = &words->options[i];
        char about[HELP_MAX];
        read_help(words->help, option->name, about);
        printf("            '--%s%s[", option->name, option->text ? "=" : "");
        put_quoted(about, "[]:");
        printf("]%s'\n", option->text ? ":value:_files" : "");
        if (!option->letter)
            continue;
        printf("            '-%c[", option->letter);
        put_quoted(about, "[]:");
        printf("]%s'\n", option->text ? ":value:_files" : "");
    }
}

static void put_fish(const struct verb_words *words) {
    for (size_t i = 0; i < words->n_options; i++) {
        const struct verb_option *option = &words->options[i];
        char about[HELP_MAX];
        read_help(words->help, option->name, about);
        printf("complete -c chokepoint -n '__fish_seen_subcommand_from %s' -l %s", words->verb,
               option->name);
        if (option->letter)
            printf(" -s %c", option->letter);
        printf("%s -d '", option->text ? " -r" : "");
        put_quoted(about, "\\");
        puts("'");
    }
}

static const struct shell {
    const char *name;
    void (*put)(const struct verb_words *words);
} shells[] = {{"bash", put_bash}, {"zsh", put_zsh}, {"fish", put_fish}};

bool complete_answers(const struct verb_words *words, int argc, char **argv) {
    if (argc != 2 || strncmp(argv[1], COMPLETE_WORD, strlen(COMPLETE_WORD)) != 0)
        return false;
    for (size_t i = 0; i < sizeof shells / sizeof *shells; i++)
        if (strcmp(argv[1] + strlen(COMPLETE_WORD), shells[i].name) == 0)
            return shells[i].put(words), true;
    return false;
}
