/* SPDX-License-Identifier: MIT */
/* "did you mean": the word of a list that is nearest to a mistyped one. */
#ifndef CHOKEPOINT_COMMON_NEAREST_H
#define CHOKEPOINT_COMMON_NEAREST_H

#include <stddef.h>

/* Letters inserted, left out, replaced, or two neighbours swapped (optimal string alignment), up to
 * NEAREST_WORD_MAX letters; SIZE_MAX for longer words. */
#define NEAREST_WORD_MAX 40
size_t edit_distance(const char *a, const char *b);

/* The search takes words one by one; best is NULL at first. A word that differs in more than a
 * third of its letters does not count, since a person would see no likeness. */
struct nearest {
    const char *word; /* the typed word */
    const char *best; /* NULL: none; the first of equally near words */
    size_t distance;
};
void nearest_try(struct nearest *nearest, const char *word);

#endif
