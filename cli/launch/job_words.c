/* SPDX-License-Identifier: MIT */
#include "cli/launch/job_words.h"

#include <stdio.h>
#include <string.h>

#include "common/error.h"

int job_words_add(struct job_words *words, const char *text, char *why, size_t why_size) {
    struct job_word word = {.text = text, .choice = text};
    struct job_choice choice;
    const char *equals = strchr(text, '=');
    const char *colon = equals ? memrchr(text, ':', (size_t)(equals - text)) : NULL;
    if (colon == text)
        return snprintf(why, why_size, "a host is missing before the ':'"), -EINVAL;
    if (colon) {
        word.host_size = (size_t)(colon - text);
        word.choice = colon + 1;
    }
    if (words->n == JOB_CHOICES_MAX)
        return snprintf(why, why_size, "at most %d can be given", JOB_CHOICES_MAX), -EINVAL;
    int r = job_choice_parse(word.choice, &choice, why, why_size);
    if (r == 0)
        words->items[words->n++] = word;
    return r;
}

bool job_word_is_for(const struct job_word *word, const char *host) {
    return !word->host_size ||
           (strlen(host) == word->host_size && memcmp(word->text, host, word->host_size) == 0);
}
