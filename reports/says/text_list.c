/* SPDX-License-Identifier: MIT */
#include "reports/says/text_list.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

static char *format_v(const char *format, va_list args) {
    char *text = NULL;
    return vasprintf(&text, format, args) < 0 ? NULL : text;
}

char *text_format(const char *format, ...) {
    va_list args;
    va_start(args, format);
    char *text = format_v(format, args);
    va_end(args);
    return text;
}

void text_free(char **text) {
    free(*text);
}

static void append(struct text_list *list, char *text) {
    char **items = text ? realloc(list->items, (list->n + 1) * sizeof *items) : NULL;
    if (!items) {
        free(text);
        list->error = -ENOMEM;
        return;
    }
    list->items = items;
    list->items[list->n++] = text;
}

void text_list_add(struct text_list *list, const char *format, ...) {
    va_list args;
    va_start(args, format);
    append(list, format_v(format, args));
    va_end(args);
}

void text_list_release(struct text_list *list) {
    for (size_t i = 0; i < list->n; i++)
        free(list->items[i]);
    free(list->items);
    *list = (struct text_list){0};
}
