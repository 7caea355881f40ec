/* SPDX-License-Identifier: MIT */
/* A sweep with more than a table or a page holds: the largest are shown, in whichever cell they
 * are, and the report says that some are left out.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common/error.h"
#include "reports/sweep/sweep_private.h"
#include "reports/sweep/sweep_write.h"

#define CELLS_MAX 16

/* A sweep of one parameter, whose reports the tests fill. */
struct planted {
    char words[CELLS_MAX][24];
    char *values[CELLS_MAX];
    struct report reports[CELLS_MAX];
    struct sweep_cell cells[CELLS_MAX];
    struct sweep sweep;
};

static void plant(struct planted *p, size_t n_cells) {
    *p = (struct planted){0};
    for (size_t i = 0; i < n_cells; i++) {
        snprintf(p->words[i], sizeof p->words[i], "%zu", i + 1);
        p->values[i] = p->words[i];
        p->cells[i] = (struct sweep_cell){.value = {i}, .typical = &p->reports[i]};
    }
    p->sweep = (struct sweep){.of = {.name = (char *)"many",
                                     .parameters = {{(char *)"n", p->values, n_cells}},
                                     .n_parameters = 1},
                              .cells = p->cells,
                              .n_cells = n_cells};
}

static const char *cell(const struct sweep_table *table, size_t row, size_t column) {
    const char *text = table->cells[row * table->columns + column];
    return text ? text : "";
}

static struct report_operator operator_of(const char *name, double share_pct) {
    return (struct report_operator){.name = (char *)name,
                                    .role = (char *)"",
                                    .mean_s = share_pct / 100,
                                    .output_bytes = NAN,
                                    .share_pct = share_pct};
}

/* The first cell has more operators than the table holds, the second has the one that takes most of
 * its time.
 */
static void an_operator_of_one_cell_alone_is_shown_if_it_is_large(void **state) {
    static const char *const names[] = {"a", "b", "c", "d", "e", "f", "g", "h", "i"};
    struct report_operator first[ARRAY_SIZE(names)], second[2];
    struct planted *p = calloc(1, sizeof *p);
    struct sweep_tables tables = {0};
    (void)state;
    plant(p, 2);
    for (size_t i = 0; i < ARRAY_SIZE(names); i++)
        first[i] = operator_of(names[i], 10 - (double)i);
    second[0] = operator_of("serve", 66);
    second[1] = operator_of("c", 20);
    p->reports[0].operators = first;
    p->reports[0].n_operators = ARRAY_SIZE(names);
    p->reports[1].operators = second;
    p->reports[1].n_operators = 2;
    assert_int_equal(sweep_tables_add(&tables, &p->sweep, "operators", 0), 0);
    const struct sweep_table *table = &tables.items[0];
    assert_int_equal(table->rows, 10);
    assert_string_equal(cell(table, 1, 0), "serve");
    assert_string_equal(cell(table, 1, 1), "-");
    assert_string_equal(cell(table, 1, 2), "660");
    assert_string_equal(cell(table, 2, 0), "c");
    assert_string_equal(cell(table, 3, 0), "a");
    assert_string_equal(cell(table, 8, 0), "g");
    assert_string_equal(cell(table, 9, 0), "... and 2 more");
    sweep_tables_free(&tables);
    p->reports[0].n_operators = 7; /* all of them fit */
    assert_int_equal(sweep_tables_add(&tables, &p->sweep, "operators", 0), 0);
    assert_int_equal(tables.items[0].rows, 9);
    sweep_tables_free(&tables);
    free(p);
}

static void phases_without_a_table_are_counted(void **state) {
    enum { PHASES = 10 };
    static struct report_value values[METRIC_COUNT_];
    static struct report_host host = {.name = (char *)"vm1"};
    struct report_resources resources[1 + PHASES];
    char names[PHASES][24];
    struct planted *p = calloc(1, sizeof *p);
    struct sweep_tables tables = {0};
    (void)state;
    plant(p, 1);
    resources[0] = (struct report_resources){(char *)"all", 100, values};
    for (size_t i = 0; i < PHASES; i++) {
        snprintf(names[i], sizeof names[i], "p%zu", i);
        resources[1 + i] = (struct report_resources){names[i], 10, values};
    }
    p->reports[0] = (struct report){.hosts = &host,
                                    .n_hosts = 1,
                                    .period_s = 0.1,
                                    .resources = resources,
                                    .n_resources = 1 + PHASES};
    assert_int_equal(sweep_tables_add(&tables, &p->sweep, "phases", 0), 0);
    assert_int_equal(tables.n, 8);
    assert_string_equal(tables.items[6].title, "Averages of each host in phase p6");
    assert_string_equal(tables.items[7].title,
                        "Averages of each host in phase p7 (2 more phases are not shown)");
    sweep_tables_free(&tables);
    p->reports[0].n_resources = 1 + 8; /* all of them fit */
    assert_int_equal(sweep_tables_add(&tables, &p->sweep, "phases", 0), 0);
    assert_string_equal(tables.items[7].title, "Averages of each host in phase p7");
    sweep_tables_free(&tables);
    free(p);
}

/* Without gnuplot there is the list of what would be drawn. */
static void timelines_that_are_not_drawn_are_counted(void **state) {
    static struct report_host host = {.name = (char *)"vm1"};
    static struct report_bar bar = {0, 0, (char *)"read", 0, 0.1};
    struct planted *p = calloc(1, sizeof *p);
    struct sweep_tables tables = {0};
    struct sweep_pictures pictures;
    (void)state;
    assert_int_equal(setenv("PATH", "/nonexistent", 1), 0);
    plant(p, 14);
    for (size_t i = 0; i < 14; i++)
        p->reports[i] =
            (struct report){.hosts = &host,
                            .n_hosts = 1,
                            .timeline = {.duration_s = 0.2, .bars = &bar, .n_bars = i != 3}};
    assert_int_equal(sweep_tables_add(&tables, &p->sweep, "timeline", 0), 0);
    assert_int_equal(tables.n, 13);
    assert_int_equal(sweep_pictures_make(&p->sweep, &tables, &pictures), 0);
    assert_int_equal(pictures.n, 12);
    assert_null(pictures.items[0].svg);
    assert_null(strstr(pictures.items[10].caption, "not drawn"));
    assert_string_equal(pictures.items[11].name, "many-timeline-13");
    assert_non_null(strstr(pictures.items[11].caption, "; 1 more cell is not drawn"));
    sweep_pictures_free(&pictures);
    sweep_tables_free(&tables);
    free(p);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_operator_of_one_cell_alone_is_shown_if_it_is_large),
        cmocka_unit_test(phases_without_a_table_are_counted),
        cmocka_unit_test(timelines_that_are_not_drawn_are_counted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
