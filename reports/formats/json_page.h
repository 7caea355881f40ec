/* SPDX-License-Identifier: MIT */
/*
 * Parts of a JSON document for readers with little room: the most important members first, and a
 * cursor for the rest. All pages together have each value once.
 */
#ifndef CHOKEPOINT_REPORTS_FORMATS_JSON_PAGE_H
#define CHOKEPOINT_REPORTS_FORMATS_JSON_PAGE_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define JSON_PAGE_LEAST 2000 /* bytes: less has no room for a row */

struct json_page {
    const char *document; /* a JSON object */
    size_t size;
    int64_t run;        /* the run it is of; 0: of none */
    const char *only;   /* names of the members that are wanted, with commas; NULL: all */
    const char *cursor; /* of the page before; NULL: the first page */
    size_t max_bytes;
};

/* Writes at most max_bytes, a line feed included. -EINVAL: not a cursor, -ESTALE: a cursor of
 * another document, -ENOENT: there is no such member, -EBADMSG: the document is no object,
 * -E2BIG: max_bytes is too small, -ENOMEM, -EIO. */
int json_page_write(const struct json_page *page, FILE *out);

#endif
