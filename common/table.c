/* SPDX-License-Identifier: MIT */
/* Rules for the names in descriptors. */
#include "common/table.h"

#include <string.h>

#include "common/text.h"

#include <string.h>

const char *unit_text(enum unit unit) {
    static const char *const texts[UNIT_COUNT_] = {
        [UNIT_NONE] = "",         [UNIT_NS] = "ns",     [UNIT_BYTES] = "bytes",
        [UNIT_EVENTS] = "events", [UNIT_NANO] = "1e-9",
    };
    return unit < UNIT_COUNT_ ? texts[unit] : "?";
}

bool table_name_valid(const char *text, size_t size) {
    if (size == 0 || size > TABLE_NAME_MAX || text[0] < 'a' || text[0] > 'z')
        return false;
    for (size_t i = 0; i < size; i++) {
        char c = text[i];
        if (!((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_'))
            return false;
    }
    return true;
}

bool instance_name_valid(const char *text, size_t size) {
    return size > 0 && size <= INSTANCE_MAX && text_is_printable_utf8(text, size);
}

int table_find_column(const struct table *table, const char *name) {
    for (size_t i = 0; i < table->n_columns; i++)
        if (strcmp(table->columns[i].name, name) == 0)
            return (int)i;
    return -1;
}
