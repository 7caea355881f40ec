/* SPDX-License-Identifier: MIT */
/* Says why something failed. */
#include "collector/store_private.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "common/text.h"

void store_say(char *why, size_t size, const char *format, ...) {
    if (!why || !size)
        return;
    char text[512]; /* paths and names in it may come from anybody */
    va_list values;
    va_start(values, format);
    vsnprintf(text, sizeof text, format, values);
    va_end(values);
    text_sanitize(why, size, text, strlen(text));
}

const char *store_error(const struct store *store) {
    if (store->why[0])
        return store->why;
    return sqlite3_errcode(store->db) == SQLITE_OK ? STORE_NO_REASON : sqlite3_errmsg(store->db);
}
