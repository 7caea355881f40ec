/* SPDX-License-Identifier: MIT */
/*
 * Packs blocks. The codec of a column is the one that packs rows in its middle best: whether values
 * or their differences repeat is for zstd to tell, and a sample costs a fraction of the column.
 */
#include "collector/store_block.h"

#include <errno.h>
#include <string.h>

#include "common/table.h"

#define ZIP_LEAST 48 /* bytes: below, zstd's own framing costs what it saves */
#define RUN_LEAST_ROWS                                                                             \
    16 /* mean length of runs that makes RUNS the codec without further looks                      \
        */
#define SAMPLE_ROWS 512
#define SAMPLE_BYTES (SAMPLE_ROWS * 10 + 1024)
#define WORDS_MAX 256
#define WORD_SLOTS 1024 /* a power of two */

static uint64_t block_code_of(int64_t value) {
    return value == VALUE_ABSENT ? 0 : ((uint64_t)value << 1 ^ (uint64_t)(value >> 63)) + 1;
}

static unsigned bits_of(uint64_t value) {
    return value ? 64 - (unsigned)__builtin_clzll(value) : 0;
}

/* ---- runs ---- */

static size_t count_runs(const int64_t *values, size_t n) {
    size_t runs = 1;
    for (size_t i = 1; i < n; i++)
        runs += values[i] != values[i - 1];
    return runs;
}

static void put_runs(struct buffer *raw, const int64_t *values, size_t n) {
    for (size_t i = 0, next; i < n; i = next) {
        for (next = i + 1; next < n && values[next] == values[i];)
            next++;
        buffer_put_varint(raw, next - i);
        buffer_put_varint(raw, block_code_of(values[i]));
    }
}

/* ---- words ---- */

struct words {
    int64_t words[WORDS_MAX];
    size_t n;
    uint16_t slots[WORD_SLOTS]; /* index of a word plus 1; 0: empty */
    size_t last;                /* the word found last */
};

/* The number of the word, which is added if it is new; WORDS_MAX: there is no room. */
static size_t word_of(struct words *words, int64_t value) {
    uint64_t hash = (uint64_t)value * UINT64_C(0x9e3779b97f4a7c15);
    for (size_t at = hash >> 54;; at = (at + 1) % WORD_SLOTS) {
        size_t index = words->slots[at];
        if (index && words->words[index - 1] == value)
            return index - 1;
        if (index)
            continue;
        if (words->n == WORDS_MAX)
            return WORDS_MAX;
        words->words[words->n] = value;
        words->slots[at] = (uint16_t)++words->n;
        return words->n - 1;
    }
}

/* False: there are more than WORDS_MAX. */
static bool find_words(struct words *words, const int64_t *values, size_t n) {
    words->n = 0;
    memset(words->slots, 0, sizeof words->slots);
    for (size_t i = 0; i < n; i++)
        if ((i == 0 || values[i] != values[i - 1]) && word_of(words, values[i]) == WORDS_MAX)
            return false;
    return true;
}

static void put_words(struct buffer *raw, struct words *words, const int64_t *values, size_t n) {
    buffer_put_u8(raw, (uint8_t)(words->n - 1));
    for (size_t i = 0; i < words->n; i++)
        buffer_put_varint(raw, block_code_of(words->words[i]));
    if (buffer_reserve(raw, n) < 0)
        return;
    uint8_t *to = raw->data + raw->size;
    for (size_t i = 0; i < n; i++)
        to[i] = i && values[i] == values[i - 1] ? to[i - 1] : (uint8_t)word_of(words, values[i]);
    raw->size += n;
}

/* ---- numbers and steps ---- */

struct range {
    int64_t least;
    unsigned width; /* bytes */
};

static struct range range_of(const int64_t *values, size_t n) {
    struct range range = {.least = n ? values[0] : 0};
    int64_t most = range.least;
    for (size_t i = 1; i < n; i++) {
        range.least = values[i] < range.least ? values[i] : range.least;
        most = values[i] > most ? values[i] : most;
    }
    range.width = (bits_of((uint64_t)most - (uint64_t)range.least) + 7) / 8;
    return range;
}

static void put_planes(struct buffer *raw, const struct range *range, const int64_t *values,
                       size_t n) {
    buffer_put_u8(raw, (uint8_t)range->width);
    if (buffer_reserve(raw, n * range->width) < 0)
        return;
    for (unsigned plane = 0; plane < range->width; plane++) {
        uint8_t *to = raw->data + raw->size;
        for (size_t i = 0; i < n; i++)
            to[i] = (uint8_t)(((uint64_t)values[i] - (uint64_t)range->least) >> 8 * plane);
        raw->size += n;
    }
}

static void put_presence(struct buffer *raw, const int64_t *values, size_t n) {
    for (size_t i = 0; i < n; i += 8) {
        uint8_t byte = 0;
        for (size_t k = 0; k < 8 && i + k < n; k++)
            byte |= (uint8_t)((values[i + k] != VALUE_ABSENT) << k);
        buffer_put_u8(raw, byte);
    }
}

/* The values that are known; their number. */
static size_t gather(const int64_t *values, size_t n, int64_t *dense) {
    size_t count = 0;
    for (size_t i = 0; i < n; i++) {
        dense[count] = values[i];
        count += values[i] != VALUE_ABSENT;
    }
    return count;
}

/* From the end, in place: the first value stays. */
static void make_steps(int64_t *values, size_t n) {
    for (size_t i = n; --i > 0;)
        values[i] = (int64_t)((uint64_t)values[i] - (uint64_t)values[i - 1]);
}

/* ---- a column ---- */

/* Writes the column's bytes before zstd. False: the codec cannot hold these values. */
static bool put_as(enum block_codec codec, const int64_t *values, size_t n, int64_t *dense,
                   struct buffer *raw) {
    struct words words;
    buffer_reset(raw);
    if (codec == BLOCK_WORDS) {
        bool few = find_words(&words, values, n);
        if (few)
            put_words(raw, &words, values, n);
        return few;
    }
    size_t known = gather(values, n, dense);
    if (known == 0)
        return false;
    if (known < n)
        put_presence(raw, values, n);
    if (codec == BLOCK_STEPS) {
        buffer_put_zigzag(raw, dense[0]);
        make_steps(dense, known--);
        dense++;
    }
    struct range range = range_of(dense, known);
    buffer_put_zigzag(raw, range.least);
    put_planes(raw, &range, dense, known);
    return true;
}

/* Bytes that a sample of the column needs in this codec; SIZE_MAX if it cannot hold it. */
static size_t try_codec(struct block_work *work, enum block_codec codec, const int64_t *values,
                        size_t n) {
    uint8_t zipped[SAMPLE_BYTES];
    struct buffer *raw = block_work_raw(work);
    if (!put_as(codec, values, n, block_work_values(work), raw) || raw->size > sizeof zipped)
        return SIZE_MAX;
    size_t size =
        raw->size < ZIP_LEAST ? 0 : block_zip(work, raw->data, raw->size, zipped, raw->size);
    return size ? size : raw->size;
}

/* Writes the column's bytes before zstd in the codec that is best for rows in its middle; returns
 * it. */
static uint8_t put_best(struct block_work *work, const int64_t *values, size_t n,
                        struct buffer *raw) {
    size_t n_sample = n < SAMPLE_ROWS ? n : SAMPLE_ROWS, sizes[BLOCK_CODECS_];
    const int64_t *sample = values + (n - n_sample) / 2;
    for (int codec = BLOCK_WORDS; codec < BLOCK_CODECS_; codec++)
        sizes[codec] = try_codec(work, (enum block_codec)codec, sample, n_sample);
    int best = sizes[BLOCK_STEPS] < sizes[BLOCK_NUMBERS] ? BLOCK_STEPS : BLOCK_NUMBERS;
    if (sizes[BLOCK_WORDS] < sizes[best] &&
        put_as(BLOCK_WORDS, values, n, block_work_values(work), raw))
        return BLOCK_WORDS;
    put_as((enum block_codec)best, values, n, block_work_values(work), raw);
    return (uint8_t)best;
}

static bool has_absent(const int64_t *values, size_t n) {
    size_t i = 0;
    while (i < n && values[i] != VALUE_ABSENT)
        i++;
    return i < n;
}

/* Writes the column's bytes before zstd; returns its codec. */
static uint8_t put_values(struct block_work *work, const int64_t *values, size_t n,
                          struct buffer *raw) {
    if (count_runs(values, n) * RUN_LEAST_ROWS <= n + RUN_LEAST_ROWS - 1) {
        buffer_reset(raw);
        put_runs(raw, values, n);
        return BLOCK_RUNS;
    }
    uint8_t codec = put_best(work, values, n, raw);
    return codec != BLOCK_WORDS && has_absent(values, n) ? codec | BLOCK_SPARSE : codec;
}

/* Adds the column to the list of columns in `out` and its bytes to `bytes`. */
static void pack_column(struct block_work *work, const struct block_values *column, size_t n,
                        struct buffer *out, struct buffer *bytes) {
    struct buffer *raw = block_work_raw(work);
    uint8_t codec = put_values(work, column->values, n, raw);
    size_t zipped = 0;
    if (raw->error || buffer_reserve(bytes, raw->size) < 0) {
        bytes->error = bytes->error ? bytes->error : raw->error;
        return;
    }
    if (raw->size >= ZIP_LEAST)
        zipped = block_zip(work, raw->data, raw->size, bytes->data + bytes->size, raw->size);
    buffer_put_varint(out, column->number);
    buffer_put_u8(out, zipped ? codec | BLOCK_ZIPPED : codec);
    if (zipped)
        buffer_put_varint(out, raw->size);
    buffer_put_varint(out, zipped ? zipped : raw->size);
    if (zipped)
        bytes->size += zipped;
    else
        buffer_put(bytes, raw->data, raw->size);
}

static void put_block(struct block_work *work, const struct block_values *columns, size_t n_columns,
                      size_t n_rows, struct buffer *out) {
    struct buffer bytes = {0};
    size_t begin = out->size;
    buffer_put_u8(out, BLOCK_FORM);
    buffer_put_varint(out, n_rows);
    buffer_put_varint(out, n_columns);
    for (size_t i = 0; i < n_columns; i++)
        pack_column(work, &columns[i], n_rows, out, &bytes);
    buffer_put(out, bytes.data, bytes.size);
    while (!out->error && (out->size - begin) < n_rows / BLOCK_ROWS_A_BYTE)
        buffer_put_u8(out, 0);
    if (bytes.error && !out->error)
        out->error = bytes.error;
    buffer_release(&bytes);
}

int block_pack(struct block_work *work, const struct block_values *columns, size_t n_columns,
               size_t n_rows, struct buffer *out) {
    size_t begin = out->size;
    put_block(work, columns, n_columns, n_rows, out);
    if (out->error)
        return out->error;
    if (out->size - begin <= BLOCK_BYTES_MAX)
        return 0;
    out->size = begin;
    return -E2BIG;
}
