/* SPDX-License-Identifier: MIT */
/* "did you mean": which of some words a mistyped one is nearest to. */
#ifndef CHOKEPOINT_COMMON_NEAREST_H
#define CHOKEPOINT_COMMON_NEAREST_H

#include <stddef.h>

/* Letters inserted, left out, replaced, or two neighbours swapped (optimal string alignment), up to
 * NEAREST_WORD_MAX letters; longer words are at no distance, SIZE_MAX. */
#define NEAREST_WORD_MAX 40
size_t edit_distance(const char *a, const char *b);

/* The search goes through words one by one: best NULL at first. A word so far away that a person
 * would not see the likeness counts for none: more than a third of its letters. */
struct nearest {
    const char *word; /* the one that was typed */
    const char *best; /* NULL: none; of several as near the first */
    size_t distance;
};
void nearest_try(struct nearest *nearest, const char *word);

#endif
