/* SPDX-License-Identifier: MIT */
#include "agent/base/note.h"

#include <stdio.h>
#include <string.h>

#include "tables/tables.h"

void note_append(struct rows *rows, enum note_level level, const char *subject, const char *text) {
    char line[2 * INSTANCE_MAX];
    int n = snprintf(line, sizeof line, "%s: %s", subject, text);
    if (n <= 0)
        return;
    size_t size = (size_t)n < sizeof line ? (size_t)n : sizeof line - 1;
    struct row *row = rows_append(rows, line, size);
    if (!row)
        return;
    row->values[NOTE_LEVEL] = level;
    for (size_t i = 0; i + 1 < rows->n; i++)
        if (strcmp(rows->items[i].name, row->name) == 0) {
            rows->n--;
            return;
        }
}
