/* SPDX-License-Identifier: MIT */
/* Writes sweeps one after the other. -ENOMEM, -EIO. */
#ifndef CHOKEPOINT_REPORTS_SWEEP_WRITE_H
#define CHOKEPOINT_REPORTS_SWEEP_WRITE_H

#include <stdio.h>

#include "reports/sweep/sweep_tables.h"

struct sweep_picture {
    char name[128]; /* letters, digits, ".-_": a file's name without its ending */
    char *caption;  /* owned */
    char *svg;      /* owned; NULL: `why` is an errno, see plot.h */
    int why;
};

struct sweep_pictures {
    struct sweep_picture *items; /* owned */
    size_t n;
};

/* Measures, curves, and timelines if there are tables of those. -ENOMEM; ret_pictures must be freed
 * in any case.
 */
int sweep_pictures_make(const struct sweep *sweep, const struct sweep_tables *tables,
                        struct sweep_pictures *ret_pictures);
void sweep_pictures_free(struct sweep_pictures *pictures);

struct sweep_section {
    const char *title; /* NULL: it has only its name */
    const char *words; /* words for the reader in plain text; NULL */
    const struct sweep *sweep;
    const struct sweep_tables *tables;
    const struct sweep_pictures *pictures; /* for HTML; NULL: none */
    const char *pictures_at; /* for Markdown: the directory that has them as NAME.svg; NULL: none */
};

struct format;
int sweep_write(const struct sweep_section *sections, size_t n, const struct format *format,
                FILE *out);

/* A measure by the first two parameters as a plot (plot_free() it), or NULL with errno, see plot.h.
 */
struct plot;
struct plot *sweep_plot(const struct sweep *sweep, size_t measure);

#endif
