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
}

/* ---- names ---- */

static bool is_name(const struct row_pack_name *have, const char *name, size_t size) {
    return have->size == size && memcmp(have->text, name, size) == 0;
}

static void add_name(struct row_pack *pack, const struct row_pack_name *name) {
    if (pack->n_names == ROW_NAMES_MAX) {
        pack->bytes.error = pack->bytes.error ? pack->bytes.error : -E2BIG;
        return;
    }
    pack->names[pack->n_names] = *name;
    pack->after[pack->n_names] = 0;
    pack->after[pack->last] = (uint16_t)pack->n_names;
    pack->last = pack->n_names++;
}

static void find_name(struct row_pack *pack, const char *name, size_t size) {
    struct row_pack_name plain;
    plain.size = (uint8_t)text_sanitize(plain.text, sizeof plain.text, name, size);
    for (size_t at = 0; at < pack->n_names; at++)
        if (is_name(&pack->names[at], plain.text, plain.size)) {
            pack->after[pack->last] = (uint16_t)at;
            pack->last = at;
            return;
        }
    add_name(pack, &plain);
}

/* A name that is there needs no look at its letters. */
void row_pack_name(struct row_pack *pack, const char *name, size_t size) {
    size_t guess = pack->after[pack->last];
    if (guess < pack->n_names && is_name(&pack->names[guess], name, size))
        pack->last = guess;
    else
        find_name(pack, name, size);
}

/* ---- values ---- */

void row_pack_values(struct row_pack *pack, const int64_t *values, size_t n_columns) {
    uint64_t present = 0, changes = 0;
    if (pack->bytes.error || buffer_reserve(&pack->bytes, row_bytes_at_most(n_columns)) < 0)
        return;
    for (size_t c = n_columns; c-- > 0;) {
        uint64_t is = values[c] != VALUE_ABSENT;
        present = present << 1 | is;
        changes = changes << 1 | (is & ((uint64_t)values[c] != pack->known[c]));
    }
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
