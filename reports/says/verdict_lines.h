/* SPDX-License-Identifier: MIT */
/* The verdict in two short lines: the limit of the run, and the gain of a change. */
#ifndef CHOKEPOINT_REPORTS_SAYS_VERDICT_LINES_H
#define CHOKEPOINT_REPORTS_SAYS_VERDICT_LINES_H

#include "analysis/verdict/verdict.h"

/* "network of vm1, sending and receiving: at 99 % of its 224 MB/s". summary: the verdict's
 * sentences, for a verdict without a candidate. Owned; NULL: no memory. */
char *verdict_limit(const struct run_model *model, const struct verdict *verdict,
                    const char *summary);

/* The part of the run that the limit took: "56 % of the time in training, 51 to 53 % of the whole
 * run"; "" if the limit's line says it. The verdict must have a candidate. Owned; NULL: no
 * memory. */
char *verdict_cost(const struct run_model *model, const struct verdict *verdict);

/* "a link twice as fast: -45 % run time (44 to 47); without this limit: -89 %". Owned; "" if no
 * change was examined; NULL: no memory. */
char *verdict_worth(const struct run_model *model, const struct verdict *verdict);

#endif
