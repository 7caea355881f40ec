/* SPDX-License-Identifier: MIT */
/* T9 of a sweep: means over the repeats of a cell, as in published reports without intervals. */
#include <errno.h>

#include "reports/sweep/sweep_private.h"

#define LABEL_SIZE 600

static int fill_means(struct sweep_table *table, size_t row, const struct sweep *sweep,
                      const struct sweep_cell *cell) {
    char label[LABEL_SIZE];
    sweep_values(sweep, cell, label, sizeof label);
    int result = sweep_table_set(table, row, 0, "%s", label);
    if (result == 0)
        result = sweep_table_set(table, row, 1, "%zu", cell->n_done);
    for (size_t m = 0; m < sweep->n_measures && result == 0; m++)
        result = sweep_table_number(table, row, m + 2, cell->figures[m].mean);
    return result;
}

int sweep_tables_add_means(struct sweep_tables *tables, const struct sweep *sweep) {
    size_t row = 1;
    struct sweep_table *table = sweep_table_new(tables, "means", "", sweep_n_typical(sweep) + 1,
                                                sweep->n_measures + 2, "Means over repeats");
    int result = table ? sweep_table_set(table, 0, 0, " ") : -ENOMEM;
    if (result == 0)
        result = sweep_table_set(table, 0, 1, "runs");
    for (size_t m = 0; m < sweep->n_measures && result == 0; m++)
        result = sweep_table_set(table, 0, m + 2, "%s", sweep->measures[m].title);
    for (size_t i = 0; i < sweep->n_cells && result == 0; i++)
        if (sweep->cells[i].typical)
            result = fill_means(table, row++, sweep, &sweep->cells[i]);
    return result;
}
