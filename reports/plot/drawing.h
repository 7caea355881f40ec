/* SPDX-License-Identifier: MIT */
/* Texts in pictures that are drawn here, as SVG. */
#ifndef CHOKEPOINT_REPORTS_DRAWING_H
#define CHOKEPOINT_REPORTS_DRAWING_H

#include <stddef.h>
#include <stdio.h>

/* Escaped; no more than so many characters of it, the last of which are dots where it is longer. */
void drawing_put_short(FILE *out, const char *text, size_t characters);

/* The step of an axis up to `end`: 1, 2 or 5 times a power of ten, so that there are at most `most`
 * steps. end > 0. */
double drawing_step(double end, double most);

/* The same as an element at a place. anchor: start, middle, end. */
void drawing_put_text(FILE *out, double x, double y, const char *anchor, const char *class,
                      const char *text, size_t characters);

#endif
