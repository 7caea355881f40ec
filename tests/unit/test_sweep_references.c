/* SPDX-License-Identifier: MIT */
/* The ready sweeps are data: each of them can be expanded, shown, and has a place for each
 * published figure beside ours.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cli/sweep/parameters.h"
#include "cli/sweep/references.h"
#include "common/error.h"
#include "reports/model/layout.h"

static void fill(struct sweep_parameters *parameters, const struct reference *r, size_t size) {
    char why[PARAMETERS_WHY] = "";
    for (size_t i = 0; i < 2 && r->parameters[i].name; i++)
        if (parameters_add_list(parameters, r->parameters[i].name, r->parameters[i].values[size],
                                why) < 0)
            fail_msg("%s: %s", r->name, why);
}

/* Places that are no parameters; their values contain no braces. */
static bool is_place(const char *name) {
    static const char *const places[] = {"{mpirun}", "{bin}", "{data}", "{ranks}", "{extent}"};
    for (size_t i = 0; i < ARRAY_SIZE(places); i++)
        if (strncmp(name, places[i], strlen(places[i])) == 0)
            return true;
    return false;
}

static void commands_name_their_parameters(void **state) {
    (void)state;
    for (size_t i = 0; i < n_references; i++)
        for (size_t size = 0; size < REFERENCE_SIZES; size++) {
            const struct reference *r = &references[i];
            struct sweep_parameters parameters = {0};
            char *text = strdup(r->command), *words[] = {text, NULL}, why[PARAMETERS_WHY] = "";
            fill(&parameters, r, size);
            for (char *p = strchr(text, '{'); p; p = strchr(p + 1, '{'))
                if (is_place(p))
                    *p = '<';
            if (parameters_check(&parameters, words, why) < 0)
                fail_msg("%s: %s", r->name, why);
            assert_true(parameters_cells(&parameters) > 0 && r->repeats[size] > 0);
            assert_non_null(r->extent[size]);
            parameters_release(&parameters);
            free(text);
        }
}

static void check_words(const char *text, bool (*is_good)(const char *)) {
    char *copy = strdup(text), *rest = NULL;
    for (char *word = strtok_r(copy, ",", &rest); word; word = strtok_r(NULL, ",", &rest))
        if (!is_good(word))
            fail_msg("'%s' is no such word", word);
    free(copy);
}

static void measures_and_tables_exist(void **state) {
    (void)state;
    for (size_t i = 0; i < n_references; i++) {
        check_words(references[i].measures, sweep_is_measure);
        check_words(references[i].tables, sweep_is_table);
    }
}

static bool has_value(const struct sweep_parameter *parameter, const char *value) {
    for (size_t i = 0; i < parameter->n_values; i++)
        if (strcmp(parameter->values[i], value) == 0)
            return true;
    return false;
}

static bool has_row(const struct layout_row *rows, size_t n, const char *label) {
    for (size_t i = 0; i < n; i++)
        if (strcmp(rows[i].label, label) == 0)
            return true;
    return false;
}

/* "sync:3: worker, rank 1 on vm2" */
static bool has_cell_before(const struct sweep_parameter *parameter, const char *row) {
    for (size_t i = 0; i < parameter->n_values; i++) {
        size_t n = strlen(parameter->values[i]);
        if (strncmp(row, parameter->values[i], n) == 0 && strncmp(row + n, ": ", 2) == 0)
            return true;
    }
    return false;
}

/* Checks tables whose rows or columns are known beforehand. */
static bool has_place(const struct sweep_parameters *parameters, const struct sweep_theirs *t) {
    const struct sweep_parameter *first = &parameters->items[0];
    if (strcmp(t->table, "hosts") == 0)
        return has_row(layout_averages, layout_averages_size, t->row);
    if (strcmp(t->table, "peaks") == 0)
        return has_row(layout_peaks, layout_peaks_size, t->row);
    if (strcmp(t->table, "operators") == 0)
        return has_value(first, t->column);
    if (strcmp(t->table, "roles") == 0)
        return has_cell_before(first, t->row);
    if (strcmp(t->table, "differences") == 0)
        return strncmp(t->row, "vm", 2) == 0 && has_value(first, t->column) &&
               has_row(layout_averages, layout_averages_size, t->row + strcspn(t->row, " ") + 1);
    return has_value(first, t->row) && (!*t->of || has_value(&parameters->items[1], t->column));
}

/* A published row that ours lacks. */
static bool is_alone(const struct sweep_theirs *t) {
    return strncmp(t->row, SWEEP_BESIDE ", ", strlen(SWEEP_BESIDE ", ")) == 0;
}

static void figures_beside_ours_have_a_place(void **state) {
    (void)state;
    for (size_t i = 0; i < n_references; i++) {
        struct sweep_parameters parameters = {0};
        fill(&parameters, &references[i], REFERENCE_SHORT);
        for (size_t k = 0; k < references[i].n_theirs; k++) {
            const struct sweep_theirs *t = &references[i].theirs[k];
            if (!strstr(references[i].tables, t->table) ||
                (!is_alone(t) && !has_place(&parameters, t)))
                fail_msg("%s: %s, %s, %s", references[i].name, t->table, t->row, t->column);
        }
        parameters_release(&parameters);
    }
}

static void a_name_and_a_size_are_a_ready_sweep(void **state) {
    (void)state;
    assert_string_equal(reference_find("r3-short")->name, "r3");
    assert_string_equal(reference_find("r3-batches-full")->name, "r3-batches");
    assert_null(reference_find("r3"));
    assert_null(reference_find("r3-shorter"));
    assert_null(reference_find("my-r3-short"));
    assert_null(reference_find(""));
}

/* Twelve of LeNet's cells were published, with two figures each. */
static void no_cell_is_left_out(void **state) {
    size_t n = 0;
    (void)state;
    for (size_t i = 0; i < reference_find("r2-lenet-short")->n_theirs; i++) {
        const struct sweep_theirs *t = &reference_find("r2-lenet-short")->theirs[i];
        n += strcmp(t->table, "grid") == 0;
        for (size_t k = 0; k < i; k++) {
            const struct sweep_theirs *o = &reference_find("r2-lenet-short")->theirs[k];
            assert_false(strcmp(o->of, t->of) == 0 && strcmp(o->row, t->row) == 0 &&
                         strcmp(o->column, t->column) == 0);
        }
    }
    assert_int_equal(n, 24);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_name_and_a_size_are_a_ready_sweep),
        cmocka_unit_test(no_cell_is_left_out),
        cmocka_unit_test(commands_name_their_parameters),
        cmocka_unit_test(measures_and_tables_exist),
        cmocka_unit_test(figures_beside_ours_have_a_place),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
