/* SPDX-License-Identifier: MIT */
/*
 * The words that name the job: --job [HOST:]KIND=VALUE, several times. Kinds have no ':', so the
 * last ':' before the '=' ends a host, whose address may have some itself.
 */
#ifndef CHOKEPOINT_CLI_JOB_WORDS_H
#define CHOKEPOINT_CLI_JOB_WORDS_H

#include <stdbool.h>
#include <stddef.h>

#include "common/job_choice.h"

struct job_word {
    const char *text;   /* as given (borrowed) */
    size_t host_size;   /* length of the host at its beginning; 0: any host */
    const char *choice; /* the choice behind the host */
};

struct job_words {
    struct job_word items[JOB_CHOICES_MAX];
    size_t n;
};

/* 0, or -EINVAL with one line in why. */
int job_words_add(struct job_words *words, const char *text, char *why, size_t why_size);

/* Whether the word applies to that host. */
bool job_word_is_for(const struct job_word *word, const char *host);

#endif
