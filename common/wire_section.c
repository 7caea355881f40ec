/* SPDX-License-Identifier: MIT */
/*
 * Packed frames by columns. A packed row tells only what differs from the row before it, so a
 * column that stays the same costs nothing a row: it is filled when it changes, or at the end.
 */
#include "common/wire.h"

void wire_section_begin(struct cursor *c, struct wire_section *section) {
    uint64_t n = cursor_varint(c);
    if (n == 0 || n > WIRE_NAMES_MAX)
        c->bad = true;
    for (section->n_names = 0; !c->bad && section->n_names < n; section->n_names++)
        section->names[section->n_names] = cursor_string(c);
    section->present = 0;
    for (size_t i = 0; i < TABLE_COLUMNS_MAX; i++)
        section->known[i] = 0;
}

/* ---- the checker ---- */

static void skip_varints(struct cursor *c, int n) {
    for (; n && !c->bad; n--) {
        if (c->p != c->end && *c->p < 0x80)
            c->p++;
        else
            cursor_varint(c);
    }
}

void wire_section_walk(struct cursor *c, struct wire_section *section) {
    size_t n_columns = section->table->n_columns;
    uint64_t possible = n_columns < 64 ? (UINT64_C(1) << n_columns) - 1 : UINT64_MAX;
    bool valid[WIRE_NAMES_MAX];
    for (size_t i = 0; i < section->n_names; i++)
        valid[i] = instance_name_valid(section->names[i].data, section->names[i].size);
    for (; section->rows && !c->bad; section->rows--) {
        uint64_t name = cursor_varint(c);
        section->present ^= cursor_varint(c);
        uint64_t changes = cursor_varint(c);
        c->bad = c->bad || name >= section->n_names || !valid[name] ||
                 (changes & ~section->present) || (section->present & ~possible);
        skip_varints(c, __builtin_popcountll(changes));
    }
}

/* ---- sections ---- */

bool wire_next_section(const struct wire_reader *reader, struct wire_record *frame,
                       struct wire_section *section) {
    struct cursor c = {section->p ? section->p : frame->p, frame->end, false};
    if (section->rows)
        wire_section_walk(&c, section);
    if (frame->sections == 0)
        return false;
    frame->sections--;
    section->index = (unsigned)cursor_varint(&c);
    section->rows = cursor_varint(&c);
    section->table = &reader->tables[section->index]->table;
    wire_section_begin(&c, section);
    section->p = c.p;
    section->end = c.end;
    return true;
}

static void fill(int64_t *values, size_t begin, size_t end, int64_t value) {
    for (size_t i = begin; i < end; i++)
        values[i] = value;
}

static int64_t current(const struct wire_section *section, size_t column) {
    return section->present >> column & 1 ? section->known[column] : VALUE_ABSENT;
}

size_t wire_section_rows(struct wire_section *section, size_t max, int64_t *const *columns,
                         uint8_t *names) {
    struct cursor cursor = {section->p, section->end, false}, *c = &cursor;
    size_t n = section->rows < max ? (size_t)section->rows : max, filled[TABLE_COLUMNS_MAX] = {0};
    for (size_t row = 0; row < n; row++) {
        names[row] = (uint8_t)cursor_varint(c);
        uint64_t toggled = cursor_varint(c), changes = cursor_varint(c);
        for (uint64_t touched = toggled | changes; touched; touched &= touched - 1) {
            size_t column = (size_t)__builtin_ctzll(touched);
            uint64_t bit = UINT64_C(1) << column;
            fill(columns[column], filled[column], row, current(section, column));
            filled[column] = row;
            section->present ^= toggled & bit;
            if (changes & bit)
                section->known[column] =
                    (int64_t)((uint64_t)section->known[column] + (uint64_t)cursor_zigzag(c));
        }
    }
    for (size_t column = 0; column < section->table->n_columns; column++)
        fill(columns[column], filled[column], n, current(section, column));
    section->rows -= n;
    section->p = c->p;
    return n;
}
