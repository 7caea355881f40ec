/* SPDX-License-Identifier: MIT */
/*
 * Pages of a document: the first line is a cursor, the rest a JSON object. No page is larger than
 * asked for, each cursor leads to another page, and there is a last one.
 */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reports/formats/json_page.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static const char cursor_key[] = "\"cursor\":";

static char *page_of(const struct json_page *page, int *ret_result) {
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    if (!out)
        abort();
    *ret_result = json_page_write(page, out);
    if (fclose(out) != 0 || (*ret_result == 0 && (!size || size > page->max_bytes)))
        abort();
    return text;
}

/* Its value is the last one of the head that is written last, and has no quotes in it; NULL: it is
 * null. */
static char *next_cursor(const char *text) {
    const char *found = NULL;
    for (const char *p = text; (p = strstr(p, cursor_key)); p += sizeof cursor_key - 1)
        found = p + sizeof cursor_key - 1;
    if (!found || *found != '"')
        return NULL;
    return strndup(found + 1, strcspn(found + 1, "\""));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n) {
    const uint8_t *feed = memchr(data, '\n', n);
    size_t skipped = feed ? (size_t)(feed - data) + 1 : 0, pages = 0;
    char *cursor = strndup((const char *)data, skipped ? skipped - 1 : 0);
    struct json_page page = {.document = (const char *)data + skipped,
                             .size = n - skipped,
                             .run = 7,
                             .cursor = cursor,
                             .max_bytes = JSON_PAGE_LEAST};
    int result;
    free(page_of(&page, &result));
    page.cursor = NULL;
    while (result != 1) {
        char *text = page_of(&page, &result);
        free(cursor);
        cursor = result == 0 ? next_cursor(text) : NULL;
        free(text);
        page.cursor = cursor;
        if (pages && (result == -EINVAL || result == -ESTALE))
            abort();
        if (!cursor)
            break;
        if (++pages > n)
            abort();
    }
    free(cursor);
    return 0;
}
