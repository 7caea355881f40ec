/* SPDX-License-Identifier: MIT */
/* The words of a command, one a line: the results point into them. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "cli/launch/command_words.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

#define WORDS_MAX 400

static void check_lists(const char *const *items, size_t n, const char *text, size_t size) {
    if (n > COMMAND_LISTS_MAX)
        abort();
    for (size_t i = 0; i < n; i++)
        if (items[i] < text || items[i] > text + size)
            abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n) {
    char *words[WORDS_MAX + 1], *text = malloc(n + 1), *rest = text;
    struct command_words read;
    size_t n_words = 0;
    if (!text)
        return 0;
    if (n)
        memcpy(text, data, n);
    text[n] = '\0';
    while (rest && n_words < WORDS_MAX)
        words[n_words++] = strsep(&rest, "\n");
    words[n_words] = NULL;
    if (command_words_read(words, &read) == 0) {
        check_lists(read.hostfiles, read.n_hostfiles, text, n);
        check_lists(read.lists, read.n_lists, text, n);
        if (read.n_reach > COMMAND_LISTS_MAX || (read.kind != COMMAND_PLAIN && !read.launcher))
            abort();
    }
    free(text);
    return 0;
}
