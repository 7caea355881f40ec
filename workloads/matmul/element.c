/* SPDX-License-Identifier: MIT */
#include "workloads/matmul/element.h"

#define ALWAYS_INLINE inline __attribute__((always_inline))
#define TILE 32
#define STRIP 1024 /* columns at a time */

/* The finalizer of MurmurHash3 (A. Appleby, public domain), over a key for the rows plus the
 * column. */
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

static ALWAYS_INLINE void fill_strip(void *to, bool wide, uint32_t row, const uint32_t *hashes,
                                     uint32_t n) {
    for (uint32_t j = 0; wide && j < n; j++)
        ((double *)to)[j] = draw(hashes[j], row);
    for (uint32_t j = 0; !wide && j < n; j++)
        ((float *)to)[j] = (float)draw(hashes[j], row);
}

static ALWAYS_INLINE void fill_elements(void *block, bool wide, uint64_t seed, int matrix,
                                        uint32_t row, uint32_t column, uint32_t rows,
                                        uint32_t columns) {
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

/* Multiplies through a transposed copy, so that the product runs along rows; exact in 32 bits, as a
 * tile's sum is at most 64 * TILE^2. */
static ALWAYS_INLINE double tile(const void *a, const void *b, bool wide, size_t rows,
                                 size_t columns, size_t i0, size_t j0) {
    float turned[TILE][TILE] = {{0}}, sum[TILE] = {0};
    size_t height = rows - i0 < TILE ? rows - i0 : TILE;
    size_t width = columns - j0 < TILE ? columns - j0 : TILE;
    double total = 0;
    for (size_t j = 0; j < width; j++)
        for (size_t i = 0; i < height; i++)
            turned[i][j] = (float)get(b, wide, (j0 + j) * rows + i0 + i);
    for (size_t i = 0; i < height; i++)
        for (size_t j = 0; j < width; j++)
            sum[j] += (float)get(a, wide, (i0 + i) * columns + j0 + j) * turned[i][j];
    for (size_t j = 0; j < TILE; j++)
        total += (double)sum[j];
    return total;
}

/* Reads b across its rows, tile by tile, so that a cache line is used whole. */
static ALWAYS_INLINE double trace_of_product(const void *a, const void *b, bool wide, uint32_t rows,
                                             uint32_t columns) {
    double sum = 0;
    for (size_t i = 0; i < rows; i += TILE)
        for (size_t j = 0; j < columns; j += TILE)
            sum += tile(a, b, wide, rows, columns, i, j);
    return sum;
}

#ifdef __x86_64__
/* The same code again for wider vectors: twice as fast. */
__attribute__((target("avx2"))) static void fill_avx2(float *block, uint64_t seed, int matrix,
                                                      uint32_t row, uint32_t column, uint32_t rows,
                                                      uint32_t columns) {
    fill_elements(block, false, seed, matrix, row, column, rows, columns);
}
#endif

void element_fill(void *block, bool wide, uint64_t seed, int matrix, uint32_t row, uint32_t column,
                  uint32_t rows, uint32_t columns) {
#ifdef __x86_64__
    if (!wide && __builtin_cpu_supports("avx2")) {
        fill_avx2(block, seed, matrix, row, column, rows, columns);
        return;
    }
#endif
    fill_elements(block, wide, seed, matrix, row, column, rows, columns);
}

/* Loops with a constant element size. */
double element_trace_of_product(const void *a, const void *b, bool wide, uint32_t rows,
                                uint32_t columns) {
    return wide ? trace_of_product(a, b, true, rows, columns)
                : trace_of_product(a, b, false, rows, columns);
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
