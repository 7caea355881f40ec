/* SPDX-License-Identifier: MIT */
#ifndef CHOKEPOINT_REPORTS_CRITICAL_H
#define CHOKEPOINT_REPORTS_CRITICAL_H

#include "reports/model/model.h"

/* One sentence on the main phase, where calls tell who waited for whom; its names come from
 * outside. The caller's; NULL: nothing to say, or no memory. */
char *critical_sentence(const struct report *report);

#endif
