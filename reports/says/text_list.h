/* SPDX-License-Identifier: MIT */
/* Sentences: a list of owned texts. */
#ifndef CHOKEPOINT_REPORTS_SAYS_TEXT_LIST_H
#define CHOKEPOINT_REPORTS_SAYS_TEXT_LIST_H

#include <stdarg.h>
#include <stddef.h>

struct text_list {
    char **items; /* owned */
    size_t n;
    int error; /* 0, or -ENOMEM once an append failed: checked once at the end */
};

void text_list_add(struct text_list *list, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void text_list_release(struct text_list *list);

/* A formatted text, owned; NULL: no memory. */
char *text_format(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* For AUTO(). */
void text_free(char **text);

#endif
