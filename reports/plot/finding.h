/* SPDX-License-Identifier: MIT */
/* The finding of a picture, in a sentence for its caption. */
#ifndef CHOKEPOINT_REPORTS_FINDING_H
#define CHOKEPOINT_REPORTS_FINDING_H

#include "reports/model/model.h"

/* name: a kind of picture (pictures.h), or NULL. The caller frees the result; NULL if there is no
 * finding, or no memory. Names of hosts come from outside.
 */
char *picture_finding(const struct report *report, const char *name);

#endif
