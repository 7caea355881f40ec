/* SPDX-License-Identifier: MIT */
/* Pages of a document: no larger than asked for, and all together the document. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <jansson.h>

#include "common/error.h"
#include "reports/formats/json_page.h"

/* A document with rows, a row larger than a page, and a text larger than a page. */
static char *plant_document(void) {
    json_t *root = json_object(), *rows = json_array(), *large = json_array(), *row = json_array();
    json_object_set_new(root, "schema", json_string("test/1"));
    for (int i = 0; i < 300; i++) {
        json_array_append_new(
            rows, json_pack("{s:i, s:s, s:f}", "n", i, "name", "a name", "value", i / 3.0));
        json_array_append_new(row, json_pack("[i, i, s]", i, i * i, "\"quoted\" \xc3\xa4"));
    }
    json_array_append_new(large, json_pack("{s:s, s:o}", "host", "vm1", "rows", row));
    json_array_append_new(large, json_pack("{s:s, s:[i]}", "host", "vm2", "rows", 7));
    json_object_set_new(root, "others", rows);
    json_object_set_new(root, "large", large);
    json_object_set_new(root, "empty", json_array());
    json_object_set_new(root, "nothing", json_null());
    json_object_set_new(root, "verdict", json_pack("{s:s}", "limit", "the disk"));
    char *text = json_dumps(root, JSON_COMPACT | JSON_REAL_PRECISION(10));
    json_decref(root);
    return text;
}

static int page_of(const struct json_page *page, char **ret_text) {
    size_t size;
    FILE *out = open_memstream(ret_text, &size);
    int r = json_page_write(page, out);
    assert_int_equal(fclose(out), 0);
    assert_true(r < 0 || size <= page->max_bytes);
    return r;
}

/* path: where the part goes on; the names in it are divided by '/'. */
static void join(json_t *into, json_t *part, const char *path) {
    const char *name, *rest = path && strchr(path, '/') ? strchr(path, '/') + 1 : NULL;
    json_t *value;
    size_t i;
    if (json_is_array(into)) {
        size_t n = json_array_size(into);
        json_array_foreach(part, i, value) {
            if (i == 0 && rest)
                join(json_array_get(into, n - 1), value, rest);
            else
                json_array_append(into, value);
        }
        return;
    }
    json_object_foreach(part, name, value) {
        json_t *there = json_object_get(into, name);
        if (!there)
            json_object_set_new(into, name, json_deep_copy(value));
        else
            join(there, value, path && strncmp(path, name, strlen(name)) == 0 ? rest : NULL);
    }
}

/* All pages, put together. */
static json_t *read_all(const char *document, size_t max_bytes, size_t *ret_pages) {
    json_t *whole = json_object();
    char *cursor = NULL;
    *ret_pages = 0;
    do {
        struct json_page page = {.document = document,
                                 .size = strlen(document),
                                 .run = 7,
                                 .cursor = cursor,
                                 .max_bytes = max_bytes};
        char *text, from[200];
        assert_int_equal(page_of(&page, &text), 0);
        json_t *got = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
        assert_non_null(got);
        const char *at = json_string_value(json_object_get(json_object_get(got, "page"), "from"));
        const char *next = json_string_value(json_object_get(got, "cursor"));
        snprintf(from, sizeof from, "%s", at ? at : "");
        free(cursor);
        cursor = next ? strdup(next) : NULL;
        json_object_del(got, "page");
        json_object_del(got, "cursor");
        json_object_del(got, "schema");
        join(whole, got, from);
        json_decref(got);
        free(text);
    } while (cursor && ++*ret_pages < 1000);
    return whole;
}

static void pages_add_up_to_the_document(void **state) {
    static const size_t sizes[] = {JSON_PAGE_LEAST, 2500, 4096, 16000, 1 << 20};
    (void)state;
    char *document = plant_document();
    json_t *should = json_loads(document, 0, NULL);
    json_object_del(should, "schema");
    for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
        size_t pages;
        json_t *is = read_all(document, sizes[i], &pages);
        assert_true(json_equal(is, should));
        assert_true(pages > 0 || sizes[i] == 1 << 20);
        json_decref(is);
    }
    json_decref(should);
    free(document);
}

static void the_verdict_comes_first(void **state) {
    (void)state;
    char *document = plant_document(), *text;
    struct json_page page = {.document = document, .size = strlen(document), .max_bytes = 2000};
    assert_int_equal(page_of(&page, &text), 0);
    assert_non_null(strstr(text, "the disk"));
    free(text);
    free(document);
}

static void a_text_larger_than_a_page_is_cut(void **state) {
    (void)state;
    char long_text[9000], document[9100], *text;
    for (size_t i = 0; i + 2 < sizeof long_text; i += 2)
        memcpy(long_text + i, "\xc3\xa4", 3);
    snprintf(document, sizeof document, "{\"run\":{\"command\":\"%s\"}}", long_text);
    struct json_page page = {.document = document, .size = strlen(document), .max_bytes = 2000};
    assert_int_equal(page_of(&page, &text), 0);
    assert_non_null(strstr(text, " [cut]\""));
    assert_non_null(strstr(text, "\"cursor\":null"));
    free(text);
}

static void only_what_is_wanted(void **state) {
    (void)state;
    char *document = plant_document(), *text;
    struct json_page page = {.document = document,
                             .size = strlen(document),
                             .only = "verdict,nothing",
                             .max_bytes = 2000};
    assert_int_equal(page_of(&page, &text), 0);
    assert_non_null(strstr(text, "the disk"));
    assert_non_null(strstr(text, "\"nothing\":null"));
    assert_null(strstr(text, "others"));
    free(text);
    page.only = "verdic,othersx,,";
    assert_int_equal(page_of(&page, &text), -ENOENT);
    free(text);
    free(document);
}

/* The cursor of the first page. */
static char *cursor_of(const struct json_page *page) {
    char *text, *cursor;
    assert_int_equal(page_of(page, &text), 0);
    json_t *got = json_loads(text, 0, NULL);
    cursor = strdup(json_string_value(json_object_get(got, "cursor")));
    json_decref(got);
    free(text);
    return cursor;
}

static void a_cursor_belongs_to_its_document(void **state) {
    static const char *const wrong[] = {"",
                                        "x",
                                        "7",
                                        "7-",
                                        "7-1",
                                        "7-1-",
                                        "-7-1-0",
                                        " 7-1-0",
                                        "7-1-0.",
                                        "7--0",
                                        "7-1-x",
                                        "7-1-0x",
                                        "+7-1-0",
                                        "7-0x1-0",
                                        "7-1-.0",
                                        "7-1-0..1",
                                        "99999999999999999999999-1-0",
                                        "7-fffffffffffffffffffff-0",
                                        "7-1-0.0.0.0.0.0.0.0.0.0.0.0.0.0"};
    (void)state;
    char *document = plant_document(), *text;
    struct json_page page = {
        .document = document, .size = strlen(document), .run = 7, .max_bytes = 2000};
    char *cursor = cursor_of(&page);
    page.cursor = cursor;
    page.run = 8;
    assert_int_equal(page_of(&page, &text), -ESTALE);
    free(text);
    page.run = 7;
    page.only = "others";
    assert_int_equal(page_of(&page, &text), -ESTALE);
    free(text);
    page.only = NULL;
    document[strlen(document) - 3] ^= 1;
    assert_int_equal(page_of(&page, &text), -ESTALE);
    free(text);
    for (size_t i = 0; i < ARRAY_SIZE(wrong); i++) {
        page.cursor = wrong[i];
        assert_int_equal(page_of(&page, &text), -EINVAL);
        free(text);
    }
    free(cursor);
    free(document);
}

/* A cursor with the right checksum, and a place that is not there. */
static void a_place_that_is_not_there_is_refused(void **state) {
    (void)state;
    char *document = plant_document(), *text, far[300];
    struct json_page page = {
        .document = document, .size = strlen(document), .run = 7, .max_bytes = 2000};
    char *cursor = cursor_of(&page);
    static const char *const places[] = {"99", "1.9999", "1.0.0.0.0", "18446744073709551615"};
    for (size_t i = 0; i < ARRAY_SIZE(places); i++) {
        snprintf(far, sizeof far, "%.*s%s", (int)(strrchr(cursor, '-') - cursor + 1), cursor,
                 places[i]);
        page.cursor = far;
        assert_int_equal(page_of(&page, &text), -EINVAL);
        free(text);
    }
    free(cursor);
    free(document);
}

static void what_is_no_object_is_refused(void **state) {
    static const char *const documents[] = {"", "[]", "1", "{", "null"};
    (void)state;
    char *text;
    for (size_t i = 0; i < ARRAY_SIZE(documents); i++) {
        struct json_page page = {
            .document = documents[i], .size = strlen(documents[i]), .max_bytes = 2000};
        assert_int_equal(page_of(&page, &text), -EBADMSG);
        free(text);
    }
    struct json_page small = {.document = "{}", .size = 2, .max_bytes = JSON_PAGE_LEAST - 1};
    assert_int_equal(page_of(&small, &text), -E2BIG);
    free(text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pages_add_up_to_the_document),
        cmocka_unit_test(the_verdict_comes_first),
        cmocka_unit_test(a_text_larger_than_a_page_is_cut),
        cmocka_unit_test(only_what_is_wanted),
        cmocka_unit_test(a_cursor_belongs_to_its_document),
        cmocka_unit_test(a_place_that_is_not_there_is_refused),
        cmocka_unit_test(what_is_no_object_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
