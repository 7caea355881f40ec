/* SPDX-License-Identifier: MIT */
#include "common/row_pack.h"

#include <errno.h>
#include <string.h>

#include "common/text.h"
#include "common/varint.h"

static size_t row_bytes_at_most(size_t n_columns) {
    return VARINT_MAX * (3 + n_columns);
}

int row_pack_reserve(struct row_pack *pack, size_t rows, size_t n_columns) {
    return buffer_reserve(&pack->bytes, rows * row_bytes_at_most(n_columns));
}

void row_pack_release(struct row_pack *pack) {
    buffer_release(&pack->bytes);
}

void row_pack_reset(struct row_pack *pack) {
    buffer_reset(&pack->bytes);
    pack->n_names = pack->last = 0;
    pack->present = 0;
    memset(pack->known, 0, sizeof pack->known);
    for (size_t c = 0; c < TABLE_COLUMNS_MAX; c++)
        pack->before[c] = VALUE_ABSENT;
}

/* ---- names ---- */

/* The hash uses the size and the last letters, in which names of one table differ most. */
static size_t hash_of_name(const char *name, size_t size) {
    uint64_t letters = 0;
    if (size >= sizeof letters)
        memcpy(&letters, name + size - sizeof letters, sizeof letters);
    else
        memcpy(&letters, name, size);
    return ((letters + size) * UINT64_C(0x9e3779b97f4a7c15)) >> 56;
}

static bool is_name(const struct row_pack_name *have, const char *name, size_t size) {
    return have->size == size && memcmp(have->text, name, size) == 0;
}

static size_t add_name(struct row_pack *pack, const struct row_pack_name *name) {
    if (pack->n_names == ROW_NAMES_MAX) {
        pack->bytes.error = pack->bytes.error ? pack->bytes.error : -E2BIG;
        return 0;
    }
    pack->names[pack->n_names] = *name;
    return pack->n_names++;
}

static size_t find_name(struct row_pack *pack, const char *name, size_t size) {
    struct row_pack_name plain;
    plain.size = (uint8_t)text_sanitize(plain.text, sizeof plain.text, name, size);
    for (size_t at = 0; at < pack->n_names; at++)
        if (is_name(&pack->names[at], plain.text, plain.size))
            return at;
    return add_name(pack, &plain);
}

/* A name that equals a known one is clean already and needs no search. */
void row_pack_name(struct row_pack *pack, const char *name, size_t size) {
    uint8_t *slot = &pack->slots[hash_of_name(name, size)];
    if (*slot >= pack->n_names || !is_name(&pack->names[*slot], name, size))
        *slot = (uint8_t)find_name(pack, name, size);
    pack->last = *slot;
}

/* ---- values ---- */

/* Returns a bit for each known column that differs from its last known value; *present has a bit
 * for each known column. Most columns equal the row before, which costs one comparison. */
static uint64_t compare(struct row_pack *pack, const int64_t *values, size_t n_columns,
                        uint64_t *present) {
    uint64_t changes = 0;
    for (size_t c = 0; c < n_columns; c++) {
        if (values[c] == pack->before[c])
            continue;
        pack->before[c] = values[c];
        uint64_t bit = UINT64_C(1) << c;
        if (values[c] == VALUE_ABSENT) {
            *present &= ~bit;
        } else {
            *present |= bit;
            changes |= (uint64_t)values[c] != pack->known[c] ? bit : 0;
        }
    }
    return changes;
}

void row_pack_values(struct row_pack *pack, const int64_t *values, size_t n_columns) {
    if (pack->bytes.error || buffer_reserve(&pack->bytes, row_bytes_at_most(n_columns)) < 0)
        return;
    uint64_t present = pack->present, changes = compare(pack, values, n_columns, &present);
    uint8_t *to = pack->bytes.data + pack->bytes.size;
    to = varint_write(to, pack->last);
    to = varint_write(to, present ^ pack->present);
    to = varint_write(to, changes);
    pack->present = present;
    for (; changes; changes &= changes - 1) {
        int c = __builtin_ctzll(changes);
        to = varint_write(to, zigzag((int64_t)((uint64_t)values[c] - pack->known[c])));
        pack->known[c] = (uint64_t)values[c];
    }
    pack->bytes.size = (size_t)(to - pack->bytes.data);
}
