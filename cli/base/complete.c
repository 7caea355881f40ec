/* SPDX-License-Identifier: MIT */
#include "cli/base/complete.h"

#include <stdio.h>
#include <string.h>

/* Writes a text within single quotes; drops the shell's other special characters. */
static void put_quoted(const char *text, size_t n, const char *not_these) {
    for (size_t i = 0; i < n; i++)
        if (text[i] == '\'')
            fputs("'\\''", stdout);
        else if (!strchr(not_these, text[i]))
            putchar(text[i]);
}

/* The first words of the help. */
static void put_about(const struct option_row *row, const char *not_these) {
    if (row->help)
        put_quoted(row->help, strcspn(row->help, "\n;"), not_these);
}

/* ---- shells ---- */

static void put_bash_options(const struct option_table *table) {
    printf("            options='--help");
    for (size_t i = 0; i < table->n; i++)
        if (table->rows[i].spelling)
            printf(" --%s", option_name(&table->rows[i]).name);
    printf("'\n            valued='");
    for (size_t i = 0; i < table->n; i++) {
        struct option_name name = option_name(&table->rows[i]);
        if (name.argument)
            printf(" --%s ", name.name);
        if (name.argument && name.letter)
            printf(" -%c ", name.letter);
    }
    printf("'\n            command=%d\n", table->one_command);
}

/* formats: of --format; "": a file. */
static void put_zsh_option(const struct option_row *row, const char *spelled, bool valued,
                           const char *formats) {
    bool chooses = *formats && strcmp(spelled, "--format=") == 0;
    printf("            '%s[", spelled);
    put_about(row, "[]:");
    if (chooses)
        printf("]:format:(%s)'\n", formats);
    else
        printf("]%s'\n", valued ? ":value:_files" : "");
}

static void put_zsh_options(const struct option_table *table, const char *formats) {
    for (size_t i = 0; i < table->n; i++) {
        struct option_name name = option_name(&table->rows[i]);
        char spelled[OPTION_NAME_MAX + 4];
        snprintf(spelled, sizeof spelled, "--%s%s", name.name, name.argument ? "=" : "");
        if (name.name[0])
            put_zsh_option(&table->rows[i], spelled, name.argument, formats);
        snprintf(spelled, sizeof spelled, "-%c", name.letter);
        if (name.letter)
            put_zsh_option(&table->rows[i], spelled, name.argument, formats);
    }
}

static void put_fish_options(const char *verb, const struct option_table *table) {
    for (size_t i = 0; i < table->n; i++) {
        struct option_name name = option_name(&table->rows[i]);
        if (!name.name[0])
            continue;
        printf("complete -c chokepoint -n '__fish_seen_subcommand_from %s' -l %s", verb, name.name);
        if (name.letter)
            printf(" -s %c", name.letter);
        printf("%s -d '", name.argument ? " -r" : "");
        put_about(&table->rows[i], "\\");
        puts("'");
    }
}

bool complete_answers(const char *verb, const struct option_table *table, int argc, char **argv) {
    if (argc != 2 || strncmp(argv[1], COMPLETE_WORD, strlen(COMPLETE_WORD)) != 0)
        return false;
    const char *shell = argv[1] + strlen(COMPLETE_WORD);
    if (strcmp(shell, "bash") == 0)
        return put_bash_options(table), true;
    if (strncmp(shell, "zsh", 3) == 0) /* "zsh text md": with the formats */
        return put_zsh_options(table, shell + 3 + strspn(shell + 3, " ")), true;
    if (strcmp(shell, "fish") == 0)
        return put_fish_options(verb, table), true;
    return false;
}
