/* SPDX-License-Identifier: MIT */
/* Columns of a recording that this version does not know: a note names them, since nothing reads
 * them. */
#include <errno.h>
#include <stdio.h>

#include "collector/store_read_tables.h"
#include "reports/model/model_private.h"
#include "reports/says/text_list.h"
#include "tables/former_names.h"

#define NAMES_SIZE 400

/* "gpu.busy_ns, process.swap_bytes". Returns the number of all; the last may not fit. */
static size_t list_unknown(const struct store_table_info *tables, size_t n,
                           char names[NAMES_SIZE]) {
    size_t used = 0, unknown = 0;
    for (size_t t = 0; t < n; t++)
        for (size_t c = 0; c < tables[t].n_columns; c++) {
            const char *table = tables[t].name, *column = tables[t].columns[c].name;
            if (column_is_known(table, column))
                continue;
            int size = snprintf(names + used, NAMES_SIZE - used, "%s%s.%s", unknown ? ", " : "",
                                table, column);
            if (used + (size_t)size < NAMES_SIZE)
                used += (size_t)size;
            names[used] = '\0';
            unknown++;
        }
    return unknown;
}

int report_load_unknown(struct store *store, struct report_input *input) {
    struct store_table_info *tables = NULL;
    char names[NAMES_SIZE] = "";
    size_t n = 0;
    int result = store_list_tables(store, input->run.id, &tables, &n);
    size_t unknown = result == 0 ? list_unknown(tables, n, names) : 0;
    store_tables_free(tables, n);
    if (!unknown)
        return result;
    input->unknown = text_format("%zu column%s that this version does not know and does not read: "
                                 "%s",
                                 unknown, unknown == 1 ? "" : "s", names);
    return input->unknown ? 0 : -ENOMEM;
}
