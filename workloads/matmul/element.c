/* SPDX-License-Identifier: MIT */
#include "workloads/matmul/element.h"

#define TILE 32
#define STRIP 1024 /* columns at a time */

/* The finalizer of MurmurHash3 (A. Appleby, public domain), over a key of rows plus the column. */
static inline uint32_t mix(uint32_t h) {
    h ^= h >> 16;
    h *= 0x85ebca6bu;
    h ^= h >> 13;
    h *= 0xc2b2ae35u;
    return h ^ h >> 16;
}

/* Eight rows share the hashes of a row: four bits each. */
static uint32_t rows_key(uint64_t seed, int matrix, uint32_t row) {
    uint32_t key = mix((uint32_t)seed + 0x9e3779b9u * (uint32_t)(matrix + 1));
    return mix(mix(key ^ (uint32_t)(seed >> 32)) + row / 8);
}

static inline uint32_t hash(uint32_t key, uint32_t column) {
    return mix(key + column * 0x9e3779b9u);
}

static inline int draw(uint32_t hash, uint32_t row) {
    return (int)(hash >> 4 * (row % 8) & 15) - 8;
}

int element_at(uint64_t seed, int matrix, uint32_t row, uint32_t column) {
    return draw(hash(rows_key(seed, matrix, row), column), row);
}

static void fill_strip(void *to, bool wide, uint32_t row, const uint32_t *hashes, uint32_t n) {
    for (uint32_t j = 0; wide && j < n; j++)
        ((double *)to)[j] = draw(hashes[j], row);
    for (uint32_t j = 0; !wide && j < n; j++)
        ((float *)to)[j] = (float)draw(hashes[j], row);
}

void element_fill(void *block, bool wide, uint64_t seed, int matrix, uint32_t row, uint32_t column,
                  uint32_t rows, uint32_t columns) {
    uint32_t hashes[STRIP], n;
    size_t size = wide ? sizeof(double) : sizeof(float);
    for (uint32_t j = 0; j < columns; j += n) {
        n = columns - j < STRIP ? columns - j : STRIP;
        for (uint32_t i = 0; i < rows; i++) {
            uint32_t key = rows_key(seed, matrix, row + i);
            for (uint32_t k = 0; (i == 0 || (row + i) % 8 == 0) && k < n; k++)
                hashes[k] = hash(key, column + j + k);
            fill_strip((char *)block + ((size_t)i * columns + j) * size, wide, row + i, hashes, n);
        }
    }
}

static inline double get(const void *block, bool wide, size_t i) {
    return wide ? ((const double *)block)[i] : (double)((const float *)block)[i];
}

/* Through a transposed copy, so that the product runs along rows; exact in 32 bits, as a tile sums
 * to 64 * TILE^2 at most. */
static double tile(const void *a, const void *b, bool wide, size_t rows, size_t columns, size_t i0,
                   size_t j0) {
    float turned[TILE][TILE] = {{0}}, sum[TILE] = {0};
    size_t i_end = i0 + TILE < rows ? i0 + TILE : rows;
    size_t j_end = j0 + TILE < columns ? j0 + TILE : columns;
    double total = 0;
    for (size_t j = j0; j < j_end; j++)
        for (size_t i = i0; i < i_end; i++)
            turned[i - i0][j - j0] = (float)get(b, wide, j * rows + i);
    for (size_t i = i0; i < i_end; i++)
        for (size_t j = j0; j < j_end; j++)
            sum[j - j0] += (float)get(a, wide, i * columns + j) * turned[i - i0][j - j0];
    for (size_t j = 0; j < TILE; j++)
        total += (double)sum[j];
    return total;
}

/* b is read across its rows: tile by tile, so that a line of cache is used whole. */
double element_trace_of_product(const void *a, const void *b, bool wide, uint32_t rows,
                                uint32_t columns) {
    double sum = 0;
    for (size_t i = 0; i < rows; i += TILE)
        for (size_t j = 0; j < columns; j += TILE)
            sum += tile(a, b, wide, rows, columns, i, j);
    return sum;
}

double element_trace(const void *block, bool wide, uint32_t rows) {
    double sum = 0;
    for (uint32_t i = 0; i < rows; i++)
        sum += get(block, wide, (size_t)i * rows + i);
    return sum;
}

void element_times_vector(const void *block, bool wide, uint32_t rows, uint32_t columns,
                          const double *x, double *y) {
    for (uint32_t i = 0; i < rows; i++) {
        double sum = 0;
        for (uint32_t j = 0; j < columns; j++)
            sum += get(block, wide, (size_t)i * columns + j) * x[j];
        y[i] += sum;
    }
}
