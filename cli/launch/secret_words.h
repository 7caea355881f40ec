/* SPDX-License-Identifier: MIT */
/* Secrets in the words of a command, which must not be recorded. */
#ifndef CHOKEPOINT_CLI_SECRET_WORDS_H
#define CHOKEPOINT_CLI_SECRET_WORDS_H

/* A copy of the NULL-terminated words in which "***" replaces everything that looks like a
 * password, a token or a key; NULL without memory. A pattern may miss a secret, or mask a harmless
 * word. */
char **secret_words_mask(char *const *words);
void secret_words_free(char **words);

#endif
