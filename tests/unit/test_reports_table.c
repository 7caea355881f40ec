/* SPDX-License-Identifier: MIT */
/* Properties of any table in any format, whichever section made it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <jansson.h>
#include <math.h>

#include "reports/formats/csv.h"
#include "reports/formats/formats.h"
#include "reports/formats/terminal.h"

/* A formula, tags, quotes, a pipe, an entity, an escape sequence, a newline, and characters that
 * reverse the writing direction.
 */
#define HOSTILE "=a|<b>\"'`&lt;\033[2J\n\u202e\u2066\u200b 名前"

struct record {
    const char *name;
    double seconds;
    size_t n;
    bool good;
    char *const *items;
    size_t n_items;
};

enum { NAME, SECONDS, WIDE, LOW };

static const struct report_column columns[] = {
    [NAME] = {KIND_TEXT, "name", "who", FIELD(record, name)},
    [SECONDS] = {KIND_NUMBER, "time_s", "time", "ms", FIELD(record, seconds), .scale = 1e3,
                 .digits = 1},
    [WIDE] = {KIND_COUNT, "n", "how many", FIELD(record, n), .room = ROOM_PAGE},
    [LOW] = {KIND_NUMBER, "span" INTO "low", COMPUTED},
    {KIND_NUMBER, "span" INTO "high", COMPUTED},
    {KIND_TEXT, "other" INTO_OR_NULL "name", COMPUTED},
    {KIND_PROSE, NULL, "why", FIELD(record, name)},
    {KIND_LIST, "items", "because", FIELD_TEXTS(record, items)},
};

static char *const reasons[] = {(char *)HOSTILE, (char *)"second reason"};
static const struct record records[] = {{HOSTILE, 0.0125, 7, true, reasons, 2},
                                        {"plain", NAN, 8, false, NULL, 0}};

static void make(struct report_table *table) {
    TABLE_INIT(table, "things", NULL, columns);
    TABLE_ADD_ALL(table, records, 2);
    table_title(table, "Things of %s", HOSTILE);
    table_note(table, "A note of %s", HOSTILE);
    table_number(table, 0, LOW, 1);
}

static char *written(const struct format *format, struct report_table *table) {
    char *text = NULL;
    size_t size;
    struct page page;
    FILE *out = open_memstream(&text, &size);
    page_begin(&page, format, out, HOSTILE, "test/1");
    page_table(&page, table);
    assert_int_equal(page_end(&page), 0);
    fclose(out);
    return text;
}

#define HAS(text, part)                                                                            \
    do {                                                                                           \
        if (!strstr(text, part))                                                                   \
            fail_msg("no '%s' in:\n%s", part, text);                                               \
    } while (0)

static void expect_harmless(const char *text) {
    assert_null(strchr(text, '\033'));
    assert_null(strstr(text, "\u202e"));
    assert_null(strstr(text, "\u2066"));
    assert_null(strstr(text, "\u200b"));
    HAS(text, "名前");
}

static void no_reader_format_passes_on_what_is_hostile(void **state) {
    static const struct format *const formats[] = {&format_text, &format_md, &format_html};
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        struct report_table table;
        make(&table);
        char *text = written(formats[i], &table);
        expect_harmless(text);
        if (formats[i] == &format_html)
            *strstr(text, "<script>") = '\0'; /* which contains no names from outside */
        if (i) {
            assert_null(strstr(text, "<b>"));
            HAS(text, "&lt;b&gt;");
        }
        if (formats[i] == &format_md)
            HAS(text, "| =a\\|&lt;b&gt;\"'\\`&amp;lt;");
        if (formats[i] == &format_html)
            HAS(text, "&quot;&#39;`&amp;lt;");
        free(text);
    }
}

static void no_csv_cell_is_a_formula(void **state) {
    static const char *const formulas[] = {"=1+1", "+1",  "-1+1", "@sum", "\t=1",
                                           "\r=1", "＝1", "＋1",  "－1",  "＠a"};
    (void)state;
    for (size_t i = 0; i < sizeof formulas / sizeof *formulas; i++) {
        char *text = NULL;
        size_t size;
        FILE *out = open_memstream(&text, &size);
        csv_put_text(out, formulas[i]);
        fclose(out);
        assert_int_equal(strncmp(text, "\"'", 2), 0);
        free(text);
    }
}

static void csv_takes_tables_that_were_made_for_it_and_quotes_texts(void **state) {
    struct report_table table;
    (void)state;
    make(&table);
    char *text = written(&format_csv, &table);
    assert_string_equal(text, "");
    free(text);
    make(&table);
    table.audience = FOR_CSV;
    text = written(&format_csv, &table);
    HAS(text, "\"who\",time_s,n,");
    HAS(text, "\r\n\"'=a|<b>\"\"'`");
    HAS(text, ",0.0125,7,");
    free(text);
}

/* Programs get the plain values, not escaped further, and null for an unknown value. */
static void a_document_has_each_key_of_each_row(void **state) {
    struct report_table table;
    (void)state;
    make(&table);
    char *text = written(&format_json, &table);
    json_t *document = json_loads(text, 0, NULL), *things = json_object_get(document, "things"),
           *first = json_array_get(things, 0), *second = json_array_get(things, 1);
    assert_int_equal(json_array_size(things), 2);
    assert_string_equal(json_string_value(json_object_get(first, "name")),
                        "=a|<b>\"'`&lt;?[2J???? 名前");
    assert_true(json_real_value(json_object_get(first, "time_s")) == 0.0125);
    assert_int_equal(json_integer_value(json_object_get(first, "n")), 7);
    assert_true(json_is_null(json_object_get(second, "time_s")));
    assert_int_equal(json_array_size(json_object_get(first, "items")), 2);
    json_t *span = json_object_get(first, "span");
    assert_true(json_real_value(json_object_get(span, "low")) == 1);
    assert_true(json_is_null(json_object_get(span, "high")));
    /* it is empty, but one of these must be an object */
    assert_true(json_is_object(json_object_get(second, "span")));
    assert_true(json_is_null(json_object_get(first, "other")));
    json_decref(document);
    free(text);
}

static void what_needs_room_is_left_out_of_a_terminal(void **state) {
    struct report_table table;
    (void)state;
    make(&table);
    table.rows[1].room = ROOM_FULL;
    char *text = written(&format_text, &table);
    HAS(text, "12.5");
    assert_null(strstr(text, "how many"));
    assert_null(strstr(text, "plain"));
    free(text);
    make(&table);
    table.rows[1].room = ROOM_FULL;
    text = written(&format_md, &table);
    HAS(text, "how many");
    assert_null(strstr(text, "plain"));
    free(text);
    make(&table);
    table.rows[1].room = ROOM_FULL;
    text = written(&format_html, &table);
    HAS(text, "plain");
    free(text);
}

/* In text, sentences wrap below their row, and no line is wider than a terminal. */
static void sentences_stand_below_their_row(void **state) {
    struct report_table table;
    char words[1200];
    (void)state;
    for (size_t i = 0; i < sizeof words; i++)
        words[i] = i % 9 == 8 ? ' ' : 'w';
    words[sizeof words - 1] = '\0';
    TABLE_INIT(&table, NULL, NULL, columns);
    table_add(&table, &(struct record){.name = words});
    char *text = written(&format_text, &table), *rest = NULL;
    size_t lines = 0;
    for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
        assert_true(terminal_width(line) <= TERMINAL_COLUMNS);
        lines += line[0] == ' ' && line[4] == 'w';
    }
    assert_true(lines > 10);
    free(text);
}

static void columns_that_do_not_fit_continue_below(void **state) {
    struct report_table table;
    (void)state;
    table_init(&table, NULL, NULL, &(struct report_column){KIND_TEXT, NULL, "host", COMPUTED}, 1);
    for (int c = 0; c < 20; c++)
        table_add_column(&table,
                         &(struct report_column){KIND_NUMBER, NULL,
                                                 table_keep(&table, "column %d", c), COMPUTED});
    table_borrow(&table, table_add(&table, NULL), 0, "vm1");
    for (size_t c = 1; c <= 20; c++)
        table_number(&table, 0, c, (double)c);
    char *text = written(&format_text, &table), *rest = NULL;
    size_t blocks = 0;
    HAS(text, "column 19");
    HAS(text, "20.0");
    for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
        assert_true(terminal_width(line) <= TERMINAL_COLUMNS);
        blocks += strncmp(line, "  vm1", 5) == 0;
    }
    assert_true(blocks > 1);
    free(text);
}

static void a_table_without_rows_says_nothing_or_its_word(void **state) {
    struct report_table table;
    (void)state;
    TABLE_INIT(&table, "things", NULL, columns);
    table_title(&table, "Things");
    char *text = written(&format_text, &table);
    assert_string_equal(text, "");
    free(text);
    TABLE_INIT(&table, "things", NULL, columns);
    table_title(&table, "Things");
    table.empty = "none";
    text = written(&format_text, &table);
    assert_string_equal(text, "Things\n  none\n");
    free(text);
}

static void a_table_without_memory_fails_the_page(void **state) {
    struct report_table table;
    struct page page;
    (void)state;
    make(&table);
    table.failed = true;
    page_begin(&page, &format_md, stderr, "", "");
    page_table(&page, &table);
    assert_int_equal(page_end(&page), -12); /* ENOMEM */
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_csv_cell_is_a_formula),
        cmocka_unit_test(no_reader_format_passes_on_what_is_hostile),
        cmocka_unit_test(csv_takes_tables_that_were_made_for_it_and_quotes_texts),
        cmocka_unit_test(a_document_has_each_key_of_each_row),
        cmocka_unit_test(what_needs_room_is_left_out_of_a_terminal),
        cmocka_unit_test(sentences_stand_below_their_row),
        cmocka_unit_test(columns_that_do_not_fit_continue_below),
        cmocka_unit_test(a_table_without_rows_says_nothing_or_its_word),
        cmocka_unit_test(a_table_without_memory_fails_the_page),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
