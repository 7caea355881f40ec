/* SPDX-License-Identifier: MIT */
#include "common/nearest.h"

#include <stdint.h>
#include <string.h>

static size_t least(size_t a, size_t b) {
    return a < b ? a : b;
}

size_t edit_distance(const char *a, const char *b) {
    size_t na = strlen(a), nb = strlen(b), d[NEAREST_WORD_MAX + 1][NEAREST_WORD_MAX + 1];
    if (na > NEAREST_WORD_MAX || nb > NEAREST_WORD_MAX)
        return SIZE_MAX;
    for (size_t i = 0; i <= na; i++)
        d[i][0] = i;
    for (size_t j = 0; j <= nb; j++)
        d[0][j] = j;
    for (size_t i = 1; i <= na; i++)
        for (size_t j = 1; j <= nb; j++) {
            d[i][j] = least(d[i - 1][j - 1] + (a[i - 1] != b[j - 1]),
                            1 + least(d[i - 1][j], d[i][j - 1]));
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                d[i][j] = least(d[i][j], d[i - 2][j - 2] + 1);
        }
    return d[na][nb];
}

void nearest_try(struct nearest *nearest, const char *word) {
    size_t distance = edit_distance(nearest->word, word);
    if (distance == SIZE_MAX || 3 * distance > strlen(word) + 1)
        return;
    if (nearest->best && nearest->distance <= distance)
        return;
    nearest->best = word;
    nearest->distance = distance;
}
