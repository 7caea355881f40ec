/* SPDX-License-Identifier: MIT */
/*
 * The decoder: it trusts no byte before the checksum and the meaning of its record are checked. The
 * checker walks a frame once, so that later readers of its rows need not handle errors.
 */
#include "common/wire.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/crc32c.h"
#include "common/cursor.h"

static uint8_t get_u8(struct cursor *c) {
    if (c->p == c->end) {
        c->bad = true;
        return 0;
    }
    return *c->p++;
}

static uint64_t get_u64le(struct cursor *c) {
    uint64_t value = 0;
    for (int i = 0; i < 8; i++)
        value |= (uint64_t)get_u8(c) << (8 * i);
    return value;
}

static bool copy_string(struct cursor *c, char *to, size_t max) {
    struct span span = cursor_string(c);
    if (c->bad || span.size > max || !text_is_printable_utf8(span.data, span.size))
        return false;
    memcpy(to, span.data, span.size);
    to[span.size] = '\0';
    return true;
}

static int refuse(struct wire_reader *reader, const char *why) {
    snprintf(reader->why, sizeof reader->why, "%s, at byte %zu", why,
             (size_t)(reader->p - reader->data));
    return -EBADMSG;
}

void wire_reader_init(struct wire_reader *reader, const void *data, size_t size) {
    *reader = (struct wire_reader){.data = data, .p = data, .end = (const uint8_t *)data + size};
}

void wire_reader_release(struct wire_reader *reader) {
    for (size_t i = 0; i < TABLES_MAX; i++)
        if (!(reader->borrowed >> i & 1))
            free(reader->tables[i]);
    *reader = (struct wire_reader){0};
}

static int read_stream(struct wire_reader *reader, struct cursor *c) {
    struct wire_stream stream;
    if (reader->have_stream)
        return refuse(reader, "a second stream record");
    if (!copy_string(c, stream.host, INSTANCE_MAX) || stream.host[0] == '\0')
        return refuse(reader, "bad host name");
    if (!copy_string(c, stream.boot_id, BOOT_ID_SIZE))
        return refuse(reader, "bad boot id");
    stream.stream_id = get_u64le(c);
    uint64_t period = cursor_varint(c);
    if (c->bad || c->p != c->end || period > INT64_C(86400000000000))
        return refuse(reader, "bad stream record");
    stream.period_ns = (int64_t)period;
    reader->stream = stream;
    reader->have_stream = true;
    return 0;
}

static int read_run(struct wire_reader *reader, struct cursor *c) {
    struct wire_run run;
    if (reader->run.id[0])
        return refuse(reader, "a second run record");
    if (!copy_string(c, run.id, WIRE_RUN_ID_MAX) || !run.id[0] ||
        !copy_string(c, run.name, INSTANCE_MAX) || !copy_string(c, run.command, WIRE_COMMAND_MAX) ||
        c->bad || c->p != c->end)
        return refuse(reader, "bad run record");
    reader->run = run;
    return 0;
}

static const char *read_columns(struct wire_table *t, struct cursor *c) {
    uint64_t n = cursor_varint(c);
    if (c->bad || n == 0 || n > TABLE_COLUMNS_MAX)
        return "number of columns not in 1..64";
    for (size_t i = 0; i < n; i++) {
        struct wire_column_text *text = &t->texts[i];
        if (!copy_string(c, text->name, TABLE_NAME_MAX) ||
            !table_name_valid(text->name, strlen(text->name)))
            return "bad column name";
        uint8_t unit = get_u8(c), kind = get_u8(c);
        if (!copy_string(c, text->help, TABLE_HELP_MAX))
            return "bad column help";
        if (unit >= UNIT_COUNT_ || kind >= COLUMN_COUNT_)
            return "unknown unit or kind of a column";
        t->columns[i] = (struct column){text->name, unit, kind, text->help};
        for (size_t k = 0; k < i; k++)
            if (strcmp(t->texts[k].name, text->name) == 0)
                return "two columns of one name";
    }
    t->table.columns = t->columns;
    t->table.n_columns = (size_t)n;
    return NULL;
}

static const char *fill_table(struct wire_table *t, struct cursor *c) {
    if (!copy_string(c, t->name, TABLE_NAME_MAX) || !table_name_valid(t->name, strlen(t->name)))
        return "bad table name";
    if (!copy_string(c, t->instance, TABLE_NAME_MAX) ||
        !table_name_valid(t->instance, strlen(t->instance)))
        return "bad instance word";
    if (!copy_string(c, t->help, TABLE_HELP_MAX))
        return "bad table help";
    uint8_t kind = get_u8(c);
    if (kind >= TABLE_COUNT_)
        return "unknown kind of table";
    t->table =
        (struct table){.name = t->name, .instance = t->instance, .help = t->help, .kind = kind};
    const char *why = read_columns(t, c);
    return why ? why : c->bad || c->p != c->end ? "bad table record" : NULL;
}

static int read_table(struct wire_reader *reader, struct cursor *c, unsigned *ret_index) {
    uint64_t index = cursor_varint(c);
    if (c->bad || index >= TABLES_MAX)
        return refuse(reader, "table index not in 0..63");
    if (reader->tables[index])
        return refuse(reader, "a table described twice");
    struct wire_table *t = calloc(1, sizeof *t);
    if (!t)
        return -ENOMEM;
    const char *why = fill_table(t, c);
    for (size_t i = 0; !why && i < TABLES_MAX; i++)
        if (reader->tables[i] && strcmp(reader->tables[i]->name, t->name) == 0)
            why = "two tables of one name";
    if (why) {
        free(t);
        return refuse(reader, why);
    }
    reader->tables[index] = t;
    *ret_index = (unsigned)index;
    return 0;
}

static int read_known(struct wire_reader *reader, struct cursor *c, uint64_t *ret_id) {
    uint64_t id = get_u64le(c);
    if (c->bad || c->p != c->end || id == 0)
        return refuse(reader, "bad number of known tables");
    for (size_t i = 0; i < TABLES_MAX; i++)
        if (reader->tables[i])
            return refuse(reader, "a table described twice");
    *ret_id = id;
    return 0;
}

static void get_values(struct cursor *c, int64_t *values, size_t n) {
    for (size_t i = 0; i < n; i++)
        values[i] = cursor_zigzag(c);
}

/* ---- rows ---- */

/* Reads the part between a section's number of rows and its rows. */
static void begin_section(struct cursor *c, bool packed, struct wire_row *row) {
    if (!packed)
        return;
    uint64_t n = cursor_varint(c);
    if (n == 0 || n > WIRE_NAMES_MAX)
        c->bad = true;
    for (row->n_names = 0; !c->bad && row->n_names < n; row->n_names++)
        row->names[row->n_names] = cursor_string(c);
    row->present = 0;
    memset(row->known, 0, sizeof row->known);
}

static void get_packed_row(struct cursor *c, size_t n_columns, struct wire_row *row) {
    uint64_t name = cursor_varint(c);
    row->present ^= cursor_varint(c);
    uint64_t changes = cursor_varint(c);
    if (name >= row->n_names || (changes & ~row->present) ||
        (n_columns < 64 && row->present >> n_columns)) {
        c->bad = true;
        return;
    }
    row->flags = 0;
    row->name = row->names[name];
    for (size_t i = 0; i < n_columns; i++) {
        if (changes >> i & 1)
            row->known[i] = (int64_t)((uint64_t)row->known[i] + (uint64_t)cursor_zigzag(c));
        row->values[i] = row->present >> i & 1 ? row->known[i] : VALUE_ABSENT;
    }
}

static void get_row(struct cursor *c, bool packed, size_t n_columns, struct wire_row *row) {
    if (packed) {
        get_packed_row(c, n_columns, row);
        return;
    }
    row->flags = get_u8(c);
    row->name = cursor_string(c);
    get_values(c, row->values, n_columns);
}

/* Checks the rows of a section. */
static void check_section(struct cursor *c, bool packed, uint64_t n, const struct table *table) {
    struct wire_section section = {.table = table, .rows = n};
    struct wire_row row;
    if (packed) {
        wire_section_begin(c, &section);
        wire_section_walk(c, &section);
    }
    for (; n && !packed && !c->bad; n--) {
        get_row(c, false, table->n_columns, &row);
        c->bad = c->bad || !instance_name_valid(row.name.data, row.name.size);
    }
}

/* Checks all rows of a frame. Returns NULL, or what is wrong. *ret_sampled: bit set of tables. */
static const char *check_rows(const struct wire_reader *reader, struct cursor c, bool packed,
                              uint64_t sections, uint64_t *ret_sampled) {
    uint64_t rows = 0, seen = 0;
    for (; sections; sections--) {
        uint64_t index = cursor_varint(&c), n = cursor_varint(&c);
        if (c.bad || index >= TABLES_MAX || !reader->tables[index])
            return "rows of a table never described";
        if (seen & (UINT64_C(1) << index))
            return "a table twice in one frame";
        seen |= UINT64_C(1) << index;
        if (n > FRAME_ROWS_MAX || (rows += n) > FRAME_ROWS_MAX)
            return "more than 65536 rows";
        if (n == 0 && packed)
            return "a packed section without rows";
        check_section(&c, packed, n, &reader->tables[index]->table);
        if (c.bad)
            return "bad row";
    }
    *ret_sampled = seen;
    return c.bad || c.p != c.end ? "bytes left over in a frame" : NULL;
}

static int read_frame(struct wire_reader *reader, struct cursor *c, struct wire_record *record) {
    struct frame_head head;
    head.seq = cursor_varint(c);
    head.wall_ns = cursor_zigzag(c);
    head.mono_ns = cursor_zigzag(c);
    head.slot_ns = cursor_zigzag(c);
    head.late_ns = cursor_zigzag(c);
    head.missed = cursor_varint(c);
    head.lost = cursor_varint(c);
    uint64_t sections = cursor_varint(c);
    if (c->bad || head.seq == 0 || head.seq > INT64_MAX || head.mono_ns < 0 || head.wall_ns < 0 ||
        head.missed > INT64_MAX || head.lost > INT64_MAX || sections > TABLES_MAX)
        return refuse(reader, "bad frame head");
    const char *why = check_rows(reader, *c, record->packed, sections, &record->sampled);
    if (why)
        return refuse(reader, why);
    record->head = head;
    record->p = c->p;
    record->end = c->end;
    record->sections = sections;
    record->section_table = NULL;
    record->section_rows = 0;
    return 0;
}

static int read_magic(struct wire_reader *reader) {
    size_t left = (size_t)(reader->end - reader->data);
    size_t n = left < WIRE_MAGIC_SIZE ? left : WIRE_MAGIC_SIZE;
    if (n && memcmp(reader->data, WIRE_MAGIC, n) != 0)
        return refuse(reader, "not a Chokepoint stream, or of another version");
    if (left < WIRE_MAGIC_SIZE)
        return WIRE_TRUNCATED;
    reader->p = reader->data + WIRE_MAGIC_SIZE;
    return 0;
}

static int read_payload(struct wire_reader *reader, struct cursor *c, uint8_t type,
                        struct wire_record *record) {
    if (!reader->have_stream && type != WIRE_STREAM)
        return refuse(reader, "a record before the stream record");
    switch (type) {
    case WIRE_STREAM:
        return read_stream(reader, c);
    case WIRE_TABLE:
        return read_table(reader, c, &record->table);
    case WIRE_KNOWN:
        return read_known(reader, c, &record->known);
    case WIRE_RUN:
        return read_run(reader, c);
    case WIRE_FRAME:
        return read_frame(reader, c, record);
    case WIRE_PACKED:
        record->type = WIRE_FRAME;
        record->packed = true;
        return read_frame(reader, c, record);
    default:
        return 0;
    }
}

static uint32_t load_u32le(const uint8_t *p) {
    return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

/* Reads one record of any type; *ret_known: this version knows the type. */
static int next_record(struct wire_reader *reader, struct wire_record *record, bool *ret_known) {
    struct cursor c = {reader->p, reader->end, false};
    if (c.p == c.end)
        return WIRE_END;
    uint8_t type = get_u8(&c);
    uint64_t size = cursor_varint(&c);
    if (c.bad)
        return c.p == c.end ? WIRE_TRUNCATED : refuse(reader, "bad record size");
    if (size > WIRE_RECORD_MAX)
        return refuse(reader, "a record of more than 8 MiB");
    if ((uint64_t)(c.end - c.p) < size + 4)
        return WIRE_TRUNCATED;
    const uint8_t *stop = c.p + size;
    if (crc32c(0, reader->p, (size_t)(stop - reader->p)) != load_u32le(stop))
        return refuse(reader, "checksum does not match");
    *record = (struct wire_record){.type = type,
                                   .offset = (size_t)(reader->p - reader->data),
                                   .size = (size_t)(stop + 4 - reader->p)};
    c.end = stop;
    int r = read_payload(reader, &c, type, record);
    if (r < 0)
        return r;
    *ret_known = type == WIRE_STREAM || type == WIRE_TABLE || type == WIRE_KNOWN ||
                 type == WIRE_FRAME || type == WIRE_PACKED;
    reader->p = stop + 4;
    return 0;
}

int wire_next(struct wire_reader *reader, struct wire_record *ret_record) {
    if (reader->p == reader->data) {
        int r = read_magic(reader);
        if (r)
            return r;
    }
    bool known = false;
    while (!known) {
        struct wire_record record;
        int r = next_record(reader, &record, &known);
        if (r)
            return r;
        if (known)
            *ret_record = record;
    }
    return 0;
}

bool wire_frame_row(const struct wire_reader *reader, struct wire_record *frame,
                    const struct table **ret_table, unsigned *ret_index, struct wire_row *ret_row) {
    struct cursor c = {frame->p, frame->end, false};
    while (frame->section_rows == 0) {
        if (frame->sections == 0)
            return false;
        frame->sections--;
        frame->table = (unsigned)cursor_varint(&c);
        frame->section_rows = cursor_varint(&c);
        frame->section_table = &reader->tables[frame->table]->table;
        begin_section(&c, frame->packed, ret_row);
    }
    frame->section_rows--;
    get_row(&c, frame->packed, frame->section_table->n_columns, ret_row);
    frame->p = c.p;
    *ret_table = frame->section_table;
    *ret_index = frame->table;
    return true;
}
