/* SPDX-License-Identifier: MIT */
/* T8 as each format shows it, from a model made by hand, with hostile names. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <jansson.h>
#include <math.h>

#include "reports/formats/formats.h"
#include "reports/formats/terminal.h"
#include "reports/plot/plot.h"
#include "reports/sections/sections.h"
#include "tests/unit/drawn.h"

#define HOSTILE "=a|<b>\"'`x` 名前"

static char *const names[] = {(char *)"matmul", (char *)HOSTILE,
                              (char *)"a name that is much longer than"};
static struct report_host hosts[] = {{.name = (char *)"vm1"}, {.name = (char *)"<i>vm2"}};

static struct report make(void) {
    static struct report_operator operators[] = {
        {NULL, NULL, 1, 5, 1048576, 2.5, 0.5, 0.6, 0.7, 62.5},
        {NULL, NULL, 2, 11, NAN, 0.011, 0.001, 0.002, 0.003, NAN},
    };
    static struct report_bar bars[] = {{0, 0, NULL, 0, 0.5},
                                       {0, 0, NULL, 0.5, 0.500001},
                                       {0, 0, NULL, 0.75, 1},
                                       {1, 1, NULL, 0.25, 0.75}};
    operators[0].name = names[0];
    operators[0].role = (char *)"server";
    operators[1].name = names[1];
    operators[1].role = (char *)"worker";
    bars[0].name = bars[2].name = names[0];
    bars[1].name = names[1];
    bars[3].name = names[2];
    return (struct report){.run_name = (char *)"run",
                           .run_id = 7,
                           .hosts = hosts,
                           .n_hosts = 2,
                           .operators = operators,
                           .n_operators = 2,
                           .timeline = {0, 0, 17, 3, 1, bars, 4, 2}};
}

/* The section alone; in CSV all figures. */
static char *written(const struct format *format, const struct report *report) {
    char *text = NULL;
    size_t size;
    struct page page;
    FILE *out = open_memstream(&text, &size);
    page_begin(&page, format, out, "", "test");
    section_operators(report, &page);
    section_figures(report, &page);
    assert_int_equal(page_end(&page), 0);
    fclose(out);
    return text;
}

#define HAS(text, part)                                                                            \
    do {                                                                                           \
        if (!strstr(text, part))                                                                   \
            fail_msg("no '%s' in:\n%s", part, text);                                               \
    } while (0)

static void text_has_the_table_and_draws_the_iteration(void **state) {
    struct report report = make();
    (void)state;
    char *text = written(&format_text, &report);
    HAS(text, "matmul");
    HAS(text, "  server      1      5         1.05       2.50        500       62.5\n");
    HAS(text, "  worker      2     11            -     0.0110       1.00          -\n");
    HAS(text, "Timeline of iteration 17 of rank 0, the one of median length (1000 ms)");
    /* 56 columns: half of it and its last quarter; an operator too short to see has one column */
    HAS(text, "  ############################..............##############\n");
    HAS(text, "  ............................#...........................\n");
    HAS(text, "  ..............############################..............\n");
    char *rest = NULL;
    for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest))
        assert_true(terminal_width(line) <= TERMINAL_COLUMNS);
    free(text);
}

static void a_long_timeline_is_cut(void **state) {
    struct report report = make();
    (void)state;
    report.timeline.n_bars = 300;
    report.timeline.bars = calloc(300, sizeof *report.timeline.bars);
    for (int i = 0; i < 300; i++)
        report.timeline.bars[i] = (struct report_bar){0, i, names[0], 0, 1};
    char *text = written(&format_text, &report);
    HAS(text, "... and 260 lines more");
    free(text);
    free(report.timeline.bars);
}

static void markdown_and_html_escape_names(void **state) {
    struct report report = make();
    (void)state;
    char *md = written(&format_md, &report), *html = written(&format_html, &report);
    HAS(md, "| matmul | server | 1 | 5 | 1.05 | 2.50 | 500 | 600 | 62.5 |\n");
    HAS(md, "| worker | 2 | 11 | - | 0.0110 | 1.00 | 2.00 | - |\n");
    HAS(md, "\\|&lt;b&gt;");
    HAS(html, "<td class=\"t\">matmul</td>");
    HAS(html, "&lt;b&gt;");
    HAS(html, "<script>");
    *strstr(html, "<script>") = '\0'; /* which contains no names from outside */
    assert_null(strstr(html, "<b>"));
    free(md);
    free(html);
}

static void csv_lines_fit_the_tidy_table(void **state) {
    struct report report = make();
    (void)state;
    char *csv = written(&format_csv, &report);
    HAS(csv, "\"run\",\"server\",\"iteration\",\"operator matmul\",ms,500,600,700,7,,\"\"\r\n");
    HAS(csv, "\"run\",\"server\",\"iteration\",\"operator matmul\",%,62.5,,,7,,\"\"\r\n");
    HAS(csv, "\"operator =a|<b>\"\"'`x` 名前\",bytes,,,,7,,\"\"\r\n");
    free(csv);
}

static void json_has_the_planned_numbers(void **state) {
    struct report report = make();
    (void)state;
    char *text = written(&format_json, &report);
    json_t *document = json_loads(text, 0, NULL),
           *operators = json_object_get(document, "operators"),
           *timeline = json_object_get(document, "timeline");
    assert_int_equal(json_array_size(operators), 2);
    json_t *second = json_array_get(operators, 1);
    assert_string_equal(json_string_value(json_object_get(second, "name")), HOSTILE);
    assert_true(json_is_null(json_object_get(second, "output_bytes")));
    assert_int_equal(json_integer_value(json_object_get(timeline, "number")), 17);
    assert_int_equal(json_integer_value(json_object_get(timeline, "bars_left_out")), 2);
    assert_int_equal(json_array_size(json_object_get(timeline, "bars")), 4);
    json_decref(document);
    free(text);
}

static void a_picture_is_drawn(void **state) {
    struct report report = make();
    (void)state;
    char *svg = draw_and_free(plot_timeline(&report));
    if (!svg && errno == ENOENT)
        skip();
    assert_non_null(svg);
    HAS(svg, "rank 1, ");
    HAS(svg, "matmul");
    assert_null(strstr(svg, "<b>"));
    free(svg);
}

static void without_operators_nothing_is_said(void **state) {
    struct report report = {.timeline = {.host = -1, .rank = -1}};
    static const struct {
        const struct format *format;
        const char *nothing;
    } written_as[] = {
        {&format_text, ""},
        {&format_md, ""},
        {&format_csv, "run,host,phase,metric,unit,mean,p95,peak,run_id,ceiling,group\r\n"},
        {&format_json,
         "{\n  \"schema\": \"test\",\n  \"operators\": [],\n  \"timeline\": null\n}\n"}};
    (void)state;
    for (size_t i = 0; i < sizeof written_as / sizeof *written_as; i++) {
        char *text = written(written_as[i].format, &report);
        assert_string_equal(text, written_as[i].nothing);
        free(text);
    }
    char *html = written(&format_html, &report);
    assert_null(strstr(html, "perators"));
    free(html);
    assert_null(plot_timeline(&report));
    assert_int_equal(errno, ENODATA);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text_has_the_table_and_draws_the_iteration),
        cmocka_unit_test(a_long_timeline_is_cut),
        cmocka_unit_test(markdown_and_html_escape_names),
        cmocka_unit_test(csv_lines_fit_the_tidy_table),
        cmocka_unit_test(json_has_the_planned_numbers),
        cmocka_unit_test(a_picture_is_drawn),
        cmocka_unit_test(without_operators_nothing_is_said),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
