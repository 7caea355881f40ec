/* SPDX-License-Identifier: MIT */
#include "reports/sections/sections.h"

void section_put_culprit(struct report_table *table, size_t row, size_t column, const char *process,
                         int64_t pid, int host) {
    if (!process)
        return;
    table_borrow(table, row, column, process);
    table_integer(table, row, column + 1, pid);
    table_integer(table, row, column + 2, host);
}
