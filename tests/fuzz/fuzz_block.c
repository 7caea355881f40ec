/* SPDX-License-Identifier: MIT */
/* Blocks of columns, as a database from outside may hold them: rows are bounded by bytes, and a
 * column that unpacks fills its rows and no more.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "collector/store_block.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static void read_columns(struct block_work *work, const struct block *block) {
    int64_t *values = malloc(block->n_rows * sizeof *values); /* a sanitizer sees more */
    for (size_t i = 0; values && i < block->n_columns; i++)
        block_read(work, block, block->columns[i].number, values);
    free(values);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n) {
    static struct block_work *work;
    struct block block;
    uint8_t *copy = malloc(n + !n); /* of the exact size */
    if (!copy || (!work && block_work_new(&work) < 0))
        return 0;
    memcpy(copy, data, n);
    if (block_open(copy, n, &block) == 0) {
        if (block.n_rows > BLOCK_ROWS_MAX || block.n_rows / BLOCK_ROWS_A_BYTE > n)
            abort();
        read_columns(work, &block);
    }
    free(copy);
    return 0;
}
