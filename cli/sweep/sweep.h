/* SPDX-License-Identifier: MIT */
/* Shared by the parts of `chokepoint sweep`. */
#ifndef CHOKEPOINT_CLI_SWEEP_SWEEP_H
#define CHOKEPOINT_CLI_SWEEP_SWEEP_H

#include <stdio.h>

#include "reports/sweep/sweep_write.h"

#define SWEEP_WORDS_MAX 16

/* Words separated by commas: measures, tables. */
struct sweep_words {
    char *copy; /* owned */
    const char *items[SWEEP_WORDS_MAX];
    size_t n;
};

/* Reads a list of words. -EINVAL after one line on standard error, which says what the words are
 * (what: "measure" ...). */
int sweep_words_read(const char *text, const char *what, bool (*is_good)(const char *),
                     const char *good, struct sweep_words *ret_words);
void sweep_words_release(struct sweep_words *words);

/* The part of a sweep that is shown. */
struct sweep_view {
    const char *name;              /* NULL: the last sweep */
    const char *title;             /* NULL: its name */
    const char *words;             /* NULL */
    const char *measures, *tables; /* separated by commas; NULL: the usual ones */
    size_t hosts_max;              /* hosts in tables by host; 0: all */
};

/* The destination. */
struct sweep_target {
    const char *format;   /* NULL: by the ending of path */
    const char *path;     /* NULL: `out` */
    const char *pictures; /* NULL, or a directory to which its pictures are written, too */
    FILE *out;            /* NULL: standard output */
};

/* Reads the sweeps and writes them. Exit status; unless it is 0, after one line on standard
 * error. */
int sweep_show(const char *database, const struct sweep_view *views, size_t n,
               const struct sweep_target *target);

/* Makes the directory if it is missing. Exit status; unless it is 0, after one line on standard
 * error. */
int sweep_pictures_directory(const char *verb, const char *directory);

int sweep_report_main(int argc, char **argv);
int sweep_reference_main(int argc, char **argv);

#endif
