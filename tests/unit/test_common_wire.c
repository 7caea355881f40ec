/* SPDX-License-Identifier: MIT */
/*
 * The byte form: decoding gives exactly what was encoded. Damage of any single bit and any length
 * is refused or ends cleanly; hostile bytes with a right checksum are refused by their meaning.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/crc32c.h"
#include "common/error.h"
#include "common/wire.h"
#include "tests/unit/random_frames.h"

#define TABLES 5
#define ROWS 12

/* ---- round trip ---- */

struct truth {
    struct random_table tables[TABLES];
    struct rows rows[TABLES];
    struct rows *list[TABLES];
    unsigned indexes[TABLES];
};

static void truth_init(struct truth *truth, uint64_t *state) {
    for (unsigned i = 0; i < TABLES; i++) {
        random_table_fill(state, i, i == 0 ? TABLE_COLUMNS_MAX : 9, &truth->tables[i]);
        assert_int_equal(rows_init(&truth->rows[i], &truth->tables[i].table, ROWS), 0);
        truth->list[i] = &truth->rows[i];
        truth->indexes[i] = i * 7; /* up to 28 of 63: indexes may have gaps */
    }
}

static void truth_release(struct truth *truth) {
    for (unsigned i = 0; i < TABLES; i++)
        rows_release(&truth->rows[i]);
}

static void truth_put_opening(const struct truth *truth, struct buffer *out) {
    struct wire_stream stream = {
        .host = "h\xc3\xb6st", .stream_id = UINT64_MAX - 1, .period_ns = 100000000};
    strcpy(stream.boot_id, "01234567-89ab-cdef-0123-456789abcdef");
    wire_put_stream(out, &stream);
    for (unsigned i = 0; i < TABLES; i++)
        wire_put_table(out, truth->indexes[i], &truth->tables[i].table);
}

static void check_table(const struct table *got, const struct table *want) {
    assert_string_equal(got->name, want->name);
    assert_string_equal(got->instance, want->instance);
    assert_string_equal(got->help, want->help);
    assert_int_equal(got->kind, want->kind);
    assert_int_equal(got->n_columns, want->n_columns);
    for (size_t i = 0; i < got->n_columns; i++) {
        assert_string_equal(got->columns[i].name, want->columns[i].name);
        assert_string_equal(got->columns[i].help, want->columns[i].help);
        assert_int_equal(got->columns[i].unit, want->columns[i].unit);
        assert_int_equal(got->columns[i].kind, want->columns[i].kind);
    }
}

static void check_row(const struct wire_row *got, const struct row *want, size_t n_columns) {
    assert_int_equal(got->flags, want->flags);
    assert_int_equal(got->name.size, want->name_size);
    assert_memory_equal(got->name.data, want->name, want->name_size);
    assert_memory_equal(got->values, want->values, n_columns * sizeof(int64_t));
}

static void check_frame(const struct wire_reader *reader, struct wire_record *record,
                        const struct truth *truth, const struct frame_head *head) {
    const struct table *table;
    struct wire_row row;
    unsigned index;
    assert_memory_equal(&record->head, head, sizeof *head);
    for (unsigned i = 0; i < TABLES; i++)
        for (size_t k = 0; k < truth->rows[i].n; k++) {
            assert_true(wire_frame_row(reader, record, &table, &index, &row));
            assert_int_equal(index, truth->indexes[i]);
            check_row(&row, &truth->rows[i].items[k], truth->tables[i].table.n_columns);
        }
    assert_false(wire_frame_row(reader, record, &table, &index, &row));
    assert_false(wire_frame_row(reader, record, &table, &index, &row));
}

static void what_goes_in_comes_out(void **unused) {
    (void)unused;
    for (uint64_t seed = 1; seed <= 200; seed++) {
        uint64_t state = seed;
        struct truth truth;
        struct buffer out = {0}, scratch = {0};
        struct wire_reader reader;
        struct wire_record record;
        truth_init(&truth, &state);
        truth_put_opening(&truth, &out);
        random_rows_fill(&state, &truth.rows[0]);
        for (unsigned i = 1; i < TABLES; i++)
            random_rows_fill(&state, &truth.rows[i]);
        struct frame_head head = random_head(&state, 1 + random_below(&state, INT64_MAX));
        wire_put_frame(&out, &scratch, &head, truth.list, truth.indexes, TABLES);
        assert_int_equal(out.error, 0);

        wire_reader_init(&reader, out.data, out.size);
        assert_int_equal(wire_next(&reader, &record), 0);
        assert_int_equal(record.type, WIRE_STREAM);
        assert_string_equal(reader.stream.host, "h\xc3\xb6st");
        assert_string_equal(reader.stream.boot_id, "01234567-89ab-cdef-0123-456789abcdef");
        assert_int_equal(reader.stream.stream_id, UINT64_MAX - 1);
        assert_int_equal(reader.stream.period_ns, 100000000);
        for (unsigned i = 0; i < TABLES; i++) {
            assert_int_equal(wire_next(&reader, &record), 0);
            assert_int_equal(record.type, WIRE_TABLE);
            assert_int_equal(record.table, truth.indexes[i]);
            check_table(&reader.tables[record.table]->table, &truth.tables[i].table);
        }
        assert_int_equal(wire_next(&reader, &record), 0);
        assert_int_equal(record.type, WIRE_FRAME);
        check_frame(&reader, &record, &truth, &head);
        assert_int_equal(wire_next(&reader, &record), WIRE_END);
        wire_reader_release(&reader);
        truth_release(&truth);
        buffer_release(&out);
        buffer_release(&scratch);
    }
}

static void drop_flags(struct truth *truth) {
    for (unsigned i = 0; i < TABLES; i++)
        for (size_t k = 0; k < truth->rows[i].n; k++)
            truth->rows[i].items[k].flags = 0;
}

/* Packs the same rows in their order. */
static void rows_pack(const struct rows *from, struct rows *ret_packed) {
    assert_int_equal(rows_init_packed(ret_packed, from->table, ROWS), 0);
    ret_packed->sampled = from->sampled;
    for (size_t i = 0; i < from->n; i++) {
        const struct row *row = &from->items[i];
        memcpy(rows_append(ret_packed, row->name, row->name_size)->values, row->values,
               from->table->n_columns * sizeof *row->values);
    }
    assert_int_equal(ret_packed->n, from->n);
}

/* Reads sections a few rows at a time, and every third not to its end. */
static void check_sections(const struct wire_reader *reader, struct wire_record record,
                           const struct truth *truth) {
    static int64_t cells[TABLE_COLUMNS_MAX][3];
    int64_t *columns[TABLE_COLUMNS_MAX];
    uint8_t names[3];
    struct wire_section section = {0};
    for (size_t c = 0; c < TABLE_COLUMNS_MAX; c++)
        columns[c] = cells[c];
    for (unsigned i = 0; i < TABLES; i++) {
        size_t n = truth->rows[i].n, wanted = i % 3 == 2 ? n / 2 : n;
        if (n == 0) /* told as sampled, or left out */
            continue;
        assert_true(wire_next_section(reader, &record, &section));
        assert_int_equal(section.index, truth->indexes[i]);
        assert_int_equal(section.rows, n);
        for (size_t at = 0; at < wanted;) {
            size_t got = wire_section_rows(&section, 3, columns, names);
            assert_int_equal(got, n - at < 3 ? n - at : 3);
            for (size_t r = 0; r < got; r++, at++) {
                struct wire_row row = {.name = section.names[names[r]]};
                for (size_t c = 0; c < section.table->n_columns; c++)
                    row.values[c] = cells[c][r];
                check_row(&row, &truth->rows[i].items[at], section.table->n_columns);
            }
        }
    }
    assert_false(wire_next_section(reader, &record, &section));
    assert_false(wire_next_section(reader, &record, &section));
}

static void what_goes_in_packed_comes_out(void **unused) {
    (void)unused;
    for (uint64_t seed = 1; seed <= 400; seed++) {
        uint64_t state = seed;
        struct truth truth;
        struct rows packed[TABLES], *list[TABLES];
        struct buffer out = {0}, scratch = {0};
        struct wire_reader reader;
        struct wire_record record;
        truth_init(&truth, &state);
        truth_put_opening(&truth, &out);
        for (unsigned i = 0; i < TABLES; i++)
            random_rows_fill(&state, &truth.rows[i]);
        drop_flags(&truth);
        for (unsigned i = 0; i < TABLES; i++)
            rows_pack(&truth.rows[i], list[i] = &packed[i]);
        struct frame_head head = random_head(&state, 1 + random_below(&state, INT64_MAX));
        wire_put_packed_frame(&out, &scratch, &head, list, truth.indexes, TABLES);
        assert_int_equal(out.error, 0);
        wire_reader_init(&reader, out.data, out.size);
        for (unsigned i = 0; i < 1 + TABLES; i++)
            assert_int_equal(wire_next(&reader, &record), 0);
        assert_int_equal(wire_next(&reader, &record), 0);
        assert_int_equal(record.type, WIRE_FRAME);
        check_sections(&reader, record, &truth);
        check_frame(&reader, &record, &truth, &head);
        assert_int_equal(wire_next(&reader, &record), WIRE_END);
        wire_reader_release(&reader);
        truth_release(&truth);
        for (unsigned i = 0; i < TABLES; i++)
            rows_release(&packed[i]);
        buffer_release(&out);
        buffer_release(&scratch);
    }
}

static void too_many_names_are_not_packed(void **unused) {
    (void)unused;
    static const struct column column = {"a", UNIT_NONE, COLUMN_LEVEL, ""};
    static const struct table table = {"t", "thing", "", TABLE_EVENTS, &column, 1};
    struct buffer out = {0}, scratch = {0};
    struct frame_head head = {.seq = 1};
    struct rows rows, *list[] = {&rows};
    assert_int_equal(rows_init_packed(&rows, &table, WIRE_NAMES_MAX + 1), 0);
    for (int i = 0; i <= WIRE_NAMES_MAX; i++) {
        char name[16];
        int size = snprintf(name, sizeof name, "%d", i);
        out.error = 0;
        wire_put_packed_frame(&out, &scratch, &head, list, (const unsigned[]){0}, 1);
        assert_int_equal(out.error, 0);
        rows_append(&rows, name, (size_t)size);
    }
    wire_put_packed_frame(&out, &scratch, &head, list, (const unsigned[]){0}, 1);
    assert_int_equal(out.error, -E2BIG);
    rows_release(&rows);
    buffer_release(&out);
    buffer_release(&scratch);
}

/* ---- damage ---- */

/* A stream with two tables, a frame and a packed one, small enough to try all damage. */
static void put_small(struct buffer *out) {
    static const struct column columns[] = {{"a", UNIT_NS, COLUMN_COUNTER, "h"},
                                            {"b", UNIT_NONE, COLUMN_LEVEL, ""}};
    static const struct table one = {"one", "core", "t", TABLE_SAMPLES, columns, 2};
    static const struct table two = {"two", "thing", "", TABLE_EVENTS, columns, 1};
    struct wire_stream stream = {.host = "h", .boot_id = "b", .stream_id = 3, .period_ns = 4};
    struct buffer scratch = {0};
    struct rows rows[2], *list[] = {&rows[0], &rows[1]};
    wire_put_stream(out, &stream);
    wire_put_table(out, 0, &one);
    wire_put_table(out, 1, &two);
    for (uint64_t seq = 1; seq <= 2; seq++) {
        struct frame_head head = {.seq = seq, .wall_ns = 1000, .mono_ns = 500, .slot_ns = 990};
        int (*init)(struct rows *, const struct table *, size_t) =
            seq == 1 ? rows_init : rows_init_packed;
        init(&rows[0], &one, 3);
        init(&rows[1], &two, 3);
        rows_append(&rows[0], "cpu0", 4)->values[0] = (int64_t)seq * 1000000;
        rows_append(&rows[0], "cpu1", 4)->values[1] = -5;
        rows_append(&rows[1], "it", 2);
        if (seq == 1)
            wire_put_frame(out, &scratch, &head, list, (const unsigned[]){0, 1}, 2);
        else
            wire_put_packed_frame(out, &scratch, &head, list, (const unsigned[]){0, 1}, 2);
        rows_release(&rows[0]);
        rows_release(&rows[1]);
    }
    buffer_release(&scratch);
}

/* Reads to the end, including rows. Returns how it ended, and how many frames came before. */
static int read_to_end(const uint8_t *data, size_t size, size_t *ret_frames, char *why) {
    struct wire_reader reader;
    struct wire_record record;
    const struct table *table;
    struct wire_row row;
    unsigned index;
    int r;
    *ret_frames = 0;
    wire_reader_init(&reader, data, size);
    while ((r = wire_next(&reader, &record)) == 0) {
        *ret_frames += record.type == WIRE_FRAME;
        while (record.type == WIRE_FRAME && wire_frame_row(&reader, &record, &table, &index, &row))
            assert_true(table->n_columns <= TABLE_COLUMNS_MAX);
    }
    if (why)
        strcpy(why, reader.why);
    wire_reader_release(&reader);
    return r;
}

/* Reads a copy at the end of its own allocation, so that a sanitizer sees reads beyond it. */
static int read_copy(const uint8_t *data, size_t size, size_t *ret_frames) {
    uint8_t *copy = malloc(size ? size : 1);
    memcpy(copy, data, size);
    int r = read_to_end(copy, size, ret_frames, NULL);
    free(copy);
    return r;
}

static void every_flipped_bit_is_refused_or_cuts_off(void **unused) {
    (void)unused;
    struct buffer out = {0};
    size_t frames;
    put_small(&out);
    assert_int_equal(read_copy(out.data, out.size, &frames), WIRE_END);
    assert_int_equal(frames, 2);
    for (size_t bit = 0; bit < out.size * 8; bit++) {
        out.data[bit / 8] ^= (uint8_t)(1u << bit % 8);
        int r = read_copy(out.data, out.size, &frames);
        out.data[bit / 8] ^= (uint8_t)(1u << bit % 8);
        assert_true(r == -EBADMSG || r == WIRE_TRUNCATED);
        assert_true(frames < 2);
    }
    buffer_release(&out);
}

static void every_cut_ends_cleanly_with_the_whole_records_before_it(void **unused) {
    (void)unused;
    struct buffer out = {0};
    size_t frames, before = 0, ends = 0;
    put_small(&out);
    for (size_t cut = 0; cut <= out.size; cut++) {
        int r = read_copy(out.data, cut, &frames);
        assert_true(r == WIRE_TRUNCATED || r == WIRE_END);
        assert_true(frames >= before);
        before = frames;
        ends += r == WIRE_END;
    }
    assert_int_equal(before, 2);
    assert_int_equal(ends, 1 + 5); /* after the magic and after each of the five records */
    buffer_release(&out);
}

static void a_cut_inside_a_record_says_where_the_whole_ones_end(void **unused) {
    (void)unused;
    struct buffer out = {0};
    struct wire_reader reader;
    struct wire_record record;
    put_small(&out);
    wire_reader_init(&reader, out.data, out.size - 1);
    size_t end = 0;
    while (wire_next(&reader, &record) == 0)
        end = record.offset + record.size;
    assert_ptr_equal(reader.p, reader.data + end);
    wire_reader_release(&reader);
    buffer_release(&out);
}

/* A reader must tell "no rows" from "not sampled". */
static void a_table_sampled_without_rows_is_told_and_others_are_not(void **unused) {
    (void)unused;
    static const struct column columns[] = {{"a", UNIT_NS, COLUMN_COUNTER, ""}};
    static const char *const names[] = {"a", "b", "c", "d"};
    struct table tables[ARRAY_SIZE(names)];
    const struct wire_stream stream = {.host = "h", .stream_id = 1, .period_ns = 1};
    const struct frame_head head = {.seq = 1};
    const unsigned indexes[] = {0, 1, 2, 3};
    struct rows rows[4], *list[] = {&rows[0], &rows[1], &rows[2], &rows[3]};
    struct buffer out = {0}, scratch = {0};
    struct wire_reader reader;
    struct wire_record record;
    const struct table *got;
    struct wire_row row;
    unsigned index;
    wire_put_stream(&out, &stream);
    for (unsigned i = 0; i < ARRAY_SIZE(rows); i++) {
        tables[i] = (struct table){names[i], "i", "", TABLE_SAMPLES, columns, 1};
        wire_put_table(&out, i, &tables[i]);
        assert_int_equal(rows_init(&rows[i], &tables[i], 1), 0);
    }
    rows[0].sampled = rows[2].sampled = true;
    rows_append(&rows[1], "x", 1);
    rows[3].sampled = true;
    rows_reset(&rows[3]); /* it failed in the end */
    wire_put_frame(&out, &scratch, &head, list, indexes, ARRAY_SIZE(rows));
    assert_int_equal(out.error, 0);

    wire_reader_init(&reader, out.data, out.size);
    do
        assert_int_equal(wire_next(&reader, &record), 0);
    while (record.type != WIRE_FRAME);
    assert_int_equal(record.sampled, 7);
    assert_true(wire_frame_row(&reader, &record, &got, &index, &row));
    assert_int_equal(index, 1);
    assert_false(wire_frame_row(&reader, &record, &got, &index, &row));
    assert_int_equal(wire_next(&reader, &record), WIRE_END);
    wire_reader_release(&reader);
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
        rows_release(&rows[i]);
    buffer_release(&out);
    buffer_release(&scratch);
}

/* ---- bytes that are hostile, with a checksum that holds ---- */

static void put_record(struct buffer *out, uint8_t type, const struct buffer *payload) {
    size_t start = out->size;
    buffer_put_u8(out, type);
    buffer_put_varint(out, payload->size);
    buffer_put(out, payload->data, payload->size);
    buffer_put_u32le(out, crc32c(0, out->data + start, out->size - start));
}

static void put_string(struct buffer *out, const char *text) {
    buffer_put_varint(out, strlen(text));
    buffer_put(out, text, strlen(text));
}

/* An opening with one table "t" with one column, index 0. */
static void put_opening(struct buffer *out) {
    static const struct column columns[] = {{"a", UNIT_NS, COLUMN_COUNTER, ""}};
    static const struct table table = {"t", "i", "", TABLE_SAMPLES, columns, 1};
    struct wire_stream stream = {.host = "h", .stream_id = 1, .period_ns = 1};
    wire_put_stream(out, &stream);
    wire_put_table(out, 0, &table);
}

static void put_head(struct buffer *payload, uint64_t seq, uint64_t sections) {
    buffer_put_varint(payload, seq);
    for (int i = 0; i < 4; i++)
        buffer_put_zigzag(payload, 1);
    buffer_put_varint(payload, 0);
    buffer_put_varint(payload, 0);
    buffer_put_varint(payload, sections);
}

static void put_row(struct buffer *payload, const char *name) {
    buffer_put_u8(payload, 0);
    put_string(payload, name);
    buffer_put_zigzag(payload, 5);
}

/* After a correct opening the whole record must be refused, for that reason. */
static void check_refused(uint8_t type, const struct buffer *payload, const char *reason) {
    struct buffer out = {0};
    size_t frames;
    char why[128];
    put_opening(&out);
    put_record(&out, type, payload);
    assert_int_equal(read_to_end(out.data, out.size, &frames, why), -EBADMSG);
    assert_int_equal(frames, 0);
    if (!strstr(why, reason))
        fail_msg("refused with \"%s\", not \"%s\"", why, reason);
    buffer_release(&out);
}

static void check_frame_refused(struct buffer *payload, const char *reason) {
    check_refused(WIRE_FRAME, payload, reason);
    buffer_release(payload);
}

static void hostile_frames_are_refused_for_what_they_say(void **unused) {
    (void)unused;
    struct buffer p = {0};
    check_frame_refused(&p, "bad frame head");
    put_head(&p, 0, 0);
    check_frame_refused(&p, "bad frame head");
    put_head(&p, UINT64_MAX, 0);
    check_frame_refused(&p, "bad frame head");
    put_head(&p, 1, 65);
    check_frame_refused(&p, "bad frame head");
    put_head(&p, 1, UINT64_MAX);
    check_frame_refused(&p, "bad frame head");
    put_head(&p, 1, 1); /* and then nothing more */
    check_frame_refused(&p, "never described");
    put_head(&p, 1, 1);
    buffer_put_varint(&p, 1); /* a table that was not described */
    buffer_put_varint(&p, 1);
    check_frame_refused(&p, "never described");
    put_head(&p, 1, 1);
    buffer_put_varint(&p, UINT64_MAX);
    buffer_put_varint(&p, 1);
    check_frame_refused(&p, "never described");
    static const uint64_t row_counts[] = {FRAME_ROWS_MAX + 1, UINT64_MAX};
    for (size_t i = 0; i < ARRAY_SIZE(row_counts); i++) {
        put_head(&p, 1, 1);
        buffer_put_varint(&p, 0);
        buffer_put_varint(&p, row_counts[i]);
        check_frame_refused(&p, "more than 65536 rows");
    }
    put_head(&p, 1, 1);
    buffer_put_varint(&p, 0);
    buffer_put_varint(&p, 60000); /* announced but missing */
    put_row(&p, "x");
    check_frame_refused(&p, "bad row");
    put_head(&p, 1, 2);
    for (int i = 0; i < 2; i++) {
        buffer_put_varint(&p, 0);
        buffer_put_varint(&p, 1);
        put_row(&p, "x");
    }
    check_frame_refused(&p, "twice");
    put_head(&p, 1, 0);
    buffer_put_u8(&p, 0);
    check_frame_refused(&p, "left over");
}

static void hostile_rows_are_refused(void **unused) {
    (void)unused;
    static const char *const names[] = {"", "a\x01", "\xff", "\xc0\x80", "new\nline"};
    struct buffer p = {0};
    for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
        put_head(&p, 1, 1);
        buffer_put_varint(&p, 0);
        buffer_put_varint(&p, 1);
        put_row(&p, names[i]);
        check_frame_refused(&p, "bad row");
    }
    char too_long[INSTANCE_MAX + 2];
    memset(too_long, 'x', sizeof too_long - 1);
    too_long[sizeof too_long - 1] = '\0';
    put_head(&p, 1, 1);
    buffer_put_varint(&p, 0);
    buffer_put_varint(&p, 1);
    put_row(&p, too_long);
    check_frame_refused(&p, "bad row");
    put_head(&p, 1, 1); /* the name's length reaches beyond the address space */
    buffer_put_varint(&p, 0);
    buffer_put_varint(&p, 1);
    buffer_put_u8(&p, 0);
    buffer_put_varint(&p, UINT64_MAX - 3);
    check_frame_refused(&p, "bad row");
    put_head(&p, 1, 1); /* an eleven-byte varint */
    buffer_put_varint(&p, 0);
    buffer_put_varint(&p, 1);
    buffer_put_u8(&p, 0);
    put_string(&p, "x");
    for (int i = 0; i < 10; i++)
        buffer_put_u8(&p, 0xff);
    buffer_put_u8(&p, 0x01);
    check_frame_refused(&p, "bad row");
}

/* A packed frame of table 0: announces m rows, then names, then bytes. */
static bool is_printable(const uint8_t *bytes, size_t size) {
    for (size_t i = 0; i < size; i++)
        if (bytes[i] < ' ' || bytes[i] > '~')
            return false;
    return true;
}

/* The bytes after the record, beginning with its checksum, would make a good name. */
static void a_name_does_not_reach_beyond_its_record(void **unused) {
    (void)unused;
    struct buffer p = {0}, out = {0};
    size_t frames;
    char why[128];
    uint64_t seq = 0;
    do {
        buffer_reset(&p);
        buffer_reset(&out);
        put_opening(&out);
        put_head(&p, ++seq, 1);
        buffer_put_varint(&p, 0);
        buffer_put_varint(&p, 1);
        buffer_put_u8(&p, 0);
        buffer_put_varint(&p, 5);
        put_record(&out, WIRE_FRAME, &p);
    } while (!is_printable(out.data + out.size - 4, 4));
    buffer_put(&out, "xxxxxxxxxxxxxxxx", 16);
    assert_int_equal(read_to_end(out.data, out.size, &frames, why), -EBADMSG);
    assert_non_null(strstr(why, "bad row"));
    buffer_release(&p);
    buffer_release(&out);
}

static void check_packed_refused(uint64_t m, uint64_t k, const char *name, const uint8_t *rows,
                                 size_t size) {
    struct buffer p = {0};
    put_head(&p, 1, 1);
    buffer_put_varint(&p, 0);
    buffer_put_varint(&p, m);
    buffer_put_varint(&p, k);
    if (name)
        put_string(&p, name);
    buffer_put(&p, rows, size);
    check_refused(WIRE_PACKED, &p, "bad row");
    buffer_release(&p);
}

static void hostile_packed_rows_are_refused(void **unused) {
    (void)unused;
    static const uint8_t sound[] = {0, 1, 1, 10}, other_name[] = {1, 1, 1, 10},
                         absent_change[] = {0, 0, 1, 10}, second_column[] = {0, 3, 1, 10},
                         far_column[] = {0,    0x81, 0x80, 0x80, 0x80, 0x80, 0x80,
                                         0x80, 0x80, 0x80, 1,    1,    10},
                         cut[] = {0, 1, 1}, far_name[] = {0xff, 0x7f, 1, 1, 10};
    struct buffer p = {0}, out = {0};
    size_t frames;
    put_head(&p, 1, 1);
    buffer_put(&p, (const uint8_t[]){0, 1, 1, 1, 'x'}, 5);
    buffer_put(&p, sound, sizeof sound);
    put_opening(&out);
    put_record(&out, WIRE_PACKED, &p);
    assert_int_equal(read_to_end(out.data, out.size, &frames, NULL), WIRE_END);
    assert_int_equal(frames, 1);
    buffer_release(&p);
    buffer_release(&out);
    check_packed_refused(1, 0, NULL, sound, sizeof sound);
    check_packed_refused(1, WIRE_NAMES_MAX + 1, "x", sound, sizeof sound);
    check_packed_refused(1, UINT64_MAX, "x", sound, sizeof sound);
    check_packed_refused(1, 2, "x", sound, sizeof sound);
    check_packed_refused(1, 1, "x\n", sound, sizeof sound);
    check_packed_refused(1, 1, "x", other_name, sizeof other_name);
    check_packed_refused(1, 1, "x", absent_change, sizeof absent_change);
    check_packed_refused(1, 1, "x", second_column, sizeof second_column);
    check_packed_refused(1, 1, "x", far_column, sizeof far_column);
    check_packed_refused(1, 1, "x", cut, sizeof cut);
    check_packed_refused(1, 1, "x", far_name, sizeof far_name);
    check_packed_refused(60000, 1, "x", sound, sizeof sound);
    uint8_t names[2 * WIRE_NAMES_MAX + sizeof sound]; /* all names, and one too many */
    for (size_t i = 0; i < WIRE_NAMES_MAX; i++)
        memcpy(names + 2 * i, "\001y", 2);
    memcpy(names + sizeof names - sizeof sound, sound, sizeof sound);
    check_packed_refused(1, WIRE_NAMES_MAX + 1, "x", names, sizeof names);
}

/* The tenth byte of a varint holds one bit. */
static void a_varint_of_more_than_64_bits_is_refused(void **unused) {
    (void)unused;
    for (uint8_t last = 0; last < 0x80; last++) {
        struct buffer p = {0}, out = {0};
        size_t frames;
        put_head(&p, 1, 1);
        buffer_put_varint(&p, 0);
        buffer_put_varint(&p, 1);
        buffer_put_u8(&p, 0);
        put_string(&p, "x");
        for (int i = 0; i < 9; i++)
            buffer_put_u8(&p, 0xff);
        buffer_put_u8(&p, last);
        put_opening(&out);
        put_record(&out, WIRE_FRAME, &p);
        assert_int_equal(read_to_end(out.data, out.size, &frames, NULL),
                         last <= 1 ? WIRE_END : -EBADMSG);
        buffer_release(&p);
        buffer_release(&out);
    }
}

static void put_table_head(struct buffer *p, uint64_t index, const char *name, uint64_t n) {
    buffer_put_varint(p, index);
    put_string(p, name);
    put_string(p, "i");
    put_string(p, "");
    buffer_put_u8(p, TABLE_SAMPLES);
    buffer_put_varint(p, n);
}

static void put_column(struct buffer *p, const char *name, uint8_t unit, uint8_t kind) {
    put_string(p, name);
    buffer_put_u8(p, unit);
    buffer_put_u8(p, kind);
    put_string(p, "");
}

static void check_table_refused(struct buffer *payload, const char *reason) {
    check_refused(WIRE_TABLE, payload, reason);
    buffer_release(payload);
}

static void hostile_tables_are_refused_for_what_they_say(void **unused) {
    (void)unused;
    static const char *const names[] = {
        "", "T", "9a", "a-b", "drop table x", "caf\xc3\xa9", "abcdefghijklmnopqrstuvwxyz_abcdef"};
    struct buffer p = {0};
    put_table_head(&p, 64, "u", 1);
    check_table_refused(&p, "index");
    put_table_head(&p, UINT64_MAX, "u", 1);
    check_table_refused(&p, "index");
    put_table_head(&p, 0, "u", 1);
    check_table_refused(&p, "described twice");
    for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
        put_table_head(&p, 1, names[i], 1);
        check_table_refused(&p, "bad table name");
        put_table_head(&p, 1, "u", 1);
        put_column(&p, names[i], 0, 0);
        check_table_refused(&p, "bad column name");
    }
    put_table_head(&p, 1, "t", 1);
    put_column(&p, "a", 0, 0);
    check_table_refused(&p, "two tables of one name");
    put_table_head(&p, 1, "u", 0);
    check_table_refused(&p, "number of columns");
    put_table_head(&p, 1, "u", 65);
    check_table_refused(&p, "number of columns");
    put_table_head(&p, 1, "u", UINT64_MAX);
    check_table_refused(&p, "number of columns");
    put_table_head(&p, 1, "u", 2);
    put_column(&p, "a", 0, 0);
    put_column(&p, "a", 0, 0);
    check_table_refused(&p, "two columns of one name");
    put_table_head(&p, 1, "u", 1);
    put_column(&p, "a", UNIT_COUNT_, 0);
    check_table_refused(&p, "unknown unit");
    put_table_head(&p, 1, "u", 1);
    put_column(&p, "a", 0, COLUMN_COUNT_);
    check_table_refused(&p, "unknown unit or kind");
    put_table_head(&p, 1, "u", 1);
    put_column(&p, "a", 0, 0);
    buffer_put_u8(&p, 0);
    check_table_refused(&p, "bad table record");
}

static void hostile_streams_are_refused(void **unused) {
    (void)unused;
    struct buffer p = {0}, out = {0};
    size_t frames;
    char why[128];
    put_string(&p, "h");
    check_refused(WIRE_STREAM, &p, "second stream record");
    buffer_release(&p);
    buffer_put(&out, WIRE_MAGIC, WIRE_MAGIC_SIZE);
    put_head(&p, 1, 0);
    put_record(&out, WIRE_FRAME, &p);
    assert_int_equal(read_to_end(out.data, out.size, &frames, why), -EBADMSG);
    assert_non_null(strstr(why, "before the stream record"));
    assert_int_equal(read_to_end((const uint8_t *)"CHKPNT2\n", 8, &frames, why), -EBADMSG);
    assert_non_null(strstr(why, "another version"));
    assert_int_equal(read_to_end((const uint8_t *)"GET / HTTP/1.1\r\n", 16, &frames, why),
                     -EBADMSG);
    buffer_release(&p);
    buffer_release(&out);
}

static void a_host_without_a_name_is_refused(void **unused) {
    (void)unused;
    struct wire_stream stream = {.host = "", .boot_id = "b", .stream_id = 3, .period_ns = 4};
    struct buffer out = {0};
    size_t frames;
    char why[128];
    wire_put_stream(&out, &stream);
    assert_int_equal(read_to_end(out.data, out.size, &frames, why), -EBADMSG);
    assert_non_null(strstr(why, "bad host name"));
    buffer_release(&out);
}

static void
a_record_that_claims_more_than_the_limit_is_refused_before_it_is_awaited(void **unused) {
    (void)unused;
    struct buffer out = {0};
    size_t frames;
    char why[128];
    put_opening(&out);
    size_t opening = out.size;
    buffer_put_u8(&out, WIRE_FRAME);
    buffer_put_varint(&out, WIRE_RECORD_MAX + 1);
    assert_int_equal(read_to_end(out.data, out.size, &frames, why), -EBADMSG);
    assert_non_null(strstr(why, "8 MiB"));
    out.size = opening; /* up to the limit it may be cut off */
    buffer_put_u8(&out, WIRE_FRAME);
    buffer_put_varint(&out, WIRE_RECORD_MAX);
    assert_int_equal(read_to_end(out.data, out.size, &frames, why), WIRE_TRUNCATED);
    out.size = opening;
    buffer_put_u8(&out, WIRE_FRAME);
    buffer_put_varint(&out, UINT64_MAX);
    assert_int_equal(read_to_end(out.data, out.size, &frames, why), -EBADMSG);
    out.size = opening;
    buffer_put_u8(&out, WIRE_FRAME);
    for (int i = 0; i < 12; i++)
        buffer_put_u8(&out, 0xff);
    assert_int_equal(read_to_end(out.data, out.size, &frames, why), -EBADMSG);
    buffer_release(&out);
}

static void records_of_unknown_type_are_skipped_when_their_checksum_holds(void **unused) {
    (void)unused;
    struct buffer out = {0}, p = {0};
    size_t frames;
    put_opening(&out);
    buffer_put(&p, "from the future", 15);
    put_record(&out, 'Z', &p);
    buffer_reset(&p);
    put_head(&p, 1, 0);
    put_record(&out, WIRE_FRAME, &p);
    assert_int_equal(read_to_end(out.data, out.size, &frames, NULL), WIRE_END);
    assert_int_equal(frames, 1);
    buffer_release(&p);
    buffer_release(&out);
}

/* Frames are the same whether their tables came with them or before; a reader that does not know
 * the tables gets no rows.
 */
static void tables_that_are_known_are_left_out(void **unused) {
    (void)unused;
    struct buffer out = {0}, p = {0};
    struct wire_reader first, second;
    struct wire_record record;
    struct span tables;
    size_t frames;
    put_opening(&out);
    assert_true(wire_find_tables(out.data, out.size, &tables));
    assert_ptr_equal(tables.data + tables.size, out.data + out.size);
    put_head(&p, 1, 0);
    put_record(&out, WIRE_FRAME, &p);
    assert_true(wire_find_tables(out.data, out.size, &tables));
    struct buffer whole = {0};
    buffer_put(&whole, out.data, out.size);
    wire_reader_init(&first, whole.data, whole.size);
    while (wire_next(&first, &record) == 0)
        ;
    wire_replace_tables(&out, tables, 77);
    assert_int_equal(out.size, whole.size - tables.size + 14);
    assert_false(wire_find_tables(out.data, out.size, &tables));
    wire_reader_init(&second, out.data, out.size);
    assert_int_equal(wire_next(&second, &record), 0);
    assert_int_equal(wire_next(&second, &record), 0);
    assert_int_equal(record.type, WIRE_KNOWN);
    assert_int_equal(record.known, 77);
    wire_borrow_tables(&second, first.tables);
    assert_int_equal(wire_next(&second, &record), 0);
    assert_int_equal(record.type, WIRE_FRAME);
    assert_int_equal(wire_next(&second, &record), WIRE_END);
    wire_reader_release(&second); /* does not free what it borrowed */
    assert_non_null(first.tables[0]);
    wire_reader_release(&first);
    assert_int_equal(read_to_end(out.data, out.size, &frames, NULL), WIRE_END);
    buffer_release(&whole);
    buffer_release(&p);
    buffer_release(&out);
}

static void a_bad_number_of_tables_is_refused(void **unused) {
    (void)unused;
    static const char *const expected[] = {"bad number of known tables",
                                           "bad number of known tables",
                                           "bad number of known tables", "a table described twice"};
    for (int i = 0; i < 4; i++) {
        struct buffer out = {0}, p = {0};
        size_t frames;
        char why[128];
        if (i < 3)
            wire_put_stream(&out, &(struct wire_stream){.host = "h"});
        else
            put_opening(&out);
        buffer_put_u64le(&p, i == 0 ? 0 : 5);
        if (i == 1)
            p.size--;
        if (i == 2)
            buffer_put_u8(&p, 0);
        put_record(&out, WIRE_KNOWN, &p);
        assert_int_equal(read_to_end(out.data, out.size, &frames, why), -EBADMSG);
        assert_non_null(strstr(why, expected[i]));
        buffer_release(&p);
        buffer_release(&out);
    }
}

/* Any prefix of an opening: tables are found whole, or not at all. */
static void tables_are_found_in_any_bytes(void **unused) {
    (void)unused;
    struct buffer out = {0};
    struct span tables;
    size_t found = 0;
    put_opening(&out);
    for (size_t cut = 0; cut <= out.size; cut++) {
        uint8_t *copy = malloc(cut ? cut : 1);
        memcpy(copy, out.data, cut);
        if (wire_find_tables(copy, cut, &tables)) {
            found++;
            assert_in_range(tables.data + tables.size - (char *)copy, 1, cut);
        }
        free(copy);
    }
    assert_true(found > 0);
    buffer_release(&out);
}

static void the_checksum_is_that_of_rfc_3720(void **unused) {
    (void)unused;
    uint8_t bytes[32] = {0};
    assert_int_equal(crc32c(0, "123456789", 9), 0xe3069283);
    assert_int_equal(crc32c(0, bytes, 32), 0x8a9136aa);
    memset(bytes, 0xff, 32);
    assert_int_equal(crc32c(0, bytes, 32), 0x62a8ab43);
    for (int i = 0; i < 32; i++)
        bytes[i] = (uint8_t)i;
    assert_int_equal(crc32c(0, bytes, 32), 0x46dd794e);
    for (size_t split = 0; split <= 32; split++)
        assert_int_equal(crc32c(crc32c(0, bytes, split), bytes + split, 32 - split), 0x46dd794e);
}

/* Whole, once, and never without an id; readers of records do not see it. */
static void a_stream_tells_whose_run_it_is(void **state) {
    struct wire_stream stream = {.host = "vm1", .boot_id = "b", .stream_id = 2};
    struct wire_run run = {.id = "0123456789abcdef", .name = "train", .command = "./train -x"};
    struct buffer out = {0};
    struct wire_reader reader;
    struct wire_record record;
    (void)state;
    wire_put_stream(&out, &stream);
    wire_put_run(&out, &run);
    wire_reader_init(&reader, out.data, out.size);
    assert_int_equal(wire_next(&reader, &record), 0);
    assert_int_equal(record.type, WIRE_STREAM);
    assert_int_equal(wire_next(&reader, &record), WIRE_END);
    assert_string_equal(reader.run.id, run.id);
    assert_string_equal(reader.run.name, run.name);
    assert_string_equal(reader.run.command, run.command);
    wire_reader_release(&reader);
    wire_put_run(&out, &run);
    wire_reader_init(&reader, out.data, out.size);
    assert_int_equal(wire_next(&reader, &record), 0);
    assert_int_equal(wire_next(&reader, &record), -EBADMSG);
    wire_reader_release(&reader);
    buffer_reset(&out);
    wire_put_stream(&out, &stream);
    wire_put_run(&out, &(struct wire_run){.name = "train"});
    wire_reader_init(&reader, out.data, out.size);
    assert_int_equal(wire_next(&reader, &record), 0);
    assert_int_equal(wire_next(&reader, &record), -EBADMSG);
    wire_reader_release(&reader);
    buffer_release(&out);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_goes_in_comes_out),
        cmocka_unit_test(a_stream_tells_whose_run_it_is),
        cmocka_unit_test(what_goes_in_packed_comes_out),
        cmocka_unit_test(a_table_sampled_without_rows_is_told_and_others_are_not),
        cmocka_unit_test(too_many_names_are_not_packed),
        cmocka_unit_test(every_flipped_bit_is_refused_or_cuts_off),
        cmocka_unit_test(every_cut_ends_cleanly_with_the_whole_records_before_it),
        cmocka_unit_test(a_cut_inside_a_record_says_where_the_whole_ones_end),
        cmocka_unit_test(hostile_frames_are_refused_for_what_they_say),
        cmocka_unit_test(hostile_rows_are_refused),
        cmocka_unit_test(a_name_does_not_reach_beyond_its_record),
        cmocka_unit_test(hostile_packed_rows_are_refused),
        cmocka_unit_test(a_varint_of_more_than_64_bits_is_refused),
        cmocka_unit_test(hostile_tables_are_refused_for_what_they_say),
        cmocka_unit_test(hostile_streams_are_refused),
        cmocka_unit_test(a_host_without_a_name_is_refused),
        cmocka_unit_test(a_record_that_claims_more_than_the_limit_is_refused_before_it_is_awaited),
        cmocka_unit_test(records_of_unknown_type_are_skipped_when_their_checksum_holds),
        cmocka_unit_test(tables_that_are_known_are_left_out),
        cmocka_unit_test(a_bad_number_of_tables_is_refused),
        cmocka_unit_test(tables_are_found_in_any_bytes),
        cmocka_unit_test(the_checksum_is_that_of_rfc_3720),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
