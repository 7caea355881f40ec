/* SPDX-License-Identifier: MIT */
/* Texts in SVG pictures that are drawn without gnuplot. */
#ifndef CHOKEPOINT_REPORTS_DRAWING_H
#define CHOKEPOINT_REPORTS_DRAWING_H

#include <stddef.h>
#include <stdio.h>

/* Writes the text escaped, cut to `characters` of which the last are dots if it is longer. */
void drawing_put_short(FILE *out, const char *text, size_t characters);

/* The step of an axis up to `end`: 1, 2 or 5 times a power of ten, with at most `most` steps. end >
 * 0.
 */
double drawing_step(double end, double most);

/* The same as an SVG element at a position. anchor: start, middle, end. */
void drawing_put_text(FILE *out, double x, double y, const char *anchor, const char *class,
                      const char *text, size_t characters);

#endif
