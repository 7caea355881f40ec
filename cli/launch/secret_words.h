/* SPDX-License-Identifier: MIT */
/* Secrets in the words of a command, which are not to be recorded with it. */
#ifndef CHOKEPOINT_CLI_SECRET_WORDS_H
#define CHOKEPOINT_CLI_SECRET_WORDS_H

/* A copy of the NULL-terminated words in which "***" stands for what looks like a password, a token
 * or a key; NULL without memory. A pattern may miss a secret and may take a word for one. */
char **secret_words_mask(char *const *words);
void secret_words_free(char **words);

#endif
