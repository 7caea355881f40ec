/* SPDX-License-Identifier: MIT */
#include "cli/sweep/shown.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/launch/secret_words.h"
#include "common/error.h"

/* Whether a word has the placeholder of a name, and its recorded form lacks it. */
static bool is_masked_in(const char *placeholder, char *const *command, char *const *masked) {
    for (size_t i = 0; command[i]; i++)
        if (strstr(command[i], placeholder) && !strstr(masked[i], placeholder))
            return true;
    return false;
}

/* Whether NAME=VALUE would be masked in a command. True without memory. */
static bool is_masked(const char *name, size_t size, const char *value) {
    char *word = NULL;
    if (asprintf(&word, "%.*s=%s", (int)size, name, value) < 0)
        return true;
    char *words[] = {word, NULL}, **masked = secret_words_mask(words);
    bool is = !masked || strcmp(masked[0], word) != 0;
    secret_words_free(masked);
    free(word);
    return is;
}

/* A name of several parts is secret if one of them is. */
static bool is_secret(const struct sweep_parameter *parameter, char *const *command,
                      char *const *masked) {
    const char *name = parameter->name;
    for (size_t size; *name; name += size + (name[size] == ':')) {
        char placeholder[SWEEP_TEXT_MAX + 2];
        size = strcspn(name, ":");
        snprintf(placeholder, sizeof placeholder, "{%.*s}", (int)size, name);
        if (is_masked_in(placeholder, command, masked))
            return true;
        for (size_t i = 0; i < parameter->n_values; i++)
            if (is_masked(name, size, parameter->values[i]))
                return true;
    }
    return false;
}

static char *number_of(size_t i) {
    char *text = NULL;
    if (i == 0)
        return strdup("***");
    return asprintf(&text, "***%zu", i + 1) < 0 ? NULL : text;
}

static int copy(const struct sweep_parameter *from, bool secret, struct sweep_parameter *to) {
    to->name = strdup(from->name);
    to->values = calloc(from->n_values + 1, sizeof *to->values);
    if (!to->name || !to->values)
        return -ENOMEM;
    for (; to->n_values < from->n_values; to->n_values++) {
        size_t i = to->n_values;
        to->values[i] = secret ? number_of(i) : strdup(from->values[i]);
        if (!to->values[i])
            return -ENOMEM;
    }
    return 0;
}

int parameters_shown(const struct sweep_parameters *parameters, char *const *command,
                     struct sweep_parameters *ret_shown) {
    char **masked = command ? secret_words_mask(command) : NULL;
    int r = masked || !command ? 0 : -ENOMEM;
    *ret_shown = (struct sweep_parameters){0};
    for (size_t i = 0; r == 0 && i < parameters->n; i++) {
        const struct sweep_parameter *from = &parameters->items[i];
        r = copy(from, command && is_secret(from, command, masked),
                 &ret_shown->items[ret_shown->n++]);
    }
    secret_words_free(masked);
    if (r < 0)
        parameters_release(ret_shown);
    return r;
}
