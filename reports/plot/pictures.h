/* SPDX-License-Identifier: MIT */
/* The pictures of one run by name, for reports and for files of pictures. */
#ifndef CHOKEPOINT_REPORTS_PICTURES_H
#define CHOKEPOINT_REPORTS_PICTURES_H

#include "reports/plot/plot.h"

#define PICTURE_CORES_MAX 16 /* hosts whose cores are drawn */

struct pictures {
    struct plot **items; /* owned; release with pictures_release(). NULL: already taken */
    size_t n, begun;     /* begun: how many are being drawn, or were */
};

/* The name of the i-th kind of picture, in the order of a file; NULL if there is none. Static. */
const char *picture_name(size_t i);

/* Checks a list of names separated by commas. -EINVAL: the first wrong one is copied, cut to size,
 * into ret_wrong.
 */
int pictures_check(const char *names, char *ret_wrong, size_t size);

/* Appends the report's pictures with those names (NULL: all kinds), in the order of the kinds, each
 * once; nothing if there are none. -ENOMEM.
 */
int pictures_make(const struct report *report, const char *names, struct pictures *pictures);
void pictures_release(struct pictures *pictures);

/* The next picture with those names, which the caller frees; NULL if there is none. A few that
 * follow it are drawn meanwhile, each by its own process.
 */
struct plot *pictures_take(struct pictures *pictures, const char *names);

/* Begins to draw the first pictures. */
void pictures_begin(struct pictures *pictures);

#endif
