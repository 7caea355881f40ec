/* SPDX-License-Identifier: MIT */
/*
 * Sentences of a finding: a list of owned texts. The only place below reports/ where words are
 * made.
 */
#ifndef CHOKEPOINT_ANALYSIS_FACTS_TEXT_LIST_H
#define CHOKEPOINT_ANALYSIS_FACTS_TEXT_LIST_H

#include <stdarg.h>
#include <stddef.h>

struct text_list {
    char **items; /* owned */
    size_t n;
    int error; /* 0, or -ENOMEM once an append failed: checked once at the end */
};

void text_list_add(struct text_list *list, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Moves all texts of `from` to the end of `to`. */
void text_list_move(struct text_list *to, struct text_list *from);
void text_list_release(struct text_list *list);

/* A formatted owned text, NULL without memory. */
char *text_format(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
