/* SPDX-License-Identifier: MIT */
/*
 * A block: some thousand rows of one table and stream as columns, packed into one blob. Each column
 * lies by itself, so a reader unpacks only those it wants.
 *
 *     form: u8, n rows, n columns: varint
 *     n columns of number: varint, codec: u8, [unpacked size: varint], size: varint
 *     the bytes of the columns, in this order; what follows them is ignored
 *
 * The bytes of a column, before zstd (if BLOCK_ZIPPED), by its codec:
 *     RUNS     runs until all rows are covered: length: varint, code of the value: varint
 *     WORDS    n words less 1: u8, a code for each: varint, and for each row the number of its word
 *     NUMBERS  [presence], least: zigzag, width: u8, planes of value - least
 *     STEPS    [presence], first: zigzag, least: zigzag, width: u8, planes of step - least
 *
 * A step is the difference of a present value from the one before. The code of a value is 0 if it
 * is absent, else 1 + its zigzag code. Presence (if BLOCK_SPARSE) is a bit a row: the value is
 * known; others have no place behind it. Planes are the lowest byte of all values, then the next
 * byte of all, `width` of them: small numbers with a few large ones among them pack to little more
 * than their lowest bytes.
 */
#ifndef CHOKEPOINT_COLLECTOR_STORE_BLOCK_H
#define CHOKEPOINT_COLLECTOR_STORE_BLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/buffer.h"
#include "common/cursor.h"

#define BLOCK_ROWS 8192        /* rows of a full block */
#define BLOCK_ROWS_MAX 65536   /* readers refuse more */
#define BLOCK_BYTES_MAX 900000 /* of a blob; readers take values of up to a MiB */
#define BLOCK_ROWS_A_BYTE 64   /* of a blob, at most: a small file cannot fill the memory */

/* Numbers of columns. Those below BLOCK_OWN every table has; the column of ordinal i in column_info
 * is BLOCK_OWN + i. */
enum {
    BLOCK_INSTANCE, /* instance.instance */
    BLOCK_FRAME,    /* frame.frame */
    BLOCK_TIME,     /* frame.mono_ns: end of the interval, on the host's clock */
    BLOCK_THIRD,    /* of events n, the number within frame and instance; of samples what
                       store_block_times.h says */
    BLOCK_OWN = 8,
    BLOCK_COLUMNS_MAX = BLOCK_OWN + 128
};

/* Memory for packing and unpacking, for one thread. */
struct block_work;
int block_work_new(struct block_work **ret_work); /* -ENOMEM */
void block_work_free(struct block_work *work);    /* takes NULL */

/* ---- packing (store_block_pack.c) ---- */

struct block_values {
    unsigned number;       /* rising */
    const int64_t *values; /* one a row, VALUE_ABSENT where unknown; borrowed */
};

/* Appends a block of 1 to BLOCK_ROWS_MAX rows to `out`. -E2BIG: more than BLOCK_BYTES_MAX bytes,
 * the caller tries fewer rows, of which 512 always fit; `out` is then as it was. -ENOMEM. */
int block_pack(struct block_work *work, const struct block_values *columns, size_t n_columns,
               size_t n_rows, struct buffer *out);

/* ---- unpacking: the bytes may be a stranger's ---- */

struct block_column {
    uint8_t codec;
    unsigned number;
    size_t unpacked; /* bytes before zstd */
    const uint8_t *data;
    size_t size;
};

/* Borrows the bytes. */
struct block {
    size_t n_rows, n_columns;
    struct block_column columns[BLOCK_COLUMNS_MAX];
};

/* Checks the framing. -EBADMSG. */
int block_open(const void *data, size_t size, struct block *ret_block);

/* Unpacks a column: fills n_rows values. BLOCK_LACKS: the block has no such column, all are
 * VALUE_ABSENT. -EBADMSG: the bytes are bad, and the values undefined. */
#define BLOCK_LACKS 1
int block_read(struct block_work *work, const struct block *block, unsigned number,
               int64_t *ret_values);

/* ---- shared by both ---- */

enum { BLOCK_FORM = 1 };
enum block_codec { BLOCK_RUNS, BLOCK_WORDS, BLOCK_NUMBERS, BLOCK_STEPS, BLOCK_CODECS_ };
#define BLOCK_SPARSE 0x10 /* with NUMBERS and STEPS: presence comes first */
#define BLOCK_ZIPPED 0x20 /* packed by zstd */

/* Bytes of an unpacked column, at most: eight planes, presence, and the numbers before them. */
#define BLOCK_COLUMN_BYTES (BLOCK_ROWS_MAX * (size_t)8 + BLOCK_ROWS_MAX / 8 + 4096)

/* store_block_zip.c: 0 if that does not make it smaller */
size_t block_zip(struct block_work *work, const void *data, size_t size, void *to, size_t room);
/* Exactly `unpacked` bytes; NULL: the bytes are bad. Valid until the next call. */
const uint8_t *block_unzip(struct block_work *work, const void *data, size_t size, size_t unpacked);
/* Room for BLOCK_ROWS_MAX values, and for an unpacked column that is made. */
int64_t *block_work_values(struct block_work *work);
struct buffer *block_work_raw(struct block_work *work);

#endif
