/* SPDX-License-Identifier: MIT */
/* The pictures of one run by name: what a report shows, and what a file of pictures is made of. */
#ifndef CHOKEPOINT_REPORTS_PICTURES_H
#define CHOKEPOINT_REPORTS_PICTURES_H

#include "reports/plot/plot.h"

#define PICTURE_CORES_MAX 16 /* hosts whose cores are drawn */

struct pictures {
    struct plot **items; /* owned; release with pictures_release(). NULL: taken */
    size_t n, begun;     /* begun: so many are drawn, or were */
};

/* The name of the i-th kind of picture, in the order of a file, and what it shows; NULL: there is
 * no such kind. Static. */
const char *picture_name(size_t i);
const char *picture_help(size_t i);

/* Checks a list of names, separated by commas. -EINVAL: the first that is none is copied, cut to
 * size, into ret_wrong. */
int pictures_check(const char *names, char *ret_wrong, size_t size);

/* Appends the report's pictures of those names (NULL: all kinds), in the order of the kinds, each
 * once; nothing if it has none. -ENOMEM. */
int pictures_make(const struct report *report, const char *names, struct pictures *pictures);
void pictures_release(struct pictures *pictures);

/* The next picture of those names, for the caller to free; NULL: there is none. A few that follow
 * it are drawn meanwhile, each by a process of its own. */
struct plot *pictures_take(struct pictures *pictures, const char *names);

/* Begins to draw the first. */
void pictures_begin(struct pictures *pictures);

#endif
