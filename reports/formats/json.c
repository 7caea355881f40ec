/* SPDX-License-Identifier: MIT */
/*
 * A document for programs (docs/report-json.md): each table is a member of it, each column with a
 * key a member of each of its rows. Made with jansson, which escapes; an unknown value is null.
 */
#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/text.h"
#include "reports/formats/formats.h"
#include "reports/formats/json_value.h"
#include "reports/model/layout.h"

#define DEPTH_MAX 8

/* The document, and its records that are being written, the innermost last. */
struct document {
    json_t *levels[DEPTH_MAX];
    size_t n;
};

static void fail(struct page *page, int error) {
    page->error = page->error ? page->error : error;
}

/* ---- values ---- */

static json_t *texts(char *const *items, size_t n) {
    json_t *array = json_array();
    for (size_t i = 0; i < n; i++)
        json_array_append_new(array, json_text(items[i]));
    return array;
}

static json_t *counts(const size_t *items, size_t n) {
    json_t *array = json_array();
    for (size_t i = 0; i < n; i++)
        json_array_append_new(array, json_integer((json_int_t)items[i]));
    return array;
}

/* A time such as 2026-11-20T09:41:11.123Z. */
static json_t *instant(int64_t wall_ns) {
    char text[64], seconds[32];
    time_t t = (time_t)(wall_ns / 1000000000);
    struct tm tm;
    if (wall_ns <= 0 || !gmtime_r(&t, &tm))
        return json_null();
    strftime(seconds, sizeof seconds, "%Y-%m-%dT%H:%M:%S", &tm);
    snprintf(text, sizeof text, "%s.%03dZ", seconds, (int)(wall_ns / 1000000 % 1000));
    return json_string(text);
}

static json_t *value_of_table(const struct report_table *table);

static json_t *value_of(const struct report_table *table, size_t row, size_t column) {
    const struct report_cell *cell = &table->cells[row * table->n_columns + column];
    if (!cell->known)
        return json_null();
    switch (table->columns[column].kind) {
    case KIND_NUMBER:
    case KIND_DURATION:
        return json_number(cell->number);
    case KIND_COUNT:
    case KIND_RANK:
        return json_integer(cell->integer);
    case KIND_FLAG:
        return json_boolean(cell->integer);
    case KIND_HOST:
        return json_text(layout_host(table->report, (int)cell->integer));
    case KIND_INSTANT:
        return instant(cell->integer);
    case KIND_LIST:
        return texts(cell->items, cell->n);
    case KIND_NUMBERS:
        return json_numbers(cell->items, cell->n);
    case KIND_COUNTS:
        return counts(cell->items, cell->n);
    case KIND_TABLE:
        return value_of_table(cell->items);
    default:
        return json_text(cell->text);
    }
}

/* ---- objects ---- */

/* The object that a key leads into, made if it is missing; *key then is the last part of it, in
 * `last`.
 */
static json_t *lead_into(json_t *object, const char **key, char last[128]) {
    for (size_t n; (n = strcspn(*key, INTO INTO_OR_NULL)), (*key)[n]; *key += n + 1) {
        snprintf(last, 128, "%.*s", (int)n, *key);
        json_t *inner = json_object_get(object, last);
        if (!inner && json_object_set_new(object, last, json_object()) == 0)
            inner = json_object_get(object, last);
        object = inner;
    }
    return object;
}

static int set(json_t *object, const char *key, json_t *value) {
    char part[128];
    json_t *inner = lead_into(object, &key, part);
    return json_object_set_new(inner, key, value);
}

static bool all_null(json_t *object) {
    const char *key;
    json_t *value;
    json_object_foreach(object, key, value) if (!json_is_null(value)) return false;
    return true;
}

/* Makes an object null if all that was put into it is. */
static void make_null(json_t *object, const char *key) {
    char name[128];
    size_t n = strcspn(key, INTO_OR_NULL);
    snprintf(name, sizeof name, "%.*s", (int)n, key);
    json_t *inner = key[n] ? json_object_get(object, name) : NULL;
    if (json_is_object(inner) && all_null(inner))
        json_object_set_new(object, name, json_null());
}

static int put_json_row(json_t *object, const struct report_table *table, size_t row) {
    int result = 0;
    for (size_t c = 0; c < table->n_columns; c++)
        if (table->columns[c].key)
            result |= set(object, table->columns[c].key, value_of(table, row, c));
    for (size_t c = 0; c < table->n_columns; c++)
        if (table->columns[c].key)
            make_null(object, table->columns[c].key);
    return result;
}

static json_t *row_value(const struct report_table *table, size_t row) {
    json_t *value = table->shape == SHAPE_ARRAYS ? json_array() : json_object();
    int result = value ? 0 : -1;
    for (size_t c = 0; table->shape == SHAPE_ARRAYS && c < table->n_columns; c++)
        result |= json_array_append_new(value, value_of(table, row, c));
    if (table->shape != SHAPE_ARRAYS && value)
        result |= put_json_row(value, table, row);
    if (result == 0)
        return value;
    json_decref(value);
    return NULL;
}

static json_t *value_of_table(const struct report_table *table) {
    if (table->shape == SHAPE_ONE)
        return table->n_rows ? row_value(table, 0) : json_null();
    json_t *array = json_array();
    int result = array ? 0 : -1;
    for (size_t r = 0; r < table->n_rows; r++)
        result |= json_array_append_new(array, row_value(table, r));
    if (result == 0)
        return array;
    json_decref(array);
    return NULL;
}

/* ---- the document ---- */

static json_t *innermost(const struct page *page) {
    const struct document *document = page->state;
    return document ? document->levels[document->n - 1] : NULL;
}

static void begin(struct page *page, const char *title, const char *schema) {
    struct document *document = calloc(1, sizeof *document);
    (void)title;
    page->state = document;
    if (document) {
        document->levels[0] = json_object();
        document->n = 1;
    }
    if (!document || json_object_set_new(document->levels[0], "schema", json_string(schema)) < 0)
        fail(page, -ENOMEM);
}

static void end(struct page *page) {
    struct document *document = page->state;
    if (document && !page->error &&
        json_dumpf(document->levels[0], page->out, JSON_INDENT(2) | JSON_REAL_PRECISION(10)) < 0)
        fail(page, -EIO);
    fputc('\n', page->out);
    if (document)
        json_decref(document->levels[0]);
    free(document);
}

static void put_json_table(struct page *page, const struct report_table *table) {
    json_t *into = page->error ? NULL : innermost(page);
    int result = !into        ? -1
                 : *table->id ? set(into, table->id, value_of_table(table))
                              : put_json_row(into, table, 0);
    if (result < 0)
        fail(page, -ENOMEM);
}

static void put_record(struct page *page, const char *id) {
    struct document *document = page->state;
    json_t *into = page->error ? NULL : innermost(page), *record = json_object();
    json_t *array = into ? json_object_get(into, id) : NULL;
    if (into && !array && json_object_set_new(into, id, json_array()) == 0)
        array = json_object_get(into, id);
    if (!array || document->n == DEPTH_MAX || json_array_append_new(array, record) < 0)
        fail(page, -ENOMEM);
    else
        document->levels[document->n++] = record;
}

static void end_record(struct page *page) {
    struct document *document = page->state;
    if (document && document->n > 1)
        document->n--;
}

const struct format format_json = {
    .name = "json",
    .serves = FOR_DOCUMENT,
    .room = ROOM_NONE,
    .begin = begin,
    .end = end,
    .table = put_json_table,
    .record = put_record,
    .record_end = end_record,
};
