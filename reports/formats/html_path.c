/* SPDX-License-Identifier: MIT */
/*
 * Shortens gnuplot's lines and areas: steps of a tenth of a pixel from point to point, and
 * neighbours of one colour as one path. That makes a picture of bars a fifth as large.
 */
#include <stdlib.h>
#include <string.h>

#include "reports/formats/html_private.h"

/* Positions in tenths of a pixel, so that steps add up exactly. */
struct pen {
    FILE *out;
    long x, y;
    char last; /* last command */
};

/* Reads "262.88" as 2629; returns what follows it, or NULL if there is no number. */
static const char *read_tenths(const char *at, long *ret_tenths) {
    char *end;
    bool negative = *at == '-';
    at += negative;
    if (*at < '0' || *at > '9')
        return NULL;
    long hundredths = 100 * (strtol(at, &end, 10) % 10000000);
    if (*end == '.')
        for (int digit = 10; *++end >= '0' && *end <= '9'; digit /= 10)
            hundredths += digit * (*end - '0');
    *ret_tenths = (hundredths + 5) / 10 * (negative ? -1 : 1);
    return end;
}

static void put_tenths(struct pen *pen, char command, long tenths) {
    bool same = command == pen->last;
    if (!same)
        fputc(command, pen->out);
    if (tenths < 0)
        fputc('-', pen->out);
    else if (same)
        fputc(' ', pen->out);
    tenths = labs(tenths);
    if (tenths / 10 || tenths % 10 == 0)
        fprintf(pen->out, "%ld", tenths / 10);
    if (tenths % 10)
        fprintf(pen->out, ".%ld", tenths % 10);
    pen->last = command;
}

static void move_to(struct pen *pen, long x, long y) {
    pen->last = 0;
    put_tenths(pen, 'M', x);
    put_tenths(pen, 'M', y);
    pen->x = x;
    pen->y = y;
}

static void line_to(struct pen *pen, long x, long y) {
    long dx = x - pen->x, dy = y - pen->y;
    pen->x = x;
    pen->y = y;
    if (dx && dy) {
        put_tenths(pen, 'l', dx);
        put_tenths(pen, 'l', dy);
    } else if (dx || dy) {
        put_tenths(pen, dx ? 'h' : 'v', dx ? dx : dy);
    }
}

/* Reads "M54.10,262.88 L54.10,267.00" or the points of a polygon, up to the quote. NULL if it is
 * anything else.
 */
static const char *put_points(struct pen *pen, const char *at) {
    for (bool first = true;; first = false) {
        long x, y;
        at += strspn(at, " \t\n");
        if (*at == '\'')
            return at;
        bool moves = *at == 'M' || first;
        at += *at == 'M' || *at == 'L';
        if (!(at = read_tenths(at, &x)) || *at != ',' || !(at = read_tenths(at + 1, &y)))
            return NULL;
        if (moves)
            move_to(pen, x, y);
        else
            line_to(pen, x, y);
    }
}

/* Points are rewritten all or not at all, so they go into a copy first. */
static const char *put_data(FILE *out, const char *at, char end) {
    char *text = NULL;
    size_t size;
    struct pen pen = {.out = open_memstream(&text, &size)};
    const char *behind = pen.out ? put_points(&pen, at) : NULL;
    if (pen.out && fclose(pen.out) == 0 && behind) {
        fwrite(text, 1, size, out);
        if (end)
            fputc(end, out);
    }
    free(text);
    return behind;
}

const char *html_put_line(FILE *out, const char *at) {
    return strncmp(at, "d='M", 4) == 0 ? put_data(out, at + 3, 0) : NULL;
}

/* Where the points of a polygon begin, or NULL. */
static const char *points_in(const char *at) {
    static const char begin[] = "<polygon ", points[] = " points = '";
    const char *end, *found;
    if (strncmp(at, begin, strlen(begin)) != 0 || !(end = strchr(at, '>')))
        return NULL;
    found = strstr(at, points);
    return found && found < end ? found + strlen(points) : NULL;
}

static bool same_look(const char *a, const char *a_points, const char *b, const char *b_points) {
    return a_points - a == b_points - b && memcmp(a, b, (size_t)(a_points - a)) == 0;
}

const char *html_put_areas(FILE *out, const char *at, const char **ret_look, size_t *ret_n) {
    const char *first = at, *first_points = points_in(at), *points = first_points, *behind = NULL;
    if (!points)
        return NULL;
    *ret_look = first + strlen("<polygon ");
    *ret_n = (size_t)(first_points - *ret_look) - strlen(" points = '");
    while (points && same_look(first, first_points, at, points)) {
        const char *end = put_data(out, points, 'z');
        if (!end)
            break;
        behind = strchr(end, '>') + 1;
        at = behind + strspn(behind, " \t\n");
        points = points_in(at);
    }
    return behind;
}
