/* SPDX-License-Identifier: MIT */
/* Plots drawn, for tests of what is in the picture. */
#ifndef CHOKEPOINT_TESTS_DRAWN_H
#define CHOKEPOINT_TESTS_DRAWN_H

#include <errno.h>

#include "reports/plot/plot.h"

/* The SVG of a plot, which it frees; NULL with the errno of making or drawing the plot. */
static inline char *draw_and_free(struct plot *plot) {
    char *svg = plot_svg(plot);
    int saved = errno;
    plot_free(plot);
    errno = saved;
    return svg;
}

#endif
