/* SPDX-License-Identifier: MIT */
/* The POP ratios of each phase in each format; nothing where the ranks' MPI calls are not known. */
#ifndef CHOKEPOINT_REPORTS_EFFICIENCY_H
#define CHOKEPOINT_REPORTS_EFFICIENCY_H

#include <stdio.h>

#include "reports/model/model.h"

void text_put_efficiency(FILE *out, const struct report *report);
void md_put_efficiency(FILE *out, const struct report *report);
void html_put_efficiency(FILE *out, const struct report *report);

#endif
