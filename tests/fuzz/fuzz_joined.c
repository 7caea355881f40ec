/* SPDX-License-Identifier: MIT */
/* Joined rows, as a database from outside may hold them: each row takes bytes, so there are fewer
 * rows than bytes, and a bad section gives no more rows.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "collector/store_private.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static size_t read_section(struct joined_section *section) {
    int64_t values[STORE_COLUMNS_MAX];
    size_t rows = 0;
    volatile int64_t sum = 0;
    while (joined_next_row(section, values)) {
        for (size_t c = 0; c < section->n_columns; c++)
            sum = sum ^ values[c];
        rows++;
    }
    if (section->rows.bad && joined_next_row(section, values))
        abort();
    return rows;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n) {
    uint8_t *copy =
        malloc(n + !n); /* of the exact size, so that a sanitizer sees reads beyond it */
    struct joined_section section;
    size_t rows = 0;
    if (!copy)
        return 0;
    memcpy(copy, data, n);
    struct cursor reader = joined_open(copy, n);
    while (joined_next_section(&reader, &section)) {
        if (section.n_columns > STORE_COLUMNS_MAX)
            abort();
        rows += read_section(&section);
    }
    if (rows > n || (!reader.bad && reader.p != reader.end))
        abort();
    free(copy);
    return 0;
}
